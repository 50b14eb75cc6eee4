/** Server of the page at one origin with a Sunzi server: it serves the folder `build` under a strict policy, and forwards the interface. */

import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";

const BUILD = new URL("../", import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Policy that the page is served with. */
export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'; img-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Page that is served. */
export interface Served {
  /** Address of the page. */
  readonly address: string;
  /** Forwards to this server from now on. */
  to(server: string): void;
  /** Bytes that were forwarded to the server. */
  readonly heard: readonly Buffer[];
  /** Ends the service. */
  close(): void;
}

/** Serves the page, and forwards the interface to a Sunzi server. */
export async function servePage(server: string): Promise<Served> {
  let target = new URL(server);
  const heard: Buffer[] = [];
  const listener = createServer((asked, answer) => {
    const { pathname } = new URL(asked.url ?? "/", "http://localhost");
    if (/^\/(v1\/|health$)/.test(pathname)) {
      asked.on("data", (block: Buffer) => heard.push(block));
      forward(target, asked, answer);
    } else file(pathname, answer);
  });
  await new Promise<void>((ready) => listener.listen(0, "127.0.0.1", ready));
  return {
    address: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/page/index.html`,
    to: (other) => void (target = new URL(other)),
    heard,
    close: () => {
      listener.close();
      listener.closeAllConnections();
    },
  };
}

function file(path: string, answer: ServerResponse): void {
  if (path === "/" || path === "/page/") return void answer.writeHead(302, { location: "/page/index.html" }).end();
  const found = new URL(`.${path}`, BUILD);
  const type = TYPES[extname(path)];
  // Addresses are normalised by now, and the folder has no files that are not public.
  const there = type !== undefined && found.href.startsWith(BUILD.href) && existsSync(found) && statSync(found).isFile();
  const headers = { "content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-cache" };
  answer.writeHead(there ? 200 : 404, { ...headers, "content-type": type ?? "text/plain" });
  answer.end(there ? readFileSync(found) : "there is no such file");
}

function forward(target: URL, asked: IncomingMessage, answer: ServerResponse): void {
  const { method, headers, url } = asked;
  const passed = request({ host: target.hostname, port: target.port, path: url, method, headers: { ...headers, host: target.host } }, (own) => {
    answer.writeHead(own.statusCode ?? 502, own.headers);
    own.pipe(answer);
    own.on("error", () => answer.destroy());
  });
  // The connection ends as that of the server does: a client sees that nobody is there.
  passed.on("error", () => asked.socket.destroy());
  asked.pipe(passed);
}
