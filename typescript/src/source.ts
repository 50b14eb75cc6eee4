/** Bytes to send, which are read anew whenever they are sent again. What says that it is a secret is refused. */

import { Changed, SecretRefused } from "./errors.js";
import { BEGINNING, secretKind } from "./secrets.js";
import { hasher } from "./sha256.js";

/** Bytes of a stream that can be opened again. */
export interface Streamed {
  /** Number of bytes that the stream has. */
  readonly nbytes: number;
  /** Opens the stream from its first byte on; it is called once before anything is sent, and for each attempt to send. */
  open(): ReadableStream<Uint8Array> | Promise<ReadableStream<Uint8Array>>;
}

/** Bytes to send: a Blob such as a file, an array, or a stream that can be opened again. */
export type Content = Blob | Uint8Array | Streamed;

/** Function that is called with the number of bytes that were sent or have come, and of all. */
export type Progress = (done: number, total: number) => void;

/** Number of bytes that are read, sent and hashed at a time. */
export const BLOCK = 1 << 18;

/** Bytes to send, with their name and their number. */
export class Source {
  /** Name by which messages call the bytes. */
  readonly name: string;
  /** Number of the bytes. */
  readonly nbytes: number;
  readonly #content: Content;
  #sha256: string | undefined;

  constructor(name: string, content: Content) {
    this.name = name;
    this.#content = content;
    this.nbytes = lengthOf(name, content);
  }

  /**
   * Reads the first bytes.
   *
   * @throws SecretRefused where they say that the bytes are a secret.
   */
  async check(): Promise<void> {
    const first = new Uint8Array(BEGINNING);
    let at = 0;
    for await (const block of this.blocks()) {
      const part = block.subarray(0, BEGINNING - at);
      first.set(part, at);
      at += part.length;
      if (at === BEGINNING) break;
    }
    const what = secretKind(first.subarray(0, at));
    if (what !== undefined) {
      const give = "give the files of the folder eval, or the encrypted table";
      throw new SecretRefused(`'${this.name}' is ${what}, which never goes to a server: ${give}`);
    }
  }

  /** Returns what a request of a browser takes: it sends no streams. A stream is gathered in a Blob, which browsers may keep on disk. */
  async whole(): Promise<Blob> {
    const content = this.#content;
    if (content instanceof Blob) return content;
    const opened = content instanceof Uint8Array ? (content as Uint8Array<ArrayBuffer>) : await content.open();
    const whole = await new Response(opened).blob();
    if (whole.size !== this.nbytes) throw this.#changed("has another number of bytes than was said");
    return whole;
  }

  /** Returns the hash of all bytes, which is computed once. */
  async sha256(whole: Blob): Promise<string> {
    if (this.#sha256 === undefined) {
      const hash = hasher();
      for await (const block of read(whole.stream())) hash.update(block);
      this.#sha256 = hash.hex();
    }
    return this.#sha256;
  }

  /**
   * Reads the bytes in blocks of at most 256 KiB.
   *
   * @throws Changed where there are more or fewer than there were when the source was made: before the last block, so that no request with other bytes is whole.
   */
  async *blocks(): AsyncGenerator<Uint8Array> {
    let left = this.nbytes;
    let held: Uint8Array | undefined;
    try {
      for await (const chunk of this.#chunks()) {
        if (chunk.length > left) throw this.#changed("has more bytes than were said");
        left -= chunk.length;
        for (let at = 0; at < chunk.length; at += BLOCK) {
          if (held !== undefined) yield held;
          held = chunk.subarray(at, at + BLOCK);
        }
      }
    } catch (error) {
      // A file that changed after it was chosen.
      if (error instanceof DOMException && error.name === "NotReadableError") throw this.#changed("cannot be read any more");
      throw error;
    }
    if (left > 0) throw this.#changed("became shorter while it was sent");
    if (held !== undefined) yield held;
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    const content = this.#content;
    if (content instanceof Uint8Array) yield content;
    else yield* read(content instanceof Blob ? content.stream() : await content.open());
  }

