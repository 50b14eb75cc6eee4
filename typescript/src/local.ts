/**
 * Sunzi on this machine, in WebAssembly: programs on tables, their keys, encryption and decryption; arrays of encrypted integers; and what files say of themselves.
 * Calls compute on the thread that makes them. Secrets lie in memory that scripts of the same page can read, and WebAssembly is not in constant time.
 */

import type * as Module from "../wasm/sunzi_wasm.js";

import { called } from "./module.js";

export { Integers, type IntegerFiles, type Needs } from "./integers.js";
export { load, type ModuleSource, Refused } from "./module.js";

/** Bytes that calls return. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Choices of how a table is read. */
export interface SurveyChoices {
  /** Names of the columns to use; all where there is none. */
  readonly columns?: readonly string[] | undefined;
  /** Names of columns that stay in the clear. */
  readonly clear?: readonly string[] | undefined;
  /** Names of columns of labels, also where these are numbers. */
  readonly categories?: readonly string[] | undefined;
  /** Least and largest number of columns, in text; columns without have the range of their cells, which the schema tells everybody. */
  readonly ranges?: Readonly<Record<string, readonly [low: string, high: string]>> | undefined;
  /** Whether statistics leave missing cells out; otherwise a missing cell is refused. */
  readonly skipMissing?: boolean | undefined;
  /** Whether numbers have a decimal comma. */
  readonly decimalComma?: boolean | undefined;
}

/** Choices of a plan. */
export interface PlanChoices {
  /** Scheme; the cheapest that holds the program where there is none. */
  readonly scheme?: "bfv" | "bgv" | "ckks" | undefined;
  /** Bits of precision of real numbers; 16 where there is none. */
  readonly precision?: number | undefined;
  /** log2 of the ring's degree; the least that is secure where there is none. */
  readonly log2Degree?: number | undefined;
}

/** Column of a schema. */
export interface Column {
  /** Name of the column. */
  readonly name: string;
  /** Kind of the cells, as schemas have it. */
  readonly kind: unknown;
  /** Whether the column is encrypted. */
  readonly encrypted: boolean;
}

/** A number of a result. */
export interface Told {
  /** Nearest double; null where the number is not defined. */
  readonly value: number | null;
  /** Bound of the error of the number. */
  readonly error: number;
  /** Fraction of integers, where the number is exact. */
  readonly exact: string | null;
  /** Reason why there is no number. */
  readonly undefined: string | null;
  /** Whether the number was never encrypted. */
  readonly clear: boolean;
}

/** Value of a result: a number, one for each group, or one for each row. */
export type Value =
  | ({ readonly kind: "number" } & Told)
  | { readonly kind: "groups"; readonly groups: readonly { readonly labels: readonly string[]; readonly number: Told }[] }
  | { readonly kind: "rows"; readonly values: readonly number[]; readonly errors: readonly number[]; readonly clear: boolean };

/** Result with its name. */
export interface Result {
  /** Name of the result, or the expression that it has none for. */
  readonly name: string;
  /** Value of the result. */
  readonly value: Value;
}

/** Fields of the header of a file. */
export interface Inspected {
  /** Number of the object's kind in the file format. */
  readonly kind: number;
  /** Kind of the object, in words. */
  readonly object: string;
  /** Whether the object must be kept secret. */
  readonly secret: boolean;
  /** Bytes of the object with its header. */
  readonly bytes: number;
  /** Name of the ring and its moduli. */
  readonly ring: string;
  /** Name of the scheme's numbers. */
  readonly scheme: string;
  /** Name of the secret key that the object belongs to; null for none. */
  readonly key: string | null;
}

const encoder = new TextEncoder();
const bytesOf = (csv: Uint8Array | string): Uint8Array => (typeof csv === "string" ? encoder.encode(csv) : csv);
const json = (choices: object): string => JSON.stringify(choices);

