/**
 * Secret bytes at rest in a browser, encrypted by a key of Web Crypto that scripts can use and cannot read. Key and bytes lie in IndexedDB.
 *
 * Whoever copies the browser's profile may use the key as the browser does, and so may any script of the same origin: this keeps bytes from scripts that read
 * storage alone, and `forget` takes the key away with them.
 */

import { SunziError } from "./errors.js";

/** Bytes that `open` returns. */
type Bytes = Uint8Array<ArrayBuffer>;

/** Failure to keep bytes in a browser. */
export class SealedError extends SunziError {
  static {
    this.prototype.name = "SealedError";
  }
}

/** Name under which nothing is kept. */
export class NotSealed extends SealedError {
  static {
    this.prototype.name = "NotSealed";
  }
}

/** Kept bytes that were changed, or stand under another name than the one they were kept under. */
export class SealDamaged extends SealedError {
  static {
    this.prototype.name = "SealDamaged";
  }
}

/** Browser that keeps nothing here: a page without https, a private window, or no room. */
export class SealUnavailable extends SealedError {
  static {
    this.prototype.name = "SealUnavailable";
  }
}

/** Text that is no name of kept bytes. */
export class SealNameUnusable extends SealedError {
  static {
    this.prototype.name = "SealNameUnusable";
  }
}

/** Entry of the database under a name. */
interface Entry {
  readonly key: CryptoKey;
  readonly nonce: Bytes;
  readonly sealed: ArrayBuffer;
}

const DATABASE = "sunzi-sealed";
const STORE = "sealed";
const CIPHER = "AES-GCM";
/** Longest name, in UTF-16 units. */
const LONGEST = 100;
/** Number of bytes of a nonce of AES-GCM. */
const NONCE = 12;

/**
 * Keeps bytes under a name, in place of those that are there. Every call makes a key of its own, so that no nonce is used twice with one.
 *
 * @throws SealNameUnusable, SealUnavailable.
 */
export async function seal(name: string, bytes: Uint8Array): Promise<void> {
  const additionalData = bound(name);
  const key = await available(() => crypto.subtle.generateKey({ name: CIPHER, length: 256 }, false, ["encrypt", "decrypt"]));
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE));
  const copy = bytes.slice();
  try {
    const sealed = await available(() => crypto.subtle.encrypt({ name: CIPHER, iv: nonce, additionalData }, key, copy));
    const entry: Entry = { key, nonce, sealed };
    await inStore("readwrite", (store) => store.put(entry, name));
  } finally {
    copy.fill(0);
  }
}

/**
 * Returns the bytes that are kept under a name.
 *
 * @throws NotSealed, SealDamaged, SealNameUnusable, SealUnavailable.
 */
export async function open(name: string): Promise<Bytes> {
  const additionalData = bound(name);
  const found: unknown = await inStore("readonly", (store) => store.get(name) as IDBRequest<unknown>);
  if (found === undefined) throw new NotSealed(`nothing is kept under ${JSON.stringify(name)} in this browser`);
  const damaged = `what is kept under ${JSON.stringify(name)} was changed, and cannot be opened: forget it`;
  if (!isEntry(found)) throw new SealDamaged(damaged);
  const { key, nonce, sealed } = found;
  try {
    return new Uint8Array(await crypto.subtle.decrypt({ name: CIPHER, iv: nonce, additionalData }, key, sealed));
  } catch (error) {
    throw new SealDamaged(damaged, { cause: error });
  }
}

/**
 * Removes what is kept under a name, with its key; nothing happens where there is nothing.
 *
 * @throws SealNameUnusable, SealUnavailable.
 */
export async function forget(name: string): Promise<void> {
  bound(name);
  await inStore("readwrite", (store) => store.delete(name));
}

/** Returns the associated data of a name: bytes that are moved under another name do not open. */
function bound(name: string): Bytes {
  if (typeof name !== "string" || name.length === 0 || name.length > LONGEST || /\p{Surrogate}/u.test(name)) {
    throw new SealNameUnusable(`this is no name to keep bytes under: expected a text of 1 to ${LONGEST} characters`);
  }
  return new TextEncoder().encode(`sunzi sealed 1\0${name}`);
}

function isEntry(found: unknown): found is Entry {
  if (typeof found !== "object" || found === null) return false;
  const { key, nonce, sealed } = found as Partial<Record<keyof Entry, unknown>>;
  return key instanceof CryptoKey && nonce instanceof Uint8Array && sealed instanceof ArrayBuffer;
}

/** Makes one request in a transaction, and waits until the transaction is on disk. */
async function inStore<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return available(async () => {
    const database = await connected();
    try {
      return await new Promise<T>((resolve, reject) => {
        const transaction = database.transaction(STORE, mode, { durability: "strict" });
        const request = ask(transaction.objectStore(STORE));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = () => reject(transaction.error ?? request.error);
      });
    } finally {
      database.close();
    }
  });
}

function connected(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => void request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Names what a browser fails with. */
async function available<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const reason = error instanceof Error || error instanceof DOMException ? error.message : String(error);
    throw new SealUnavailable(`this browser keeps no bytes for this page: ${reason}`, { cause: error });
  }
}
