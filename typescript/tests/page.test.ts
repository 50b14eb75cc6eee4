/** Page in Chromium, under a strict content security policy and against a real server: the newcomer's path, and what goes wrong on it. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import type { Page } from "playwright-core";

import { browsing, NO_BROWSER, NO_MODULE } from "./chromium.js";
import { inFolder, Server, SERVED, sunzi } from "./server.js";
import { POLICY, type Served, servePage } from "./pages.js";

const skip = NO_MODULE || NO_BROWSER || SERVED.skip;
const OPTIONS = { skip, timeout: 120_000 };
/** Longest time from the press of the button to the result, in milliseconds. */
const BAR = 20_000;

interface Visit {
  readonly page: Page;
  readonly server: Server;
  readonly served: Served;
  readonly folder: string;
  /** Errors of scripts, and what the policy forbade. */
  readonly faults: string[];
}

/** Opens the page in a browser, with the token of a server unless another is given. */
async function visiting(block: (visit: Visit) => Promise<void>, token?: string): Promise<void> {
  await inFolder(async (folder) => {
    const server = await Server.start(folder);
    const served = await servePage(server.address);
    try {
      await browsing(async (page, faults) => {
        await page.goto(`${served.address}#token=${token ?? server.token}`);
        await block({ page, server, served, folder, faults });
      });
    } finally {
      served.close();
      await server.stop();
    }
  });
}

const text = async (page: Page, where: string): Promise<string> => (await page.textContent(where)) ?? "";

/** Waits for a result, and returns its table, cell by cell. */
async function results(page: Page): Promise<string[][]> {
  await page.waitForSelector("#results table, #problem:not([hidden])");
  assert.equal(await text(page, "#problem"), "");
  const rows = await page.$$("#results tbody tr");
  return Promise.all(rows.map(async (row) => Promise.all((await row.$$("th, td")).map(async (cell) => (await cell.textContent()) ?? ""))));
}

/** Chooses a file with these bytes. */
async function choose(page: Page, content: string | Uint8Array, name = "own.csv"): Promise<void> {
  await page.setInputFiles("#file", { name, mimeType: "text/csv", buffer: Buffer.from(content) });
}

/** Waits until an expression holds. Scripts of the browser that wait by themselves would evaluate texts, which the policy forbids. */
async function until(page: Page, expression: string): Promise<void> {
  for (let tries = 0; !(await page.evaluate(expression)); tries += 1) {
    assert.ok(tries < 300, expression);
    await page.waitForTimeout(50);
  }
}

/** Waits for a message of a problem, and returns it. */
async function problem(page: Page, where: string): Promise<string> {
  await page.waitForSelector(`${where}:not([hidden])`);
  return text(page, where);
}

/** Checks that the command line opens the only result of a server with the files of the key that are in a folder. */
async function opensInCommandLine(folder: string, server: Server, passphrase: string, mean: string): Promise<void> {
  const client = server.client();
  const [job] = await client.jobs();
  writeFileSync(`${folder}/results.sz`, await client.job(job?.id ?? "").result());
  writeFileSync(`${folder}/passphrase`, `${passphrase}\n`);
  const told = sunzi(folder, "decrypt", "results.sz", "--keys", ".", "--passphrase-file", "passphrase");
  assert.ok(told.includes(`mean(cost): ${mean}`), told);
}

/** Returns the cells of a column of the example, from the module that makes it. */
async function example(page: Page, at: number): Promise<string[]> {
  const csv = (await page.evaluate("import('/page/example.js').then((example) => example.exampleTable())")) as string;
  return csv.trim().split("\n").slice(1).map((line) => line.split(",")[at] ?? "");
}

test("sunzi serve has the page", OPTIONS, () =>
  inFolder(async (folder) => {
    const server = await Server.start(folder, "--page", fileURLToPath(new URL("../", import.meta.url)));
    try {
      await browsing(async (page, faults) => {
        const answer = await page.goto(`${server.address}/#token=${server.token}`);
        assert.equal(page.url(), `${server.address}/page/index.html`);
        assert.equal(answer?.headers()["content-security-policy"], POLICY);
        await page.click("#example");
        await page.click("#run");
        const [first] = await results(page);
        assert.ok(Math.abs(Number(first?.[1]) - Number(first?.[3])) < 1e-8, `${first}`);
        assert.deepEqual(faults, []);
      });
    } finally {
      await server.stop();
    }
  }),
);

