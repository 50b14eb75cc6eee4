/** Requests over `fetch`: no redirect is followed, no cookie is kept, answers are of limited length and time. */

import { Gathered } from "./bytes.js";
import { ForeignAnswer } from "./errors.js";
import type { Login } from "./login.js";
import { Upload } from "./source.js";

/** Longest answer in JSON, in bytes. */
export const LONGEST = 1 << 24;
/** Seconds to connect, and without a byte in either direction, unless told otherwise. */
export const SILENCE = 120;
/** Least number of bytes a second of an upload: the server refuses slower ones. */
const LEAST_RATE = 1 << 10;
/** Longest time that a timer takes, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Errors of certificates, as Node names them. */
const UNTRUSTED = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECRYPT)|.*_IN_CERT)/;
/** Errors of connections, as Node names them, in words. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection broke",
  EPIPE: "the connection broke",
  ENOTFOUND: "there is no machine of this name",
  EAI_AGAIN: "the name of the machine is not found now",
  UND_ERR_SOCKET: "the connection broke",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "no answer in time",
  UND_ERR_BODY_TIMEOUT: "no answer in time",
};

/** Function that sends a request, with the parameters of the `fetch` of browsers and Node. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Request. */
export interface Ask {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Upload;
}

/** Answer of the server: status code, headers, and all of its body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Connection that did not come about, or broke before the whole answer was there. */
export class Lost extends Error {
  /** Whether it would break again: the certificate is not trusted. */
  readonly isHopeless: boolean;

  constructor(told: string, isHopeless = false) {
    super(told);
    this.isHopeless = isHopeless;
  }
}

/** Limits of time of one request, and its end by whoever asked for it. */
class Watch {
  readonly controller = new AbortController();
  /** Whether the time is over. */
  isLate = false;
  readonly #seconds: number;
  readonly #signal: AbortSignal | undefined;
  readonly #stop = (): void => this.controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(seconds: number, signal: AbortSignal | undefined) {
    this.#seconds = seconds;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#stop, { once: true });
  }

  /** Begins the time anew, `more` seconds longer than it is otherwise. */
  touch = (more = 0): void => {
    this.rest();
    // A body may be read a little longer than its request lasts.
    if (this.controller.signal.aborted) return;
    const late = (): void => {
      this.isLate = true;
      this.controller.abort();
    };
    this.#timer = setTimeout(late, Math.min(1000 * (this.#seconds + more), LONGEST_TIMER));
  };

  /** Stops the time, while the server is not waited for. */
  rest = (): void => clearTimeout(this.#timer);

  /** Ends the request if it has not ended. */
  end(): void {
    this.rest();
    this.#signal?.removeEventListener("abort", this.#stop);
    this.controller.abort();
  }
}

/** Answer whose body has not come yet. It has to be read to its end or closed. */
export class Opened {
  readonly status: number;
  readonly headers: Headers;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #watch: Watch;
  readonly #told: (error: unknown) => unknown;

  constructor(response: Response, watch: Watch, told: (error: unknown) => unknown) {
    this.status = response.status;
    this.headers = response.headers;
    this.#reader = response.body?.getReader();
    this.#watch = watch;
    this.#told = told;
  }

  /** Reads the body; the time between two blocks is limited, not the time that the reader takes. */
  async *blocks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      this.#watch.touch();
      const block = await this.#next();
      this.#watch.rest();
      if (block === undefined) return;
      if (block.length > 0) yield block;
    }
  }

  /** Reads the whole body, of limited length and time. */
  async body(): Promise<Uint8Array> {
    const body = new Gathered(LONGEST);
    this.#watch.touch();
    for (;;) {
      const block = await this.#next();
      if (block === undefined) return body.bytes();
      if (!body.take(block)) {
        throw new ForeignAnswer(`an answer of more than ${LONGEST} bytes, which no server of Sunzi gives: check the address`);
      }
    }
  }

  /** Ends the request. */
  close(): void {
    this.#watch.end();
    // The reader of a request that was ended has an error already.
    this.#reader?.cancel().catch(() => undefined);
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      const read = await this.#reader?.read();
      return read === undefined || read.done ? undefined : read.value;
    } catch (error) {
      throw this.#told(error);
    }
  }
}

