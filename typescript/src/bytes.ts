/** Bytes that are gathered in memory. */

/** Least number of bytes that memory is taken for. */
const LEAST = 1 << 16;

/** Buffer that grows with what comes, so that neither many small parts nor a length that is only claimed take memory. */
export class Gathered {
  readonly #most: number;
  #buffer = new Uint8Array(0);
  #length = 0;

  /** Makes a buffer of at most `most` bytes. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a block; returns false, and takes nothing of it, where there would be too many bytes. */
  take(block: Uint8Array): boolean {
    const length = this.#length + block.length;
    if (length > this.#most) return false;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(this.#most, Math.max(LEAST, 2 * this.#buffer.length, length)));
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(block, this.#length);
    this.#length = length;
    return true;
  }

  /** Returns the bytes. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#length === this.#buffer.length ? this.#buffer : this.#buffer.slice(0, this.#length);
  }
}
