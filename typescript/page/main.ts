/** Page that encrypts a table, has a server compute on it, and decrypts the result. */

import type { Client } from "../src/index.js";
import { NotStored, ServerError, WrongToken } from "../src/errors.js";

import { ColumnsForm, type Range, widened } from "./columns.js";
import { byId, focusOn, grid, made, scrolling, show } from "./dom.js";
import { EXAMPLE_PROGRAM, EXAMPLE_RANGES, exampleTable } from "./example.js";
import { KeyParts, offerEarlier } from "./keys.js";
import { LoginForm } from "./login.js";
import { Owner } from "./owner.js";
import { PlainTable, statements } from "./plain.js";
import { ProgressView } from "./progress.js";
import { Run } from "./run.js";
import { resultsView, seenView, unseenView } from "./views.js";
import { nameOf, ofTable, size, told } from "./words.js";
import type { Surveyed } from "./worker.js";

/** Longest table that the page takes, in bytes. */
const LONGEST = 100 << 20;
/** Number of first rows that are shown. */
const PREVIEW = 4;

interface Table {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly plain: PlainTable;
}

/** Login first: a token in the address is taken away before anything else is done. */
const login = new LoginForm();
const owner = new Owner();
const progress = new ProgressView();
const program = byId("program", HTMLTextAreaElement);
const missing = byId("missing", HTMLInputElement);
const comma = byId("comma", HTMLInputElement);
const runButton = byId("run", HTMLButtonElement);
const stopButton = byId("stop", HTMLButtonElement);
const resumeButton = byId("resume", HTMLButtonElement);
const columns = new ColumnsForm(byId("columns", HTMLElement), () => look(changed));

let table: Table | undefined;
let surveyed: Surveyed | undefined;
let run: Run | undefined;
let stop: AbortController | undefined;
/** Client of the run that goes. */
let client: Client | undefined;
/** Table as it was given, also one that cannot be used. */
let given: Parameters<typeof take> | undefined;
/** Look at the table that goes on. */
let looking: Promise<void> = Promise.resolve();
/** Objects that the page put on the server, by the client that did. */
let stored: { readonly client: Client; readonly kind: "keys" | "programs" | "tables" | "jobs"; readonly name: string }[] = [];
/** Number of the last look at a table: answers to earlier ones are dropped. */
let looks = 0;

const keys = new KeyParts(owner, () => run?.note);

function part(id: string, shown = true): void {
  show(byId(id, HTMLElement), shown);
}

/** Shows a problem, or takes it away. */
function problem(id: string, text = ""): void {
  const box = byId(id, HTMLElement);
  box.textContent = text;
  show(box, text !== "");
}

/** Hides what belongs to an earlier run. */
function hideRun(): void {
  for (const id of ["progress-part", "result-part", "seen-part"]) part(id, false);
  keys.show(false);
  run = undefined;
}

/** Begins a look at the table, which a run waits for. */
function look(call: () => Promise<void>): void {
  looking = call();
}

/** Returns how cells are read. */
function reading(): { readonly skipMissing: boolean; readonly decimalComma: boolean } {
  return { skipMissing: missing.checked, decimalComma: comma.checked };
}

/** Takes a table: finds its columns but those that are left out, widens their ranges, and shows them. */
async function take(name: string, bytes: Uint8Array, text: string, ranges?: Readonly<Record<string, Range>>, out: readonly string[] = []): Promise<void> {
  const own = (looks += 1);
  given = [name, bytes, text, ranges, out];
  for (const id of ["found", "program-part", "server-part", "leave"]) part(id, false);
  hideRun();
  problem("table-problem");
  [table, surveyed] = [undefined, undefined];
  const plain = new PlainTable(text, comma.checked);
  const choices = { ...reading(), columns: out.length === 0 ? undefined : plain.heads.filter((head) => !out.includes(head)) };
  try {
    const found = await owner.call("survey", bytes, choices);
    const chosen = ranges ?? widened(found.columns);
    const again = await owner.call("survey", bytes, { ...choices, ranges: chosen });
    if (own !== looks) return;
    table = { name, bytes, plain };
    surveyed = again;
    columns.show(again.columns, chosen);
    program.value = ranges === undefined ? (columns.suggestions()[0] ?? "") : EXAMPLE_PROGRAM;
    showTable(table, again);
    await check();
    focusOn(byId("found-title", HTMLElement));
  } catch (error) {
    if (own !== looks) return;
    problem("table-problem", `${name} cannot be used. ${ofTable(error)}`);
    offerToLeaveOut(error, plain.heads.filter((head) => !out.includes(head)));
    focusOn(byId("table-problem", HTMLElement));
  }
}