/** Whether this is Node, or another runtime whose `fetch` sends streams and lets programs choose all headers. */
function isNode(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

/** Sender of requests of one login. */
export class Transport {
  readonly #login: Login;
  readonly #fetch: Fetch;
  readonly #silence: number;
  readonly #isNode = isNode();

  constructor(login: Login, fetch: Fetch | undefined, silence: number) {
    if (!(silence > 0)) throw new RangeError(`silence is ${silence}: give a number of seconds above 0`);
    this.#login = login;
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#silence = silence;
  }

  /**
   * Sends a request and returns its whole answer.
   *
   * @throws Lost where the connection breaks, ForeignAnswer for an answer that no server gives, and the reason of the signal.
   */
  async ask(ask: Ask, signal: AbortSignal | undefined): Promise<Answer> {
    const opened = await this.open(ask, signal);
    try {
      const body = await opened.body();
      if (ask.body instanceof Upload && opened.status < 300) ask.body.finish();
      return { status: opened.status, headers: opened.headers, body };
    } finally {
      opened.close();
    }
  }

  /**
   * Sends a request and returns its answer before the body has come.
   *
   * @throws as `ask`.
   */
  async open(ask: Ask, signal: AbortSignal | undefined): Promise<Opened> {
    signal?.throwIfAborted();
    const watch = new Watch(this.#silence, signal);
    const told = (error: unknown): unknown => {
      if (signal?.aborted) return signal.reason;
      if (ask.body instanceof Upload && ask.body.failure !== undefined) return ask.body.failure;
      if (watch.isLate) return new Lost("no answer in time");
      return isRedirected(error) ? redirected(this.#login.server) : lost(error);
    };
    try {
      const init = await this.#request(ask, watch);
      signal?.throwIfAborted();
      const response = await this.#fetch(this.#login.server + ask.path, init);
      watch.rest();
      if (isRedirect(response)) throw redirected(this.#login.server);
      return new Opened(response, watch, told);
    } catch (error) {
      watch.end();
      throw error instanceof ForeignAnswer ? error : told(error);
    }
  }

  /** Makes a request. */
  async #request(ask: Ask, watch: Watch): Promise<RequestInit> {
    const headers = new Headers(ask.headers);
    headers.set("authorization", this.#login.authorization());
    const init: RequestInit & { duplex?: "half" } = {
      method: ask.method,
      headers,
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal: watch.controller.signal,
    };
    if (this.#isNode) {
      // Browsers choose these themselves.
      headers.set("accept-encoding", "identity");
      headers.set("user-agent", "sunzi-typescript");
    }
    if (!(ask.body instanceof Upload)) {
      if (ask.body !== undefined) init.body = ask.body;
      watch.touch();
    } else if (this.#isNode) {
      headers.set("content-length", String(ask.body.source.nbytes));
      init.body = ask.body.stream(watch.rest, watch.touch);
      init.duplex = "half";
      // As the standard of fetch says, a request with other values is copied, and Node keeps all of a stream in memory for the copy.
      init.redirect = "error";
      init.window = null;
      watch.touch();
    } else {
      init.body = await prepared(ask.body);
      watch.touch(ask.body.source.nbytes / LEAST_RATE);
    }
    return init;
  }
}

async function prepared(upload: Upload): Promise<Blob> {
  try {
    return await upload.whole();
  } catch (error) {
    upload.failure = error;
    throw error;
  }
}

/** Whether an answer is a redirect, or came after one that was followed against what was asked. Browsers hide the status of redirects. */
function isRedirect(response: Response): boolean {
  return response.type === "opaqueredirect" || response.redirected || (response.status >= 300 && response.status < 400);
}

/** Whether a request failed by a redirect, where redirects are errors: Node says so in words alone. */
function isRedirected(error: unknown): boolean {
  return error instanceof TypeError && error.cause instanceof Error && error.cause.message === "unexpected redirect";
}

/** Returns the error of a redirect. */
function redirected(server: string): ForeignAnswer {
  return new ForeignAnswer(`${server} redirects, and a token goes to the address alone that was given for it: check the address`);
}

/** Returns an error of the connection without the request, which has the token. */
function lost(error: unknown): Lost {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (UNTRUSTED.test(code)) {
    const message = `the certificate is not trusted (${code}): NODE_EXTRA_CA_CERTS names a file of certificates to trust`;
    return new Lost(message, true);
  }
  const text = cause instanceof Error ? cause.message : "";
  return new Lost(WORDS[code] ?? (text || code || "the connection broke"));
}
