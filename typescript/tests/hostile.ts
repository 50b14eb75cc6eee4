/** Server that answers what a test tells it, and what such answers are made of. */

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { Client, type ClientOptions } from "sunzi";

/** Token that opens nothing. */
export const TOKEN = `sunzi-${"0".repeat(16)}-${"1".repeat(64)}`;
export const ID = "ab".repeat(16);
export const RESULT = Uint8Array.from({ length: 256_000 }, (_, at) => at % 256);
export const HASH = sha256(RESULT);
export const JOB = {
  id: ID,
  state: "done",
  program: "p",
  keys: "k",
  tables: ["t"],
  created: 0,
  finished: 1,
  bytes: RESULT.length,
  sha256: HASH,
};
export const ACCOUNT = { name: "ada", created: 0, bytes: 1, jobs: 1, limits: { bytes: 1 } };

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Request as it came. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Function that answers a request. */
export type Answering = (response: ServerResponse, asked: Asked) => void;

/** Answers with these bytes. */
export function answer(body: Uint8Array | string, status = 200, headers: Record<string, string> = {}): Answering {
  return (response) => {
    response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers });
    response.end(body);
  };
}

/** Answers with JSON. */
export function told(value: unknown): Answering {
  return answer(JSON.stringify(value));
}

/** Answers with a part of the result; `cut` says how many bytes of it come before the connection breaks. */
export function part(from: number, to: number, options: { cut?: number; total?: string } = {}): Answering {
  return (response) => {
    const range = `bytes ${from}-${to - 1}/${options.total ?? RESULT.length}`;
    response.writeHead(206, { "content-length": to - from, "content-range": range });
    if (options.cut === undefined) response.end(RESULT.subarray(from, to));
    else response.write(RESULT.subarray(from, from + options.cut), () => setTimeout(() => response.destroy(), 20));
  };
}

/** Sends blocks as long as they are taken. */
export function endless(block: Uint8Array, headers: Record<string, string> = {}): Answering {
  return (response) => {
    response.writeHead(200, headers);
    const more = (): void => {
      while (!response.destroyed && response.write(block)) continue;
    };
    response.on("drain", more);
    more();
  };
}

/** Sends bytes that are no answer of HTTP, and ends the connection. */
export function raw(bytes: Uint8Array | string): Answering {
  return (response) => {
    response.socket?.end(bytes);
  };
}

/** Breaks the connection without an answer. */
export const broken: Answering = (response) => {
  response.destroy();
};

/** Sends nothing. */
export const silent: Answering = () => undefined;

/** Server that gives the answers in their order, the last one again and again. */
export class Hostile {
  readonly requests: Asked[] = [];
  readonly #answers: Answering[];
  readonly #server = createServer((request, response) => this.#serve(request, response));

  constructor(answers: Answering[]) {
    this.#answers = [...answers];
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Makes a client of this server, without patience unless told otherwise. */
  client(options: Partial<ClientOptions> = {}): Client {
    return new Client({ server: this.address, token: TOKEN, patience: 0, ...options });
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = [];
    response.on("error", () => undefined);
    request.on("error", () => undefined);
    request.on("data", (block: Buffer) => parts.push(block));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const asked = { method, path: url, headers, body: Buffer.concat(parts) };
      this.requests.push(asked);
      const next = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
      next?.(response, asked);
    });
  }
}

/** Runs a block with a server, which is closed at its end. */
export async function hostile(answers: Answering[], block: (server: Hostile) => Promise<void>): Promise<void> {
  const server = new Hostile(answers);
  await server.listen();
  try {
    await block(server);
  } finally {
    await server.close();
  }
}
