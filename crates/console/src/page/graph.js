// The last entries of a topic as a graph: authors as lanes, entries as dots, links as lines.

import * as word from "./word.js";
import { at, make, text } from "./view.js";

/** Entries shown. */
export const SHOWN = 60;

/** Lanes shown; entries of further authors share the last one. */
const LANES = 8;

const LANE = 34;
const STEP_MIN = 14;
const LEFT = 96;
const RIGHT = 26;
const TOP = 22;

let me = "";
let entries = [];
let chosen = null;
let fresh = new Set();

/** This node's own id: its lane is named so. */
export function own(id) {
  me = id;
}

export function clear() {
  entries = [];
  chosen = null;
  fresh = new Set();
}

/** Takes an entry as the stream tells of it. */
export function add({ entry, phase }) {
  if (entries.some((it) => it.hash === entry.hash)) return;
  entries.push(entry);
  if (entries.length > SHOWN) entries.shift();
  if (phase === "live") fresh.add(entry.hash);
}

/** Authors in order of their last entry, the lane of each, and the dots by hash. */
function layout(width) {
  const step = Math.max(STEP_MIN, (width - LEFT - RIGHT) / Math.max(1, SHOWN - 1));
  const room = Math.floor((width - LEFT - RIGHT) / step) + 1;
  const visible = entries.slice(-room);
  const authors = [...new Set(visible.map((it) => it.author).reverse())];
  const shown = authors.length > LANES ? authors.slice(0, LANES - 1) : authors;
  const lane = (author) => (shown.includes(author) ? shown.indexOf(author) : shown.length);
  const dots = new Map(visible.map((entry, index) => [entry.hash, {
    entry,
    lane: lane(entry.author),
    x: width - RIGHT - (visible.length - 1 - index) * step,
    y: TOP + lane(entry.author) * LANE,
  }]));
  const names = shown.map((author) => (author === me ? "this node" : word.short(author)));
  if (shown.length < authors.length) names.push(`${authors.length - shown.length} others`);
  return { dots, names };
}

export function draw() {
  const graph = at("graph");
  graph.toggleAttribute("hidden", entries.length === 0);
  const width = Math.max(280, graph.clientWidth || 900);
  const { dots, names } = layout(width);
  if (chosen && !dots.has(chosen)) chosen = null;
  const height = TOP + Math.max(1, names.length) * LANE;
  graph.setAttribute("viewBox", `0 0 ${width} ${height}`);
  graph.setAttribute("height", height);
  const authors = word.plural(names.length, "author");
  graph.setAttribute("aria-label",
    `The last ${word.plural(dots.size, "entry", "entries")}, by ${authors}`);
  graph.replaceChildren(
    ...names.map((name, lane) => laneOf(name, lane, width)),
    ...[...dots.values()].flatMap((dot) => links(dot, dots)),
    ...[...dots.values()].map(dotOf),
  );
  fresh = new Set();
  describe(dots.get(chosen));
  at("graph-help").hidden = dots.size === 0;
  at("graph-none").hidden = dots.size > 0;
}

function laneOf(name, lane, width) {
  const y = TOP + lane * LANE;
  return make("g", {},
    make("line", { x1: LEFT - 12, x2: width - 6, y1: y, y2: y, class: "lane" }),
    make("text", { x: 4, y: y + 4, class: `label lane-${lane}` }, name));
}

/** Lines from an entry to what it names; to what is not shown, a short one to the left. */
function links({ entry, lane, x, y }, dots) {
  const own = entry.prev ? [own_link(entry.prev, lane, x, y, dots)] : [];
  const others = entry.deps.map((hash) => {
    const to = dots.get(hash);
    if (!to) return make("path", { d: `M${x} ${y} q-8 -9 -16 -10`, class: "dep away" });
    const middle = (x + to.x) / 2;
    const lift = to.y === y ? y - LANE * 0.6 : null;
    const d = lift === null
      ? `M${x} ${y} C${middle} ${y} ${middle} ${to.y} ${to.x} ${to.y}`
      : `M${x} ${y} Q${middle} ${lift} ${to.x} ${to.y}`;
    return make("path", { d, class: chosen === entry.hash ? "dep chosen" : "dep" });
  });
  return [...own, ...others];
}

function own_link(prev, lane, x, y, dots) {
  const to = dots.get(prev)?.x ?? Math.max(LEFT - 12, x - STEP_MIN);
  const away = dots.has(prev) ? "" : " away";
  return make("line", { x1: x, x2: to, y1: y, y2: y, class: `prev lane-${lane}${away}` });
}

function dotOf({ entry, lane, x, y }) {
  const state = `${fresh.has(entry.hash) ? " fresh" : ""}${chosen === entry.hash ? " chosen" : ""}`;
  const dot = make("circle", {
    cx: x, cy: y, r: chosen === entry.hash ? 7 : 5, class: `dot lane-${lane}${state}`,
    "data-hash": entry.hash,
  }, make("title", {}, sentence(entry)));
  return dot;
}

function sentence(entry) {
  const [item] = entry.items;
  const body = item?.text ?? (item?.base64 ? "bytes" : "dropped");
  const cut = body.length > 160 ? `${body.slice(0, 160)}...` : body;
  const deps = entry.deps.length ? `, builds on ${entry.deps.map(word.short).join(", ")}` : "";
  return `${word.short(entry.author)}/${entry.seq} at ${word.moment(entry.time_ms)}${deps}: ${cut}`;
}

function describe(dot) {
  text(at("graph-entry"), dot ? sentence(dot.entry) : "");
}

function choose(hash) {
  chosen = hash;
  draw();
}

/** Left and right walk in order of arrival, up and down to the nearest dot of another lane. */
function walk(key) {
  const { dots } = layout(Math.max(280, at("graph").clientWidth || 900));
  const all = [...dots.values()];
  if (!all.length) return;
  const index = all.findIndex((dot) => dot.entry.hash === chosen);
  if (index < 0) return choose(all[all.length - 1].entry.hash);
  const { x, lane } = all[index];
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const next = all[index + (key === "ArrowLeft" ? -1 : 1)];
    return next && choose(next.entry.hash);
  }
  const wanted = (dot) => (key === "ArrowUp" ? dot.lane < lane : dot.lane > lane);
  const near = all.filter(wanted).sort((a, b) =>
    Math.abs(a.lane - lane) - Math.abs(b.lane - lane) || Math.abs(a.x - x) - Math.abs(b.x - x));
  return near.length && choose(near[0].entry.hash);
}

export function listen() {
  const graph = at("graph");
  graph.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      walk(event.key);
    } else if (event.key === "Escape") {
      choose(null);
    }
  });
  graph.addEventListener("click", (event) => {
    const hash = event.target.dataset?.hash;
    if (hash) choose(hash);
  });
  new ResizeObserver(() => draw()).observe(graph.parentElement);
}
