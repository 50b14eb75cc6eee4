/** The blocks of the README are the compiled examples. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../", import.meta.url);

test("the README has the examples that are compiled", () => {
  const text = readFileSync(new URL("README.md", ROOT), "utf8");
  const blocks = [...text.matchAll(/```ts(?: browser| local)?\n(.*?)```/gs)].map(([, block]) => block);
  const examples = ["local", "node", "browser"].map((name) => readFileSync(new URL(`examples/${name}.ts`, ROOT), "utf8"));
  assert.deepEqual(blocks, examples);
});

test("the lock file names no registry", () => {
  assert.doesNotMatch(readFileSync(new URL("package-lock.json", ROOT), "utf8"), /https?:\/\//);
});
