// A way to the node that can be cut: what a suspended laptop or a flaky tunnel does to a stream.

import http from "node:http";

export class Proxy {
  static async to(test, address) {
    const proxy = new Proxy(address);
    await new Promise((done) => proxy.server.listen(0, "127.0.0.1", done));
    test.after(() => proxy.close());
    return proxy;
  }

  constructor(address) {
    [this.host, this.port] = address.split(":");
    this.requests = [];
    this.down = false;
    this.sockets = new Set();
    this.server = http.createServer((request, answer) => this.pass(request, answer));
    this.server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
    });
  }

  get base() {
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  pass(request, answer) {
    this.requests.push({ url: request.url, last: request.headers["last-event-id"] ?? null });
    if (this.down) return request.socket.destroy();
    const own = `${this.host}:${this.port}`;
    const headers = { ...request.headers, host: own };
    if (headers.origin) headers.origin = `http://${own}`;
    const options = { host: this.host, port: this.port, path: request.url, headers };
    const onward = http.request({ ...options, method: request.method }, (from) => {
      answer.writeHead(from.statusCode, from.headers);
      from.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    request.pipe(onward);
    return undefined;
  }

  /** Breaks every connection; none can be made until `mend`. */
  cut() {
    this.down = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend() {
    this.down = false;
  }

  close() {
    this.cut();
    return new Promise((done) => this.server.close(done));
  }
}