test("a newcomer gets a result, and the server sees no cell", OPTIONS, () =>
  visiting(async ({ page, server, served, faults }) => {
    assert.equal(page.url(), served.address, "the token is not in the address bar");
    await page.click("#example");
    await page.click("#run");
    const start = performance.now();
    const found = await results(page);
    const time = performance.now() - start;
    console.log(`from the press of the button to the result: ${time.toFixed(0)} ms`);
    assert.ok(time < BAR);
    const costs = await example(page, 1);
    const mean = costs.reduce((sum, cost) => sum + Number(cost), 0) / costs.length;
    const [first] = found;
    assert.ok(Math.abs(Number(first?.[1]) - mean) < 1e-8, `${first} is not ${mean}`);
    const groups = ["east", "north", "south"].map((ward) => `sum(cost) by ward: ${ward}`);
    assert.deepEqual(found.map(([name]) => name), ["mean(cost)", ...groups, "corr(age, cost)"]);
    for (const [name, decrypted, , plain] of found) assert.ok(Math.abs(Number(decrypted) - Number(plain)) < 1e-8, name);
    const seen = await text(page, "#seen-part");
    for (const what of ["evaluation keys", "encrypted table", "0 to 5000", "corr(age, cost)", "89 53 55 4e"]) assert.ok(seen.includes(what), what);
    for (const cell of [...costs, ...found.map((row) => row[1] ?? "")]) assert.ok(!seen.includes(cell), `the server saw ${cell}`);
    const heard = Buffer.concat(served.heard);
    assert.ok(heard.length > 1e6 && heard.includes("corr(age, cost)"));
    for (const cell of costs) assert.ok(!heard.includes(cell), `${cell} was sent`);
    const client = server.client();
    assert.equal((await client.list("tables")).length, 1);
    await page.click("#delete");
    await until(page, "document.getElementById('delete-status').textContent.startsWith('Deleted')");
    assert.deepEqual([await client.list("tables"), await client.list("programs"), await client.list("keys"), await client.jobs()], [[], [], [], []]);
    assert.equal(await page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length"), 0);
    assert.deepEqual(faults, []);
  }),
);

test("by keyboard alone", OPTIONS, () =>
  visiting(async ({ page, faults }) => {
    const focused = (): Promise<string> => page.evaluate("document.activeElement?.id ?? ''");
    const tabTo = async (id: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.keyboard.press("Tab");
        if ((await focused()) === id) return;
      }
      assert.fail(`no press of Tab leads to ${id}`);
    };
    await tabTo("example");
    await page.keyboard.press("Enter");
    await until(page, "document.activeElement?.id === 'found-title'");
    await tabTo("program");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("mean(age); count()");
    await tabTo("run");
    await page.keyboard.press("Space");
    const found = await results(page);
    assert.equal(await focused(), "result-title");
    assert.deepEqual(found.map(([name, decrypted, , plain]) => [name, decrypted === plain]), [["mean(age)", true], ["count()", true]]);
    await tabTo("delete");
    assert.deepEqual(faults, []);
  }),
);

test("a hostile table is told in words, and executes nothing", OPTIONS, () =>
  visiting(async ({ page, faults }) => {
    const attack = `<img src=x onerror="alert(1)">`;
    const quoted = `"${attack.replaceAll('"', '""')}"`;
    await choose(page, `${quoted},cost\n<script>alert(2)</script>,1\n${quoted},2\n`, `${attack}.csv`);
    await page.waitForSelector("#found:not([hidden])");
    assert.equal(await page.$$eval("main img, main script", (all) => all.length), 0);
    assert.ok((await text(page, "#preview")).includes(attack) && (await text(page, "#columns")).includes(attack));
    await page.click("#run");
    assert.equal((await results(page))[0]?.[1], "1.5");
    assert.equal(await page.$$eval("main img, main script", (all) => all.length), 0);
    await choose(page, "");
    assert.match(await problem(page, "#table-problem"), /own\.csv cannot be used\. .{10}/s);
    for (const content of [Uint8Array.of(0, 0, 0, 0), "age,cost\n", "age,cost\n1,2,3\n", 'age,cost\n"1,2\n', Uint8Array.of(0x61, 0x0a, 0xff, 0xfe, 0x0a)]) {
      await choose(page, "age\n1\n2\n", "good.csv");
      await page.waitForSelector("#found:not([hidden])");
      await choose(page, content);
      assert.match(await problem(page, "#table-problem"), /own\.csv cannot be used\. .{10}/s, String(content));
      assert.equal(await page.isVisible("#run"), false);
    }
    await choose(page, "age,cost\n30,5\n", "one.csv");
    await page.waitForSelector("#found:not([hidden])");
    await page.click("#run");
    assert.equal((await results(page))[0]?.[1], "5");
    assert.deepEqual(faults, []);
  }),
);

