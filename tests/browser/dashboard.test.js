// The dashboard as a person meets it: what it shows, and that it does not say more than is true.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { launch, open } from "./support/browser.js";
import { Node, lines } from "./support/node.js";
import { Proxy } from "./support/proxy.js";
import { until } from "./support/wait.js";

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

const badge = (page) => page.locator("#badge");

const untilBadge = (page, text) => badge(page).filter({ hasText: text }).waitFor();

test("a link opens the dashboard once", async (t) => {
  const node = await Node.start(t);
  const page = await open(t, browser);
  await page.goto(node.link);
  await untilBadge(page, "synced");
  assert.equal(new URL(page.url()).hash, "", "the code stays in the address");
  await page.reload();
  await untilBadge(page, "synced");

  const other = await open(t, browser);
  await other.goto(node.link);
  await other.getByText("This link was used").waitFor();
  assert.equal(await other.locator("#board").isVisible(), false);
  const fresh = await node.osier("dashboard");
  await other.getByLabel(/paste the link/).fill(fresh);
  await other.keyboard.press("Enter");
  await untilBadge(other, "synced");
});

test("without a link nothing is shown", async (t) => {
  const node = await Node.start(t);
  const page = await open(t, browser);
  await page.goto(node.base);
  await page.getByRole("heading", { name: "This page needs a link" }).waitFor();
  await page.getByLabel(/paste the link/).fill("0".repeat(64));
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("alert").filter({ hasText: "not this node's" }).waitFor();
  assert.equal(await page.locator("#topics li").count(), 0);
});

test("a join goes from syncing with progress to synced, and says so", async (t) => {
  const archive = await Node.start(t);
  const ticket = await archive.newTopic("news");
  await archive.publish("news", lines(50000));
  const { id } = await archive.topic("news");
  const joiner = await Node.start(t);
  const page = await open(t, browser);
  await page.goto(joiner.link);
  await page.locator("#topics a").first().waitFor();
  await page.evaluate(() => {
    window.states = [];
    new MutationObserver(() => {
      const strip = document.querySelector("#strip");
      const link = [...document.querySelectorAll("#topics a")].find((a) =>
        a.querySelector(".name").textContent === "news");
      const state = [
        document.querySelector("#name").textContent,
        document.querySelector("#badge").textContent,
        Number(strip.getAttribute("aria-valuenow")),
        Number(strip.getAttribute("aria-valuemax")),
        link?.querySelector(".badge").textContent,
      ];
      window.states.push(state);
    }).observe(document.body, { childList: true, subtree: true, attributes: true });
  });
  await page.evaluate((id) => { location.hash = `topic=${id}`; }, id);
  await joiner.osier("topic", "join", ticket);
  await until("entries come", async () => {
    const [provider] = (await joiner.topic(id)).providers;
    return provider.expected > 0 && provider.received > 0;
  });
  // It is held still until the page has shown how far it is, well within the deadline.
  archive.pause();
  await page.getByRole("progressbar", { name: "Entries received" }).first().waitFor();
  archive.resume();
  await page.getByText("All of it is here: 50,000 entries").waitFor();
  const states = (await page.evaluate(() => window.states)).filter(([name]) => name === "news");
  const moving = states.filter(([, , now, max]) => max > 0 && now < max);
  assert.ok(moving.length > 0, "no progress was shown");
  const words = [...new Set(states.map(([, words]) => words))];
  assert.deepEqual(words, ["syncing", "synced"]);
  const shown = moving.map(([, , now]) => now);
  assert.deepEqual(shown, [...shown].sort((a, b) => a - b), "progress went back");
  assert.match(await page.locator("#say").textContent(), /news: synced/);
  const row = page.locator("#providers li");
  await row.filter({ hasText: archive.id.slice(0, 8) }).filter({ hasText: "drained" }).waitFor();
  await row.filter({ hasText: "archive, rank 100" }).waitFor();
});