/** Offers to leave out the column that an error names, if there are others. */
function offerToLeaveOut(error: unknown, heads: readonly string[]): void {
  const column = heads.find((head) => error instanceof Error && error.message.includes(`column ${JSON.stringify(head)}`));
  if (column === undefined || heads.length < 2) return;
  const button = byId("leave-out", HTMLButtonElement);
  button.textContent = `Leave column “${column}” out`;
  button.onclick = () => {
    if (given === undefined) return;
    const [name, bytes, text, ranges, out = []] = given;
    look(() => take(name, bytes, text, ranges, [...out, column]));
  };
  part("leave");
}

function showTable({ name, plain, bytes }: Table, { rows, columns: found }: Surveyed): void {
  const counted = (number: number, one: string): string => `${number} ${one}${number === 1 ? "" : "s"}`;
  byId("found-title", HTMLElement).textContent = `${name}: ${counted(rows, "row")}, ${counted(found.length, "column")}, ${size(bytes.length)}`;
  const first = grid("First rows", plain.heads, plain.first(PREVIEW));
  byId("preview", HTMLElement).replaceChildren(scrolling("First rows", first));
  for (const id of ["found", "program-part", "server-part"]) part(id);
  suggest();
}

/** Looks at the table again after a choice was changed. */
async function changed(): Promise<void> {
  if (table === undefined) return;
  const own = (looks += 1);
  hideRun();
  problem("table-problem");
  surveyed = undefined;
  try {
    const found = await owner.call("survey", table.bytes, { ...columns.choices(), ...reading() });
    if (own !== looks) return;
    surveyed = found;
    suggest();
    await check();
  } catch (error) {
    if (own === looks) problem("table-problem", ofTable(error));
  }
}

/** Shows suggestions; those that are in the program are pressed. */
function suggest(): void {
  const own = new Set(statements(program.value));
  const buttons = columns.suggestions().map((statement) => {
    const button = made("button", { type: "button", "aria-pressed": String(own.has(statement)) }, statement);
    button.addEventListener("click", () => {
      const before = statements(program.value);
      const after = before.includes(statement) ? before.filter((one) => one !== statement) : [...before, statement];
      program.value = after.join(";\n");
      button.setAttribute("aria-pressed", String(after.includes(statement)));
      edited();
    });
    return button;
  });
  byId("suggestions", HTMLElement).replaceChildren(...buttons);
}

function edited(): void {
  hideRun();
  const own = new Set(statements(program.value));
  for (const button of byId("suggestions", HTMLElement).children) button.setAttribute("aria-pressed", String(own.has(button.textContent ?? "")));
  void check();
}

/** Checks the program, and says what is wrong with it. */
async function check(): Promise<boolean> {
  if (surveyed === undefined) return false;
  const text = program.value;
  try {
    if (statements(text).length === 0) throw new Error("Write a program, or press a suggestion.");
    await owner.call("check", text);
    if (text === program.value) problem("program-problem");
    return true;
  } catch (error) {
    if (text === program.value) problem("program-problem", told(error));
    return false;
  } finally {
    program.setAttribute("aria-invalid", String(!byId("program-problem", HTMLElement).hidden));
  }
}

