/** Sunzi in WebAssembly: what it computes is what the command line computes, and its files are the same. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { brotliCompressSync, constants } from "node:zlib";

import { inspect, load, Refused, type Result, TableKeys, TablePlan, TableProgram, TableSchema } from "sunzi/local";

import { NO_MODULE } from "./chromium.js";
import { BINARY, inFolder, SERVED, Server, sunzi } from "./server.js";

const MODULE = new URL("../wasm/sunzi_wasm_bg.wasm", import.meta.url);
/** Options of a test that takes the module. */
const BUILT = { skip: NO_MODULE } as const;
/** Options of a test that takes the module and a command line. */
const BOTH = { skip: BUILT.skip || SERVED.skip, timeout: SERVED.timeout } as const;
/** Longest module, in bytes of its compressed file. */
const LONGEST_MODULE = 1_500_000;

const CITIES = ["Lyon", "Oslo", "Rome"];
const ROWS = Array.from({ length: 500 }, (_, at) => ({ age: 20 + ((at * 7) % 60), cost: ((at * 7919) % 100_000) / 100, city: CITIES[at % 3] ?? "" }));
const CSV = ["age,cost,city", ...ROWS.map(({ age, cost, city }) => `${age},${cost},${city}`), ""].join("\n");
const PROGRAM = "mean(cost); total = sum(cost) by city; corr(age, cost); sum(age)";
const RANGES = { ranges: { age: ["0", "120"], cost: ["0", "1000"] } } as const;

before(async () => {
  if (!BUILT.skip) await load();
});

interface Job {
  readonly schema: TableSchema;
  readonly plan: TablePlan;
  readonly keys: TableKeys;
}

