// A real Chromium, with pages that fail the test when a script fails or the policy stops something.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import { chromium } from "playwright-core";

import { PATIENCE } from "./wait.js";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

function executable() {
  if (process.env.OSIER_CHROMIUM) return process.env.OSIER_CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = paths.find((path) => existsSync(path));
  if (!found) {
    throw new Error("no Chromium: on Debian `apt-get install chromium`, or set OSIER_CHROMIUM");
  }
  return found;
}

/** Chromium must look for nobody: the tests are on loopback only. */
const QUIET = [
  "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

/** A browser for the tests of one file, closed when they end. */
export async function launch() {
  // A container has no user namespaces for the sandbox of a root's browser.
  const args = process.getuid?.() === 0 ? [...QUIET, "--no-sandbox"] : QUIET;
  return chromium.launch({ executablePath: executable(), args });
}

/** A page in a profile of its own. */
export async function open(test, browser, options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    // What a test breaks on purpose is said by the network, not by a script.
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) wrong.push(text);
  });
  test.after(async () => {
    // An answer that is on its way when the page goes has nobody to come to.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
    if (wrong.length) throw new Error(`the page complains: ${wrong.join("; ")}`);
  });
  return page;
}