/** Begins a run. */
async function begin(): Promise<void> {
  if (stop !== undefined) return;
  await looking;
  if (surveyed === undefined) return focusOn(byId("table-problem", HTMLElement));
  if (!(await check())) return program.focus();
  hideRun();
  run = new Run(owner, program.value, {
    step: (at, state, note, time) => progress.step(at, state, note, time),
    stored: (kind, name) => client !== undefined && stored.push({ client, kind, name }),
    asked: () => keys.keepOrTell(),
  });
  login.isChanged();
  progress.reset();
  part("progress-part");
  focusOn(byId("progress-title", HTMLElement));
  await go();
}

/** Goes on with a run that failed or was stopped. */
async function resume(): Promise<void> {
  focusOn(byId("progress-title", HTMLElement));
  await go();
}

/** Goes on with a run, from the step that failed. */
async function go(): Promise<void> {
  const [own, seen] = [run, surveyed];
  if (own === undefined || seen === undefined || stop !== undefined) return;
  stop = new AbortController();
  setBusy(true);
  problem("problem");
  try {
    client = login.client();
    if (login.isChanged()) own.forgotten();
    await own.go(client, stop.signal);
    setBusy(false);
    finish(own);
  } catch (error) {
    setBusy(false);
    await failed(own, error);
  } finally {
    stop = undefined;
    keys.show(own.hasKeys);
    if (own.hasSent) showSeen(own, seen);
    showStored();
  }
}

/** Locks what belongs to the run while it goes. */
function setBusy(busy: boolean): void {
  const places = "#drop input, #drop button, #drop select, #program-part button, #program, #server-part input, #run, #earlier button, #delete";
  const held = document.querySelectorAll<HTMLInputElement>(places);
  for (const one of held) one.disabled = busy;
  login.token.removeAttribute("aria-invalid");
  show(stopButton, busy);
  show(resumeButton, false);
}

function finish(own: Run): void {
  progress.say("Done: the result is decrypted.");
  const beside = table?.plain.results(program.value) ?? [];
  byId("results", HTMLElement).replaceChildren(resultsView(own.results, beside));
  byId("result-text", HTMLElement).textContent = "Decrypted here, beside what this page computes from your file in the clear. The server saw neither.";
  part("result-part");
  focusOn(byId("result-title", HTMLElement));
}

async function failed(own: Run, error: unknown): Promise<void> {
  const name = nameOf(error);
  if (name === "AbortError") {
    progress.say("Stopped.");
    if (own.hasKeys) problem("problem", "Stopped. Press Go on to go on where it was.");
    else problem("problem", "Stopped. Nothing was sent. Start again when you like.");
  } else {
    progress.say("");
    problem("problem", told(error));
  }
  // What the module refuses before there are keys, it refuses again.
  show(resumeButton, name !== "InternalError" && (own.hasKeys || error instanceof ServerError));
  if (name === "WrongToken" || name === "LoginUnusable") {
    login.token.setAttribute("aria-invalid", "true");
    login.token.setAttribute("aria-describedby", "token-help problem");
  }
  focusOn(byId("problem", HTMLElement));
}

function showSeen(own: Run, found: Surveyed): void {
  byId("seen", HTMLElement).replaceChildren(...seenView(own, found, program.value));
  byId("unseen", HTMLElement).replaceChildren(...unseenView(found));
  part("seen-part");
}

/** Says what of this page is on the server, as long as there is something. */
function showStored(): void {
  if (stored.length === 0) return;
  const counted = (kind: string): number => stored.filter((one) => one.kind === kind).length;
  const words = { keys: "sets of evaluation keys", programs: "programs", tables: "encrypted tables", jobs: "jobs with their results" };
  const parts = Object.entries(words).map(([kind, word]) => `${word}: ${counted(kind)}`);
  byId("cleanup-text", HTMLElement).textContent = `From this page: ${parts.join(", ")}. It stays there when the page is closed, until somebody deletes it.`;
  byId("delete-status", HTMLElement).textContent = "";
  problem("delete-problem");
  part("cleanup");
}

