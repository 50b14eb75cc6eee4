/** Client where there is no Node: `fetch` takes no streams, and the hash is the client's own. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Changed, ForeignAnswer, SecretRefused } from "sunzi";

import { answer, type Answering, HASH, hostile, ID, JOB, part, RESULT, sha256, told } from "./hostile.js";

/** Runs a block without the global that says this is Node. */
async function asInBrowsers(block: () => Promise<void>): Promise<void> {
  const saved = globalThis.process;
  Object.defineProperty(globalThis, "process", { value: undefined, configurable: true, writable: true });
  try {
    await block();
  } finally {
    Object.defineProperty(globalThis, "process", { value: saved, configurable: true, writable: true });
  }
}

const stored: Answering = (response, asked) => {
  const body = JSON.stringify({ bytes: asked.body.length, sha256: sha256(asked.body) });
  response.end(body);
};

test("uploads", () =>
  hostile([stored], (server) =>
    asInBrowsers(async () => {
      // A function that takes no stream, as the one of most browsers.
      const bodies: unknown[] = [];
      const fetch = (input: string, init: RequestInit): Promise<Response> => {
        bodies.push(init.body);
        assert.deepEqual([...new Headers(init.headers).keys()], ["authorization", "content-type"]);
        return globalThis.fetch(input, init);
      };
      const client = server.client({ fetch });
      const told: [number, number][] = [];
      const onProgress = (...step: [number, number]): void => void told.push(step);
      const streamed = { nbytes: RESULT.length, open: () => new Blob([RESULT]).stream() };
      for (const content of [RESULT, new Blob([RESULT]), streamed]) {
        assert.equal((await client.putTable("t", content, { onProgress })).sha256, HASH);
      }
      assert.ok(bodies.length === 3 && bodies.every((body) => body instanceof Blob));
      assert.deepEqual(told, Array(3).fill([RESULT.length, RESULT.length]));
      assert.deepEqual(server.requests.map(({ body, headers }) => [sha256(body), headers["content-length"]]), Array(3).fill([HASH, String(RESULT.length)]));
      await assert.rejects(client.putTable("t", { ...streamed, nbytes: RESULT.length + 1 }), Changed);
      const secret = Uint8Array.of(0x89, 0x53, 0x55, 0x4e, 0x5a, 0x49, 0x0d, 0x0a, 1, 0, 0, 2);
      await assert.rejects(client.putKeys("k", { a: RESULT, b: secret }), SecretRefused);
      assert.equal(bodies.length, 3);
    }),
  ));

test("an upload is hashed once however often it is sent", () =>
  hostile([answer("", 503), stored], (server) =>
    asInBrowsers(async () => {
      let opened = 0;
      const open = (): ReadableStream<Uint8Array> => {
        opened += 1;
        return new Blob([RESULT]).stream();
      };
      await server.client({ patience: 5 }).putTable("t", { nbytes: RESULT.length, open });
      assert.deepEqual([server.requests.length, opened], [2, 3]);
    }),
  ));

test("downloads", () =>
  hostile([told(JOB), part(0, RESULT.length, { cut: 1000 }), part(1000, RESULT.length), answer("<html></html>")], (server) =>
    asInBrowsers(async () => {
      assert.deepEqual(await server.client().job(ID).result(), RESULT);
      await assert.rejects(server.client().account(), ForeignAnswer);
    }),
  ));
