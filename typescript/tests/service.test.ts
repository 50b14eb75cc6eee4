/** Client of `sunzi serve`: what comes back is what the key holder would have computed. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import * as errors from "sunzi";
import { Client, type JobStatus } from "sunzi";
import { file, folder as files, keep, kept, save } from "sunzi/node";

import { sha256, TOKEN } from "./hostile.js";
import { BINARY, errorsOf, inFolder, keyFiles, prepare, PROGRAM, Relay, SERVED, Server, serving, sunzi } from "./server.js";

let [own, server] = ["", undefined as unknown as Server];
let finish = (): void => undefined;

/** One folder with keys, and one server, for all tests. */
before(async () => {
  if (BINARY === undefined) return;
  await new Promise<void>((ready, failed) => {
    inFolder(async (folder) => {
      own = folder;
      prepare(folder);
      server = await Server.start(folder);
      ready();
      await new Promise<void>((resolve) => (finish = resolve));
      await server.stop();
    }).catch(failed);
  });
});
after(() => finish());

async function send(client: Client, name = "k"): Promise<void> {
  await client.putKeys(name, keyFiles(own));
  await client.putProgram("p", PROGRAM);
  await client.putTable("t", await file(join(own, "visits.sz")));
}

function isRight(result: Uint8Array): void {
  const { mean, corr } = errorsOf(own, result);
  assert.equal(mean, 0);
  assert.ok(corr < 1e-9, `${corr}`);
}

