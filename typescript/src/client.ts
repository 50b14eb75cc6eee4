/** Client of a server. */

import { Calls, type KeyFiles } from "./calls.js";
import { Login } from "./login.js";
import { type AnyKind, type Kind, jobId } from "./names.js";
import type { Account, JobStatus, Stored } from "./records.js";
import type { Content, Progress } from "./source.js";
import { type Fetch, SILENCE, Transport } from "./transport.js";

/** Seconds that each request waits at most for a server that is busy or not reached, unless told otherwise. */
const PATIENCE = 30;

/** Parts of a client. */
export interface ClientOptions {
  /** Address of the server, such as `https://compute.example.org`; `http://` is for this machine alone. */
  readonly server: string;
  /** Token of an account, as `sunzi account add` printed it. */
  readonly token: string;
  /** Seconds that each request waits at most for a server that is busy or not reached; 30 unless given. */
  readonly patience?: number | undefined;
  /** Seconds to connect, and without a byte in either direction, after which a connection counts as broken; 120 unless given. */
  readonly silence?: number | undefined;
  /** Function that sends requests in place of the global `fetch`. In Node it has to take streams as bodies. */
  readonly fetch?: Fetch | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Signal that ends the call, which fails with the reason of the signal. What was sent by then may have been done. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of calls that send bytes. */
export interface SendOptions extends CallOptions {
  /** Function that is called with the number of bytes that were sent, and of all. Browsers say when a file was sent, and nothing before. */
  readonly onProgress?: Progress | undefined;
}

/** Options of a request for a job. */
export interface RunOptions extends CallOptions {
  /** Name of the evaluation keys. */
  readonly keys: string;
  /** Bits of precision of CKKS, 4 to 30; the server chooses unless given. */
  readonly precision?: number | undefined;
}

/** Options of calls that wait for a job. */
export interface WaitOptions extends CallOptions {
  /** Seconds to wait at most; without an end unless given. */
  readonly timeout?: number | undefined;
  /** Function that is called with each status that was looked at. */
  readonly onProgress?: ((status: JobStatus) => void) | undefined;
}

/** Options of calls that fetch a result. */
export interface ResultOptions extends CallOptions {
  /** Seconds to wait for the job at most; without an end unless given. */
  readonly timeout?: number | undefined;
  /** Function that is called with the number of bytes that have come, and of all. */
  readonly onProgress?: Progress | undefined;
}

const INSPECT = Symbol.for("nodejs.util.inspect.custom");
const LOGINS = new WeakMap<Client, Login>();

/** Returns the login of a client, for modules of this package alone. */
export function loginOf(client: Client): Login {
  const login = LOGINS.get(client);
  if (login === undefined) throw new TypeError("this is no client of a server: give a Client");
  return login;
}

/**
 * What an account has on a server, and what it computes there; the calls are those of `sunzi remote` and of Python's `sunzi.AsyncClient`.
 *
 * A server that is busy is asked again for `patience` seconds at most, one that is not reached is asked five times in all; what may not be done twice is not
 * repeated. Redirects are not followed, and the token is in no message and no address.
 *
 * Every call fails with an error below `ServerError`: `ServerUnreachable`, `ForeignAnswer` for an answer that no server of Sunzi gives, and `ServerRefused` with
 * its kinds `WrongToken`, `NotStored`, `TooManyRequests` and `ServerUnavailable`. The calls say what else they fail with.
 */
export class Client {
  /** Address of the server, without a slash at its end. */
  readonly server: string;
  readonly #calls: Calls;

  /**
   * Makes a client; the server is not asked.
   *
   * @throws LoginUnusable for an address or a token that cannot be used, RangeError for a `patience` or `silence` that is none.
   */
  constructor(options: ClientOptions) {
    const login = new Login(options.server, options.token);
    this.server = login.server;
    this.#calls = new Calls(login, new Transport(login, options.fetch, options.silence ?? SILENCE), options.patience ?? PATIENCE);
    LOGINS.set(this, login);
  }

  /** Returns what the account has, and its limits. */
  account(options: CallOptions = {}): Promise<Account> {
    return this.#calls.account(options.signal);
  }

  /**
   * Sends evaluation keys: the files of the folder `eval` that `sunzi keygen` made, by their names there.
   *
   * @throws NameUnusable, SecretRefused before a byte of any file is sent, MissingKey where there is no file, Changed, DamagedTransfer.
   */
  putKeys(name: string, files: KeyFiles, options: SendOptions = {}): Promise<Stored[]> {
    return this.#calls.putKeys(name, files, options.onProgress, options.signal);
  }