  #changed(what: string): Changed {
    return new Changed(`'${this.name}' ${what}: send it again when nobody writes to it`);
  }
}

/** Reads a stream to its end; whoever stops before cancels it. Not every browser iterates streams by itself. */
async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let isEnded = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        isEnded = true;
        return;
      }
      if (!(value instanceof Uint8Array)) throw new TypeError("a stream to send has something else than bytes: expected blocks of type Uint8Array");
      yield value;
    }
  } finally {
    if (!isEnded) await reader.cancel().catch(() => undefined);
  }
}

function lengthOf(name: string, content: Content): number {
  if (content instanceof Blob) return content.size;
  if (content instanceof Uint8Array) return content.length;
  if (typeof content === "object" && content !== null && typeof content.open === "function") {
    if (Number.isSafeInteger(content.nbytes) && content.nbytes >= 0) return content.nbytes;
    throw new RangeError(`'${name}' says that it has ${String(content.nbytes)} bytes: expected a whole number from 0 on`);
  }
  throw new TypeError(`'${name}' is nothing that can be sent: give a Blob, a Uint8Array, or an object with nbytes and open()`);
}

/** Milliseconds after the first block, in which a server says that it takes no such upload. */
const FIRST = 50;

/**
 * Lets the runtime read what has come. A server that refuses an upload before its end closes the connection, and its answer would be lost by a write that
 * fails.
 */
function turn(milliseconds: number): Promise<void> {
  if (milliseconds === 0 && typeof setImmediate === "function") return new Promise((resolve) => setImmediate(resolve));
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** One attempt to send a source: its bytes counted and hashed as they go. */
export class Upload {
  readonly source: Source;
  /** Error of the source or of whoever is told of progress; undefined where there is none. */
  failure: unknown;
  readonly #before: number;
  readonly #total: number;
  readonly #progress: Progress | undefined;
  readonly #hash = hasher();
  #sha256: string | undefined;
  #sent = 0;
  #told: number | undefined;
  #isFirst = true;

  constructor(source: Source, before: number, total: number, progress: Progress | undefined) {
    this.source = source;
    this.#before = before;
    this.#total = total;
    this.#progress = progress;
  }

  /** Returns the hash of what was sent; undefined before all of it was. */
  get sha256(): string | undefined {
    return this.#sha256;
  }

  /** Returns the bytes for a request that takes a stream. `rest` is called before the source is read, `touch` when there is a block to send. */
  stream(rest: () => void, touch: () => void): ReadableStream<Uint8Array> {
    const blocks = this.source.blocks();
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        rest();
        // What was handed over before has been taken.
        if (this.#sent > 0) this.#tell();
        await turn(this.#sent > 0 && this.#isFirst ? FIRST : 0);
        this.#isFirst = this.#sent === 0;
        const { done, value } = await blocks.next();
        touch();
        if (done) return this.#end(controller);
        this.#hash.update(value);
        this.#sent += value.length;
        controller.enqueue(value);
        // The server may answer before this is called again.
        if (this.#sent === this.source.nbytes) this.#end(controller);
      } catch (error) {
        this.failure = error;
        throw error;
      }
    };
    const cancel = async (): Promise<void> => {
      await blocks.return(undefined);
    };
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  /** Returns the bytes for a request that takes no stream: they are hashed before they are sent. */
  async whole(): Promise<Blob> {
    const whole = await this.source.whole();
    this.#sha256 = await this.source.sha256(whole);
    return whole;
  }

  /** Tells that all was sent, if that was not told. */
  finish(): void {
    this.#sent = this.source.nbytes;
    if (this.#told !== this.#sent) this.#tell();
  }

  #end(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#sha256 = this.#hash.hex();
    controller.close();
  }

  #tell(): void {
    this.#told = this.#sent;
    this.#progress?.(this.#before + this.#sent, this.#total);
  }
}