test("why it is not complete: which provider, which outcome, which deadline", async (t) => {
  const archive = await Node.start(t);
  const ring = await Node.start(t, { OSIER_LIMITS_REPLAY_ENTRIES: "100" });
  const joiner = await Node.start(t);
  const ticket = await archive.newTopic("news");
  await archive.publish("news", lines(400));
  await ring.osier("topic", "join", ticket, "--role", "replay");
  await ring.untilPhase("news", "synced");
  await until("the ring has dropped entries", async () =>
    (await ring.topic("news")).entries <= 101);
  const ways = await ring.ticket("news");
  await archive.kill();

  const page = await open(t, browser);
  await page.goto(joiner.link);
  await page.locator("#topics a").first().waitFor();
  await joiner.osier("topic", "join", ways);
  await joiner.osier("trust", "add", "news", ring.id, "--role", "replay");
  await page.locator("#topics a", { hasText: "news" }).click();
  const dead = page.locator("#providers li", { hasText: archive.id.slice(0, 8) });
  await dead.locator(".deadline", { hasText: /counts as silent in \d/ }).waitFor();
  await page.locator("#verdict", { hasText: `Waiting for the archive` }).waitFor();
  await page.locator("#waiting", { hasText: archive.id.slice(0, 8) }).waitFor();

  await untilBadge(page, "synced from a floor");
  await dead.locator(".badge", { hasText: /silent|lost/ }).waitFor();
  await page.locator("#badge-more", { hasText: "1 degraded" }).waitFor();
  await page.locator("#verdict", { hasText: "No trusted archive can be reached" }).waitFor();
  await page.locator("#told", { hasText: "does not count now" }).waitFor();

  await archive.run();
  await untilBadge(page, "synced");
  await page.getByText("All of it is here: 400 entries").waitFor();
  assert.equal(await page.locator("#badge-more").isVisible(), false);
});

test("nobody to vouch is failed, with the reason", async (t) => {
  const archive = await Node.start(t);
  const ticket = await archive.newTopic("news");
  await archive.kill();
  const joiner = await Node.start(t);
  await joiner.osier("topic", "join", ticket);
  const page = await open(t, browser);
  await page.goto(joiner.link);
  await page.locator("#topics a", { hasText: "news" }).click();
  await untilBadge(page, "failed");
  const why = page.locator("#verdict", { hasText: "No trusted provider could complete it" });
  await why.filter({ hasText: archive.id.slice(0, 8) }).waitFor();
});

test("synced does not outlive the link to who vouched", async (t) => {
  const archive = await Node.start(t);
  const ticket = await archive.newTopic("news");
  await archive.publish("news", lines(5));
  const joiner = await Node.start(t);
  await joiner.osier("topic", "join", ticket);
  await joiner.untilPhase("news", "synced");
  const page = await open(t, browser);
  await page.goto(joiner.link);
  await page.locator("#topics a", { hasText: "news" }).click();
  await page.getByText("All of it is here: 5 entries").waitFor();
  await archive.end();
  await untilBadge(page, "behind");
  await page.locator("#verdict", { hasText: "the link to who vouched for it was lost" }).waitFor();
  await untilBadge(page, "failed");
  await archive.run();
  await untilBadge(page, "synced");
  await page.locator("#told", { hasText: "caught up" }).waitFor();
});

test("several topics as one", async (t) => {
  const archive = await Node.start(t);
  await archive.osier("space", "new", "team");
  for (const name of ["news", "talk"]) {
    await archive.newTopic(name);
    await archive.publish(name, lines(20));
    await archive.osier("space", "add", "team", name);
  }
  const joiner = await Node.start(t);
  const page = await open(t, browser);
  await page.goto(joiner.link);
  await joiner.osier("space", "join", await archive.ticket("team"));
  const space = page.getByRole("region", { name: "Spaces" }).getByRole("listitem");
  await space.filter({ hasText: "team" }).filter({ hasText: "2 of 2 topics" }).waitFor();
  await space.locator(".badge", { hasText: "synced" }).waitFor();
});

test("a stream that breaks is taken up where it was", async (t) => {
  const node = await Node.start(t);
  await node.publish("lobby", lines(5, "before"));
  const proxy = await Proxy.to(t, node.address);
  const page = await open(t, browser);
  await page.goto(`${proxy.base}/${new URL(node.link).hash}`);
  const dots = page.locator("#graph circle");
  await until("five entries are shown", async () => (await dots.count()) === 5);
  const link = page.locator("#link");
  await link.filter({ hasText: "live" }).waitFor();
  proxy.cut();
  await link.filter({ hasText: "trying again" }).waitFor();
  assert.equal(await page.evaluate(() => document.body.classList.contains("stale")), true);
  await node.publish("lobby", lines(3, "meanwhile"));
  const end = (await node.topic("lobby")).position;
  proxy.mend();
  await until("what was missed is shown", async () => (await dots.count()) === 8);
  await link.filter({ hasText: "live" }).waitFor();
  const taken = proxy.requests.filter(({ url, last }) => url.includes("/events") && last !== null);
  assert.equal(taken.at(-1).last, String(Number(end) - 3));
});

