/** Client of servers that are none, break connections, lie or attack: typed errors, and always an end. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";

import * as errors from "sunzi";
import type { Client } from "sunzi";

import { ACCOUNT, answer, type Answering, broken, HASH, hostile, ID, JOB, part, raw, RESULT, sha256, silent, told, TOKEN } from "./hostile.js";

const STORED = { name: "t", bytes: 5, sha256: HASH, created: 0 };
const HALF = RESULT.length / 2;

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

async function text(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
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

/** Sends blocks as long as they are taken. */
function endless(block: Uint8Array, headers: Record<string, string> = {}): Answering {
  return (response) => {
    response.writeHead(200, headers);
    const more = (): void => {
      while (!response.destroyed && response.write(block)) continue;
    };
    response.on("drain", more);
    more();
  };
}

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

test("other bytes than were sent", async () => {
  const body = "mean(age)";
  for (const answered of [{ bytes: 9, sha256: HASH }, { bytes: 8, sha256: sha256(body) }]) {
    await hostile([told(answered)], (server) => assert.rejects(server.client().putProgram("p", body), errors.DamagedTransfer));
  }
  // The answer may come before the client has seen that its own stream has ended.
  await hostile([told({ bytes: RESULT.length, sha256: HASH })], async (server) => {
    assert.equal((await server.client().putTable("t", RESULT)).sha256, HASH);
  });
});

test("streams that change, fail or are secret", async () => {
  const streamed = (nbytes: number, blocks: Uint8Array[], failure?: Error): { nbytes: number; open: () => ReadableStream<Uint8Array> } => ({
    nbytes,
    open: () =>
      new ReadableStream({
        start(controller) {
          for (const block of blocks) controller.enqueue(block);
          if (failure === undefined) controller.close();
          else controller.error(failure);
        },
      }),
  });
  await hostile([told({ bytes: 3, sha256: HASH })], async (server) => {
    const client = server.client();
    for (const [nbytes, length] of [[10_000, 9999], [10_000, 10_001]] as const) {
      await assert.rejects(client.putTable("t", streamed(nbytes, [new Uint8Array(length)])), errors.Changed);
    }
    const failure = new Error("the disk is gone");
    await assert.rejects(client.putTable("t", streamed(100, [], failure)), (error) => error === failure);
    // In the middle of what is sent.
    const later = (): ReadableStream<Uint8Array> => {
      let blocks = 0;
      return new ReadableStream({
        pull(controller) {
          if ((blocks += 1) > 4) throw failure;
          controller.enqueue(new Uint8Array(1 << 18));
        },
      });
    };
    await assert.rejects(client.putTable("t", { nbytes: 1 << 21, open: later }), (error) => error === failure);
    const secret = Uint8Array.of(0x89, 0x53, 0x55, 0x4e, 0x5a, 0x49, 0x0d, 0x0a, 1, 0, 0, 2, 0, 0);
    const pieces = streamed(secret.length, [secret.subarray(0, 5), secret.subarray(5, 6), secret.subarray(6)]);
    const before = server.requests.length;
    for (const content of [secret, new Blob([secret]), pieces]) {
      await assert.rejects(client.putTable("t", content), errors.SecretRefused);
      await assert.rejects(client.putProgram("t", content), errors.SecretRefused);
      await assert.rejects(client.putKeys("k", { a: new Uint8Array(20), b: content }), errors.SecretRefused);
    }
    assert.equal(server.requests.length, before, "nothing was sent");
  });
});