test("the whole path", SERVED, async () => {
  const client = server.client();
  const told: [number, number][] = [];
  const keys = keyFiles(own);
  const stored = await client.putKeys("visits-keys", keys, { onProgress: (...step) => told.push(step) });
  assert.deepEqual(stored.map((one) => [one.name, one.file]), ["galois.sz", "parameters.sz", "relinearization.sz"].map((part) => ["visits-keys", part]));
  const total = Object.values(keys).reduce((sum, one) => sum + one.length, 0);
  assert.deepEqual(told.at(-1), [total, total]);
  assert.ok(told.every(([sent], at) => sent > (told[at - 1]?.[0] ?? 0)));
  assert.equal((await client.putProgram("statistics", PROGRAM)).nbytes, PROGRAM.length);
  const table = readFileSync(join(own, "visits.sz"));
  const hash = sha256(table);
  // Every kind of bytes.
  assert.equal((await client.putTable("visits", new Blob([table]))).sha256, hash);
  assert.equal((await client.putTable("visits", new Uint8Array(table))).sha256, hash);
  assert.equal((await client.putTable("visits", { nbytes: table.length, open: () => new Blob([table]).stream() })).sha256, hash);
  const job = await client.run("statistics", ["visits"], { keys: "visits-keys" });
  const seen: JobStatus[] = [];
  const status = await job.wait({ timeout: 200, onProgress: (one) => seen.push(one) });
  assert.deepEqual([status.state, status.program, status.keys, status.tables, status.error], ["done", "statistics", "visits-keys", ["visits"], undefined]);
  assert.deepEqual([seen.at(-1), await job.status()], [status, status]);
  const come: number[] = [];
  const result = await job.result({ onProgress: (done) => come.push(done) });
  assert.deepEqual([result.length, come.at(-1), sha256(result)], [status.nbytes, status.nbytes, status.sha256]);
  isRight(result);
  const streamed = await new Response((await job.stream()) as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer();
  assert.deepEqual(new Uint8Array(streamed), result);
  assert.deepEqual(await client.job(job.id).status(), status);
  assert.ok((await client.jobs()).some((one) => one.id === job.id));
  await job.delete();
  await assert.rejects(job.status(), errors.NotStored);
});

test("lists and removal", SERVED, async () => {
  const client = server.client();
  await send(client, "listed");
  const keys = (await client.list("keys")).filter((one) => one.name === "listed");
  assert.deepEqual(keys.map((one) => one.file).sort(), ["galois.sz", "parameters.sz", "relinearization.sz"]);
  const tables = await client.list("tables");
  assert.equal(tables.find((one) => one.name === "t")?.sha256, sha256(readFileSync(join(own, "visits.sz"))));
  const account = await client.account();
  assert.ok(account.name === "demo" && account.nbytes > 100_000 && account.limits["upload_bytes"] === 2 ** 34);
  const job = await client.run("p", "t", { keys: "listed" });
  for (const [kind, name] of [["keys", "listed"], ["programs", "p"], ["tables", "t"], ["jobs", job.id]] as const) {
    await client.delete(kind, name);
    await assert.rejects(client.delete(kind, name), (error) => {
      assert.ok(error instanceof errors.NotStored && error.status === 404);
      assert.equal(error.remedy, "list what there is, and check the name");
      return true;
    });
  }
});

test("what the server refuses", SERVED, async () => {
  await assert.rejects(new Client({ server: server.address, token: TOKEN }).account(), (error) => {
    assert.ok(error instanceof errors.WrongToken && error.status === 401 && error.expected !== undefined);
    return true;
  });
  const client = server.client();
  await send(client);
  await assert.rejects(client.run("absent", "t", { keys: "k" }), errors.NotStored);
  await assert.rejects(client.run("p", "t", { keys: "k", precision: 99 }), { name: "ServerRefused", status: 400, got: "99" });
  await assert.rejects(client.run("p", [], { keys: "k" }), /cannot be used/);
  await assert.rejects(client.putTable("t", keyFiles(own)["galois.sz"] ?? new Uint8Array()), { status: 422 });
  await assert.rejects(client.putTable("t", new Uint8Array()), { status: 422 });
  await client.putProgram("wrong", "mean(absent)");
  const job = await client.run("wrong", "t", { keys: "k" });
  await assert.rejects(job.result(), (error) => error instanceof errors.JobFailed && /absent/.test(error.message));
  assert.equal((await job.status()).state, "failed");
});

test("what is not sent", SERVED, async () => {
  const client = server.client();
  const { nbytes } = await client.account();
  const secret = join(own, "keys", "secret");
  const calls = [
    async () => client.putKeys("s", await files(secret)),
    async () => client.putTable("s", await file(join(secret, "secret.sz"))),
    async () => client.putTable("s", readFileSync(join(secret, "secret.sz"))),
    async () => client.putProgram("s", await file(join(secret, "secret.sz"))),
  ];
  for (const call of calls) await assert.rejects(call(), errors.SecretRefused);
  await assert.rejects(files(join(own, "keys")), errors.Io);
  await assert.rejects(file(own), errors.Io);
  await assert.rejects(file(join(own, "absent")), { code: "ENOENT" });
  assert.equal((await client.account()).nbytes, nbytes);
});

test("results that are saved", SERVED, () =>
  inFolder(async (folder) => {
    const client = server.client();
    await send(client);
    const job = await client.run("p", "t", { keys: "k" });
    const target = join(folder, "out.sz");
    writeFileSync(target, "mine");
    await assert.rejects(save(job, target), /force: true/);
    assert.equal(readFileSync(target, "utf8"), "mine");
    assert.equal(await save(job, target, { force: true }), target);
    isRight(readFileSync(target));
    await save(job, join(folder, "other.sz"));
    await assert.rejects(save(job, join(folder, "absent", "out.sz")), { code: "ENOENT" });
    assert.deepEqual(readdirSync(folder).sort(), ["other.sz", "out.sz"]);
  }),
);

test("files are never whole in memory", SERVED, () =>
  inFolder(async (folder) => {
    const [big, length] = [join(folder, "big.sz"), 2 ** 28];
    writeFileSync(big, readFileSync(join(own, "visits.sz")).subarray(0, 64));
    truncateSync(big, length);
    const client = server.client();
    const start = process.memoryUsage().rss;
    let most = 0;
    const onProgress = (): void => void (most = Math.max(most, process.memoryUsage().rss));
    assert.equal((await client.putTable("big", await file(big), { onProgress })).nbytes, length);
    assert.ok(most - start < length / 2, `${most - start} bytes of memory`);
    await client.delete("tables", "big");
  }),
);

test("broken downloads go on", SERVED, async () => {
  const direct = server.client();
  await send(direct);
  const job = await direct.run("p", "t", { keys: "k" });
  await job.wait();
  const relay = await Relay.start(server.address, 200_000, 100_000, 300_000);
  try {
    const come: number[] = [];
    const result = await server.client({ server: relay.address }).job(job.id).result({ onProgress: (done) => come.push(done) });
    isRight(result);
    assert.deepEqual([relay.cuts.length, come], [0, [...come].sort((a, b) => a - b)]);
  } finally {
    relay.close();
  }
});

test("a server that is gone and comes back", SERVED, () =>
  inFolder(async (folder) => {
    const data = ["--data", join(folder, "data")];
    // A demonstration makes its own account anew: this one stays.
    const token = sunzi(folder, "account", "add", "ada", ...data).trim();
    const first = await Server.start(folder, ...data);
    const relay = await Relay.start(first.address);
    try {
      const client = new Client({ server: relay.address, token, patience: 120 });
      await send(client);
      const job = await client.run("p", "t", { keys: "k" });
      await first.stop("SIGKILL");
      const hasty = new Client({ server: first.address, token, patience: 0 });
      const gone = hasty.job(job.id);
      const calls = [() => hasty.account(), () => gone.wait(), () => gone.result(), () => hasty.putProgram("p", PROGRAM), () => hasty.delete("tables", "t")];
      for (const call of calls) await assert.rejects(call(), errors.ServerUnreachable);
      // An accepted job is not lost.
      await serving(folder, data, async (second) => {
        relay.to(second.address);
        isRight(await job.result());
      });
    } finally {
      relay.close();
      await first.stop("SIGKILL");
    }
  }),
);

test("quota and length", SERVED, () =>
  inFolder(async (folder) => {
    const big = join(folder, "big.sz");
    writeFileSync(big, readFileSync(join(own, "visits.sz")).subarray(0, 64));
    await serving(folder, ["--quota", "1M", "--upload", "64M"], async (small) => {
      // A write that fails may hide the answer: the client asks once more then.
      const client = small.client({ patience: 20 });
      truncateSync(big, 40 * 2 ** 20);
      await assert.rejects(client.putTable("t", await file(big)), (error) => {
        assert.ok(error instanceof errors.TooManyRequests && error.status === 429 && error.retryAfter === 60);
        return true;
      });
      truncateSync(big, 80 * 2 ** 20);
      await assert.rejects(client.putTable("t", await file(big)), { name: "ServerRefused", status: 413 });
      assert.deepEqual(await client.list("tables"), []);
    });
  }),
);

test("logins are those of the command line", SERVED, () =>
  inFolder(async (folder) => {
    const saved = { ...process.env };
    for (const name of ["SUNZI_SERVER", "SUNZI_TOKEN", "SUNZI_CA", "NODE_EXTRA_CA_CERTS"]) delete process.env[name];
    process.env["XDG_CONFIG_HOME"] = folder;
    try {
      await assert.rejects(kept(), (error) => error instanceof errors.LoginUnusable && /sunzi remote login/.test(error.message));
      const path = join(folder, "sunzi", "remote.json");
      assert.equal(await keep(server.client()), path);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.deepEqual(readdirSync(join(folder, "sunzi")), ["remote.json"]);
      sunzi(folder, "remote", "list", "tables");
      assert.equal((await (await kept()).account()).name, "demo");
      await assert.rejects(keep(new Client({ server: server.address, token: TOKEN })), errors.WrongToken);
      assert.equal((await (await kept()).account()).name, "demo");
      for (const text of ["", "[]", "{}", `{"server": "https://example.org", "token": "${TOKEN}", "more": 1}`, " ".repeat(70_000)]) {
        writeFileSync(path, text);
        await assert.rejects(kept(), (error) => error instanceof errors.LoginUnusable && /login again/.test(error.message));
      }
      writeFileSync(path, JSON.stringify({ server: "https://example.org", token: TOKEN, ca: "ca.pem" }));
      await assert.rejects(kept(), /NODE_EXTRA_CA_CERTS/);
      process.env["SUNZI_SERVER"] = server.address;
      await assert.rejects(kept(), /set both/);
      process.env["SUNZI_TOKEN"] = server.token;
      assert.equal((await (await kept()).account()).name, "demo");
    } finally {
      for (const name of Object.keys(process.env)) delete process.env[name];
      Object.assign(process.env, saved);
    }
  }),
);

test("many at once", SERVED, async () => {
  const client = server.client({ patience: 200 });
  await send(client, "many");
  const table = readFileSync(join(own, "visits.sz"));
  const names = Array.from({ length: 6 }, (_, at) => `many-${at}`);
  await Promise.all(names.map((name) => client.putTable(name, table)));
  const jobs = await Promise.all(names.map((name) => client.run("p", name, { keys: "many" })));
  const results = await Promise.all(jobs.map((job) => job.result()));
  for (const result of results) isRight(result);
});

test("the example of the README", SERVED, () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "keys"));
    await cp(join(own, "keys", "eval"), join(folder, "keys", "eval"), { recursive: true });
    await cp(join(own, "visits.sz"), join(folder, "visits.sz"));
    const env = { ...process.env, SUNZI_SERVER: server.address, SUNZI_TOKEN: server.token };
    const example = new URL("../examples/node.js", import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [example], { cwd: folder, env });
    const result = readFileSync(join(folder, "results.sz"));
    assert.equal(stdout, `a result of ${result.length} bytes\n`);
    isRight(result);
  }),
);

test("certificates are verified", SERVED, async (context) => {
  const run = promisify(execFile);
  await inFolder(async (folder) => {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    const made = run("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, "-days", "30", "-keyout", "key.pem", "-out", "cert.pem"], { cwd: folder });
    const isMade = await made.then(() => true, () => false);
    if (!isMade) return context.skip("there is no openssl to make a certificate with");
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    await serving(folder, ["--tls-cert", cert, "--tls-key", key], async (safe) => {
      assert.match(safe.address, /^https:/);
      const begin = performance.now();
      await assert.rejects(safe.client({ patience: 60 }).account(), /NODE_EXTRA_CA_CERTS names a file/);
      assert.ok(performance.now() - begin < 5000, "what does not help is not repeated");
      const script = "const { kept } = await import(process.argv[1]); console.log((await (await kept()).account()).name);";
      const env = { ...process.env, SUNZI_SERVER: safe.address, SUNZI_TOKEN: safe.token, NODE_EXTRA_CA_CERTS: cert };
      const module = new URL("../src/node.js", import.meta.url).href;
      const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script, module], { env });
      assert.equal(stdout, "demo\n");
    });
  });
});