/**
 * Returns what the header of a file of Sunzi says.
 *
 * @throws Refused for bytes that begin no file of Sunzi.
 */
export function inspect(bytes: Uint8Array): Inspected {
  return JSON.parse(called((module) => module.inspect(bytes))) as Inspected;
}

/** Schema of a table: names, kinds and ranges of its columns, and the number of its rows. It is public. */
export class TableSchema {
  /** Object of the module. */
  readonly inner: Module.TableSchema;

  private constructor(inner: Module.TableSchema) {
    this.inner = inner;
  }

  /**
   * Finds the schema of a table in CSV.
   *
   * @throws Refused for a table that cannot be read, with line and column.
   */
  static survey(csv: Uint8Array | string, choices: SurveyChoices = {}): TableSchema {
    const ranges = Object.entries(choices.ranges ?? {}).map(([column, [low, high]]) => [column, low, high]);
    return new TableSchema(called((module) => module.TableSchema.survey(bytesOf(csv), json({ ...choices, ranges }))));
  }

  /**
   * Reads a schema in JSON, as the command line writes it.
   *
   * @throws Refused for JSON that is no schema.
   */
  static fromJson(text: string): TableSchema {
    return new TableSchema(called((module) => module.TableSchema.fromJson(text)));
  }

  /** Returns the schema in JSON, as the command line reads it. */
  toJson(): string {
    return called(() => this.inner.toJson());
  }

  /** Number of rows of the table. */
  get rows(): number {
    return this.inner.rows;
  }

  /** Columns of the table. */
  get columns(): readonly Column[] {
    return (JSON.parse(this.toJson()) as { columns: Column[] }).columns;
  }
}

/** Program on a table, in the language of Sunzi. */
export class TableProgram {
  /** Object of the module. */
  readonly inner: Module.TableProgram;

  /**
   * Parses a program over the columns of a schema.
   *
   * @throws Refused for a program that is none, with the place in it.
   */
  constructor(text: string, schema: TableSchema) {
    this.inner = called((module) => new module.TableProgram(text, schema.inner));
  }

  /** Names of the results. */
  get outputs(): readonly string[] {
    return this.inner.outputs;
  }

  /** Returns the program in JSON with its schema. */
  toJson(): string {
    return called(() => this.inner.toJson());
  }

  /**
   * Chooses scheme, parameters and keys, at 128 bits of security.
   *
   * @throws Refused for a program that no parameters hold.
   */
  plan(choices: PlanChoices = {}): TablePlan {
    return new TablePlan(called(() => this.inner.plan(json(choices))));
  }
}

/** Plan of a program: scheme, parameters and layout. */
export class TablePlan {
  /** Object of the module. */
  readonly inner: Module.TablePlan;

  /** Makes the plan of an object of the module; programs call `TableProgram.plan` or `TablePlan.fromJson`. */
  constructor(inner: Module.TablePlan) {
    this.inner = inner;
  }

  /**
   * Reads a plan in JSON, as the command line writes it.
   *
   * @throws Refused for JSON that is no plan.
   */
  static fromJson(text: string): TablePlan {
    return new TablePlan(called((module) => module.TablePlan.fromJson(text)));
  }

  /** Returns the plan in JSON. */
  toJson(): string {
    return called(() => this.inner.toJson());
  }

  /** Name of the scheme. */
  get scheme(): string {
    return this.inner.scheme;
  }

  /** Degree of the ring. */
  get degree(): number {
    return this.inner.degree;
  }

  /** Bits of security. */
  get security(): number {
    return this.inner.security;
  }

  /** Bytes of the evaluation keys. */
  get keyBytes(): number {
    return this.inner.keyBytes;
  }

  /** Bytes of the encrypted table. */
  get tableBytes(): number {
    return this.inner.tableBytes;
  }

  /** Reasons for the choices of the plan, in words. */
  get reasons(): readonly string[] {
    return this.inner.reasons;
  }