const DAMAGED: Record<string, [new (...given: never[]) => Error, Answering[]]> = {
  cut: [errors.ServerUnreachable, [part(0, RESULT.length, { cut: HALF }), broken]],
  nothing: [errors.ServerUnreachable, [broken]],
  "wrong bytes": [errors.DamagedTransfer, [answer(Uint8Array.from(RESULT).reverse())]],
  "too long": [errors.DamagedTransfer, [answer(Buffer.concat([RESULT, Buffer.from("x")]))]],
  "without an end": [errors.DamagedTransfer, [endless(new Uint8Array(65536))]],
  "another part": [errors.DamagedTransfer, [part(0, RESULT.length, { cut: HALF }), part(HALF + 1, RESULT.length)]],
  "from the beginning": [errors.DamagedTransfer, [part(0, RESULT.length, { cut: HALF }), answer(RESULT)]],
  "no range": [errors.DamagedTransfer, [answer(RESULT, 206)]],
  "a range of words": [errors.DamagedTransfer, [answer(RESULT, 206, { "content-range": "bytes all" })]],
  "another status": [errors.ServerUnreachable, [answer(RESULT, 203)]],
  gone: [errors.NotStored, [answer("{}", 404)]],
  unsatisfiable: [errors.ServerRefused, [answer("", 416)]],
  busy: [errors.TooManyRequests, [answer("", 429)]],
};

for (const [what, [kind, answers]] of Object.entries(DAMAGED)) {
  test(`downloads that fail: ${what}`, async () => {
    const ways = [
      (client: Client): Promise<unknown> => client.job(ID).result(),
      async (client: Client): Promise<unknown> => text(await client.job(ID).stream()),
    ];
    for (const fetched of ways) {
      await hostile([told(JOB), ...answers], (server) => assert.rejects(fetched(server.client()), kind));
    }
  });
}

test("downloads go on where they broke", async () => {
  const answers = [told(JOB), part(0, 5000, { cut: 1000 }), part(1000, HALF, { total: "*" }), part(HALF, RESULT.length)];
  for (const isStream of [false, true]) {
    await hostile(answers, async (server) => {
      const job = server.client().job(ID);
      const seen: number[] = [];
      const onProgress = (come: number, total: number): void => {
        assert.equal(total, RESULT.length);
        seen.push(come);
      };
      const result = isStream ? await text(await job.stream({ onProgress })) : await job.result({ onProgress });
      assert.deepEqual(result, RESULT);
      assert.equal(seen.at(-1), RESULT.length);
      const asked = server.requests.slice(1).map(({ headers }) => [headers.range, headers["if-range"]]);
      assert.deepEqual(asked, ["bytes=0-", "bytes=1000-", `bytes=${HALF}-`].map((range) => [range, `"${HASH}"`]));
    });
  }
  await hostile([told({ ...JOB, bytes: 0, sha256: sha256("") })], async (server) => {
    assert.equal((await server.client().job(ID).result()).length, 0);
  });
  await hostile([told({ ...JOB, bytes: 0 })], (server) => assert.rejects(server.client().job(ID).result(), errors.DamagedTransfer));
  await hostile([told({ ...JOB, bytes: 2 ** 40 })], (server) => assert.rejects(server.client().job(ID).result(), errors.Memory));
});

