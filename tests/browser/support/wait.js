// Waiting for a thing, with a limit.

/** No test waits longer for one thing; everything is on loopback. Milliseconds. */
export const PATIENCE = 30000;

/** Between two looks at something that gives no sign by itself. Milliseconds. */
const LOOK_MS = 30;

/** Asks until the answer is true. */
export async function until(what, holds) {
  const limit = Date.now() + PATIENCE;
  while (!(await holds())) {
    if (Date.now() > limit) throw new Error(`waited ${PATIENCE} ms in vain until ${what}`);
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}
