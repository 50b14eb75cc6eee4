/** Key holder's side in a worker of its own: tables and secret keys are here, and the page stays responsive while this computes. */

import { type Column, type Bytes, load, Refused, type Result, TableKeys, TablePlan, TableProgram, TableSchema, type SurveyChoices } from "../src/local.js";
import { forget, NotSealed, open, seal } from "../src/sealed.js";

import { type Kept, packed, unpacked } from "./kept.js";

/** Table, as it was found. */
export interface Surveyed {
  readonly rows: number;
  readonly columns: readonly Column[];
}

/** Plan, in what the page shows of it. */
export interface Planned {
  readonly scheme: string;
  readonly degree: number;
  readonly security: number;
  readonly reasons: readonly string[];
}

/** Name under which this browser keeps the key of the last run. */
const OWN = "page";

let table: Uint8Array | undefined;
let schema: TableSchema | undefined;
let plan: TablePlan | undefined;
let keys: TableKeys | undefined;

function there<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Refused("NotReady", `${what} first`);
  return found;
}

const itsSchema = (): TableSchema => there(schema, "choose a table");
const itsPlan = (): TablePlan => there(plan, "choose parameters");
const itsKeys = (): TableKeys => there(keys, "make keys");

/** Frees the keys that are there: another run has its own. */
function drop(): void {
  keys?.free();
  keys = undefined;
}

const calls = {
  async load(): Promise<void> {
    await load();
  },
  async survey(csv: Uint8Array, choices: SurveyChoices): Promise<Surveyed> {
    await load();
    const found = TableSchema.survey(csv, choices);
    [table, schema] = [csv, found];
    return { rows: found.rows, columns: found.columns };
  },
  check(program: string): readonly string[] {
    return new TableProgram(program, itsSchema()).outputs;
  },
  plan(program: string): Planned {
    drop();
    plan = new TableProgram(program, itsSchema()).plan();
    const { scheme, degree, security, reasons } = plan;
    return { scheme, degree, security, reasons };
  },
  keygen(): void {
    drop();
    keys = itsPlan().keygen();
  },
  encrypt(): Bytes {
    return itsKeys().encrypt(itsPlan(), itsSchema(), there(table, "choose a table"));
  },
  evaluation(): Record<string, Bytes> {
    return itsKeys().evaluation();
  },
  decrypt(results: Uint8Array): Result[] {
    return itsKeys().decrypt(itsPlan(), results);
  },
  secretFile(passphrase: string): Bytes {
    return itsKeys().secretKey(passphrase);
  },
  parameters(): Bytes {
    return itsKeys().parameters();
  },
  async keep(note: Kept): Promise<void> {
    const secret = itsKeys().secretKey();
    const bytes = packed({ note: { ...note, plan: itsPlan().toJson() }, parameters: itsKeys().parameters(), secret });
    try {
      await seal(OWN, bytes);
    } finally {
      secret.fill(0);
      bytes.fill(0);
    }
  },
  async kept(): Promise<Kept | undefined> {
    const bytes = await open(OWN).catch((error: unknown) => {
      if (error instanceof NotSealed) return undefined;
      throw error;
    });
    if (bytes === undefined) return undefined;
    const { note } = unpacked(bytes);
    bytes.fill(0);
    return note;
  },
  async restore(): Promise<void> {
    await load();
    const bytes = await open(OWN);
    const { note, parameters, secret } = unpacked(bytes);
    drop();
    plan = TablePlan.fromJson(note.plan);
    keys = TableKeys.open({ parameters, secret });
    bytes.fill(0);
  },
  async forget(): Promise<void> {
    await forget(OWN);
  },
};

/** Calls of the worker. */
export type Calls = typeof calls;

/** Request of the page. */
export interface Request {
  readonly id: number;
  readonly call: keyof Calls;
  readonly given: readonly unknown[];
}

/** Answer of the worker. */
export type Answer = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly name: string; readonly message: string };

async function answered({ id, call, given }: Request): Promise<Answer> {
  try {
    return { id, value: await (calls[call] as (...given: readonly unknown[]) => unknown)(...given) };
  } catch (error) {
    return error instanceof Error ? { id, name: error.name, message: error.message } : { id, name: "Error", message: String(error) };
  }
}

// Calls are answered in the order in which they came: a key is made after its plan.
let last = Promise.resolve();
addEventListener("message", ({ data }: MessageEvent<Request>) => {
  last = last.then(async () => postMessage(await answered(data)));
});
