/** Decisions of the client without a network: addresses, tokens, hashes, secrets, how often and when it asks again. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { inspect } from "node:util";

import * as errors from "sunzi";
import { Client } from "sunzi";

import { Gathered } from "../src/bytes.js";
import { Calls } from "../src/calls.js";
import { Login } from "../src/login.js";
import { secretKind } from "../src/secrets.js";
import { hasher, Sha256 } from "../src/sha256.js";
import { type Fetch, Transport } from "../src/transport.js";
import { ACCOUNT, ID, JOB, TOKEN } from "./hostile.js";

const SERVER = "https://example.org";

test("hashes are those of Node, whatever the blocks", () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => (at * at * 31 + at) % 251);
  for (const length of [0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1000, 70_000]) {
    for (const block of [1, 7, 64, 100, 4096, 70_000]) {
      if (length / block > 2000) continue;
      const [own, node] = [new Sha256(), hasher()];
      for (let at = 0; at < length; at += block) {
        own.update(bytes.subarray(at, Math.min(at + block, length)));
        node.update(bytes.subarray(at, Math.min(at + block, length)));
      }
      const expected = createHash("sha256").update(bytes.subarray(0, length)).digest("hex");
      assert.equal(own.hex(), expected, `${length} bytes in blocks of ${block}`);
      assert.equal(node.hex(), expected);
    }
  }
  // FIPS 180-4 has this message.
  const abc = new Sha256();
  abc.update(new TextEncoder().encode("abc"));
  assert.equal(abc.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("memory is taken for what comes, not for what is claimed", () => {
  const gathered = new Gathered(2 ** 50);
  assert.ok(gathered.take(Uint8Array.of(1, 2)) && gathered.take(new Uint8Array(0)) && gathered.take(Uint8Array.of(3)));
  assert.deepEqual([...gathered.bytes()], [1, 2, 3]);
  const small = new Gathered(4);
  assert.ok(small.take(Uint8Array.of(1, 2, 3)));
  assert.equal(small.take(Uint8Array.of(4, 5)), false);
  assert.deepEqual([...small.bytes()], [1, 2, 3]);
});

test("secrets are known by their first bytes", () => {
  const header = (kind: number): Uint8Array =>
    Uint8Array.of(0x89, 0x53, 0x55, 0x4e, 0x5a, 0x49, 0x0d, 0x0a, 1, 0, kind & 255, kind >> 8, 0, 0);
  for (const kind of [0x0200, 0x0201, 0x0202, 0x0401, 0x0801, 0x0802, 0x0803, 0x0e06, 0x0e07, 0x0e08, 0x0e17, 0x0e31, 0x0f05]) {
    assert.ok(secretKind(header(kind)) !== undefined, kind.toString(16));
  }
  for (const kind of [0x0101, 0x0300, 0x0301, 0x0400, 0x0500, 0x0901, 0x0b01, 0x0c00, 0x0e01, 0x0f03, 0xffff]) {
    assert.equal(secretKind(header(kind)), undefined, kind.toString(16));
  }
  assert.equal(secretKind(header(0x0200).subarray(0, 11)), undefined);
  assert.equal(secretKind(new TextEncoder().encode("mean(age), of a program")), undefined);
});

test("addresses to which a token may go", () => {
  for (const own of ["http://127.0.0.1:1", "http://localhost", "http://[::1]:8732/x", SERVER, "https://example.org:8732/sunzi/"]) {
    assert.equal(new Client({ server: own, token: TOKEN }).server, own.replace(/\/$/, ""));
  }
  const others = [
    "http://example.org",
    "http://127.0.0.1.example.org",
    "http://localhost.example.org",
    "http://0.0.0.0",
    "http://localhost@example.org",
    "http://127.0.0.1:1@example.org",
    "http://example.org\\@localhost",
    "http://local\nhost",
    "http:///x",
    "https:///x",
    "http://localhost:99999",
    "http://localhost?x",
    "http://localhost#x",
    "https://user:password@example.org",
    "https://@example.org",
    "https://exam ple.org",
    "https://256.1.1.1",
    "https://",
    "https:example.org",
    "ftp://localhost",
    "localhost",
    "",
  ];
  for (const other of others) {
    assert.throws(() => new Client({ server: other, token: TOKEN }), errors.LoginUnusable, other);
  }
  for (const wrong of ["", "x", `${TOKEN}\n`, TOKEN.slice(0, -1), TOKEN.toUpperCase(), `${TOKEN}\r\nhost: x`]) {
    assert.throws(
      () => new Client({ server: SERVER, token: wrong }),
      (error: Error) => error instanceof errors.LoginUnusable && /no token/.test(error.message) && !error.message.includes("1111"),
    );
  }
  for (const patience of [-1, NaN, Infinity]) {
    assert.throws(() => new Client({ server: SERVER, token: TOKEN, patience }), /patience/);
  }
  assert.throws(() => new Client({ server: SERVER, token: TOKEN, silence: 0 }), /silence/);
});

test("the token is shown nowhere", async () => {
  const client = new Client({ server: SERVER, token: TOKEN });
  const job = client.job(ID);
  const login = new Login(SERVER, TOKEN);
  const shown = [client, job, login].flatMap((one) => [String(one), JSON.stringify(one), inspect(one, { showHidden: true, depth: 9 })]);
  shown.push(JSON.stringify(structuredClone({ ...client })), `${Object.entries(client)}`);
  assert.ok(shown.every((text) => !text.includes("1111")), shown.join("\n"));
  assert.equal(inspect(client), "Client of https://example.org");
  const urls: string[] = [];
  const fetch: Fetch = async (input, init) => {
    urls.push(input);
    assert.equal(new Headers(init.headers).get("authorization"), `Bearer ${TOKEN}`);
    throw new TypeError(`fetch failed with ${TOKEN}`);
  };
  const failing = new Client({ server: SERVER, token: TOKEN, patience: 0, fetch });
  await assert.rejects(failing.account(), (error: Error) => {
    assert.ok(error instanceof errors.ServerUnreachable);
    assert.ok(!inspect(error, { showHidden: true, depth: 9 }).includes("1111"));
    return true;
  });
  assert.deepEqual(urls, ["https://example.org/v1/account"]);
});

test("names that nothing has", async () => {
  const client = new Client({ server: SERVER, token: TOKEN, fetch: () => assert.fail("nothing is asked") });
  const table = Uint8Array.of(1);
  for (const name of ["", "../x", "a/b", "ä", "x".repeat(65), "a\n", "%2e", ".a"]) {
    const calls = [
      () => client.putTable(name, table),
      () => client.putProgram(name, "mean(age)"),
      () => client.putKeys(name, { "a.sz": table }),
      () => client.putKeys("k", { [name]: table }),
      () => client.delete("tables", name),
      () => client.delete("jobs", name),
      () => client.run(name, "t", { keys: "k" }),
      () => client.run("p", ["t", name], { keys: "k" }),
      () => client.run("p", "t", { keys: name }),
      async () => client.job(name),
    ];
    for (const call of calls) await assert.rejects(call(), errors.NameUnusable, name);
  }
  await assert.rejects(client.delete("accounts" as "jobs", "a"), /no kind/);
  await assert.rejects(client.list("jobs" as "keys"), /client\.jobs/);
  await assert.rejects(client.putKeys("k", {}), errors.MissingKey);
  await assert.rejects(client.putTable("t", 1 as unknown as Uint8Array), /nothing that can be sent/);
  await assert.rejects(client.putTable("t", { nbytes: -1, open: () => new ReadableStream() }), RangeError);
});

/** Answer of a server, or undefined for a connection that breaks. */
type Step = { status: number; retry?: string; body?: unknown } | undefined;

