// Real `osier` processes on loopback, each in a folder of its own, ended when the test ends.

import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { until } from "./wait.js";

const run = promisify(execFile);

function binary() {
  const target = process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, "../../../target");
  const path = process.env.OSIER_BINARY ?? join(target, "debug/osier");
  if (!existsSync(path)) {
    throw new Error(`${path} is missing: run \`cargo xtask test browser\`, which builds it`);
  }
  return path;
}

export class Node {
  /** Starts a node and waits until it is ready. `settings` are variables, such as OSIER_ROLE. */
  static async start(test, settings = {}) {
    const folder = await mkdtemp(join(tmpdir(), "osier-browser-"));
    const node = new Node(join(folder, "data"), settings);
    test.after(async () => {
      await node.stop();
      await rm(folder, { recursive: true, force: true });
    });
    await node.run();
    return node;
  }

  constructor(data, settings) {
    this.data = data;
    this.settings = settings;
  }

  async run() {
    const before = await this.runFile();
    const api = this.address ?? "127.0.0.1:0";
    const args = ["run", "--listen-p2p", "127.0.0.1:0", "--listen-api", api];
    this.child = spawn(binary(), ["--json", "--data-dir", this.data, ...args], {
      env: { ...process.env, NO_COLOR: "1", ...this.settings },
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.ended = new Promise((done) => this.child.once("exit", done));
    this.printed = "";
    this.child.stdout.on("data", (text) => { this.printed += text; });
    await until("the node is ready", async () => {
      if (this.child.exitCode !== null) throw new Error("osier run ended before it was ready");
      const now = await this.runFile();
      return now && now !== before && this.printed.includes('"dashboard"');
    });
    const file = JSON.parse(await this.runFile());
    this.id = file.node;
    this.address = file.api;
    this.base = `http://${file.api}`;
    this.token = (await readFile(join(this.data, "api.token"), "utf8")).trim();
  }

  async runFile() {
    return readFile(join(this.data, "run.json"), "utf8").catch(() => null);
  }

  /** The one-time link that the start printed. */
  get link() {
    return /http:\/\/[0-9.:]+\/#[0-9a-f]{64}/.exec(this.printed)[0];
  }

  /** Runs another command on the node's folder. */
  async osier(...args) {
    const { stdout } = await run(binary(), ["--data-dir", this.data, ...args], {
      env: { ...process.env, NO_COLOR: "1" },
      maxBuffer: 1 << 26,
    });
    return stdout.trim();
  }

  async newTopic(name) {
    await this.osier("topic", "new", name);
    return this.ticket(name);
  }

  async ticket(name) {
    return this.osier("topic", "ticket", name);
  }

  async publish(topic, lines) {
    const file = join(this.data, "lines.txt");
    await writeFile(file, lines.join("\n"));
    await this.osier("publish", topic, file, "--lines");
  }

  async topic(name) {
    const headers = { Authorization: `Bearer ${this.token}` };
    const answer = await fetch(`${this.base}/v1/topics/${name}`, { headers });
    return answer.json();
  }

  async untilPhase(name, phase) {
    await until(`${name} is ${phase}`, async () => (await this.topic(name)).phase === phase);
  }

  /** Holds the process still, as an overloaded machine would; `resume` lets it go on. */
  pause() {
    this.child.kill("SIGSTOP");
  }

  resume() {
    this.child.kill("SIGCONT");
  }

  /** Ends the process without a word, as a power cut would. */
  async kill() {
    this.child?.kill("SIGKILL");
    await this.ended;
  }

  /** Ends the process as a service manager does: it tells its peers. */
  async end() {
    this.child.kill("SIGTERM");
    await this.ended;
  }

  async stop() {
    await this.kill();
  }
}

export const lines = (count, name = "line") =>
  Array.from({ length: count }, (_, index) => `${name} ${index + 1}`);
