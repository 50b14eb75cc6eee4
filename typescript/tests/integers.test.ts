/** Arrays of encrypted integers in WebAssembly, beside big integers of JavaScript. */

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { Integers, load, Refused } from "sunzi/local";

import { NO_MODULE } from "./chromium.js";

const BUILT = { skip: NO_MODULE } as const;
/** Longest time of an encryption at a degree of 2^13, in milliseconds: ten times what it takes, for machines that are busy. */
const LONGEST = 20;

before(async () => {
  if (!BUILT.skip) await load();
});

/** Residue of the least absolute value. */
function centred(value: bigint, modulus: bigint): bigint {
  const residue = ((value % modulus) + modulus) % modulus;
  return 2n * residue > modulus ? residue - modulus : residue;
}

test("sums and products are those of integers modulo t", BUILT, () => {
  const integers = Integers.generate({ depth: 1, plainBits: 20 });
  const [t, n] = [integers.plainModulus, integers.slots];
  const half = t / 2n;
  const a = Array.from({ length: n }, (_, at) => (at === 0 ? half : at === 1 ? -half : centred(BigInt(at) * 7919n, t)));
  const b = Array.from({ length: n }, (_, at) => (at < 2 ? half : centred(BigInt(at) * 104_729n, t)));
  const [x, y] = [integers.encrypt(a), integers.encrypt(b)];
  assert.deepEqual([...integers.decrypt(x)], a);
  const law = (of: (left: bigint, right: bigint) => bigint): bigint[] => a.map((left, at) => centred(of(left, b[at] ?? 0n), t));
  assert.deepEqual([...integers.decrypt(integers.add(x, y))], law((left, right) => left + right));
  assert.deepEqual([...integers.decrypt(integers.multiply(x, y))], law((left, right) => left * right));
});

test("the public key encrypts, and opens nothing", BUILT, () => {
  const integers = Integers.generate({ depth: 0, plainBits: 17 });
  const { parameters, publicKey, secret } = integers.files();
  const sender = Integers.open({ parameters, publicKey });
  const sent = sender.encrypt([1, -2, 3n]);
  assert.deepEqual([...integers.decrypt(sent).slice(0, 4)], [1n, -2n, 3n, 0n]);
  assert.throws(() => sender.decrypt(sent), (error) => error instanceof Refused && error.name === "MissingKey");
  assert.deepEqual([...Integers.open({ parameters, secret }).decrypt(sent).slice(0, 3)], [1n, -2n, 3n]);
});

test("integers out of range are refused with their place", BUILT, () => {
  const integers = Integers.generate({ depth: 0, plainBits: 17 });
  const most = integers.plainModulus / 2n;
  for (const value of [most + 1n, -most - 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 70n, Number.MAX_SAFE_INTEGER]) {
    assert.throws(() => integers.encrypt([0, value]), /index 1/, `${value}`);
  }
  for (const value of [0.5, NaN, Infinity]) assert.throws(() => integers.encrypt([value]), RangeError);
  assert.throws(() => integers.encrypt(new Array<number>(integers.slots + 1).fill(0)), Refused);
});

test("an encryption at a degree of 2^13 takes milliseconds", BUILT, () => {
  const integers = Integers.generate({ depth: 1, plainBits: 20, log2Degree: 13 });
  const values = Array.from({ length: integers.slots }, (_, at) => at % 1000);
  const median = (call: () => unknown): number => {
    const times = Array.from({ length: 21 }, () => {
      const start = performance.now();
      call();
      return performance.now() - start;
    });
    return times.sort((a, b) => a - b)[10] ?? NaN;
  };
  const sealed = integers.encrypt(values);
  const [sealing, opening] = [median(() => integers.encrypt(values)), median(() => integers.decrypt(sealed))];
  console.log(`n = 8192: encryption ${sealing.toFixed(2)} ms, decryption ${opening.toFixed(2)} ms`);
  assert.ok(sealing < LONGEST && opening < LONGEST, `${sealing} ms, ${opening} ms`);
});
