/** Client of servers that are none, break connections, lie or attack: typed errors, and always an end. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";

import * as errors from "sunzi";
import type { Client } from "sunzi";

import { ACCOUNT, answer, type Answering, broken, endless, HASH, hostile, ID, JOB, part, raw, RESULT, sha256, silent, told, TOKEN } from "./hostile.js";

const STORED = { name: "t", bytes: 5, sha256: HASH, created: 0 };

/** Calls that read an answer in JSON. */
function reading(client: Client): (() => Promise<unknown>)[] {
  return [
    () => client.account(),
    () => client.jobs(),
    () => client.list("keys"),
    () => client.run("p", "t", { keys: "k" }),
    () => client.job(ID).status(),
    () => client.putProgram("p", "mean(x)"),
  ];
}

const NO_ANSWERS: (string | Uint8Array)[] = [
  "",
  "null",
  "[]",
  '"text"',
  "{",
  Uint8Array.of(0xff, 0xfe),
  "<html></html>",
  '{"name": "ada", "bytes": NaN}',
  "[".repeat(1_000_000),
  '{"a":'.repeat(1_000_000),
  `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  `{"bytes": ${"9".repeat(1_000_000)}}`,
  `[${"0,".repeat(1_000_000)}0]`,
  Buffer.from(`${JSON.stringify({ ...ACCOUNT, ...STORED, ...JOB, jobs: 1 }).slice(0, -1)}, "more": "\xff"}`, "latin1"),
  '{"__proto__": {"name": "ada", "bytes": 1, "jobs": 1, "limits": {}}}',
];

test("answers that are none", async () => {
  for (const body of NO_ANSWERS) {
    await hostile([answer(body)], async (server) => {
      for (const call of reading(server.client())) await assert.rejects(call(), errors.ForeignAnswer, String(body).slice(0, 40));
    });
  }
});

test("jobs that are none", async () => {
  const changes: Record<string, unknown>[] = [
    { id: "../../../etc" },
    { id: "cd".repeat(16) },
    { id: null },
    { state: "odd" },
    { state: ["done"] },
    { program: "\u001b[2J" },
    { keys: "a/b" },
    { keys: "a\n" },
    { tables: "t" },
    { tables: [1] },
    { tables: [["t"]] },
    { created: -1 },
    { created: 1.5 },
    { created: true },
    { created: "0" },
    { finished: "soon" },
    { bytes: 2 ** 64 },
    { bytes: null },
    { sha256: "no" },
    { sha256: "AB".repeat(32) },
    { error: {} },
  ];
  for (const change of changes) {
    const shown = JSON.stringify(change);
    await hostile([told({ ...JOB, ...change })], async (server) => {
      const job = server.client().job(ID);
      for (const call of [() => job.status(), () => job.wait(), () => job.result(), () => job.stream()]) {
        await assert.rejects(call(), errors.ForeignAnswer, shown);
      }
    });
    if (change["id"] === "cd".repeat(16)) continue;
    await hostile([told({ jobs: [JOB, { ...JOB, ...change }] })], (server) => assert.rejects(server.client().jobs(), errors.ForeignAnswer, shown));
  }
});

test("records that are none", async () => {
  for (const change of [{ name: 1 }, { bytes: "1" }, { limits: [] }, { limits: { bytes: "many" } }, { jobs: null }, { bytes: 2 ** 60 }]) {
    await hostile([told({ ...ACCOUNT, ...change })], (server) => assert.rejects(server.client().account(), errors.ForeignAnswer));
  }
  for (const entry of [1, null, {}, { ...STORED, name: ".." }, { ...STORED, file: 1 }, { ...STORED, file: "a/b" }, { ...STORED, bytes: 0.5 }]) {
    await hostile([told({ keys: [entry] })], (server) => assert.rejects(server.client().list("keys"), errors.ForeignAnswer));
  }
  // What a later version adds does no harm.
  await hostile([told({ ...ACCOUNT, more: [{}] })], async (server) => {
    assert.deepEqual(await server.client().account(), { name: "ada", nbytes: 1, jobs: 1, limits: { bytes: 1 } });
  });
});

test("answers without an end", async () => {
  await hostile([endless(new Uint8Array(65536).fill(32))], (server) => assert.rejects(server.client().account(), /bytes, which no server/));
  // A few bytes that unpack to a gigabyte.
  const packed = gzipSync(new Uint8Array(1 << 26).fill(32));
  await hostile([answer(packed, 200, { "content-encoding": "gzip" })], (server) =>
    assert.rejects(server.client().account(), /bytes, which no server/),
  );
  const before = process.memoryUsage().rss;
  // Many small parts take no more memory than few large ones.
  await hostile([endless(Uint8Array.of(32))], async (server) => {
    const client = server.client({ silence: 1 });
    await assert.rejects(client.account(), (error) => error instanceof errors.ServerUnreachable || error instanceof errors.ForeignAnswer);
  });
  assert.ok(process.memoryUsage().rss - before < 1 << 29);
  for (const bytes of ["", "\0".repeat(100), "SSH-2.0-x\r\n", `HTTP/1.1 200 x\r\n${"a: b\r\n".repeat(100_000)}`, "HTTP/1.1 999999 x\r\n\r\n"]) {
    await hostile([raw(bytes)], (server) => assert.rejects(server.client().account(), errors.ServerUnreachable));
  }
});

test("servers that say nothing, or too little at a time", async () => {
  const slow: Answering = (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  for (const answers of [silent, slow]) {
    await hostile([answers], async (server) => {
      const begin = performance.now();
      await assert.rejects(server.client({ silence: 0.3 }).account(), /in time/);
      await assert.rejects(server.client({ silence: 0.3 }).putTable("t", RESULT), /in time/);
      assert.ok(performance.now() - begin < 10_000);
    });
  }
  await hostile([told(JOB), silent], (server) => assert.rejects(server.client({ silence: 0.3 }).job(ID).result(), errors.ServerUnreachable));
});

test("redirects are not followed", async () => {
  await hostile([told(ACCOUNT)], async (other) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const redirect = answer("", status, { location: `${other.address}/v1/account`, "set-cookie": TOKEN });
      await hostile([redirect], async (server) => {
        for (const call of reading(server.client())) await assert.rejects(call(), /redirects/);
        assert.ok(server.requests.every((asked) => asked.headers.cookie === undefined));
      });
      await hostile([told(JOB), redirect], (server) => assert.rejects(server.client().job(ID).result(), /redirects/));
    }
    assert.deepEqual(other.requests, []);
    // A function that follows redirects all the same, and one that hides them as browsers do.
    const follows = async (): Promise<Response> => Object.defineProperty(Response.json(ACCOUNT), "redirected", { value: true });
    const hides = async (): Promise<Response> => Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    for (const fetch of [follows, hides]) await assert.rejects(other.client({ fetch }).account(), /redirects/);
  });
});

test("what a server says is told on with care", async () => {
  const refusal = { error: `no ${TOKEN}\u001b[31m\nforged: line${"x".repeat(10_000)}`, expected: TOKEN.repeat(60), got: 7, remedy: "\u202edo" };
  await hostile([answer(JSON.stringify(refusal), 400)], (server) =>
    assert.rejects(server.client().account(), (error) => {
      assert.ok(error instanceof errors.ServerRefused);
      assert.ok(!inspect(error, { showHidden: true }).includes("1111"));
      assert.ok(!/[\p{C}\p{Zl}\p{Zp}]/u.test(error.message) && error.message.length < 7000);
      assert.deepEqual([error.status, error.got, error.name], [400, undefined, "ServerRefused"]);
      assert.ok(error.expected !== undefined && error.reason.startsWith("no …"));
      return true;
    }),
  );
  await hostile([told({ ...JOB, state: "failed", error: `\u001b]0;title\u0007${TOKEN}` })], (server) =>
    assert.rejects(server.client().job(ID).wait(), (error) => {
      assert.ok(error instanceof errors.JobFailed && !error.message.includes("1111") && !/\p{C}/u.test(error.message));
      return true;
    }),
  );
});

test("refusals have their classes and fields", async () => {
  const kinds: [number, unknown][] = [
    [401, errors.WrongToken],
    [404, errors.NotStored],
    [418, errors.ServerRefused],
    [429, errors.TooManyRequests],
    [500, errors.ServerUnavailable],
    [503, errors.ServerUnavailable],
  ];
  const hints: [string, number | undefined][] = [
    ["7", 7],
    ["Wed, 21 Oct", undefined],
    ["-1", undefined],
    ["1e3", undefined],
    ["9".repeat(30), undefined],
    ["999999999", 86400],
  ];
  for (const [status, kind] of kinds) {
    for (const [retry, expected] of hints) {
      await hostile([answer("<html>no JSON</html>", status, { "retry-after": retry })], (server) =>
        assert.rejects(server.client().account(), (error) => {
          assert.ok(error instanceof errors.ServerRefused);
          assert.equal(error.constructor, kind);
          assert.deepEqual([error.status, error.retryAfter], [status, expected]);
          return true;
        }),
      );
    }
  }
});

test("busy servers are asked again", async () => {
  const busy = answer('{"error": "busy"}', 429, { "retry-after": "0" });
  await hostile([busy, answer("", 503), told(ACCOUNT)], async (server) => {
    assert.equal((await server.client({ patience: 60 }).account()).name, "ada");
    assert.equal(server.requests.length, 3);
  });
  const body = "mean(age)";
  const stored = told({ bytes: body.length, sha256: sha256(body) });
  for (const program of [body, new Blob([body]), new TextEncoder().encode(body)]) {
    await hostile([busy, stored], async (server) => {
      await server.client({ patience: 60 }).putProgram("p", program);
      assert.deepEqual(server.requests.map((asked) => String(asked.body)), [body, body]);
      assert.deepEqual(server.requests.map((asked) => asked.headers["content-length"]), ["9", "9"]);
    });
  }
  // A busy server may be asked for a result again too.
  await hostile([told(JOB), busy, answer("", 503), part(0, RESULT.length)], async (server) => {
    assert.deepEqual(await server.client({ patience: 60 }).job(ID).result(), RESULT);
  });
  // More patience than the client has.
  await hostile([answer("", 429, { "retry-after": "100" })], async (server) => {
    await assert.rejects(server.client({ patience: 99 }).account(), /in 100 s/);
    assert.equal(server.requests.length, 1);
  });
});

test("answers that are lost", async () => {
  // A job has one name however often it is asked for.
  await hostile([broken, broken, answer(JSON.stringify(JOB), 202)], async (server) => {
    assert.equal((await server.client({ patience: 60 }).run("p", ["t", "u"], { keys: "k", precision: 12 })).id, ID);
    const asked = server.requests.map((request) => JSON.parse(String(request.body)) as Record<string, unknown>);
    assert.equal(new Set(asked.map((one) => one["request"])).size, 1);
    assert.match(String(asked[0]?.["request"]), /^[0-9a-f]{64}$/);
    const { request: _, ...rest } = asked[2] ?? {};
    assert.deepEqual([asked.length, rest], [3, { program: "p", keys: "k", tables: ["t", "u"], precision: 12 }]);
  });
  await hostile([broken, told(JOB)], async (server) => {
    await assert.rejects(server.client({ patience: 60 }).delete("tables", "t"), errors.ServerUnreachable);
    assert.equal(server.requests.length, 1);
  });
});
