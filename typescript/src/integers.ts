/** Arrays of encrypted integers in BFV, with sums and products. */

import type * as Module from "../wasm/sunzi_wasm.js";

import type { Bytes, OwnFiles } from "./local.js";
import { called } from "./module.js";

/** Needs of a computation. */
export interface Needs {
  /** Number of products one after the other; 1 where there is none. */
  readonly depth?: number | undefined;
  /** Bits of the plaintext modulus, which results are taken modulo; 20 where there is none. */
  readonly plainBits?: number | undefined;
  /** log2 of the ring's degree; the least that is secure where there is none. */
  readonly log2Degree?: number | undefined;
}

/** Files of parameters and keys of integers. */
export type IntegerFiles = Omit<OwnFiles, "passphrase" | "galois">;

/** Parameters of encrypted integers, with the keys that this party has. */
export class Integers {
  readonly #inner: Module.Integers;

  private constructor(inner: Module.Integers) {
    this.#inner = inner;
  }

  /**
   * Chooses parameters for what a computation needs, at 128 bits of security, and generates all keys.
   *
   * @throws Refused for needs that no parameters hold.
   */
  static generate(needs: Needs = {}): Integers {
    return new Integers(called((module) => module.Integers.generate(JSON.stringify(needs))));
  }

  /**
   * Reads parameters and keys from their files.
   *
   * @throws Refused for files that are damaged or do not belong together.
   */
  static open({ parameters, secret, publicKey, relinearization }: IntegerFiles): Integers {
    return new Integers(called((module) => module.Integers.open(parameters, secret, publicKey, relinearization)));
  }

  /** Number of integers in a ciphertext. */
  get slots(): number {
    return called(() => this.#inner.slots);
  }

  /** Degree of the ring. */
  get degree(): number {
    return called(() => this.#inner.degree);
  }

  /** Plaintext modulus: results are residues of the least absolute value. */
  get plainModulus(): bigint {
    return called(() => this.#inner.plainModulus);
  }

  /**
   * Returns the files of parameters and keys that this party has.
   *
   * @throws Refused without a secret or another key of those asked for.
   */
  files(): Required<{ [file in keyof IntegerFiles]: Bytes }> {
    return called(() => ({
      parameters: this.#inner.parameters(),
      secret: this.#inner.secretKey(),
      publicKey: this.#inner.publicKey(),
      relinearization: this.#inner.relinearizationKey(),
    }));
  }

  /**
   * Encrypts integers of at most half the plaintext modulus, as many as there are slots or fewer, and returns the file of the ciphertext.
   *
   * @throws Refused for integers that are out of range, with their place, and without a key.
   */
  encrypt(values: Iterable<number | bigint>): Bytes {
    const array = BigInt64Array.from(values as Iterable<bigint>, (value: number | bigint) => integer(value));
    return called(() => this.#inner.encrypt(array));
  }

  /**
   * Adds two ciphertexts, number by number.
   *
   * @throws Refused for damaged ciphertexts, and for those of other keys.
   */
  add(a: Uint8Array, b: Uint8Array): Bytes {
    return called(() => this.#inner.add(a, b));
  }

  /**
   * Multiplies two ciphertexts, number by number.
   *
   * @throws Refused for damaged ciphertexts, for those of other keys, and where noise has no room left.
   */
  multiply(a: Uint8Array, b: Uint8Array): Bytes {
    return called(() => this.#inner.multiply(a, b));
  }

  /**
   * Decrypts a ciphertext: as many integers as there are slots.
   *
   * @throws Refused for a damaged ciphertext, for one of another key, and without the secret key.
   */
  decrypt(ciphertext: Uint8Array): BigInt64Array<ArrayBuffer> {
    return called(() => this.#inner.decrypt(ciphertext));
  }

  /** Erases the keys from the module's memory; they are not used again. */
  free(): void {
    this.#inner.free();
  }
}

/** Returns an integer that words of 64 bits hold, or the largest of its sign, which no plaintext modulus holds. */
function integer(value: number | bigint): bigint {
  const found = typeof value === "bigint" ? value : Number.isInteger(value) ? BigInt(value) : NaN;
  if (typeof found === "number") throw new RangeError(`expected integers, got ${value}: round or scale numbers first`);
  const most = 2n ** 63n - 1n;
  return found > most ? most : found < -most ? -most : found;
}
