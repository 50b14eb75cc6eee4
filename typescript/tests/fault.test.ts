/** A fault of the module ends it for its process: this file has one of its own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, Refused, TableSchema } from "sunzi/local";

import { called } from "../src/module.js";
import { NO_MODULE } from "./chromium.js";

test("a module that failed is not used again, and says so", { skip: NO_MODULE }, async () => {
  const named = (name: string) => (error: unknown) => error instanceof Refused && error.name === name;
  assert.throws(() => TableSchema.survey("a\n1\n"), named("NotLoaded"));
  await load();
  assert.equal(TableSchema.survey("a\n1\n").rows, 1);
  const trap = (): never => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  assert.throws(() => called(trap), named("InternalError"));
  await load();
  assert.throws(() => TableSchema.survey("a\n1\n"), named("InternalError"));
});