/** Performs a call: each request gets the next answer. Returns the pauses, with the result or the error. */
async function play<T>(patience: number, steps: Step[], call: (calls: Calls) => Promise<T>): Promise<{ pauses: number[]; result?: T; error?: unknown }> {
  const left = [...steps];
  const pauses: number[] = [];
  const fetch: Fetch = async () => {
    assert.ok(left.length > 0, "too many requests");
    const step = left.shift();
    if (step === undefined) throw new TypeError("it broke");
    const headers: Record<string, string> = step.retry === undefined ? {} : { "retry-after": step.retry };
    return new Response(JSON.stringify(step.body ?? {}), { status: step.status, headers });
  };
  const login = new Login(SERVER, TOKEN);
  const calls = new Calls(login, new Transport(login, fetch, 60), patience, async (seconds) => void pauses.push(seconds));
  try {
    const result = await call(calls);
    assert.equal(left.length, 0);
    return { pauses, result };
  } catch (error) {
    return { pauses, error };
  }
}

const fine: Step = { status: 200, body: ACCOUNT };
const lost: Step = undefined;

function busy(status: number, retry?: string): Step {
  return retry === undefined ? { status } : { status, retry };
}

test("pauses between attempts", async () => {
  const account = (calls: Calls): Promise<unknown> => calls.account(undefined);
  const cases: [number, Step[], number[]][] = [
    [60, [fine], []],
    [60, [lost, lost, lost, lost, fine], [0.5, 1, 1.5, 2]],
    [60, [busy(429, "7"), busy(503, "5"), lost, fine], [7, 5, 1.5]],
    // A server that asks for no pause is not flooded.
    [60, [busy(429, "0"), busy(503), fine], [0.5, 0.5]],
    [10, [busy(429, "10"), fine], [10]],
  ];
  for (const [patience, steps, pauses] of cases) {
    const played = await play(patience, steps, account);
    assert.equal(played.error, undefined);
    assert.deepEqual(played.pauses, pauses);
  }
  const failing: [number, Step[], new (...given: never[]) => Error, number][] = [
    [60, [lost, lost, lost, lost, lost], errors.ServerUnreachable, 4],
    [60, Array<Step>(9).fill(busy(429, "7")), errors.TooManyRequests, 8],
    [60, Array<Step>(121).fill(busy(503)), errors.ServerUnavailable, 120],
    [60, [busy(500, "1")], errors.ServerUnavailable, 0],
    [60, [busy(429, "61")], errors.TooManyRequests, 0],
    // Losses are counted apart from refusals.
    [600, [...Array<Step>(6).fill(busy(429)), lost, lost, lost, lost, lost], errors.ServerUnreachable, 10],
  ];
  for (const [patience, steps, kind, pauses] of failing) {
    const played = await play(patience, steps, account);
    assert.ok(played.error instanceof kind, `${String(played.error)}`);
    assert.equal(played.pauses.length, pauses);
  }
});