test("a cell out of an edited range, missing cells and a mistaken program are told", OPTIONS, () =>
  visiting(async ({ page, faults }) => {
    await page.click("#example");
    const largest = page.locator("#columns fieldset", { hasText: "cost" }).getByLabel("Largest");
    await largest.fill("1000");
    await largest.press("Tab");
    assert.match(await problem(page, "#table-problem"), /cost.*1000|1000.*cost/s);
    await page.click("#run");
    assert.equal(await page.isVisible("#progress-part"), false);
    await largest.fill("4000");
    await largest.press("Tab");
    await page.waitForSelector("#table-problem", { state: "hidden" });
    await page.fill("#program", "median(age");
    assert.match(await problem(page, "#program-problem"), /.{10}/);
    await page.click("#run");
    assert.equal(await page.isVisible("#progress-part"), false);
    await choose(page, `name,age\n${Array.from({ length: 300 }, (_, at) => `N${at},${at % 90}`).join("\n")}\n`);
    assert.match(await problem(page, "#table-problem"), /Column "name"/);
    await page.click("#leave-out");
    await page.waitForSelector("#found:not([hidden])");
    await page.click("#run");
    const [mean] = await results(page);
    assert.deepEqual([mean?.[0], mean?.[1] === mean?.[3]], ["mean(age)", true]);
    await choose(page, "cost;ward\n1,5;a\n2,75;b\n");
    assert.match(await problem(page, "#table-problem"), /tick “Numbers have a decimal comma”/);
    await page.check("#comma");
    await page.waitForSelector("#found:not([hidden])");
    await page.click("#run");
    assert.deepEqual((await results(page)).map((row) => [row[1], row[3]]), [["2.125", "2.125"]]);
    await page.uncheck("#comma");
    await choose(page, "age,cost\n30,5\n,7\n");
    assert.match(await problem(page, "#table-problem"), /Line 3, column "age".*tick “Leave missing cells out/);
    await page.check("#missing");
    await page.waitForSelector("#found:not([hidden])");
    await page.fill("#program", "mean(age); mean(cost)");
    await page.click("#run");
    assert.deepEqual((await results(page)).map((row) => [row[1], row[3]]), [["30", "30"], ["6", "6"]]);
    assert.deepEqual(faults, []);
  }),
);

test("a wrong token says what to do, and the run goes on with the right one", OPTIONS, () =>
  visiting(async ({ page, server }) => {
    await page.click("#example");
    await page.click("#run");
    const told = await problem(page, "#problem");
    assert.match(told, /Token/);
    assert.match(told, /sunzi account add/);
    assert.equal(await page.evaluate("document.activeElement?.id"), "problem");
    await page.fill("#token", "nonsense");
    await page.click("#resume");
    await until(page, "document.getElementById('problem').textContent.includes('This is no token')");
    await page.fill("#token", server.token);
    await page.click("#resume");
    await page.waitForSelector("#results table");
  }, `sunzi-${"0".repeat(16)}-${"1".repeat(64)}`),
);