function planned(program = PROGRAM): Job {
  const schema = TableSchema.survey(CSV, RANGES);
  const plan = new TableProgram(program, schema).plan();
  return { schema, plan, keys: plan.keygen() };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Checks results against numbers in the clear. */
function areRight(results: readonly Result[]): void {
  const [ages, costs] = [ROWS.map((row) => row.age), ROWS.map((row) => row.cost)];
  const [mean, total, corr, years] = results.map((result) => result.value);
  assert.ok(mean?.kind === "number" && total?.kind === "groups" && corr?.kind === "number" && years?.kind === "number");
  const hundredths = sum(costs.map((cost) => Math.round(100 * cost)));
  assert.ok(Math.abs((mean.value ?? NaN) - hundredths / 100 / ROWS.length) < 1e-9);
  for (const { labels, number } of total.groups) {
    const own = ROWS.filter((row) => row.city === labels[0]).map((row) => Math.round(100 * row.cost));
    assert.equal(Math.round(100 * (number.value ?? NaN)), sum(own));
    assert.equal(number.error, 0);
  }
  assert.deepEqual(total.groups.map((group) => group.labels), CITIES.map((city) => [city]));
  const away = (numbers: readonly number[]): number[] => numbers.map((one) => one - sum(numbers) / numbers.length);
  const dot = (a: readonly number[], b: readonly number[]): number => sum(a.map((one, at) => one * (b[at] ?? NaN)));
  const [a, c] = [away(ages), away(costs)];
  assert.ok(Math.abs((corr.value ?? NaN) - dot(a, c) / Math.sqrt(dot(a, a) * dot(c, c))) < 1e-9);
  assert.equal(years.exact, String(sum(ages)));
}

test("a program on a table", BUILT, () => {
  const { schema, plan, keys } = planned();
  assert.equal(schema.rows, ROWS.length);
  assert.deepEqual(schema.columns.map((column) => [column.name, column.encrypted]), [["age", true], ["cost", true], ["city", true]]);
  assert.equal(plan.security, 128);
  const table = keys.encrypt(plan, schema, CSV);
  const told = inspect(table);
  assert.deepEqual([told.secret, told.bytes <= table.length, told.key], [false, true, keys.id]);
  areRight(keys.decrypt(plan, keys.compute(plan, table)));
});

test("what is not a number says why", BUILT, () => {
  const csv = "x,y\n1,5\n2,5\n4,5\n";
  const schema = TableSchema.survey(csv, { ranges: { x: ["0", "9"], y: ["0", "9"] } });
  const plan = new TableProgram("corr(x, y); x + y", schema).plan();
  const keys = plan.keygen();
  const [none, rows] = keys.decrypt(plan, keys.compute(plan, keys.encrypt(plan, schema, csv)));
  assert.ok(none?.value.kind === "number" && none.value.value === null && (none.value.undefined ?? "").length > 10);
  assert.ok(rows?.value.kind === "rows");
  assert.deepEqual(rows.value.values, [6, 7, 9]);
});

test("plans and schemas come back from JSON", BUILT, () => {
  const { schema, plan, keys } = planned();
  const [again, other] = [TablePlan.fromJson(plan.toJson()), TableSchema.fromJson(schema.toJson())];
  const told = (of: TablePlan): unknown[] => ((all) => [all.parameters, all.layout, all.rotations])(JSON.parse(of.toJson()) as Record<"parameters" | "layout" | "rotations", unknown>);
  assert.deepEqual(told(again), told(plan));
  areRight(keys.decrypt(again, keys.compute(again, keys.encrypt(plan, other, CSV))));
});

test("keys come back from their files, under a passphrase too", BUILT, () => {
  const { schema, plan, keys } = planned("sum(age)");
  const [parameters, own, locked] = [keys.parameters(), keys.evaluation(), keys.secretKey("a sentence of six plain words")];
  const owner = TableKeys.open({ parameters, secret: locked, passphrase: "a sentence of six plain words" });
  const encrypting = TableKeys.open({ parameters, publicKey: keys.publicKey() });
  const computing = TableKeys.open({ parameters, relinearization: own["relinearization.sz"], galois: own["galois.sz"] });
  const results = computing.compute(plan, encrypting.encrypt(plan, schema, CSV));
  const [total] = owner.decrypt(plan, results);
  assert.ok(total?.value.kind === "number" && total.value.exact === String(sum(ROWS.map((row) => row.age))));
  assert.deepEqual(owner.secretKey(), keys.secretKey());
  assert.equal(inspect(locked).secret, true);
  const refused = (name: string, call: () => unknown): void => assert.throws(call, (error) => error instanceof Refused && error.name === name, name);
  refused("PassphraseWrong", () => TableKeys.open({ parameters, secret: locked, passphrase: "another sentence" }));
  refused("Kind", () => TableKeys.open({ parameters, secret: locked }));
  refused("MissingKey", () => encrypting.decrypt(plan, results));
  refused("MissingKey", () => encrypting.compute(plan, results));
  refused("MissingKey", () => TableKeys.open({ parameters }));
  refused("Key", () => TableKeys.open({ parameters, secret: keys.secretKey(), publicKey: plan.keygen().publicKey() }));
});

test("files are those of the command line, bit by bit", BOTH, () =>
  inFolder(async (folder) => {
    const path = (...parts: string[]): string => join(folder, ...parts);
    const read = (...parts: string[]): Uint8Array => readFileSync(path(...parts));
    writeFileSync(path("visits.csv"), CSV);
    const { schema, plan } = planned();
    writeFileSync(path("schema.json"), schema.toJson());
    sunzi(folder, "plan", PROGRAM, "--schema", "schema.json", "--no-time", "-o", "job.params");
    sunzi(folder, "keygen", "job.params", "-d", "keys", "--for", PROGRAM, "--schema", "schema.json");
    const keys = TableKeys.open({
      parameters: read("keys", "secret", "parameters.sz"),
      secret: read("keys", "secret", "secret.sz"),
      publicKey: read("keys", "public", "public.sz"),
      relinearization: read("keys", "eval", "relinearization.sz"),
      galois: read("keys", "eval", "galois.sz"),
    });
    const own = keys.evaluation();
    const pairs: [Uint8Array, string[]][] = [
      [keys.parameters(), ["secret", "parameters.sz"]],
      [keys.secretKey(), ["secret", "secret.sz"]],
      [keys.publicKey(), ["public", "public.sz"]],
      ...Object.entries(own).map(([name, bytes]): [Uint8Array, string[]] => [bytes, ["eval", name]]),
    ];
    for (const [bytes, file] of pairs) assert.ok(Buffer.from(bytes).equals(read("keys", ...file)), file.join("/"));
    // What the module encrypted, the command line computes with and opens; and the other way round.
    writeFileSync(path("visits.sz"), keys.encrypt(plan, schema, CSV));
    const job = ["--for", PROGRAM, "--schema", "schema.json"];
    sunzi(folder, "eval", PROGRAM, "visits.sz", "--keys", "keys/eval", "-o", "results.sz");
    areRight(keys.decrypt(plan, read("results.sz")));
    writeFileSync(path("own.sz"), keys.compute(plan, read("visits.sz")));
    assert.ok(Buffer.from(read("own.sz")).equals(read("results.sz")), "results");
    const [ours, theirs] = ["own.sz", "results.sz"].map((file) => sunzi(folder, "decrypt", file, "--keys", "keys/secret", ...job));
    assert.equal(ours, theirs);
    assert.match(theirs ?? "", /mean\(cost\)/);
  }),
);

test("a table goes to the server, and its results come back", BOTH, () =>
  inFolder(async (folder) => {
    const server = await Server.start(folder);
    try {
      const { schema, plan, keys } = planned();
      const client = server.client();
      await client.putKeys("k", keys.evaluation());
      await client.putProgram("p", PROGRAM);
      await client.putTable("t", keys.encrypt(plan, schema, CSV));
      const job = await client.run("p", "t", { keys: "k" });
      await job.wait({ timeout: 120 });
      areRight(keys.decrypt(plan, await job.result()));
    } finally {
      await server.stop();
    }
  }),
);

test("damaged and foreign bytes are refused, and the module goes on", { ...BUILT, timeout: 300_000 }, () => {
  // No column that the program does not read: their bytes are not looked at.
  const schema = TableSchema.survey(CSV, { ranges: { age: ["0", "120"] }, columns: ["age"] });
  const plan = new TableProgram("sum(age)", schema).plan();
  const keys = plan.keygen();
  const table = keys.encrypt(plan, schema, CSV);
  const results = keys.compute(plan, table);
  const [parameters, secret] = [keys.parameters(), keys.secretKey()];
  const readers: [Uint8Array, (bytes: Uint8Array) => unknown][] = [
    [results, (bytes) => keys.decrypt(plan, bytes)],
    [table, (bytes) => keys.compute(plan, bytes)],
    [parameters, (bytes) => TableKeys.open({ parameters: bytes, secret })],
    [secret, (bytes) => TableKeys.open({ parameters, secret: bytes })],
    [keys.publicKey(), (bytes) => TableKeys.open({ parameters, publicKey: bytes })],
  ];
  let [seed, refused] = [1, 0];
  const next = (most: number): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0) % most;
  for (let round = 0; round < 200; round += 1) {
    for (const [bytes, read] of readers) {
      const changed = round % 2 === 0 ? bytes.slice(0, next(bytes.length)) : bytes.slice();
      if (round % 2 === 1) changed[next(changed.length)]! ^= 1 << next(8);
      try {
        read(changed);
      } catch (error) {
        assert.ok(error instanceof Refused && error.name !== "InternalError", `${error}`);
        refused += 1;
      }
    }
  }
  assert.equal(refused, 200 * readers.length);
  const [total] = keys.decrypt(plan, results);
  assert.ok(total?.value.kind === "number" && total.value.exact === String(sum(ROWS.map((row) => row.age))));
});

