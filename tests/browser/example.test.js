// The example page, served from an origin of its own as an app's page would be.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { launch, open } from "./support/browser.js";
import { Node, lines } from "./support/node.js";

const PAGE = join(import.meta.dirname, "../../crates/console/examples/history.html");

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

/** Serves the page; its origin. */
async function serve(test) {
  const page = await readFile(PAGE);
  const server = http.createServer((_, answer) => {
    answer.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
    answer.end(page);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  test.after(() => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${server.address().port}`;
}

const address = (origin, node, topic) =>
  `${origin}/history.html#api=${node.base}&topic=${topic}&token=${node.token}`;

test("the example page shows history, how complete it is, and what comes live", async (t) => {
  const origin = await serve(t);
  const archive = await Node.start(t);
  const ticket = await archive.newTopic("news");
  await archive.publish("news", lines(50));
  const node = await Node.start(t, { OSIER_API_ORIGINS: origin });
  await node.osier("topic", "join", ticket);
  const page = await open(t, browser);
  await page.goto(address(origin, node, "news"));
  // The present state comes first, and what is held after it.
  await page.getByRole("status").filter({ hasText: "complete: all 50 entries" }).waitFor();
  await page.locator("li").nth(49).waitFor();
  assert.equal(await page.locator("li").count(), 50);
  await archive.publish("news", ["as it is written"]);
  await page.locator("li", { hasText: "as it is written" }).waitFor();
  assert.equal(await page.locator("li").count(), 51);
});

test("a page of an origin that was not named gets nothing", async (t) => {
  const origin = await serve(t);
  const node = await Node.start(t);
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(address(origin, node, "lobby"));
  await page.getByRole("status").filter({ hasText: "does not answer" }).waitFor();
});
