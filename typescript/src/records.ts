/** Answers of a server: those in JSON, whose types, lengths and names are checked, and refusals. */

import {
  ForeignAnswer,
  NotStored,
  ServerRefused,
  ServerUnavailable,
  TooManyRequests,
  WrongToken,
} from "./errors.js";
import type { Login } from "./login.js";
import { ID, NAME, SHA256 } from "./names.js";
import type { Answer } from "./transport.js";

/** Longest text of an answer that is told on, in UTF-16 units. */
const LONGEST_TEXT = 2000;
/** Longest time to wait that a server may ask for, in seconds: a day. */
const LONGEST_PAUSE = 86400;
const STATES: readonly unknown[] = ["queued", "running", "done", "failed"];

/** File that an account has on a server. */
export interface Stored {
  /** Name that the account gave it. */
  readonly name: string;
  /** Name of the file among those of evaluation keys; undefined for programs and tables. */
  readonly file: string | undefined;
  /** Number of its bytes. */
  readonly nbytes: number;
  /** Hash of its bytes, SHA-256 in 64 hexadecimal digits. */
  readonly sha256: string;
}

/** State of a job. */
export type State = "queued" | "running" | "done" | "failed";

/** Status of a job. */
export interface JobStatus {
  /** Name of the job, 32 hexadecimal digits. */
  readonly id: string;
  /** State of the job. */
  readonly state: State;
  /** Name of the program. */
  readonly program: string;
  /** Name of the evaluation keys. */
  readonly keys: string;
  /** Names of the tables. */
  readonly tables: readonly string[];
  /** When the job was asked for, in seconds since 1970. */
  readonly created: number;
  /** When the job ended, in seconds since 1970; undefined where it has not. */
  readonly finished: number | undefined;
  /** Why the job failed; undefined where it did not. */
  readonly error: string | undefined;
  /** Number of bytes of the result; undefined where there is none. */
  readonly nbytes: number | undefined;
  /** Hash of the result, SHA-256 in 64 hexadecimal digits; undefined where there is none. */
  readonly sha256: string | undefined;
}

/** Objects and bytes of an account on a server, and its limits. */
export interface Account {
  /** Name of the account. */
  readonly name: string;
  /** Number of bytes that the account has on the server. */
  readonly nbytes: number;
  /** Number of jobs, finished ones too. */
  readonly jobs: number;
  /** Limits by their names: `bytes`, `unfinished_jobs`, `jobs`, `upload_bytes`, `job_seconds`, `job_memory_bytes`. */
  readonly limits: Readonly<Record<string, number>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reader of the answers of one server. Texts of it are told on without the token, without signs that steer a terminal, and shortened. */
export class Reader {
  readonly #login: Login;

  constructor(login: Login) {
    this.#login = login;
  }

  /** Returns the error of an answer that no server of Sunzi gives. */
  foreign(): ForeignAnswer {
    return new ForeignAnswer(`${this.#login.server} answers something else than a server of Sunzi: check the address`);
  }

  /** Returns a text of the server for whoever reads a message. */
  oneLine(text: string): string {
    // The whole text is searched, so that no part of a token is left at the end.
    return this.#login.hide(text).slice(0, LONGEST_TEXT).replace(/(?! )[\p{C}\p{Z}]/gu, " ");
  }

  /** Returns the object of an answer. */
  json(answer: Answer): Fields {
    const found = parsed(answer.body);
    if (found === undefined) throw this.foreign();
    return found;
  }

  /** Returns the error of an answer that refuses. */
  refusal(answer: Answer): ServerRefused {
    const { status } = answer;
    const told = parsed(answer.body) ?? {};
    const part = (own: string): string | undefined => {
      const text = told[own];
      return typeof text === "string" ? this.oneLine(text) : undefined;
    };
    const [expected, got, remedy] = [part("expected"), part("got"), part("remedy")];
    const reason = part("error") ?? `the server answered with status ${status}`;
    let message = reason;
    if (expected !== undefined) message += `: expected ${expected}`;
    if (got !== undefined) message += `, got ${got}`;
    if (remedy !== undefined) message += `: ${remedy}`;
    const after = retryAfter(answer);
    if (after !== undefined && (status === 429 || status >= 500)) message += `; try again in ${after} s`;
    const Made = errorOf(status);
    return new Made(message, { status, reason, expected, got, remedy, retryAfter: after });
  }

