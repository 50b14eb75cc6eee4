/** Sunzi in a browser: Chromium loads the module under the policy of the page, and computes. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { browsing, NO_BROWSER, NO_MODULE } from "./chromium.js";
import { servePage } from "./pages.js";

/** Longest median time of an encryption at n = 2^13, in milliseconds. */
const BAR = 15;

const SCRIPT = `(async () => {
const { Integers, load, TableProgram, TableSchema } = await import("/src/local.js");
const median = (call) => {
  const times = Array.from({ length: 21 }, () => { const start = performance.now(); call(); return performance.now() - start; });
  return times.sort((a, b) => a - b)[10];
};
  const start = performance.now();
  await load();
  const loading = performance.now() - start;
  const began = performance.now();
  const integers = Integers.generate({ depth: 1, plainBits: 20, log2Degree: 13 });
  const keygen = performance.now() - began;
  const values = Array.from({ length: integers.slots }, (_, at) => at % 1000 - 500);
  const sealed = integers.encrypt(values);
  const opened = integers.decrypt(integers.multiply(sealed, sealed));
  const schema = TableSchema.survey("x,y\\n1,2\\n3,4\\n", {});
  const plan = new TableProgram("sum(x * y)", schema).plan();
  const keys = plan.keygen();
  const [total] = keys.decrypt(plan, keys.compute(plan, keys.encrypt(plan, schema, "x,y\\n1,2\\n3,4\\n")));
  return {
    degree: integers.degree, loading, keygen,
    encrypt: median(() => integers.encrypt(values)), decrypt: median(() => integers.decrypt(sealed)),
    right: values.every((value, at) => BigInt(value * value) === opened[at]), total: total.value.exact,
  };
})()`;

interface Measured {
  readonly degree: number;
  readonly loading: number;
  readonly keygen: number;
  readonly encrypt: number;
  readonly decrypt: number;
  readonly right: boolean;
  readonly total: string;
}

test("Chromium encrypts and decrypts under a strict policy", { skip: NO_MODULE || NO_BROWSER, timeout: 120_000 }, async () => {
  const served = await servePage("http://127.0.0.1:1");
  try {
    await browsing(async (page, faults) => {
      await page.goto(served.address);
      const measured = (await page.evaluate(SCRIPT)) as Measured;
      const { loading, keygen, encrypt, decrypt } = measured;
      const told = Object.entries({ loading, keygen, encrypt, decrypt }).map(([name, time]) => `${name} ${time.toFixed(2)} ms`);
      console.log(`Chromium, n = ${measured.degree}: ${told.join(", ")}`);
      assert.deepEqual([measured.degree, measured.right, measured.total], [8192, true, "14"]);
      assert.ok(encrypt <= BAR && decrypt <= BAR, `${encrypt} ms, ${decrypt} ms`);
      assert.deepEqual(faults, []);
    });
  } finally {
    served.close();
  }
});