test("a server that stops in the middle ends with an error, and the run goes on with another", OPTIONS, () =>
  visiting(async ({ page, server, served }) => {
    page.on("request", (request) => {
      if (request.method() === "PUT" && request.url().includes("/tables/")) void server.stop("SIGKILL");
    });
    await page.click("#example");
    await page.click("#run");
    const start = performance.now();
    assert.match(await problem(page, "#problem"), /press Go on/);
    console.log(`a server that is gone is told after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    page.removeAllListeners("request");
    await inFolder(async (folder) => {
      const other = await Server.start(folder);
      try {
        served.to(other.address);
        await page.fill("#token", other.token);
        await page.click("#resume");
        assert.equal((await results(page)).length, 5);
        // The account that is gone does not keep the page from deleting what it has in this one.
        await page.click("#delete");
        await until(page, "document.getElementById('delete-status').textContent.startsWith('Deleted')");
        assert.deepEqual([await other.client().list("tables"), await other.client().jobs()], [[], []]);
      } finally {
        await other.stop();
      }
    });
  }),
);

test("a column in the clear is named, and a token in the address is taken away at any time", OPTIONS, () =>
  visiting(async ({ page, server, served, faults }) => {
    await page.evaluate(`location.hash = "#token=${server.token}"`);
    await until(page, "location.hash === '' && document.getElementById('token').value.length > 50");
    assert.equal(page.url(), served.address);
    await page.click("#example");
    await page.locator("#columns fieldset", { hasText: "ward" }).getByLabel("On the server").selectOption("clear");
    await page.locator("#columns fieldset", { hasText: "age" }).getByLabel("On the server").selectOption("out");
    await page.waitForSelector("#program-problem:not([hidden])");
    await page.fill("#program", "total = sum(cost) by ward");
    await page.waitForSelector("#program-problem", { state: "hidden" });
    await page.click("#run");
    const found = await results(page);
    assert.deepEqual(found.map(([name, decrypted, , plain]) => [name, decrypted === plain]), ["east", "north", "south"].map((ward) => [`total: ${ward}`, true]));
    assert.match(await text(page, "#unseen"), /the cells of cost.*It saw the cells of ward/s);
    assert.doesNotMatch(await text(page, "#seen"), /\bage\b/);
    assert.deepEqual(faults, []);
  }, "nothing"),
);

test("nothing is cut off or moves, in light, in dark and at 360 pixels", OPTIONS, () =>
  visiting(async ({ page, server, served }) => {
    const folder = new URL("../screenshots/", import.meta.url);
    mkdirSync(folder, { recursive: true });
    await page.addInitScript(`
      globalThis.moved = 0;
      const add = (list) => list.getEntries().forEach((one) => { if (!one.hadRecentInput) moved += one.value; });
      new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });`);
    for (const [name, width, colorScheme] of [["light", 1100, "light"], ["dark", 1100, "dark"], ["narrow", 360, "light"]] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.goto("about:blank");
      await page.goto(`${served.address}#token=${server.token}`);
      await page.click("#example");
      await page.click("#run");
      await results(page);
      await page.waitForTimeout(200);
      assert.ok(((await page.evaluate("moved")) as number) < 0.05, name);
      assert.ok(((await page.evaluate("document.documentElement.scrollWidth - innerWidth")) as number) <= 0, name);
      writeFileSync(new URL(`${name}.png`, folder), await page.screenshot({ fullPage: true }));
    }
  }),
);

test("a run is stopped, and goes on", OPTIONS, () =>
  visiting(async ({ page, faults }) => {
    await page.click("#example");
    let hold: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    await page.route("**/v1/tables/**", async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    const asked = page.waitForRequest((request) => request.url().includes("/v1/tables/"));
    await page.click("#run");
    await asked;
    await page.click("#stop");
    assert.match(await problem(page, "#problem"), /^Stopped/);
    hold?.();
    await page.unrouteAll();
    await page.click("#resume");
    assert.equal((await results(page)).length, 5);
    assert.deepEqual(faults, []);
  }),
);

test("the key is saved under a passphrase, kept in the browser, and opens the result later", OPTIONS, () =>
  visiting(async ({ page, folder, server, served, faults }) => {
    await page.click("#example");
    await page.click("#run");
    const [first] = await results(page);
    await page.fill("#passphrase", "a sentence of six plain words");
    await page.fill("#again", "another sentence of plain words");
    await page.click("#save button[type=submit]");
    assert.match(await problem(page, "#key-problem"), /differ/);
    await page.fill("#again", "a sentence of six plain words");
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#save button[type=submit]")]);
    await saved.saveAs(`${folder}/secret.sz`);
    assert.equal(saved.suggestedFilename(), "secret.sz");
    const [parameters] = await Promise.all([page.waitForEvent("download"), page.click("#save-parameters")]);
    await parameters.saveAs(`${folder}/parameters.sz`);
    await opensInCommandLine(folder, server, "a sentence of six plain words", first?.[1] ?? "");
    await page.check("#keep");
    await until(page, "document.getElementById('key-status').textContent.includes('is kept')");
    await page.goto("about:blank");
    await page.goto(`${served.address}#token=${server.token}`);
    await page.waitForSelector("#earlier:not([hidden])");
    await page.click("#earlier-open");
    assert.deepEqual((await results(page))[0]?.slice(0, 3), first?.slice(0, 3));
    await page.click("#earlier-forget");
    await page.waitForSelector("#earlier", { state: "hidden" });
    await page.reload();
    await page.waitForTimeout(300);
    assert.equal(await page.isVisible("#earlier"), false);
    assert.deepEqual(faults, []);
  }),
);

