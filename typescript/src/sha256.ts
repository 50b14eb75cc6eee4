/**
 * SHA-256 of bytes that come in blocks.
 *
 * `crypto.subtle` hashes whole buffers alone, and tables and results may be longer than memory. Node's own hash serves where there is one; browsers take the
 * implementation below. What it hashes is public: encrypted bytes and programs.
 */

/** Hash that takes blocks. */
export interface Hasher {
  /** Takes a block. */
  update(block: Uint8Array): void;
  /** Returns the hash as 64 hexadecimal digits; nothing may be taken afterwards. */
  hex(): string;
}

interface NodeCrypto {
  createHash(name: string): { update(block: Uint8Array): unknown; digest(form: "hex"): string };
}

/** Makes a hash: Node's where there is one. */
export function hasher(): Hasher {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const own = process?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined;
  if (own === undefined) return new Sha256();
  const hash = own.createHash("sha256");
  return { update: (block) => void hash.update(block), hex: () => hash.digest("hex") };
}

/** Bytes of a block of SHA-256. */
const BLOCK = 64;

/** Returns the first `count` primes. */
function primes(count: number): number[] {
  const found: number[] = [];
  for (let next = 2; found.length < count; next += 1) {
    if (found.every((prime) => next % prime !== 0)) found.push(next);
  }
  return found;
}

/** Returns the first 32 bits of the fraction of a root: FIPS 180-4 defines the constants so, sections 4.2.2 and 5.3.3. */
function fraction(prime: number, degree: 2n | 3n): number {
  // floor(2^32 root), exactly, by halving an interval of integers.
  const power = BigInt(prime) << (32n * degree);
  let [low, high] = [0n, 1n << 40n];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (middle ** degree <= power) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn) | 0;
}

const CONSTANTS = Int32Array.from(primes(64), (prime) => fraction(prime, 3n));
const INITIAL = Int32Array.from(primes(8), (prime) => fraction(prime, 2n));

/** SHA-256 by FIPS 180-4. */
export class Sha256 implements Hasher {
  readonly #state = INITIAL.slice();
  readonly #words = new Int32Array(64);
  readonly #rest = new Uint8Array(BLOCK);
  #length = 0;

  update(block: Uint8Array): void {
    let at = 0;
    const begun = this.#length % BLOCK;
    this.#length += block.length;
    if (begun > 0) {
      at = Math.min(BLOCK - begun, block.length);
      this.#rest.set(block.subarray(0, at), begun);
      if (begun + at < BLOCK) return;
      this.#compress(this.#rest, 0);
    }
    for (; at + BLOCK <= block.length; at += BLOCK) this.#compress(block, at);
    this.#rest.set(block.subarray(at));
  }

  hex(): string {
    const begun = this.#length % BLOCK;
    const end = new Uint8Array(begun < BLOCK - 8 ? BLOCK - begun : 2 * BLOCK - begun);
    end[0] = 0x80;
    const bits = BigInt(this.#length) * 8n;
    new DataView(end.buffer).setBigUint64(end.length - 8, bits);
    this.update(end);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /** Works a block of 64 bytes into the state. */
  #compress(bytes: Uint8Array, at: number): void {
    const words = this.#words;
    for (let i = 0; i < 16; i += 1) {
      const j = at + 4 * i;
      words[i] = (bytes[j]! << 24) | (bytes[j + 1]! << 16) | (bytes[j + 2]! << 8) | bytes[j + 3]!;
    }
    for (let i = 16; i < 64; i += 1) {
      const early = words[i - 15]!;
      const late = words[i - 2]!;
      const small = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      const large = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      words[i] = (words[i - 16]! + small + words[i - 7]! + large) | 0;
    }
    rounds(this.#state, words);
  }
}

/** Turns a word to the right. */
function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Performs the 64 rounds of a block. */
function rounds(state: Int32Array, words: Int32Array): void {
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i += 1) {
    const sum = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = (h + sum + ((e & f) ^ (~e & g)) + CONSTANTS[i]! + words[i]!) | 0;
    const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  // Int32Array keeps the last 32 bits of a sum.
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}