  /**
   * Sends a program: its text, or the bytes of a file with it.
   *
   * @throws NameUnusable, SecretRefused, Changed, DamagedTransfer.
   */
  putProgram(name: string, program: string | Content, options: CallOptions = {}): Promise<Stored> {
    const content = typeof program === "string" ? new TextEncoder().encode(program) : program;
    return this.#calls.putOne("programs", name, content, undefined, options.signal);
  }

  /**
   * Sends an encrypted table, as `sunzi encrypt` wrote it.
   *
   * @throws NameUnusable, SecretRefused, Changed, DamagedTransfer.
   */
  putTable(name: string, table: Content, options: SendOptions = {}): Promise<Stored> {
    return this.#calls.putOne("tables", name, table, options.onProgress, options.signal);
  }

  /**
   * Asks the server to compute a program on a table, or on the tables of several parties, all by their names.
   *
   * @throws NameUnusable.
   */
  async run(program: string, tables: string | readonly string[], options: RunOptions): Promise<Job> {
    const status = await this.#calls.run(program, tables, options.keys, options.precision, options.signal);
    return new Job(this.#calls, status.id);
  }

  /**
   * Returns the job with this `Job.id`; the server is not asked.
   *
   * @throws NameUnusable for a text that is no name of a job.
   */
  job(id: string): Job {
    return new Job(this.#calls, jobId(id));
  }

  /** Returns the jobs of the account, the newest thousand, newest first. */
  jobs(options: CallOptions = {}): Promise<JobStatus[]> {
    return this.#calls.jobs(options.signal);
  }

  /**
   * Lists `"keys"`, `"programs"` or `"tables"`.
   *
   * @throws NameUnusable for another kind.
   */
  list(kind: Kind, options: CallOptions = {}): Promise<Stored[]> {
    return this.#calls.listed(kind, options.signal);
  }

  /**
   * Removes one of `"keys"` with all its files, `"programs"`, `"tables"` or `"jobs"`. A removal whose answer is lost is not repeated.
   *
   * @throws NameUnusable for another kind, and for a name that nothing can have.
   */
  delete(kind: AnyKind, name: string, options: CallOptions = {}): Promise<void> {
    return this.#calls.delete(kind, name, options.signal);
  }

  /** Returns the address of the server without the token. */
  toString(): string {
    return `Client of ${this.server}`;
  }

  /** Returns what is written as JSON: the address of the server without the token. */
  toJSON(): { server: string } {
    return { server: this.server };
  }

  /** Returns what Node prints. */
  [INSPECT](): string {
    return this.toString();
  }
}

/** Job on a server. It goes on without the client: `client.job(id)` finds it again. */
export class Job {
  /** Name of the job, 32 hexadecimal digits. */
  readonly id: string;
  readonly #calls: Calls;

  /** Makes a job; `Client.job` and `Client.run` do. */
  constructor(calls: Calls, id: string) {
    this.#calls = calls;
    this.id = id;
  }

  /** Returns what the server says of the job. */
  status(options: CallOptions = {}): Promise<JobStatus> {
    return this.#calls.status(this.id, options.signal);
  }

  /**
   * Waits until the job is done.
   *
   * @throws JobFailed says why the job failed, JobUnfinished that it goes on after `timeout` seconds.
   */
  wait(options: WaitOptions = {}): Promise<JobStatus> {
    return this.#calls.wait(this.id, options.timeout, options.onProgress, options.signal);
  }

  /**
   * Waits, and returns the result in memory, which `sunzi decrypt` reads from a file.
   *
   * @throws JobFailed, JobUnfinished, DamagedTransfer, and Memory for a result of more than 1 GiB.
   */
  async result(options: ResultOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const status = await this.#calls.wait(this.id, options.timeout, undefined, options.signal);
    return this.#calls.whole(status, options.onProgress, options.signal);
  }

  /**
   * Waits, and returns the result as a stream, which goes on over connections that break.
   *
   * The stream fails with DamagedTransfer in place of its last block where the bytes are not those that the server says: what came before is of no use then.
   *
   * @throws JobFailed, JobUnfinished.
   */
  async stream(options: ResultOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const status = await this.#calls.wait(this.id, options.timeout, undefined, options.signal);
    const stop = new AbortController();
    const onAbort = (): void => stop.abort(options.signal?.reason);
    options.signal?.addEventListener("abort", onAbort, { once: true });
    const blocks = this.#calls.blocks(status, options.onProgress, stop.signal);
    const end = (): void => options.signal?.removeEventListener("abort", onAbort);
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        const { done, value } = await blocks.next();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        throw error;
      }
    };
    const cancel = async (): Promise<void> => {
      end();
      stop.abort();
      await blocks.return(undefined).catch(() => undefined);
    };
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  /** Removes the job and its result; one that runs is stopped. */
  delete(options: CallOptions = {}): Promise<void> {
    return this.#calls.delete("jobs", this.id, options.signal);
  }
}
