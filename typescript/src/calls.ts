/** Calls to a server: what is asked, how often, and what is made of the answers. */

import { Gathered } from "./bytes.js";
import { Download } from "./download.js";
import {
  DamagedTransfer,
  JobFailed,
  JobUnfinished,
  Memory,
  MissingKey,
  NameUnusable,
  ServerUnreachable,
} from "./errors.js";
import type { Login } from "./login.js";
import { type AnyKind, jobId, kind, name } from "./names.js";
import { type Account, type JobStatus, Reader, retryAfter, type Stored } from "./records.js";
import { type Content, type Progress, Source, Upload } from "./source.js";
import { type Answer, type Ask, Lost, type Opened, type Transport } from "./transport.js";

/** How often a request is sent whose answer is lost. */
const TRIES = 5;
/** Seconds before a request is sent again, the longer the oftener it was sent. */
const PAUSE = 0.5;
/** Seconds between two looks at a job: short at first, then longer. */
const PAUSES = [0.02, 2] as const;
/** How often a download may break without a byte before it is given up. */
const BREAKS = 5;
/** Number of connections of a download, of whatever progress, and one more for each MiB. */
const CONNECTIONS = 1000;
/** Longest result that is taken into memory, in bytes. */
const MOST_IN_MEMORY = 2 ** 30;

type Signal = AbortSignal | undefined;
/** Function that waits some seconds. */
export type Pause = (seconds: number, signal: Signal) => Promise<void>;
/** Files of evaluation keys by their names in the folder `eval`. */
export type KeyFiles = Iterable<readonly [string, Content]> | Readonly<Record<string, Content>>;

