// What is said: a badge, a verdict, an event, a time. The node gives the reasons (`why`).

/** A node, author or session as people read it. */
export const short = (id) => (id ? id.slice(0, 8) : "");

export const count = (number) => number.toLocaleString("en");

export const plural = (number, one, many = `${one}s`) =>
  `${count(number)} ${number === 1 ? one : many}`;

export function clock(ms) {
  const date = new Date(ms);
  return date.toLocaleTimeString("en-GB");
}

export function moment(ms) {
  const date = new Date(ms);
  const day = date.toDateString() === new Date().toDateString();
  const options = day ? {} : { day: "numeric", month: "short", year: "numeric" };
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };
  return date.toLocaleString("en-GB", { ...options, ...time });
}

/** A span of time, to a tenth of a second below ten seconds. */
export function span(ms) {
  if (ms < 10000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  if (ms < 120000) return `${Math.round(ms / 1000)} s`;
  return ms < 7200000 ? `${Math.round(ms / 60000)} min` : `${Math.round(ms / 3600000)} h`;
}

const FAILED = ["cut", "refused", "silent", "lost"];

/** Trusted providers that cannot be counted on now. */
export const degraded = (topic) =>
  topic.providers.filter((it) => it.trusted && FAILED.includes(it.outcome));

const floor = (synced) => (synced && synced.coverage !== "complete" ? synced.coverage.from : null);

export const floorOf = (topic) => floor(topic.synced)?.floor ?? null;

/** The kind of a topic's badge and its words. */
export function badge(topic) {
  const { phase } = topic;
  if (phase === "synced") {
    return floor(topic.synced)
      ? { kind: "floor", text: "synced from a floor" } : { kind: "synced", text: "synced" };
  }
  if (phase === "syncing" && degraded(topic).length) return { kind: "degraded", text: "degraded" };
  return { kind: phase, text: phase };
}

/** The kind of a space's badge and its words. */
export function spaceBadge({ verdict, topics }) {
  const bad = topics.filter((it) => it.state === "degraded").length;
  if (verdict === "synced" && bad) return { kind: "degraded", text: `settled, ${bad} degraded` };
  return {
    synced: { kind: "synced", text: "synced" },
    control_degraded: { kind: "failed", text: "its list cannot be had" },
    no_manifest: { kind: "offline", text: "no list yet" },
  }[verdict] ?? { kind: "syncing", text: "syncing" };
}

/** Received and expected entries of the open sessions with trusted providers; null when none. */
export function progress(topic) {
  const open = topic.providers.filter((it) => it.outcome === "streaming" && it.expected > 0);
  if (!open.length) return null;
  const best = open.reduce((a, b) => (b.expected > a.expected ? b : a));
  return { received: Math.min(best.received, best.expected), expected: best.expected };
}

/** Entries known to be missing; null when nobody can tell how many are. */
export function missing(topic) {
  if (topic.phase === "synced") return 0;
  const now = progress(topic);
  const least = Math.max(now ? now.expected - now.received : 0, topic.behind?.lag_entries ?? 0);
  return least || null;
}

/** One sentence on how complete history is. */
export function verdict(topic) {
  if (topic.phase !== "synced") return topic.why ?? "";
  const { synced } = topic;
  const all = plural(synced.entries, "entry", "entries");
  const by = synced.session
    ? `node ${short(synced.provider)} vouches for it, and every chain was checked here`
    : "this node is the only archive, and vouches for itself";
  const agree = {
    converged: synced.convergence.with > 1
      ? `; ${synced.convergence.with} providers hold the same` : "",
    unverified: "",
    diverged: "; but trusted providers disagree",
  }[synced.convergence.kind];
  const holes = synced.dangling
    ? ` ${count(synced.dangling)} named here are held by nobody who was asked.` : "";
  const from = floor(synced);
  if (from) {
    return `History from ${moment(from.floor.time)} on is here: ${all}. ${topic.why}${holes}`;
  }
  return `All of it is here: ${all}, back to the beginning. ${capital(by)}${agree}.${holes}`;
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const CAUSES = {
  gossip_lagged: "live messages came too fast",
  link_lost: "the link was lost",
  new_provider: "another provider has turned up",
  gap: "a predecessor is missing",
  watermark: "a trusted node holds more",
};

const MODES = {
  equal: "both hold the same",
  empty: "everything is sent",
  resume: "going on from last time",
  heads: "heads are compared",
  ranges: "ranges are reconciled",
};

/** What the end of a session left of it, where the word alone does not say. */
const ENDS = { unasked: "it is asked afresh", cut: "something is missing" };

function reason(it) {
  const more = it.cause ?? it.reason ?? it.rule;
  const kind = it.kind.replaceAll("_", " ");
  return more ? `${kind}: ${more}` : kind;
}

/** An event in words, with its tone; null for what is shown elsewhere. */
export function event(it) {
  const who = short(it.provider);
  switch (it.type) {
    case "state":
      return ["", `now: ${it.phase}, ${plural(it.entries, "entry", "entries")} here`];
    case "sync_started":
      return ["", `session ${short(it.session)} with ${who}: ${MODES[it.mode] ?? it.mode}`];
    case "sync_ended":
      return ["", `session ${short(it.session)} with ${who} ended: `
        + (ENDS[it.outcome] ?? it.outcome)];
    case "history_synced":
      return floor(it)
        ? ["floor", `synced from ${moment(floor(it).floor.time)} on, vouched for by ${who}`]
        : ["synced", `synced: ${count(it.entries)} entries, vouched for by ${who}`];
    case "history_sync_degraded":
      return ["degraded", `${who} does not count now: ${reason(it.reason)}`];
    case "history_sync_failed":
      return ["failed", it.reasons.length
        ? `failed: ${it.reasons.map(([id, why]) => `${short(id)}: ${reason(why)}`).join("; ")}`
        : "failed: no trusted provider was found"];
    case "history_truncated":
      return ["floor", `${who} holds history only from a floor on`];
    case "behind":
      return ["behind", `behind: ${CAUSES[it.cause] ?? it.cause}`
        + (it.lag_entries ? `; at least ${count(it.lag_entries)} missing` : "")];
    case "caught_up":
      return ["synced", `caught up: state ${short(it.state_hash)}`];
    case "diverged":
      return ["diverged", "trusted providers disagree"];
    case "author_forked":
      return ["failed", `author ${short(it.author)} signed two entries at one place`];
    case "withdrawn":
      return ["degraded", `a revocation took ${count(it.entries)} entries out of the history`];
    case "provider_up":
      return ["", `${who} can be reached`];
    case "provider_down":
      return ["degraded", `${who} cannot be reached`];
    case "lagged":
      return ["behind", `${count(it.missed)} events were left out here`];
    case "broken":
      return ["failed", `broken off: ${it.error}`];
    default:
      return null;
  }
}
