/** Bytes that a browser keeps: in Chromium, with its own database and cryptography. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Page } from "playwright-core";

import { browsing, NO_BROWSER } from "./chromium.js";
import { servePage } from "./pages.js";

const OPTIONS = { skip: NO_BROWSER, timeout: 60_000 };

/** Runs a script in a page of its own; the script has the calls of the module, and `store` for one request to the database. */
async function inPage(script: string, page: Page): Promise<unknown> {
  return page.evaluate(`(async () => {
    const { seal, open, forget } = await import("/src/sealed.js");
    const name = (call) => call.then(() => "fine", (error) => error.name);
    const store = (mode, ask) => new Promise((resolve, reject) => {
      const opening = indexedDB.open("sunzi-sealed", 1);
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const asked = ask(opening.result.transaction("sealed", mode).objectStore("sealed"));
        asked.onsuccess = () => { opening.result.close(); resolve(asked.result); };
      };
    });
    ${script}
  })()`);
}

async function visiting(block: (page: Page) => Promise<void>): Promise<void> {
  const served = await servePage("http://127.0.0.1:1");
  try {
    await browsing(async (page) => {
      await page.goto(served.address);
      await block(page);
    });
  } finally {
    served.close();
  }
}

test("bytes come back, also after the page was loaded anew, and are gone once forgotten", OPTIONS, () =>
  visiting(async (page) => {
    const script = `
      const before = [await name(open("a")), await name(forget("a"))];
      const given = Uint8Array.of(1, 2, 3);
      await seal("a", Uint8Array.of(9));
      await seal("a", given);
      await seal("empty", new Uint8Array());
      return [...before, ...given, ...(await open("a")), (await open("empty")).length];`;
    assert.deepEqual(await inPage(script, page), ["NotSealed", "fine", 1, 2, 3, 1, 2, 3, 0]);
    await page.reload();
    const later = `const found = [...(await open("a"))]; await forget("a"); return [...found, await name(open("a")), await store("readonly", (all) => all.count())];`;
    assert.deepEqual(await inPage(later, page), [1, 2, 3, "NotSealed", 1]);
  }),
);

test("the key is not extractable, and another for every call", OPTIONS, () =>
  visiting(async (page) => {
    const script = `
      await seal("a", Uint8Array.of(1, 2, 3));
      const first = await store("readonly", (all) => all.get("a"));
      await seal("a", Uint8Array.of(1, 2, 3));
      const { key, nonce, sealed } = await store("readonly", (all) => all.get("a"));
      const cipher = { name: "AES-GCM", iv: nonce, additionalData: new TextEncoder().encode("sunzi sealed 1\\0a") };
      const opens = (own) => crypto.subtle.decrypt(cipher, own, sealed).then(() => true, () => false);
      const { name: algorithm, length } = key.algorithm;
      const told = [key.extractable, algorithm, length, nonce.length, sealed.byteLength, await opens(key), await opens(first.key)];
      return [...told, await name(crypto.subtle.exportKey("raw", key))];`;
    assert.deepEqual(await inPage(script, page), [false, "AES-GCM", 256, 12, 19, true, false, "InvalidAccessError"]);
  }),
);

test("bytes that were changed or moved do not open", OPTIONS, () =>
  visiting(async (page) => {
    const script = `
      await seal("a", Uint8Array.of(1, 2, 3));
      const entry = await store("readonly", (all) => all.get("a"));
      const tried = async (own, at = "a") => { await store("readwrite", (all) => all.put(own, at)); return name(open(at)); };
      const flipped = (bytes, at) => { const copy = new Uint8Array(bytes).slice(); copy[at] ^= 1; return copy; };
      const told = [await tried(entry, "b")];
      for (let at = 0; at < entry.sealed.byteLength; at += 1) told.push(await tried({ ...entry, sealed: flipped(entry.sealed, at).buffer }));
      told.push(await tried({ ...entry, nonce: flipped(entry.nonce, 0) }), await tried({ ...entry, sealed: new ArrayBuffer(3) }));
      for (const own of [null, 7, "text", {}, { ...entry, key: "key" }, { ...entry, sealed: [1] }]) told.push(await tried(own));
      return [[...new Set(told)], await tried(entry)];`;
    assert.deepEqual(await inPage(script, page), [["SealDamaged"], "fine"]);
  }),
);

test("mistakes and browsers that keep nothing are named", OPTIONS, () =>
  visiting(async (page) => {
    const script = `
      const told = [];
      for (const own of ["", "x".repeat(101), "\\ud800", 7, undefined]) {
        told.push(await name(seal(own, new Uint8Array(1))), await name(open(own)), await name(forget(own)));
      }
      Object.defineProperty(globalThis, "indexedDB", { value: undefined });
      return [[...new Set(told)], await name(seal("a", new Uint8Array(1))), await name(open("a")), await name(forget("a"))];`;
    assert.deepEqual(await inPage(script, page), [["SealNameUnusable"], "SealUnavailable", "SealUnavailable", "SealUnavailable"]);
  }),
);