  /**
   * Generates all keys.
   *
   * @throws Refused without randomness or memory.
   */
  keygen(): TableKeys {
    return TableKeys.generate(this);
  }
}

/** Files of keys: of the parameters, and of those that a party has. */
export interface OwnFiles {
  /** Parameters of the keys. */
  readonly parameters: Uint8Array;
  /** Secret key, of the owner alone. */
  readonly secret?: Uint8Array | undefined;
  /** Passphrase of the secret key, where it is under one. */
  readonly passphrase?: string | undefined;
  /** Public key, of whoever encrypts. */
  readonly publicKey?: Uint8Array | undefined;
  /** Relinearisation key, of whoever computes. */
  readonly relinearization?: Uint8Array | undefined;
  /** Galois keys, of whoever computes. */
  readonly galois?: Uint8Array | undefined;
}

/** Keys of a plan: those that this party has. */
export class TableKeys {
  readonly #inner: Module.TableKeys;

  private constructor(inner: Module.TableKeys) {
    this.#inner = inner;
  }

  /**
   * Generates all keys of a plan.
   *
   * @throws Refused without randomness or memory.
   */
  static generate(plan: TablePlan): TableKeys {
    return new TableKeys(called((module) => module.TableKeys.generate(plan.inner)));
  }

  /**
   * Reads keys from their files.
   *
   * @throws Refused for files that are damaged or do not belong together, and for another passphrase.
   */
  static open(files: OwnFiles): TableKeys {
    const { parameters, secret, passphrase, publicKey, relinearization, galois } = files;
    return new TableKeys(called((module) => module.TableKeys.open(parameters, secret, passphrase, publicKey, relinearization, galois)));
  }

  /** Name of the secret key that the keys belong to. */
  get id(): string | undefined {
    return called(() => this.#inner.id);
  }

  /** Returns the file of the parameters. */
  parameters(): Bytes {
    return called(() => this.#inner.parameters());
  }

  /**
   * Returns the file of the secret key, under a passphrase if there is one. Whoever has the file without one reads all that was encrypted.
   *
   * @throws Refused without a secret key.
   */
  secretKey(passphrase?: string): Bytes {
    return called(() => this.#inner.secretKey(passphrase));
  }

  /**
   * Returns the file of the public key.
   *
   * @throws Refused without one.
   */
  publicKey(): Bytes {
    return called(() => this.#inner.publicKey());
  }

  /**
   * Returns the files that a server takes, by their names: `client.putKeys(name, keys.evaluation())`.
   *
   * @throws Refused without evaluation keys.
   */
  evaluation(): Record<string, Bytes> {
    return called(() => ({
      "galois.sz": this.#inner.galoisKeys(),
      "parameters.sz": this.#inner.parameters(),
      "relinearization.sz": this.#inner.relinearizationKey(),
    }));
  }

  /**
   * Encrypts a table in CSV, and returns its file.
   *
   * @throws Refused for a table that does not fit the schema, with line and column.
   */
  encrypt(plan: TablePlan, schema: TableSchema, csv: Uint8Array | string): Bytes {
    return called(() => this.#inner.encrypt(plan.inner, schema.inner, bytesOf(csv)));
  }

  /**
   * Runs a plan on an encrypted table, and returns the file of the results.
   *
   * @throws Refused for a table of another plan or key.
   */
  compute(plan: TablePlan, table: Uint8Array): Bytes {
    return called(() => this.#inner.compute(plan.inner, table));
  }

  /**
   * Opens the results of a plan.
   *
   * @throws Refused for results of another plan or key, and for damaged ones.
   */
  decrypt(plan: TablePlan, results: Uint8Array): Result[] {
    return JSON.parse(called(() => this.#inner.decrypt(plan.inner, results))) as Result[];
  }

  /** Erases the keys from the module's memory; they are not used again. */
  free(): void {
    this.#inner.free();
  }
}
