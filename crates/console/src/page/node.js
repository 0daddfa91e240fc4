// The node's HTTP API, as this page speaks to it.

const KEPT = "osier.token";

/** Longest wait between two tries to follow a stream again, in milliseconds. */
const RETRY_MS_MAX = 5000;

/** The token is not, or no longer, this node's. */
export class Denied extends Error {}

export function token() {
  return sessionStorage.getItem(KEPT);
}

export function keepToken(text) {
  if (text) sessionStorage.setItem(KEPT, text);
  else sessionStorage.removeItem(KEPT);
}

/** Changes the code of a one-time link for the token. */
export async function redeem(code) {
  const answer = await fetch("/v1/links/use", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const body = await answer.json();
  if (!answer.ok) throw new Denied(body.error);
  return body.token;
}

async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${token()}`, ...options.headers };
  const answer = await fetch(path, { ...options, headers });
  if (answer.status === 401) throw new Denied("the token is not this node's");
  return answer;
}

export async function read(path) {
  const answer = await ask(path, { signal: AbortSignal.timeout(10000) });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

/**
 * Follows a topic until `signal` is aborted. A stream that breaks is taken up where it was:
 * `Last-Event-ID` names the last message that was handled.
 *
 * told: { message(data), state("live" | "lost"), denied() }
 */
export async function follow(topic, tail, signal, told) {
  let last = null;
  let wait = 250;
  while (!signal.aborted) {
    try {
      const path = `/v1/topics/${topic}/events` + (last === null ? `?tail=${tail}` : "");
      const headers = last === null ? {} : { "Last-Event-ID": last };
      const answer = await ask(path, { signal, headers });
      if (!answer.ok) {
        // The place is of a log that is gone: the topic was left and joined again.
        if (answer.status === 400) last = null;
        throw new Error((await answer.json()).error);
      }
      told.state("live");
      for await (const { id, data } of messages(answer.body)) {
        told.message(JSON.parse(data));
        last = id ?? last;
        wait = 250;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Denied) return told.denied();
    }
    told.state("lost");
    await pause(wait, signal);
    wait = Math.min(wait * 2, RETRY_MS_MAX);
  }
}

function pause(ms, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
  });
}

/** Server-sent events of a body: those that ended with an empty line. */
async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let message = { id: null, data: [] };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (message.data.length) yield { id: message.id, data: message.data.join("\n") };
        message = { id: null, data: [] };
      } else if (line.startsWith("data:")) {
        message.data.push(line.slice(5).trimStart());
      } else if (line.startsWith("id:")) {
        message.id = line.slice(3).trim();
      }
    }
  }
}
