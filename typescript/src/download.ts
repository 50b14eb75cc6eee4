/** Result that is coming, over one connection, or over several where they break. */

import { DamagedTransfer } from "./errors.js";
import { hasher } from "./sha256.js";
import type { Progress } from "./source.js";

const RANGE = /^bytes (\d{1,18})-\d{1,18}\/(\d{1,18}|\*)$/;

/** Bytes of a result, counted and hashed as they come. */
export class Download {
  /** Number of bytes of the result. */
  readonly nbytes: number;
  /** Hash of the result by what the server says. */
  readonly sha256: string;
  /** Number of bytes that have come. */
  come = 0;
  readonly #progress: Progress | undefined;
  readonly #hash = hasher();

  constructor(nbytes: number, sha256: string, progress: Progress | undefined) {
    this.nbytes = nbytes;
    this.sha256 = sha256;
    this.#progress = progress;
  }

  /** Fails for an answer that does not go on where the download is. */
  begin(status: number, headers: Headers): void {
    const part = RANGE.exec(headers.get("content-range") ?? "");
    let begins = -1;
    if (status === 200) begins = 0;
    else if (status === 206 && part !== null) begins = Number(part[1]);
    if (begins !== this.come) throw new DamagedTransfer("the result is another one than it was: fetch it again");
  }

  /** Takes what came. */
  take(block: Uint8Array): void {
    if (this.come + block.length > this.nbytes) {
      throw new DamagedTransfer("the result is longer than the server says: fetch it again");
    }
    this.#hash.update(block);
    this.come += block.length;
    this.#progress?.(this.come, this.nbytes);
  }

  /** Fails for other bytes than those that the server says it has. */
  check(): void {
    if (this.#hash.hex() !== this.sha256) {
      throw new DamagedTransfer("the bytes of the result are not those that the server says: fetch it again");
    }
  }
}
