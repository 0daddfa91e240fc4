// The dashboard: opens with a link, follows the node, shows what it says.
//
// Nothing is worked out twice: an event of the stream only says that something has changed, and the
// present state is then asked for.

import * as chart from "./chart.js";
import * as graph from "./graph.js";
import * as node from "./node.js";
import * as view from "./view.js";
import * as word from "./word.js";

/** Between two looks at everything: while something moves, and otherwise. Milliseconds. */
const LOOK_MS = { moving: 500, still: 2000 };

/** Least time between two looks, however many events come. Milliseconds. */
const LOOK_MS_MIN = 120;

/** After a look, so many times as long as it took. */
const REST = 4;

/** Between two drawings of the graph while entries stream in. Milliseconds. */
const DRAW_MS = 150;

const state = { topics: [], selected: null, stream: null, spoken: new Map(), denied: false };

function showDoor(why) {
  state.denied = true;
  state.stream?.abort();
  state.stream = null;
  node.keepToken(null);
  view.at("board").hidden = true;
  view.at("door").hidden = false;
  if (why) view.text(view.at("door-error"), why);
  view.at("link").dataset.state = "closed";
  view.text(view.at("link"), "not open");
}

function showBoard() {
  state.denied = false;
  view.at("door").hidden = true;
  view.at("board").hidden = false;
}

/** Whether the stream and the last look are well; what is shown is old when the look is not. */
const well = { stream: true, look: true };

function link(part, ok) {
  well[part] = ok;
  const element = view.at("link");
  element.dataset.state = well.stream && well.look ? "live" : "lost";
  const lost = well.look ? "the stream broke off; following again" : "no answer; trying again";
  view.text(element, element.dataset.state === "live" ? "live" : lost);
  document.body.classList.toggle("stale", !well.look);
}

/** Says a change of phase to those who listen; the first state of each topic is not news. */
function say(topics) {
  const news = [];
  for (const topic of topics) {
    const { text } = word.badge(topic);
    const known = state.spoken.get(topic.id);
    if (known !== undefined && known !== text) news.push(`${topic.name}: ${text}`);
    state.spoken.set(topic.id, text);
  }
  if (news.length) view.text(view.at("say"), news.join(". "));
}

let looking = null;
let again = false;
let timer = null;

/** Asks for the present state, now or when the look that goes on is over. */
function look() {
  if (looking) {
    again = true;
    return;
  }
  clearTimeout(timer);
  again = false;
  looking = lookOnce().then((took) => {
    looking = null;
    if (state.denied) return;
    const open = (it) => it.phase !== "synced" && it.phase !== "failed";
    const expected = named() && named() !== state.selected;
    const moving = expected || state.topics.some(open);
    const soon = again ? LOOK_MS_MIN : moving ? LOOK_MS.moving : LOOK_MS.still;
    // A node with a thousand topics is not kept busy with being looked at.
    timer = setTimeout(look, Math.max(soon, took * REST));
  });
}

async function lookOnce() {
  const begun = performance.now();
  try {
    const { topics } = await node.read("/v1/topics");
    const { spaces } = await node.read("/v1/spaces");
    const { relay } = await node.read("/v1/relay");
    link("look", true);
    state.topics = topics;
    show();
    view.spaces(spaces);
    view.relay(relay);
  } catch (error) {
    if (error instanceof node.Denied) showDoor("The node was started anew. Print another link.");
    else link("look", false);
  }
  return performance.now() - begun;
}

function selected() {
  return state.topics.find((it) => it.id === state.selected);
}

function show() {
  const now = Date.now();
  say(state.topics);
  for (const topic of state.topics) chart.note(topic, now);
  chart.forgetAllBut(new Set(state.topics.map((it) => it.id)));
  choose();
  view.topics(state.topics, state.selected);
  const topic = selected();
  view.at("detail").hidden = !topic;
  if (!topic) return;
  view.topic(topic);
  view.tick();
  chart.draw(topic, now);
  document.title = `${topic.name}: ${word.badge(topic).text} - Osier`;
}

/** The topic that the address names. */
const named = () => /^#topic=([0-9a-f]{64})$/.exec(location.hash)?.[1];

/** The topic that the address names, once it is there; otherwise the present one, or the first. */
function choose() {
  const wanted = state.topics.find((it) => it.id === named()) ?? selected() ?? state.topics[0];
  if (wanted?.id === state.selected) return;
  state.selected = wanted?.id ?? null;
  state.stream?.abort();
  graph.clear();
  view.at("told").replaceChildren();
  if (wanted) follow(wanted.id);
}

let drawing = null;

function drawSoon() {
  drawing ??= setTimeout(() => {
    drawing = null;
    graph.draw();
  }, DRAW_MS);
}

function follow(topic) {
  const stream = new AbortController();
  state.stream = stream;
  graph.draw();
  node.follow(topic, graph.SHOWN, stream.signal, {
    message(message) {
      if (message.type === "entry") {
        graph.add(message);
        drawSoon();
      } else {
        view.told(message, Date.now());
      }
      look();
    },
    state: (kind) => link("stream", kind === "live"),
    denied: () => showDoor("The node was started anew. Print another link."),
  });
}

async function open(text) {
  const code = /#([0-9a-f]{64})$/.exec(text)?.[1];
  try {
    node.keepToken(code ? await node.redeem(code) : text.trim());
  } catch (error) {
    return showDoor(`${word.capital(error.message)}.`);
  }
  return start();
}

async function start() {
  try {
    const { node: id, version } = await node.read("/v1/node");
    view.text(view.at("node"), `node ${word.short(id)}, version ${version}`);
    view.at("node").title = id;
    graph.own(id);
  } catch (error) {
    if (error instanceof node.Denied) return showDoor(`${word.capital(error.message)}.`);
    link("look", false);
  }
  showBoard();
  look();
}

function listen() {
  view.at("door-form").addEventListener("submit", (event) => {
    event.preventDefault();
    open(view.at("door-text").value);
    view.at("door-text").value = "";
  });
  addEventListener("hashchange", () => {
    if (/^#[0-9a-f]{64}$/.test(location.hash)) return openFromAddress();
    if (!location.hash.startsWith("#topic=")) return undefined;
    show();
    return undefined;
  });
  view.at("topics").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const links = [...view.at("topics").querySelectorAll("a")];
    links[links.indexOf(document.activeElement) + step]?.focus();
  });
  view.at("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    setTheme(now === "dark" ? "light" : "dark");
  });
  graph.listen();
  setInterval(view.tick, 100);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("osier.theme", theme);
}

/** The code of a link is used at once, and does not stay in the address. */
function openFromAddress() {
  const address = location.hash;
  history.replaceState(null, "", "/");
  return open(address);
}

const theme = localStorage.getItem("osier.theme");
if (theme) setTheme(theme);
listen();
if (/^#[0-9a-f]{64}$/.test(location.hash)) openFromAddress();
else if (node.token()) start();
else showDoor("");
