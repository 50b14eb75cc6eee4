/** One run: from the table to its decrypted result, in steps that go on where they failed. */

import { type Client, type Job, JobFailed, NotStored } from "../src/index.js";
import type { Result } from "../src/local.js";

import type { Kept } from "./kept.js";
import type { Owner } from "./owner.js";
import { size } from "./words.js";
import type { Planned } from "./worker.js";

/** Transfer to the server or from it. */
export interface Sent {
  readonly what: string;
  readonly bytes: number;
  /** Milliseconds that it took; undefined for files that went together with the one before. */
  readonly time: number | undefined;
}

/** Watcher of a run. */
export interface Watch {
  /** A step begins, ends or says more of itself. */
  step(at: number, state: "now" | "done" | "failed", note: string, time?: number): void;
  /** Something went to the server. */
  stored(kind: "keys" | "programs" | "tables" | "jobs", name: string): void;
  /** The job is known, and what is kept of it too. */
  asked(): Promise<void>;
}

/** Steps in words. */
export const STEPS = [
  "Reach the server",
  "Load the encryption",
  "Choose parameters",
  "Make keys",
  "Encrypt the table",
  "Send the evaluation keys",
  "Send the program",
  "Send the encrypted table",
  "Compute on the server",
  "Fetch the encrypted result",
  "Decrypt the result",
] as const;

/** Step that has keys at its end. */
const KEYGEN = 3;
/** First step that a server which forgot everything needs again. */
const SENDING = 5;
const STATES = { queued: "waiting for its turn", running: "running", done: "done", failed: "failed" } as const;
/** Number of bytes of the encrypted table that are shown of its beginning, and of its middle. */
const SHOWN = 256;

type Step = (client: Client, signal: AbortSignal, note: (text: string) => void) => Promise<string | void>;

/** Run of a program on the table that the worker has. */
export class Run {
  /** Transfers over the network, in their order. */
  readonly sent: Sent[] = [];
  /** Results, once they are decrypted. */
  results: readonly Result[] = [];
  /** First bytes of the encrypted table. */
  beginning = new Uint8Array();
  /** Bytes in the middle of the encrypted table. */
  middle = new Uint8Array();
  /** Plan, once it is made. */
  planned: Planned | undefined;
  readonly #owner: Owner;
  readonly #program: string;
  readonly #watch: Watch;
  /** Name of everything that is sent. */
  readonly name = `page-${[...crypto.getRandomValues(new Uint8Array(6))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  #next = 0;
  #server = "";
  #table = new Uint8Array();
  #job: Job | undefined;
  #asked = 0;
  #result = new Uint8Array();

  /** Makes a run; nothing is done yet. */
  constructor(owner: Owner, program: string, watch: Watch) {
    [this.#owner, this.#program, this.#watch] = [owner, program, watch];
  }

  /** Whether the worker has the keys. */
  get hasKeys(): boolean {
    return this.#next > KEYGEN;
  }

  /** Whether the server was sent something. */
  get hasSent(): boolean {
    return this.sent.length > 0;
  }

  /** Record of the run to keep; undefined before the job is known. */
  get note(): Kept | undefined {
    if (this.#job === undefined) return undefined;
    return { program: this.#program, plan: "", server: this.#server, name: this.name, job: this.#job.id, when: this.#asked };
  }

  /** Tells the run that the account is another one, which has nothing of it. */
  forgotten(): void {
    this.#job = undefined;
    if (this.#next >= SENDING) this.sent.length = 0;
    this.#next = Math.min(this.#next, SENDING);
  }

  /** Does all steps from the one that is next. */
  async go(client: Client, signal: AbortSignal): Promise<void> {
    this.#server = client.server;
    for (; this.#next < STEPS.length; this.#next += 1) {
      const at = this.#next;
      const start = performance.now();
      const note = (text: string): void => this.#watch.step(at, "now", text);
      note("");
      try {
        const last = await this.#steps[at]?.(client, signal, note);
        signal.throwIfAborted();
        this.#watch.step(at, "done", last ?? "", performance.now() - start);
      } catch (error) {
        this.#watch.step(at, "failed", "");
        if (error instanceof NotStored) this.forgotten();
        if (error instanceof JobFailed) this.#job = undefined;
        throw error;
      }
    }
    if (this.hasKeys) this.#table = new Uint8Array();
  }

  readonly #steps: readonly Step[] = [
    async (client, signal) => void (await client.account({ signal })),
    () => this.#owner.call("load"),
    async () => {
      this.planned = await this.#owner.call("plan", this.#program);
      const { scheme, degree, security } = this.planned;
      return `${scheme.toUpperCase()}, n = ${degree}, ${security} bits of security`;
    },
    () => this.#owner.call("keygen"),
    async () => {
      this.#table = await this.#owner.call("encrypt");
      this.beginning = this.#table.slice(0, SHOWN);
      const half = this.#table.length >> 1;
      this.middle = this.#table.slice(half, half + SHOWN);
      return size(this.#table.length);
    },
    (client, signal) => this.#sendKeys(client, signal),
    async (client, signal) => {
      const { nbytes } = await this.#timed("program", "programs", () => client.putProgram(this.name, this.#program, { signal }));
      return size(nbytes);
    },
    async (client, signal) => {
      const { nbytes } = await this.#timed("encrypted table", "tables", () => client.putTable(this.name, this.#table, { signal }));
      return size(nbytes);
    },
    (client, signal, note) => this.#compute(client, signal, note),
    async (_, signal) => {
      const start = performance.now();
      this.#result = (await this.#job?.result({ signal })) ?? this.#result;
      this.sent.push({ what: "encrypted result, made by the server", bytes: this.#result.length, time: performance.now() - start });
      return size(this.#result.length);
    },
    async () => {
      this.results = await this.#owner.call("decrypt", this.#result);
    },
  ];

  async #sendKeys(client: Client, signal: AbortSignal): Promise<string> {
    const files = await this.#owner.call("evaluation");
    const start = performance.now();
    this.#watch.stored("keys", this.name);
    const stored = await client.putKeys(this.name, files, { signal });
    const time = performance.now() - start;
    stored.forEach(({ file, nbytes }, at) => this.sent.push({ what: `evaluation keys, ${file ?? "file"}`, bytes: nbytes, time: at === 0 ? time : undefined }));
    return size(stored.reduce((sum, { nbytes }) => sum + nbytes, 0));
  }

  async #timed<T extends { readonly nbytes: number }>(what: string, kind: "programs" | "tables", call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    // A removal is asked for even where the answer to the upload is lost.
    this.#watch.stored(kind, this.name);
    const found = await call();
    this.sent.push({ what, bytes: found.nbytes, time: performance.now() - start });
    return found;
  }

  async #compute(client: Client, signal: AbortSignal, note: (text: string) => void): Promise<void> {
    if (this.#job === undefined) {
      this.#job = await client.run(this.name, this.name, { keys: this.name, signal });
      this.#asked = Date.now();
      this.#watch.stored("jobs", this.#job.id);
    }
    await this.#watch.asked();
    await this.#job.wait({ signal, onProgress: ({ state }) => note(STATES[state]) });
  }
}