/** Waits some seconds; fails with the reason of a signal that ends the wait. */
export function sleep(seconds: number, signal: Signal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const wake = (): void => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(wake, 1000 * seconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Calls of one client. `patience` is the number of seconds that each request waits at most for a server that is busy or not reached. */
export class Calls {
  readonly #login: Login;
  readonly #transport: Transport;
  readonly #patience: number;
  readonly #pause: Pause;
  readonly #reader: Reader;

  constructor(login: Login, transport: Transport, patience: number, pause: Pause = sleep) {
    if (!(patience >= 0 && Number.isFinite(patience))) {
      throw new RangeError(`patience is ${patience}: give a number of seconds, 0 to wait for nothing`);
    }
    this.#login = login;
    this.#transport = transport;
    this.#patience = patience;
    this.#pause = pause;
    this.#reader = new Reader(login);
  }

  // What an account has.

  async account(signal: Signal): Promise<Account> {
    return this.#reader.account(await this.#get("/v1/account", signal));
  }

  async listed(what: string, signal: Signal): Promise<Stored[]> {
    if (kind(what) === "jobs") throw new NameUnusable("jobs are listed by client.jobs()");
    const told = await this.#get(`/v1/${what}`, signal);
    return this.#reader.entries(told, what).map((entry) => this.#reader.stored(entry));
  }

  async jobs(signal: Signal): Promise<JobStatus[]> {
    const told = await this.#get("/v1/jobs", signal);
    return this.#reader.entries(told, "jobs").map((entry) => this.#reader.job(entry));
  }

  async delete(what: AnyKind, own: string, signal: Signal): Promise<void> {
    const path = `/v1/${kind(what)}/${what === "jobs" ? jobId(own) : name(own)}`;
    await this.#insist(() => ({ method: "DELETE", path }), signal, false);
  }

  // What is sent.

  async putKeys(own: string, files: KeyFiles, progress: Progress | undefined, signal: Signal): Promise<Stored[]> {
    name(own);
    const entries = Symbol.iterator in files ? [...files] : Object.entries(files);
    if (entries.length === 0) throw new MissingKey("there is no file of keys: give the files of the folder eval that sunzi keygen made");
    const sources = entries.map(([file, content]) => new Source(name(file), content)).sort((a, b) => (a.name < b.name ? -1 : 1));
    // All of them before a byte of one is sent.
    for (const source of sources) await source.check();
    const total = sources.reduce((sum, source) => sum + source.nbytes, 0);
    const found: Stored[] = [];
    let before = 0;
    for (const source of sources) {
      const make = (): Upload => new Upload(source, before, total, progress);
      found.push(await this.#put(`/v1/keys/${own}/${source.name}`, make, own, source.name, signal));
      before += source.nbytes;
    }
    return found;
  }

  async putOne(what: "programs" | "tables", own: string, content: Content, progress: Progress | undefined, signal: Signal): Promise<Stored> {
    const source = new Source(name(own), content);
    await source.check();
    return this.#put(`/v1/${what}/${own}`, () => new Upload(source, 0, source.nbytes, progress), own, undefined, signal);
  }

  /** Sends bytes, and compares what the server says that it has with what was sent. An upload takes the place of an earlier one, so it may be repeated. */
  async #put(path: string, make: () => Upload, own: string, file: string | undefined, signal: Signal): Promise<Stored> {
    let upload: Upload | undefined;
    const headers = { "content-type": "application/octet-stream" };
    const ask = (): Ask => ({ method: "PUT", path, headers, body: (upload = make()) });
    const answer = await this.#insist(ask, signal);
    const stored = this.#reader.sent(this.#reader.json(answer), own, file);
    if (stored.sha256 !== upload?.sha256 || stored.nbytes !== upload.source.nbytes) {
      throw new DamagedTransfer(`${file ?? own}: the server has other bytes than those that were sent: send it again`);
    }
    return stored;
  }

  // Jobs.

  async run(program: string, tables: string | readonly string[], keys: string, precision: number | undefined, signal: Signal): Promise<JobStatus> {
    const names = typeof tables === "string" ? [tables] : tables;
    // With a name, so that it is one job however often it is sent.
    const request = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    const asked = { program: name(program), keys: name(keys), tables: names.map(name), precision, request };
    const headers = { "content-type": "application/json" };
    const answer = await this.#insist(() => ({ method: "POST", path: "/v1/jobs", headers, body: JSON.stringify(asked) }), signal);
    return this.#reader.job(this.#reader.json(answer));
  }

  async status(own: string, signal: Signal): Promise<JobStatus> {
    const status = this.#reader.job(await this.#get(`/v1/jobs/${jobId(own)}`, signal));
    if (status.id !== own) throw this.#reader.foreign();
    return status;
  }

  async wait(own: string, timeout: number | undefined, watch: ((status: JobStatus) => void) | undefined, signal: Signal): Promise<JobStatus> {
    if (timeout !== undefined && !(timeout >= 0)) throw new RangeError(`timeout is ${timeout}: give a number of seconds from 0 on`);
    const end = performance.now() + 1000 * (timeout ?? Infinity);
    let [pause, longest] = PAUSES as readonly [number, number];
    for (;;) {
      const status = await this.status(own, signal);
      watch?.(status);
      if (status.state === "done") return status;
      if (status.state === "failed") throw new JobFailed(`the job failed: ${status.error ?? "the server does not say why"}`);
      const left = (end - performance.now()) / 1000;
      if (left <= 0) throw new JobUnfinished(`the job ${own} is ${status.state} after ${timeout} s: it goes on, wait for it again`);
      await this.#pause(Math.min(pause, left), signal);
      pause = Math.min(2 * pause, longest);
    }
  }

  /** Takes the result of a job that is done into memory. */
  async whole(status: JobStatus, progress: Progress | undefined, signal: Signal): Promise<Uint8Array<ArrayBuffer>> {
    const most = status.nbytes ?? 0;
    if (most > MOST_IN_MEMORY) {
      throw new Memory(`a result of ${most} bytes, and ${MOST_IN_MEMORY} at most are taken into memory: take it as a stream`);
    }
    const gathered = new Gathered(most);
    for await (const block of this.blocks(status, progress, signal)) gathered.take(block);
    return gathered.bytes();
  }

  /** Takes the result of a job that is done, from where it was on after a connection broke. The last block comes once the hash of all is known to be right. */
  async *blocks(status: JobStatus, progress: Progress | undefined, signal: Signal): AsyncGenerator<Uint8Array> {
    const { nbytes, sha256 } = status;
    if (nbytes === undefined || sha256 === undefined) throw this.#reader.foreign();
    const download = new Download(nbytes, sha256, progress);
    const most = CONNECTIONS + nbytes / 2 ** 20;
    let held: Uint8Array | undefined;
    let breaks = 0;
    for (let connections = 0; download.come < nbytes; connections += 1) {
      if (connections > most) this.#unreachable("the server ends connections again and again before the result is there");
      const before = download.come;
      const broken: { why?: string } = {};
      for await (const block of this.#taken(status.id, download, broken, signal)) {
        if (held !== undefined) yield held;
        held = block;
      }
      if (download.come > before) continue;
      breaks += 1;
      const pause = PAUSE * breaks;
      if (breaks === BREAKS || (pause * (breaks + 1)) / 2 > this.#patience) {
        this.#unreachable(broken.why ?? "the server sends nothing more of the result");
      }
      await this.#pause(pause, signal);
    }
    download.check();
    if (held !== undefined) yield held;
  }

  /** Takes as much as comes over one connection; says in `broken` why it broke, if it did. */
  async *#taken(id: string, download: Download, broken: { why?: string }, signal: Signal): AsyncGenerator<Uint8Array> {
    let opened: Opened | undefined;
    try {
      opened = await this.#openResult(id, download, signal);
      for await (const block of opened.blocks()) {
        download.take(block);
        yield block;
      }
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      if (error.isHopeless) this.#unreachable(error.message);
      broken.why = error.message;
    } finally {
      opened?.close();
    }
  }

  /** Asks for the rest of a result, within the client's patience. */
  async #openResult(id: string, download: Download, signal: Signal): Promise<Opened> {
    const headers = { range: `bytes=${download.come}-`, "if-range": `"${download.sha256}"` };
    let waited = 0;
    for (;;) {
      const opened = await this.#transport.open({ method: "GET", path: `/v1/jobs/${id}/result`, headers }, signal);
      try {
        if (opened.status === 200 || opened.status === 206) {
          download.begin(opened.status, opened.headers);
          return opened;
        }
        const answer = { status: opened.status, headers: opened.headers, body: await opened.body() };
        if (answer.status !== 429 && answer.status !== 503) {
          this.#checked(answer);
          throw new Lost("the server answers without the result");
        }
        opened.close();
        waited = await this.#wait(answer, waited, signal);
      } catch (error) {
        opened.close();
        throw error;
      }
    }
  }

  // Requests.

  async #get(path: string, signal: Signal): Promise<Readonly<Record<string, unknown>>> {
    return this.#reader.json(await this.#insist(() => ({ method: "GET", path }), signal));
  }

  /** Sends a request until it is answered, within the client's patience. One that may not be repeated is sent once more only where the server refused it. */
  async #insist(make: () => Ask, signal: Signal, isRepeatable = true): Promise<Answer> {
    let [waited, tries, losses] = [0, 1, 0];
    for (;; tries += 1) {
      const answer = await this.#asked(make(), signal);
      if (!(answer instanceof Lost)) {
        if (answer.status !== 429 && answer.status !== 503) return this.#checked(answer);
        waited = await this.#wait(answer, waited, signal);
        continue;
      }
      losses += 1;
      const pause = PAUSE * tries;
      if (!isRepeatable || answer.isHopeless || losses === TRIES || waited + pause > this.#patience) {
        this.#unreachable(answer.message);
      }
      await this.#pause(pause, signal);
      waited += pause;
    }
  }

  async #asked(ask: Ask, signal: Signal): Promise<Answer | Lost> {
    try {
      return await this.#transport.ask(ask, signal);
    } catch (error) {
      if (error instanceof Lost) return error;
      throw error;
    }
  }

  /** Waits for a server that is busy; returns the seconds that were waited by now. */
  async #wait(answer: Answer, waited: number, signal: Signal): Promise<number> {
    // A pause of its own where the server asks for none, so that it is not flooded.
    const pause = Math.max(retryAfter(answer) ?? 0, PAUSE);
    if (waited + pause > this.#patience) throw this.#reader.refusal(answer);
    await this.#pause(pause, signal);
    return waited + pause;
  }

  #unreachable(why: string): never {
    throw new ServerUnreachable(`${this.#login.server}: ${this.#reader.oneLine(why)}: check the address, and whether the server runs`);
  }

  #checked(answer: Answer): Answer {
    if (answer.status >= 400) throw this.#reader.refusal(answer);
    if (answer.status < 200) throw this.#reader.foreign();
    return answer;
  }
}
