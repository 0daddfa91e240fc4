// States that take a liar or an overload to reach: the node's answers are changed on their way to
// the page. What real nodes can be brought to is in dashboard.test.js.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, open } from "./support/browser.js";
import { Node } from "./support/node.js";

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

const ID = (digit) => digit.repeat(64);

const PROVIDER = {
  node: ID("a"), trusted: true, rank: 100, role: "archive", connected: true, outcome: "drained",
  detail: "", why: "it sent all it holds, and that is proven", session: "b".repeat(32),
  session_age_ms: null, received: 0, expected: null, deadline_ms: null, retry_ms: null,
};

const SYNCED = {
  provider: ID("a"), session: "b".repeat(32), still_pending: 0, coverage: "complete",
  convergence: { kind: "converged", with: 2 }, entries: 7, state_hash: ID("c"), dangling: 0,
};

/** What a real topic is changed into, and what must then be read. */
const STATES = {
  synced: {
    topic: { phase: "synced", why: null, synced: SYNCED, providers: [PROVIDER] },
    badge: "synced",
    verdict: "All of it is here: 7 entries, back to the beginning. Node aaaaaaaa vouches for it, and "
      + "every chain was checked here; 2 providers hold the same.",
  },
  behind: {
    topic: {
      phase: "behind", why: "It was synced, but a trusted node holds more.", synced: null,
      behind: { cause: "watermark", lag_entries: 1200, age_ms: 10 }, providers: [PROVIDER],
    },
    badge: "behind",
    verdict: "It was synced, but a trusted node holds more.",
    lag: "At least 1,200 entries are missing now.",
  },
  degraded: {
    topic: {
      phase: "syncing", why: "Waiting for the peer.", synced: null, waiting: [ID("d")],
      providers: [
        { ...PROVIDER, outcome: "refused", why: "it would not serve: it has too much to do",
          retry_ms: 60000 },
        { ...PROVIDER, node: ID("d"), role: "peer", rank: 200, outcome: "streaming",
          received: 30, expected: 40, deadline_ms: 4000, session_age_ms: 9000 },
      ],
    },
    badge: "degraded",
    verdict: "Waiting for the peer.",
    lag: "At least 10 entries are missing now.",
    provider: /refused.*It would not serve: it has too much to do\..*asked again in \d/s,
  },
  diverged: {
    topic: {
      phase: "diverged", synced: null, providers: [PROVIDER],
      why: "Trusted providers hold different histories: aaaaaaaa against dddddddd.",
      camps: [
        { state_hash: ID("1"), members: [ID("a")] },
        { state_hash: ID("2"), members: [ID("d")] },
      ],
    },
    badge: "diverged",
    verdict: "Trusted providers hold different histories: aaaaaaaa against dddddddd.",
  },
};

/**
 * From now on the page is told of the node's own topic, changed by what the returned object holds:
 * a real answer keeps every field that is not.
 */
async function changing(page) {
  const change = { topic: {} };
  await page.route("**/v1/topics", async (route) => {
    const answer = await route.fetch();
    const [topic] = (await answer.json()).topics;
    for (const key of Object.keys(change.topic)) assert.ok(key in topic, `${key} is no field`);
    await route.fulfill({ response: answer, json: { topics: [{ ...topic, ...change.topic }] } });
  });
  return change;
}

test("every state has its badge and its reason", async (t) => {
  const node = await Node.start(t);
  const page = await open(t, browser);
  const change = await changing(page);
  await page.goto(node.link);
  for (const [name, state] of Object.entries(STATES)) {
    change.topic = state.topic;
    await page.locator("#badge", { hasText: new RegExp(`^${state.badge}$`) }).waitFor();
    await page.locator("#topics .badge", { hasText: state.badge }).waitFor();
    await page.getByText(state.verdict, { exact: true }).waitFor();
    if (state.lag) await page.locator("#lag-now", { hasText: state.lag }).waitFor();
    if (state.provider) {
      await page.locator("#providers li", { hasText: state.provider }).waitFor();
    }
    assert.match(await page.title(), new RegExp(`: ${state.badge} - Osier$`));
    if (process.env.OSIER_SHOTS) {
      await page.screenshot({ path: `${process.env.OSIER_SHOTS}/${name}.png`, fullPage: true });
    }
  }
  await page.locator("#say", { hasText: "lobby: diverged" }).waitFor({ state: "attached" });
});

test("the relay's figures are shown where one runs", async (t) => {
  const node = await Node.start(t);
  const page = await open(t, browser);
  let sent = 0;
  let runs = true;
  await page.route("**/v1/relay", (route) => {
    if (!runs) return route.fulfill({ json: { relay: null } });
    sent += 50;
    const relay = {
      url: "ws://127.0.0.1:7777", connections: 12, subscriptions: 34, events_in_total: sent,
      events_out_total: 2 * sent, refused_total: null, refused: [],
    };
    return route.fulfill({ json: { relay } });
  });
  await page.goto(node.link);
  const relay = page.getByRole("region", { name: "Relay" });
  await relay.getByText("ws://127.0.0.1:7777").waitFor();
  await relay.getByText(/^\d+\.\d\/s$/).first().waitFor();
  assert.equal(await relay.getByText("refused").count(), 0, "what is not counted is shown");
  runs = false;
  await relay.waitFor({ state: "hidden" });
});