/** Stops the run. What the worker computes is lost with its keys; what the server does goes on. */
function halt(): void {
  stop?.abort();
  if (!owner.isBusy || table === undefined || run?.hasKeys === true) return;
  owner.restart();
  run = undefined;
  // The other worker needs the table; what is wrong with it was told before.
  owner.call("survey", table.bytes, { ...columns.choices(), ...reading() }).catch(() => undefined);
}

/** Deletes what the page put on the server, each thing with the account that it is in. */
async function remove(): Promise<void> {
  const button = byId("delete", HTMLButtonElement);
  const status = byId("delete-status", HTMLElement);
  button.disabled = true;
  problem("delete-problem");
  status.textContent = "Deleting.";
  let [deleted, left] = [0, 0];
  try {
    // Jobs first: what they read is in use while they run.
    for (const one of [...stored].reverse()) {
      await one.client.delete(one.kind, one.name).catch((error: unknown) => {
        // An account of before, whose token was replaced or whose server is gone, is out of reach for good.
        if (error instanceof WrongToken && one.client !== client) left += 1;
        else if (!(error instanceof NotStored)) throw error;
      });
      stored = stored.filter((other) => other !== one);
      deleted += 1;
    }
    run?.forgotten();
    const rest = "What is in an account whose token the server no longer knows was left.";
    byId("cleanup-text", HTMLElement).textContent = left === 0 ? "Nothing of this page is on the server." : rest;
    status.textContent = deleted === 0 ? "There was nothing to delete." : "Deleted: evaluation keys, programs, encrypted tables, jobs and results.";
  } catch (error) {
    status.textContent = "";
    problem("delete-problem", `Not everything was deleted. ${told(error).replace("press Go on", "press the button again")}`);
  } finally {
    button.disabled = false;
    button.focus();
  }
}

async function chosen(file: File): Promise<void> {
  if (file.size > LONGEST) {
    problem("table-problem", `${file.name} has ${size(file.size)}: this page takes ${size(LONGEST)} at most. The command line takes longer tables.`);
    return focusOn(byId("table-problem", HTMLElement));
  }
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    await take(file.name, bytes, new TextDecoder().decode(bytes));
  } catch (error) {
    problem("table-problem", `${file.name} cannot be read. ${told(error)}`);
  }
}

function listenToFiles(): void {
  const drop = byId("drop", HTMLElement);
  const input = byId("file", HTMLInputElement);
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file !== undefined) look(() => chosen(file));
  });
  // The same file may be chosen again after it was mended.
  input.addEventListener("click", () => (input.value = ""));
  // A file beside the box would be opened in place of the page.
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
  drop.addEventListener("dragover", () => drop.classList.add("over"));
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    drop.classList.remove("over");
    const file = event.dataTransfer?.files[0];
    if (file !== undefined && stop === undefined) look(() => chosen(file));
  });
  byId("example", HTMLButtonElement).addEventListener("click", () => {
    const text = exampleTable();
    input.value = "";
    look(() => take("Example table", new TextEncoder().encode(text), text, EXAMPLE_RANGES));
  });
}

listenToFiles();
missing.addEventListener("change", () => look(() => (table === undefined && given !== undefined ? take(...given) : changed())));
comma.addEventListener("change", () => look(() => (given === undefined ? changed() : take(...given))));
program.addEventListener("input", edited);
runButton.addEventListener("click", () => void begin());
login.token.addEventListener("keydown", (event) => event.key === "Enter" && void begin());
resumeButton.addEventListener("click", () => void resume());
stopButton.addEventListener("click", halt);
byId("delete", HTMLButtonElement).addEventListener("click", () => void remove());
void offerEarlier({
  owner,
  client: () => login.client(),
  before: hideRun,
  opened: (note, results, own) => {
    hideRun();
    for (const kind of ["keys", "programs", "tables"] as const) stored.push({ client: own, kind, name: note.name });
    stored.push({ client: own, kind: "jobs", name: note.job });
    showStored();
    byId("results", HTMLElement).replaceChildren(resultsView(results, []));
    byId("result-text", HTMLElement).textContent = `Result of the earlier run: ${note.program}`;
    part("result-part");
    focusOn(byId("result-title", HTMLElement));
  },
});
