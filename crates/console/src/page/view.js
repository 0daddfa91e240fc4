// The page's parts. Each takes what the node said last and changes only what is different.

import * as word from "./word.js";

export const at = (id) => document.getElementById(id);

/** An element with attributes and children. Nothing here makes markup from text. */
export function make(name, attributes = {}, ...children) {
  const svg = ["svg", "use", "path", "circle", "rect", "line", "text", "g", "title"];
  const element = svg.includes(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

function attribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export const icon = (kind) =>
  make("svg", { class: "icon", "aria-hidden": "true" }, make("use", { href: `#i-${kind}` }));

function showBadge(element, { kind, text: words }) {
  if (element.dataset.kind === kind && element.textContent === words) return;
  element.dataset.kind = kind;
  element.replaceChildren(icon(kind), words);
}

/** Children of a list by key: those that are there stay, so focus and place are kept. */
function keyed(list, items, key, create, update) {
  const old = new Map([...list.children].map((child) => [child.dataset.key, child]));
  const kept = items.map((item) => {
    let child = old.get(key(item));
    if (!child) {
      child = create(item);
      child.dataset.key = key(item);
    }
    old.delete(key(item));
    update(child, item);
    return child;
  });
  for (const gone of old.values()) gone.remove();
  kept.forEach((child, index) => {
    if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null);
  });
}

export function topics(all, selected) {
  at("no-topics").hidden = all.length > 0;
  const complete = all.filter((it) => word.badge(it).kind === "synced").length;
  text(at("topics-sum"), all.length ? `${complete} of ${all.length} complete` : "");
  keyed(at("topics"), all, (it) => it.id, topicLink, (child, topic) => {
    const link = child.firstElementChild;
    const [name, badge, facts, bar] = link.children;
    attribute(name, "title", topic.name);
    text(name, topic.name);
    showBadge(badge, word.badge(topic));
    const held = word.plural(topic.entries, "entry", "entries");
    text(facts, `${held} - ${topic.role}`);
    const moving = topic.phase === "synced" ? null : word.progress(topic);
    bar.hidden = !moving;
    if (moving) [bar.value, bar.max] = [moving.received, moving.expected];
    if (topic.id === selected) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
}

function topicLink(topic) {
  const link = make("a", { href: `#topic=${topic.id}` },
    make("span", { class: "name" }), make("span", { class: "badge" }),
    make("span", { class: "faint" }), make("progress", { "aria-label": "entries received" }));
  return make("li", {}, link);
}

/** Several topics as one: how many of them are synced. */
export function spaces(all) {
  at("spaces").hidden = all.length === 0;
  keyed(at("spaces-list"), all, (it) => it.id,
    () => make("li", {}, make("span", { class: "name" }), make("span", { class: "badge" }),
      make("span", { class: "faint" })),
    (child, space) => {
      const [name, badge, facts] = child.children;
      text(name, space.name);
      showBadge(badge, word.spaceBadge(space));
      const synced = space.topics.filter((it) => it.state === "synced").length;
      text(facts, `${synced} of ${word.plural(space.topics.length, "topic")}`);
    });
}

export function topic(it) {
  text(at("name"), it.name);
  showBadge(at("badge"), word.badge(it));
  const bad = word.degraded(it).length;
  const more = at("badge-more");
  more.hidden = !(bad && it.phase === "synced");
  if (!more.hidden) showBadge(more, { kind: "degraded", text: `${bad} degraded` });
  text(at("verdict"), word.verdict(it));
  strip(it);
  facts(at("facts"), [
    ["entries", word.count(it.entries)],
    ["authors", word.count(it.authors)],
    ["holes", word.count(it.holes)],
    ["role here", it.role],
    ["rule", it.rule],
    ["owner", it.owned ? "this node" : word.short(it.owner), it.owner],
    ["state", word.short(it.state_hash), it.state_hash],
  ]);
  providers(it);
}

/** Which part of history is here: from the beginning, or a floor, to now. */
function strip(it) {
  const element = at("strip");
  const floor = word.floorOf(it);
  const moving = it.phase === "synced" ? null : word.progress(it);
  const part = moving ? moving.received / moving.expected : 0;
  const whole = it.phase === "synced" ? 1 : part;
  at("strip-dropped").style.width = floor ? "28%" : "0";
  at("strip-fill").style.width = floor ? "72%" : `${whole * 100}%`;
  attribute(element, "data-kind", word.badge(it).kind);
  text(at("strip-from"), floor ? "older: not here" : "beginning");
  const share = moving ? `${Math.floor(part * 100)} %` : "";
  const middle = moving
    ? `${word.count(moving.received)} of ${word.count(moving.expected)} entries (${share})` : "";
  text(at("strip-mid"), floor ? `from ${word.moment(floor.time)}` : middle);
  if (moving) {
    attribute(element, "role", "progressbar");
    attribute(element, "aria-valuemin", "0");
    attribute(element, "aria-valuemax", String(moving.expected));
    attribute(element, "aria-valuenow", String(moving.received));
    attribute(element, "aria-label", "Entries received");
  } else {
    for (const name of ["aria-valuemin", "aria-valuemax", "aria-valuenow"]) {
      element.removeAttribute(name);
    }
    attribute(element, "role", "img");
    const known = it.phase === "synced" ? "history is here from the beginning" : "not known yet";
    attribute(element, "aria-label",
      floor ? `history is here from ${word.moment(floor.time)}` : known);
  }
}

export function facts(list, pairs) {
  keyed(list, pairs, ([name]) => name,
    ([name]) => make("div", {}, make("dt", {}, name), make("dd")),
    (child, [, value, whole]) => {
      text(child.lastElementChild, value);
      if (whole) attribute(child.lastElementChild, "title", whole);
    });
}

const OUTCOMES = {
  unasked: "offline", streaming: "syncing", drained: "synced", cut: "failed", refused: "failed",
  silent: "degraded", lost: "degraded",
};

function providers(topic) {
  const order = (it) => [it.trusted ? 0 : 1, it.rank ?? 0, it.node];
  const sorted = [...topic.providers].sort((a, b) => {
    const [left, right] = [order(a), order(b)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? 0 : left[at] < right[at] ? -1 : 1;
  });
  at("no-providers").hidden = sorted.length > 0;
  text(at("waiting"), waiting(topic));
  keyed(at("providers"), sorted, (it) => it.node, providerRow, (child, it) => {
    attribute(child, "data-outcome", it.outcome);
    child.classList.toggle("waited", topic.waiting.includes(it.node));
    provider(child, it, topic.waiting.includes(it.node));
  });
}

function waiting(topic) {
  if (topic.search_ms !== null) return "Looking for a trusted provider; one may still turn up.";
  if (!topic.waiting.length) return `The rule ${topic.rule} waits for nobody now.`;
  const names = topic.waiting.map(word.short).join(", ");
  return `The rule ${topic.rule} waits for ${names}.`;
}

function providerRow(it) {
  const part = (name) => make("span", { class: name });
  return make("li", {},
    make("div", { class: "who" },
      make("code", { title: it.node }, word.short(it.node)), part("standing"), part("reach")),
    make("div", { class: "how" }, part("badge"), part("why")),
    make("div", { class: "when" }, part("session"), part("deadline"),
      make("progress", { class: "left", "aria-hidden": "true" }),
      make("progress", { class: "come", "aria-label": "entries received" })));
}

function provider(row, it, waited) {
  const find = (name) => row.querySelector(`.${name}`);
  const standing = it.trusted ? `${it.role}, rank ${it.rank}` : `${it.role}, not trusted`;
  text(find("standing"), standing);
  text(find("reach"), it.connected ? "reachable" : "not reachable");
  attribute(find("reach"), "data-up", String(it.connected));
  showBadge(find("badge"), { kind: OUTCOMES[it.outcome] ?? "offline", text: it.outcome });
  const counts = it.trusted ? "" : " Its word does not count here.";
  text(find("why"), `${word.capital(it.why)}${waited ? "; waited for" : ""}.${counts}`);
  const session = it.session ? `session ${word.short(it.session)}` : "no session yet";
  countUp(find("session"), session, it.session_age_ms);
  countDown(find("deadline"), it);
  const left = find("left");
  left.hidden = it.deadline_ms === null;
  left.max = DEADLINE_MS;
  const bar = find("come");
  bar.hidden = !(it.outcome === "streaming" && it.expected);
  if (!bar.hidden) [bar.value, bar.max] = [it.received, it.expected];
}

function countUp(element, words, age) {
  element.dataset.words = words;
  element.dataset.since = age === null ? "" : String(performance.now() - age);
  if (age === null) text(element, words);
}

/** The longest wait for a first sign of a provider, in milliseconds; fills the bar. */
const DEADLINE_MS = 5000;

function countDown(element, it) {
  // A time that has passed says that it may be asked, not that it will be.
  const [left, words] = it.deadline_ms !== null
    ? [it.deadline_ms, "counts as silent in"] : [it.retry_ms || null, "asked again in"];
  element.dataset.words = words;
  element.dataset.until = left === null ? "" : String(performance.now() + left);
  if (left === null) text(element, "");
}

/** Moves every count that runs. Called often; changes nothing that stands. */
export function tick() {
  const now = performance.now();
  for (const element of document.querySelectorAll("[data-until]")) {
    const { until, words } = element.dataset;
    if (!until) continue;
    const left = Math.max(0, Number(until) - now);
    text(element, `${words} ${word.span(left)}`);
    element.nextElementSibling.value = left;
  }
  for (const element of document.querySelectorAll("[data-since]")) {
    const { since, words } = element.dataset;
    if (since) text(element, `${words}, for ${word.span(now - Number(since))}`);
  }
}

/** Events kept in the list of what an app is told. */
const TOLD_MAX = 60;

/** Adds an event; a progress or entry that follows another takes its place. */
export function told(event, time) {
  const words = word.event(event);
  if (!words) return;
  const list = at("told");
  const [tone, sentence] = words;
  list.prepend(make("li", { "data-kind": tone },
    make("time", {}, word.clock(time)), make("span", {}, sentence)));
  while (list.children.length > TOLD_MAX) list.lastElementChild.remove();
}

// Refused events and requests together, by reason, the most frequent first.
function refusals(refused) {
  const all = new Map();
  for (const { reason, total } of refused) all.set(reason, (all.get(reason) ?? 0) + total);
  return [...all].sort(([, one], [, other]) => other - one);
}

let before = null;

export function relay(numbers) {
  at("relay").hidden = !numbers;
  if (!numbers) return;
  const now = performance.now();
  const seconds = before ? (now - before.now) / 1000 : 0;
  const total = (name) => (numbers[name] === null ? null : word.count(numbers[name]));
  const rate = (name) => {
    if (numbers[name] === null) return null;
    const more = numbers[name] - (before?.numbers[name] ?? 0);
    return seconds > 0 ? `${(more / seconds).toFixed(1)}/s` : "-";
  };
  const all = [
    ["address", numbers.url],
    ["connections", total("connections")],
    ["subscriptions", total("subscriptions")],
    ["events in", rate("events_in_total")],
    ["events out", rate("events_out_total")],
    ["refused", total("refused_total")],
    ...refusals(numbers.refused).map(([reason, count]) => [reason, word.count(count)]),
  ];
  // What the relay does not count is not shown as nothing.
  facts(at("relay-facts"), all.filter(([, value]) => value !== null));
  before = { now, numbers };
}
