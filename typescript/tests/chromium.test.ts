/** Sunzi in a browser: Chromium loads the module under a strict content security policy, and computes. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { test } from "node:test";

import { chromium } from "playwright-core";

/** Path of the browser. */
const BROWSER = process.env["SUNZI_CHROMIUM"] ?? "/usr/bin/chromium";
const BUILD = new URL("../", import.meta.url);
const BUILT = existsSync(new URL("wasm/sunzi_wasm_bg.wasm", BUILD));
const skip = !BUILT ? "there is no module in WebAssembly" : existsSync(BROWSER) ? false : `there is no browser at ${BROWSER}: name one in SUNZI_CHROMIUM`;
/** Longest median time of an encryption at n = 2^13, in milliseconds. */
const BAR = 15;

const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html; charset=utf-8" };
const PAGE = `<!doctype html><html lang="en"><title>Sunzi</title><script type="module" src="/page.js"></script></html>`;
const SCRIPT = `
import { Integers, load, TableProgram, TableSchema } from "/src/local.js";
const median = (call) => {
  const times = Array.from({ length: 21 }, () => { const start = performance.now(); call(); return performance.now() - start; });
  return times.sort((a, b) => a - b)[10];
};
globalThis.measured = (async () => {
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
})();
`;

interface Measured {
  readonly degree: number;
  readonly loading: number;
  readonly keygen: number;
  readonly encrypt: number;
  readonly decrypt: number;
  readonly right: boolean;
  readonly total: string;
}

/** Serves the build of this package, and one page. */
async function serving<T>(block: (address: string) => Promise<T>): Promise<T> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const own = path === "/" ? PAGE : path === "/page.js" ? SCRIPT : path === "/favicon.ico" ? "" : undefined;
    const file = new URL(`.${path}`, BUILD);
    const found = own ?? (file.href.startsWith(BUILD.href) && existsSync(file) ? readFileSync(file) : undefined);
    const type = TYPES[path === "/" ? ".html" : extname(path)] ?? "application/octet-stream";
    response.writeHead(found === undefined ? 404 : 200, { "content-type": type, "content-security-policy": POLICY });
    response.end(found);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  try {
    return await block(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.close();
  }
}

test("Chromium encrypts and decrypts under a strict policy", { skip, timeout: 120_000 }, () =>
  serving(async (address) => {
    const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
      await page.goto(address);
      await page.waitForFunction("globalThis.measured !== undefined");
      const measured = (await page.evaluate("globalThis.measured")) as Measured;
      const { loading, keygen, encrypt, decrypt } = measured;
      const told = Object.entries({ loading, keygen, encrypt, decrypt }).map(([name, time]) => `${name} ${time.toFixed(2)} ms`);
      console.log(`Chromium, n = ${measured.degree}: ${told.join(", ")}`);
      assert.deepEqual([measured.degree, measured.right, measured.total], [8192, true, "14"]);
      assert.ok(encrypt <= BAR && decrypt <= BAR, `${encrypt} ms, ${decrypt} ms`);
      assert.deepEqual(faults, []);
    } finally {
      await browser.close();
    }
  }),
);