test("a node that was started anew asks for another link", async (t) => {
  const node = await Node.start(t);
  const page = await open(t, browser);
  await page.goto(node.link);
  await untilBadge(page, "synced");
  await node.kill();
  await page.locator("#link", { hasText: "trying again" }).waitFor();
  await node.run();
  await page.getByRole("alert").filter({ hasText: "started anew" }).waitFor();
  await page.goto(node.link);
  await untilBadge(page, "synced");
});

test("the keyboard reaches everything", async (t) => {
  const node = await Node.start(t);
  await node.newTopic("alpha");
  await node.newTopic("beta");
  await node.publish("alpha", lines(4));
  const page = await open(t, browser);
  await page.goto(node.link);
  await page.locator("#topics a").nth(2).waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  await page.keyboard.press("Tab");
  assert.match(await focused(), /Skip to the topic/);
  await page.locator("#topics a").first().focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await focused(), /^beta/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "beta" }).waitFor();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "alpha" }).waitFor();
  assert.equal(await page.locator("#topics a[aria-current=page]").count(), 1);

  const dots = page.locator("#graph circle");
  await until("the entries are shown", async () => (await dots.count()) === 4);
  await page.locator("#graph").focus();
  await page.keyboard.press("ArrowLeft");
  const entry = page.locator("#graph-entry");
  await entry.filter({ hasText: "line 4" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await entry.filter({ hasText: "line 3" }).waitFor();
  await page.keyboard.press("Escape");
  await entry.filter({ hasNotText: "line" }).waitFor({ state: "attached" });
});

test("both themes, small screens, and names for whoever listens", async (t) => {
  const node = await Node.start(t);
  const viewport = { width: 360, height: 700 };
  const page = await open(t, browser, { colorScheme: "dark", viewport });
  await page.goto(node.link);
  await untilBadge(page, "synced");
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.getByRole("button", { name: /dark and light/ }).click();
  assert.notEqual(await ground(), dark);
  await page.reload();
  await untilBadge(page, "synced");
  assert.notEqual(await ground(), dark, "the choice is forgotten");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} wide on a screen of 360`);
  for (const name of ["Topics", "Providers", "Missing entries", "The last entries"]) {
    await page.getByRole("heading", { name }).waitFor();
  }
  assert.equal(await page.locator("svg[role=img]:not([aria-label])").count(), 0);
});

/** Axe, a checker of accessibility rules, contrast among them. */
const AXE = new URL("./node_modules/axe-core/axe.min.js", import.meta.url);

test("no rule of accessibility is broken in either theme", async (t) => {
  const archive = await Node.start(t);
  await archive.newTopic("news");
  await archive.publish("news", lines(30));
  const node = await Node.start(t);
  await node.osier("topic", "join", await archive.ticket("news"));
  await node.untilPhase("news", "synced");
  const { id } = await node.topic("news");
  const check = async (page) => {
    await page.evaluate(await readFile(AXE, "utf8"));
    const { violations, passes } = await page.evaluate(() => window.axe.run());
    assert.ok(passes.length > 10, "hardly a rule applied");
    return violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" ")}`);
  };
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(t, browser, { colorScheme });
    await page.goto(node.base);
    await page.getByRole("heading", { name: "This page needs a link" }).waitFor();
    assert.deepEqual(await check(page), [], `the door, ${colorScheme}`);
    await page.goto(await node.osier("dashboard"));
    await untilBadge(page, "synced");
    await page.evaluate((id) => { location.hash = `topic=${id}`; }, id);
    await page.getByText("All of it is here: 30 entries").waitFor();
    await page.locator("#graph circle").first().waitFor();
    assert.deepEqual(await check(page), [], `the board, ${colorScheme}`);
  }
});
