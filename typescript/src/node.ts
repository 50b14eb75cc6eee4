/** Calls that take files: logins as the command line keeps them, files to send, and results that are saved. For Node and what runs its modules. */

import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, lstat, mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";

import { type CallOptions, Client, type ClientOptions, type Job, loginOf, type ResultOptions } from "./client.js";
import { Io, LoginUnusable, MissingKey } from "./errors.js";
import { BLOCK, type Streamed } from "./source.js";

/** Longest file of a login, in bytes. */
const LONGEST = 1 << 16;

/** Options of a saved result. */
export interface SaveOptions extends ResultOptions {
  /** Whether a file that is there is replaced. */
  readonly force?: boolean | undefined;
}

/**
 * Returns a client with the login of the environment variables `SUNZI_SERVER` and `SUNZI_TOKEN`, or else the one that `sunzi remote login` kept.
 *
 * @throws LoginUnusable where there is no login, or none that can be used.
 */
export async function kept(options: Omit<ClientOptions, "server" | "token"> = {}): Promise<Client> {
  const { SUNZI_SERVER: server, SUNZI_TOKEN: token, SUNZI_CA: ca } = process.env;
  if (server !== undefined && token !== undefined) return client(server, token, ca, options);
  if (server !== undefined || token !== undefined) {
    throw new LoginUnusable("one of SUNZI_SERVER and SUNZI_TOKEN is set: set both of them, or neither");
  }
  const file = loginFile();
  const found = await login(file);
  return client(found.server, found.token, found.ca, options);
}

function client(server: string, token: string, ca: string | undefined, options: Omit<ClientOptions, "server" | "token">): Client {
  // Node trusts other certificates from its start on alone.
  if (ca !== undefined && process.env["NODE_EXTRA_CA_CERTS"] === undefined) {
    throw new LoginUnusable(`the login names certificates to trust: start Node with NODE_EXTRA_CA_CERTS=${JSON.stringify(ca)}`);
  }
  return new Client({ ...options, server, token });
}

function loginFile(): string {
  const { XDG_CONFIG_HOME: configuration, HOME: home, USERPROFILE: profile } = process.env;
  if (configuration) return join(configuration, "sunzi", "remote.json");
  const own = home || profile;
  if (!own) throw new LoginUnusable("there is no home folder for the login: set SUNZI_SERVER and SUNZI_TOKEN instead");
  return join(own, ".config", "sunzi", "remote.json");
}

/** Reads a login as the command line wrote it. */
async function login(file: string): Promise<{ server: string; token: string; ca: string | undefined }> {
  const wrong = new LoginUnusable(`${file} is no login: run sunzi remote login again`);
  const about = await stat(file).catch(() => undefined);
  if (about === undefined) throw new LoginUnusable("there is no login: run sunzi remote login, or set SUNZI_SERVER and SUNZI_TOKEN");
  if (!about.isFile() || about.size > LONGEST) throw wrong;
  let found: unknown;
  try {
    found = JSON.parse(await readFile(file, "utf8"));
  } catch {
    throw wrong;
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) throw wrong;
  const { server, token, ca, ...others } = found as Record<string, unknown>;
  if (typeof server !== "string" || typeof token !== "string" || Object.keys(others).length > 0) throw wrong;
  if (ca !== undefined && ca !== null && typeof ca !== "string") throw wrong;
  return { server, token, ca: ca ?? undefined };
}

/**
 * Keeps address and token of a client for `kept` and `sunzi remote`, in a file that its owner alone can read; returns its path.
 *
 * @throws WrongToken for a token that opens no account: nothing is written then.
 */
export async function keep(client: Client, options: CallOptions = {}): Promise<string> {
  const login = loginOf(client);
  await client.account(options);
  const file = loginFile();
  await mkdir(dirname(file), { recursive: true });
  const trusted = process.env["NODE_EXTRA_CA_CERTS"];
  const ca = trusted === undefined ? null : resolve(trusted);
  const text = `${JSON.stringify({ server: login.server, token: login.reveal(), ca })}\n`;
  const part = join(dirname(file), `.${basename(file)}.${randomBytes(8).toString("hex")}`);
  try {
    const opened = await open(part, "wx", 0o600);
    try {
      await opened.writeFile(text);
      await opened.sync();
    } finally {
      await opened.close();
    }
    await rename(part, file);
  } finally {
    await unlink(part).catch(() => undefined);
  }
  return file;
}

/**
 * Returns a file to send, of which a block at a time is in memory.
 *
 * @throws Io for a path that names no regular file.
 */
export async function file(path: string): Promise<Streamed> {
  const about = await stat(path);
  // A pipe would keep whoever opens it waiting.
  if (!about.isFile()) throw new Io(`${JSON.stringify(path)} is no regular file: give one`);
  const nbytes = about.size;
  const range = nbytes > 0 ? { end: nbytes - 1 } : {};
  const stream = (): ReadableStream<Uint8Array> => {
    const opened = createReadStream(path, { ...range, highWaterMark: BLOCK });
    return Readable.toWeb(opened, { strategy: { highWaterMark: 1 } }) as ReadableStream<Uint8Array>;
  };
  return { nbytes, open: stream };
}

/**
 * Returns the files of a folder of evaluation keys for `putKeys`: the folder `eval` that `sunzi keygen` made.
 *
 * @throws Io for a folder with another folder in it, MissingKey for an empty one.
 */
export async function folder(path: string): Promise<[string, Streamed][]> {
  const names = (await readdir(path)).sort();
  const shown = JSON.stringify(path);
  if (names.length === 0) throw new MissingKey(`${shown} is empty: give the folder eval that sunzi keygen made`);
  return Promise.all(names.map(async (name): Promise<[string, Streamed]> => [name, await file(join(path, name))]));
}

/**
 * Waits for a job, and writes its result to a file, which gets its name once its bytes are those that the server says; returns the path.
 *
 * @throws Io for a file that is there without `force`, JobFailed, JobUnfinished, DamagedTransfer.
 */
export async function save(job: Job, path: string, options: SaveOptions = {}): Promise<string> {
  const force = options.force ?? false;
  await check(path, force);
  const stream = await job.stream(options);
  const part = join(dirname(path), `.${basename(path).slice(0, 200)}.${randomBytes(8).toString("hex")}.part`);
  try {
    await write(part, stream);
    await named(part, path, force);
  } finally {
    await stream.cancel().catch(() => undefined);
    await unlink(part).catch(() => undefined);
  }
  return path;
}

/** Fails where a file is there and may not be replaced. */
async function check(path: string, force: boolean): Promise<void> {
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isThere && !force) throw new Io(`${JSON.stringify(path)} is there already: choose another file, or give force: true`);
}

async function write(part: string, stream: ReadableStream<Uint8Array>): Promise<void> {
  const opened = await open(part, "wx");
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      await opened.writeFile(value);
    }
    await opened.sync();
  } finally {
    await reader.cancel().catch(() => undefined);
    reader.releaseLock();
    await opened.close();
  }
}

/** Gives a file its name. */
async function named(part: string, path: string, force: boolean): Promise<void> {
  if (force) return rename(part, path);
  try {
    // A rename would replace a file that came meanwhile.
    await link(part, path);
  } catch {
    await check(path, false);
    // There are no hard links here.
    await rename(part, path);
  }
}
