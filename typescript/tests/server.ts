/** Server of the command line, and what a key holder makes for it. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createServer, connect, type AddressInfo, type Server as Listener, type Socket } from "node:net";

import { Client, type ClientOptions } from "sunzi";

/** Path of the command line; undefined where there is none. */
export const BINARY = process.env["SUNZI_BINARY"] || undefined;
/** Options of a test that takes a server. */
export const SERVED = {
  skip: BINARY === undefined ? "SUNZI_BINARY names no command line: cargo build -p sunzi-cli makes one" : false,
  timeout: 300_000,
};

export const PROGRAM = "mean(cost); corr(age, cost)";
const AGES = [34, 58, 41, 67];
const COSTS = [120.5, 980, 75.25, 1310.75];

/** Runs a command of the command line; returns its standard output. */
export function sunzi(folder: string, ...given: string[]): string {
  return execFileSync(BINARY ?? "sunzi", given, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs a block with a folder, which is removed at its end. */
export async function inFolder<T>(block: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "sunzi-"));
  try {
    return await block(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes keys and an encrypted table in a folder. */
export function prepare(folder: string): void {
  const rows = AGES.map((age, at) => `${age},${COSTS[at]}`);
  writeFileSync(join(folder, "visits.csv"), ["age,cost", ...rows, ""].join("\n"));
  const schema = ["--schema", "schema.json"];
  sunzi(folder, "schema", "visits.csv", "--range", "age=0..120", "--range", "cost=0..9999.99", "-o", "schema.json");
  sunzi(folder, "plan", PROGRAM, ...schema, "--no-time", "-o", "job.params");
  sunzi(folder, "keygen", "job.params", "-d", "keys", "--for", PROGRAM, ...schema);
  sunzi(folder, "encrypt", "visits.csv", "--keys", "keys/public", ...schema, "-o", "visits.sz");
}

/** Files of evaluation keys, as bytes. */
export function keyFiles(folder: string): Record<string, Uint8Array> {
  const names = ["galois.sz", "parameters.sz", "relinearization.sz"];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, "keys", "eval", name))]));
}

/** Decrypts a result, and returns how far it is from what is computed in the clear. */
export function errorsOf(folder: string, result: Uint8Array): { mean: number; corr: number } {
  writeFileSync(join(folder, "decrypted.sz"), result);
  const text = sunzi(folder, "decrypt", "decrypted.sz", "--keys", "keys/secret", "--for", PROGRAM, "--schema", "schema.json");
  const number = (what: string): number => Number(new RegExp(`^${what}: (-?[0-9.e-]+)`, "m").exec(text)?.[1] ?? NaN);
  const mean = (numbers: number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const deviations = (numbers: number[]): number[] => numbers.map((one) => one - mean(numbers));
  const dot = (a: number[], b: number[]): number => a.reduce((sum, one, at) => sum + one * (b[at] ?? NaN), 0);
  const [ages, costs] = [deviations(AGES), deviations(COSTS)];
  const corr = dot(ages, costs) / Math.sqrt(dot(ages, ages) * dot(costs, costs));
  return { mean: Math.abs(number("mean\\(cost\\)") - mean(COSTS)), corr: Math.abs(number("corr\\(age, cost\\)") - corr) };
}

/** `sunzi serve --demo` in a process of its own. */
export class Server {
  address = "";
  token = "";
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(folder: string, options: string[]) {
    const log = openSync(join(folder, "log"), "a");
    const given = ["serve", "--demo", "--listen", "127.0.0.1:0", ...options];
    this.#process = spawn(BINARY ?? "sunzi", given, { stdio: ["ignore", "pipe", log] });
    this.#ended = new Promise((resolve) => this.#process.on("exit", resolve));
  }

  static async start(folder: string, ...options: string[]): Promise<Server> {
    const server = new Server(folder, options);
    const output = server.#process.stdout;
    if (output === null) throw new Error("the server has no standard output");
    for await (const line of createInterface({ input: output })) {
      server.token = /^export SUNZI_TOKEN=(.*)/.exec(line)?.[1] ?? server.token;
      server.address = /listening at (\S+)/.exec(line)?.[1] ?? "";
      if (server.address !== "") return server;
    }
    throw new Error(`the server does not listen: ${readFileSync(join(folder, "log"), "utf8")}`);
  }

  client(options: Partial<ClientOptions> = {}): Client {
    return new Client({ server: this.address, token: this.token, ...options });
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.#process.kill(signal);
    await this.#ended;
  }
}

/** Runs a block with a server, which is stopped at its end. */
export async function serving(folder: string, options: string[], block: (server: Server) => Promise<void>): Promise<void> {
  const server = await Server.start(folder, ...options);
  try {
    await block(server);
  } finally {
    await server.stop();
  }
}

/** Relay that passes bytes between clients and a server, which may be another one later, and cuts connections: the first ones after so many bytes, in order. */
export class Relay {
  readonly cuts: number[];
  readonly #listener: Listener;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  private constructor(address: string, cuts: number[]) {
    this.cuts = cuts;
    this.to(address);
    this.#listener = createServer((client) => this.#pass(client));
  }

  static async start(address: string, ...cuts: number[]): Promise<Relay> {
    const relay = new Relay(address, cuts);
    await new Promise<void>((resolve) => relay.#listener.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  /** Passes what comes from now on to this server. */
  to(address: string): void {
    this.#port = Number(new URL(address).port);
  }

  close(): void {
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(client: Socket): void {
    const server = connect(this.#port, "127.0.0.1");
    const cut = this.cuts.shift() ?? Infinity;
    let passed = 0;
    for (const [own, other] of [[client, server], [server, client]] as const) {
      this.#sockets.add(own);
      own.on("error", () => other.destroy());
      own.on("close", () => other.destroy());
    }
    client.on("data", (block) => server.write(block));
    server.on("data", (block) => {
      const part = block.subarray(0, cut - passed);
      passed += block.length;
      client.write(part, () => {
        if (passed > cut) client.destroy();
      });
    });
  }
}