  /** Reads an entry of a list of keys, programs or tables. */
  stored(told: unknown): Stored {
    const fields = this.#fields(told);
    const file = fields["file"] == null ? undefined : this.#matching(fields, "file", NAME);
    const [name, nbytes] = [this.#matching(fields, "name", NAME), this.#number(fields, "bytes")];
    return { name, file, nbytes, sha256: this.#matching(fields, "sha256", SHA256) };
  }

  /** Reads the answer to an upload. */
  sent(told: unknown, name: string, file: string | undefined): Stored {
    const fields = this.#fields(told);
    return { name, file, nbytes: this.#number(fields, "bytes"), sha256: this.#matching(fields, "sha256", SHA256) };
  }

  /** Reads a job. */
  job(told: unknown): JobStatus {
    const fields = this.#fields(told);
    const [state, tables, error] = [fields["state"], fields["tables"], fields["error"]];
    if (!isState(state) || !areNames(tables)) throw this.foreign();
    if (error != null && typeof error !== "string") throw this.foreign();
    const isDone = state === "done";
    return {
      id: this.#matching(fields, "id", ID),
      state,
      program: this.#matching(fields, "program", NAME),
      keys: this.#matching(fields, "keys", NAME),
      tables,
      created: this.#number(fields, "created"),
      finished: fields["finished"] == null ? undefined : this.#number(fields, "finished"),
      error: error == null ? undefined : this.oneLine(error),
      nbytes: isDone ? this.#number(fields, "bytes") : undefined,
      sha256: isDone ? this.#matching(fields, "sha256", SHA256) : undefined,
    };
  }

  /** Reads an account. */
  account(told: unknown): Account {
    const fields = this.#fields(told);
    const limits = this.#fields(fields["limits"]);
    const known = Object.keys(limits).filter((own) => NAME.test(own));
    return {
      name: this.#matching(fields, "name", NAME),
      nbytes: this.#number(fields, "bytes"),
      jobs: this.#number(fields, "jobs"),
      limits: Object.fromEntries(known.map((own) => [own, this.#number(limits, own)])),
    };
  }

  /** Reads the entries of a list. */
  entries(told: Fields, what: string): readonly unknown[] {
    const found = told[what];
    if (!Array.isArray(found)) throw this.foreign();
    return found;
  }

  /** Reads a number of a record: one that JavaScript has exactly, and no server has as many bytes as others say. */
  #number(fields: Fields, own: string): number {
    const found = fields[own];
    if (typeof found !== "number" || !Number.isSafeInteger(found) || found < 0) throw this.foreign();
    return found;
  }

  #matching(fields: Fields, own: string, pattern: RegExp): string {
    const found = fields[own];
    if (typeof found !== "string" || !pattern.test(found)) throw this.foreign();
    return found;
  }

  #fields(told: unknown): Fields {
    if (!isObject(told)) throw this.foreign();
    return told;
  }
}

/** Returns the seconds after which the server asks to be asked again; undefined where it does not ask. */
export function retryAfter(answer: Answer): number | undefined {
  const text = answer.headers.get("retry-after") ?? "";
  return /^[0-9]{1,9}$/.test(text) ? Math.min(Number(text), LONGEST_PAUSE) : undefined;
}

function errorOf(status: number): typeof ServerRefused {
  if (status === 401) return WrongToken;
  if (status === 404) return NotStored;
  if (status === 429) return TooManyRequests;
  return status >= 500 ? ServerUnavailable : ServerRefused;
}

function isObject(told: unknown): told is Fields {
  return typeof told === "object" && told !== null && !Array.isArray(told);
}

function isState(told: unknown): told is State {
  return STATES.includes(told);
}

function areNames(told: unknown): told is string[] {
  return Array.isArray(told) && told.every((table) => typeof table === "string" && NAME.test(table));
}

/** Returns the object that a body has in JSON; undefined for anything else. */
function parsed(body: Uint8Array): Fields | undefined {
  try {
    const found: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
    return isObject(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