test("mistakes are named", BUILT, () => {
  const { schema, plan, keys } = planned("sum(age)");
  const message = (call: () => unknown): string => {
    try {
      call();
    } catch (error) {
      assert.ok(error instanceof Refused, `${error}`);
      return `${error.name}: ${error.message}`;
    }
    return assert.fail("nothing was refused");
  };
  assert.match(message(() => TableSchema.survey("")), /^Form: /);
  assert.match(message(() => TableSchema.survey("a,b\n1,2\nx,3\n", { ranges: { a: ["0", "9"] } })), /line 3.*"a".*"x"/s);
  assert.match(message(() => new TableProgram("median(age", schema)), /^Parse: /);
  assert.match(message(() => new TableProgram("sum(height)", schema)), /height/);
  assert.match(message(() => keys.encrypt(plan, schema, CSV.replace("20,0", "999,0"))), /999/);
  assert.match(message(() => keys.encrypt(plan, schema, "age,cost,city\n20,1,Oslo\n")), /rows of the table: expected 500, got 1/);
  assert.match(message(() => TablePlan.fromJson("{}")), /^Parse: /);
  assert.match(message(() => inspect(new Uint8Array(64))), /^Magic: /);
  assert.match(message(() => keys.decrypt(planned("sum(cost)").plan, keys.secretKey())), /Mismatch|Kind/);
  const program = new TableProgram("sum(age)", schema);
  for (const scheme of ["bfv", "bgv", "ckks"] as const) assert.equal(program.plan({ scheme }).scheme, scheme.toUpperCase());
  assert.match(message(() => program.plan({ scheme: "rsa" as "bfv" })), /rsa.*ckks/s);
  assert.match(message(() => program.plan({ degree: 5 } as object)), /degree.*log2Degree/s);
  assert.match(message(() => program.plan({ log2Degree: 3 })), /secure/);
  // Keys of look-ups are longer than what addresses of 32 bits reach with all that a run takes.
  assert.match(message(() => {
    const long = program.plan({ scheme: "integers" as "bfv" });
    const own = long.keygen();
    own.compute(long, own.encrypt(long, schema, CSV));
  }), /^Memory: /);
  keys.free();
  assert.match(message(() => keys.id), /^Freed: /);
  assert.match(message(() => keys.secretKey()), /^Freed: /);
});

test("the example of the README", BUILT, async (context) => {
  const { mock } = context.mock.method(console, "log", () => undefined);
  await import("../examples/local.js");
  const told = mock.calls.map((call) => String(call.arguments[0]));
  mock.restore();
  assert.equal(told[0], "mean(cost) = 621.625");
  assert.match(told[1] ?? "", /^corr\(age, cost\) = 0\.9/);
});

test("the module is short", BUILT, () => {
  const bytes = readFileSync(MODULE);
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const length = brotliCompressSync(bytes, options).length;
  console.log(`the module has ${bytes.length} bytes, ${length} compressed by Brotli`);
  assert.ok(length <= LONGEST_MODULE, `${length}`);
});

test("the command line of the tests is there", { skip: BINARY === undefined }, () => {
  assert.match(sunzi(".", "--version"), /^sunzi /);
});
