/** Uploads and downloads with servers that break connections, lie or send something else: typed errors, and always an end. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import * as errors from "sunzi";
import { Client } from "sunzi";

import { answer, type Answering, broken, endless, HASH, hostile, ID, JOB, part, RESULT, sha256, silent, told, TOKEN } from "./hostile.js";

const HALF = RESULT.length / 2;

async function text(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}

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

test("an upload that is refused at its beginning", async () => {
  // As `sunzi serve` does: an answer, and the end of the connection with bytes that nobody has read.
  const server = createServer((request, response) => {
    response.writeHead(413, { connection: "close" });
    response.end('{"error": "the body is too long"}', () => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new Client({ server: address, token: TOKEN, patience: 0 });
  try {
    for (let time = 0; time < 5; time += 1) {
      const content = new Uint8Array(1 << 25);
      await assert.rejects(client.putTable("t", content), { name: "ServerRefused", status: 413 });
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
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