test("results are never whole in memory", async () => {
  const [block, count] = [new Uint8Array(1 << 20), 256];
  const hash = sha256(new Uint8Array(count << 20));
  const long: Answering = (response) => {
    response.writeHead(200, { "content-length": count << 20 });
    let left = count;
    const more = (): void => {
      while (left > 0 && response.write(block)) left -= 1;
      if (left <= 0) return void response.end();
      left -= 1;
    };
    response.on("drain", more);
    more();
  };
  await hostile([told({ ...JOB, bytes: count << 20, sha256: hash }), long], async (server) => {
    const before = process.memoryUsage().arrayBuffers;
    let [come, most] = [0, 0];
    for await (const part of await server.client().job(ID).stream()) {
      come += part.length;
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    assert.equal(come, count << 20);
    assert.ok(most < count << 19, `${most} bytes of memory`);
  });
});

test("a result that is wrong is never whole", async () => {
  const wrong = Uint8Array.from(RESULT);
  wrong[0] = 1;
  await hostile([told(JOB), answer(wrong)], async (server) => {
    let come = 0;
    const stream = await server.client().job(ID).stream();
    const taken = (async () => {
      for await (const block of stream) come += block.length;
    })();
    await assert.rejects(taken, errors.DamagedTransfer);
    assert.ok(come < RESULT.length);
  });
});

test("a server that gives a byte a connection comes to an end", async () => {
  const byte: Answering = (response, asked) => {
    const from = Number(/bytes=(\d+)-/.exec(asked.headers.range ?? "")?.[1] ?? 0);
    part(from, from + 1)(response, asked);
  };
  await hostile([told(JOB), byte], async (server) => {
    await assert.rejects(server.client().job(ID).result(), /again and again/);
    assert.ok(server.requests.length < 1100);
  });
});

test("calls end by their signals", async () => {
  await hostile([silent], async (server) => {
    const client = server.client({ patience: 600 });
    const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
      (signal) => client.account({ signal }),
      (signal) => client.jobs({ signal }),
      (signal) => client.list("tables", { signal }),
      (signal) => client.delete("tables", "t", { signal }),
      (signal) => client.run("p", "t", { keys: "k", signal }),
      (signal) => client.putProgram("p", "mean(x)", { signal }),
      (signal) => client.putTable("t", RESULT, { signal }),
      (signal) => client.putKeys("k", { a: RESULT }, { signal }),
      (signal) => client.job(ID).status({ signal }),
      (signal) => client.job(ID).wait({ signal }),
      (signal) => client.job(ID).result({ signal }),
      (signal) => client.job(ID).stream({ signal }),
      (signal) => client.job(ID).delete({ signal }),
    ];
    for (const call of calls) {
      const [stop, reason] = [new AbortController(), new Error("stopped")];
      const called = assert.rejects(call(stop.signal), (error) => error === reason);
      setTimeout(() => stop.abort(reason), 20);
      await called;
      await assert.rejects(call(AbortSignal.abort(reason)), (error) => error === reason);
    }
  });
  // In a pause, and in the middle of a download.
  const busy = answer("", 429, { "retry-after": "500" });
  await hostile([busy], (server) => {
    const call = server.client({ patience: 600 }).account({ signal: AbortSignal.timeout(50) });
    return assert.rejects(call, { name: "TimeoutError" });
  });
  const stalls: Answering = (response) => {
    response.writeHead(200, { "content-length": RESULT.length });
    response.write(RESULT.subarray(0, HALF));
  };
  await hostile([told(JOB), stalls], async (server) => {
    const stop = new AbortController();
    const stream = await server.client().job(ID).stream({ signal: stop.signal, onProgress: () => setTimeout(() => stop.abort(), 20) });
    await assert.rejects(text(stream), { name: "AbortError" });
  });
  // A first block, which is held back, and nothing more: who cancels waits for nothing.
  const little: Answering = (response) => {
    response.writeHead(200, { "content-length": RESULT.length });
    response.write(RESULT.subarray(0, 1000));
  };
  await hostile([told(JOB), little], async (server) => {
    let come = 0;
    const stream = await server.client({ silence: 10 }).job(ID).stream({ onProgress: (done) => (come = done) });
    const reader = stream.getReader();
    const pending = reader.read();
    while (come === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const begin = performance.now();
    await reader.cancel();
    assert.ok((await pending).done && performance.now() - begin < 5000);
  });
});

test("errors of whoever is told of progress are theirs", async () => {
  const own = new Error("enough");
  const onProgress = (): never => {
    throw own;
  };
  await hostile([told(JOB), part(0, RESULT.length)], (server) => assert.rejects(server.client().job(ID).result({ onProgress }), (error) => error === own));
  for (const content of [RESULT, new Uint8Array(1 << 20)]) {
    await hostile([told({ bytes: RESULT.length, sha256: HASH })], (server) =>
      assert.rejects(server.client({ patience: 60 }).putTable("t", content, { onProgress }), (error) => error === own),
    );
  }
});
