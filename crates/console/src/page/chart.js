// Entries known to be missing, over the last five minutes.

import * as word from "./word.js";
import { at, make, text } from "./view.js";

const SPAN_MS = 300000;
const BOX = { left: 44, right: 470, top: 12, bottom: 122 };

/** The chart reaches at least so high, in entries. */
const LEAST = 10;

/** Samples by topic: [time, missing], the oldest first. */
const samples = new Map();

/** Notes how much is missing now; what stands is noted by its first and last sample. */
export function note(topic, time) {
  const list = samples.get(topic.id) ?? [];
  samples.set(topic.id, list);
  const value = word.missing(topic);
  const [one, two] = list.slice(-2);
  if (two && one[1] === value && two[1] === value) two[0] = time;
  else list.push([time, value]);
  while (list.length > 2 && list[1][0] < time - SPAN_MS) list.shift();
}

export function forgetAllBut(ids) {
  for (const id of samples.keys()) if (!ids.has(id)) samples.delete(id);
}

export function draw(topic, time) {
  const list = samples.get(topic.id) ?? [];
  const now = list.at(-1)?.[1] ?? 0;
  const words = now
    ? `At least ${word.plural(now, "entry is", "entries are")} missing now.`
    : known(topic);
  text(at("lag-now"), words);
  const most = Math.max(LEAST, ...list.map(([, value]) => value));
  const top = nice(most);
  const x = (at) => BOX.right - ((time - at) / SPAN_MS) * (BOX.right - BOX.left);
  const y = (value) => BOX.bottom - (value / top) * (BOX.bottom - BOX.top);
  const chart = at("lag");
  chart.setAttribute("aria-label", `Missing entries in the last five minutes. ${words}`);
  chart.replaceChildren(...grid(top, y), ...curves(list, time, x, y));
}

const known = (topic) =>
  topic.phase === "synced" ? "None is known to be missing." : "How many are missing is not known.";

/** The next round number that is large enough. */
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

function grid(top, y) {
  const lines = [0, top / 2, top].filter(Number.isInteger).flatMap((value) => [
    make("line", { x1: BOX.left, x2: BOX.right, y1: y(value), y2: y(value), class: "grid" }),
    make("text", { x: BOX.left - 8, y: y(value) + 4, class: "label end" }, short(value)),
  ]);
  const times = [[BOX.left, "5 min ago", ""], [BOX.right, "now", " end"]];
  const labels = times.map(([x, words, side]) =>
    make("text", { x, y: BOX.bottom + 20, class: `label${side}` }, words));
  return [...lines, ...labels];
}

function short(value) {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1e4 ? `${value / 1e3}k` : String(value);
}

/** A curve for each stretch in which it is known how many are missing. */
function curves(list, time, x, y) {
  const stretches = [];
  let open = null;
  for (const [at, value] of list) {
    if (value === null) {
      if (open) open.end = at;
      open = null;
    } else if (open) {
      open.list.push([at, value]);
    } else {
      open = { list: [[at, value]], end: time };
      stretches.push(open);
    }
  }
  const drawn = stretches.flatMap((it) => curve(it.list, it.end, x, y));
  if (open) drawn.push(make("circle", { cx: x(time), cy: y(open.list.at(-1)[1]), r: 4,
    class: "end-dot" }));
  return drawn;
}

function curve(list, time, x, y) {
  const inside = ([at, value]) => `${Math.max(BOX.left, x(at)).toFixed(1)},${y(value).toFixed(1)}`;
  const points = [...list, [time, list[list.length - 1][1]]];
  const steps = points.map((point, index) => {
    const before = index ? ` ${inside([point[0], points[index - 1][1]])}` : "";
    return `${before} ${inside(point)}`;
  }).join(" ");
  const first = inside([points[0][0], 0]);
  const last = inside([time, 0]);
  return [
    make("path", { d: `M${first} L${steps} L${last} Z`, class: "area" }),
    make("path", { d: `M${steps.trim().replace(" ", " L")}`, class: "curve" }),
  ];
}