test("a removal is not repeated unless the server refused it", async () => {
  const remove = (calls: Calls): Promise<void> => calls.delete("tables", "t", undefined);
  const played = await play(60, [lost], remove);
  assert.ok(played.error instanceof errors.ServerUnreachable);
  assert.deepEqual(played.pauses, []);
  const refused = await play(60, [busy(503, "1"), { status: 200 }], remove);
  assert.equal(refused.error, undefined);
  assert.deepEqual(refused.pauses, [1]);
});

test("waiting for a job", async () => {
  const steps = (states: string[]): Step[] => states.map((state) => ({ status: 200, body: { ...JOB, state } }));
  const states = [...Array<string>(3).fill("queued"), ...Array<string>(7).fill("running"), "done"];
  const seen: string[] = [];
  const played = await play(0, steps(states), (calls) => calls.wait(ID, undefined, (status) => seen.push(status.state), undefined));
  assert.equal(played.result?.state, "done");
  assert.deepEqual(seen, states);
  assert.deepEqual(played.pauses, [0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2, 2, 2]);
  const unfinished = await play(0, steps(["running"]), (calls) => calls.wait(ID, 0, undefined, undefined));
  assert.ok(unfinished.error instanceof errors.JobUnfinished && /it goes on/.test(unfinished.error.message));
  const failed = await play(0, steps(["failed"]), (calls) => calls.wait(ID, undefined, undefined, undefined));
  assert.ok(failed.error instanceof errors.JobFailed && /does not say why/.test(failed.error.message));
});
