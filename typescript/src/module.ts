/** The module in WebAssembly: loaded once, and its failures as errors of Sunzi. */

import type * as Module from "../wasm/sunzi_wasm.js";

import { SunziError } from "./errors.js";

/** Where the module comes from: its bytes, a compiled module, or an address. */
export type ModuleSource = BufferSource | URL | WebAssembly.Module;

/** Call of the module that it refuses; the property `name` is that of the error in Rust, such as `Truncated` or `MissingKey`. */
export class Refused extends SunziError {
  /** Makes the error of a refused call. */
  constructor(name: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
  }
}

let glue: typeof Module | undefined;
let loading: Promise<void> | undefined;
/** Fault of the module, after which it is not used again; undefined where there was none. */
let fault: Refused | undefined;

/**
 * Loads the module, once for all programs of a page or process: later calls wait for the first. Without a source it is the file of this package, which Node reads
 * and browsers fetch.
 *
 * @throws Refused, named `ModuleUnusable`, where the module cannot be fetched or started; the next call tries again.
 */
export function load(source?: ModuleSource): Promise<void> {
  loading ??= start(source).catch((error: unknown) => {
    loading = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refused("ModuleUnusable", `the module in WebAssembly cannot be loaded: ${reason}`, { cause: error });
  });
  return loading;
}

async function start(source: ModuleSource | undefined): Promise<void> {
  const found = await import("../wasm/sunzi_wasm.js");
  const address = source ?? new URL("../wasm/sunzi_wasm_bg.wasm", import.meta.url);
  if (address instanceof URL && address.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    await found.default({ module_or_path: await readFile(address) });
  } else {
    await found.default({ module_or_path: address });
  }
  glue = found;
}

/**
 * Calls the module.
 *
 * @throws Refused for what the module refuses; named `NotLoaded` before the module is loaded, and `InternalError` after a fault of the module, which is not used again.
 */
export function called<T>(call: (module: typeof Module) => T): T {
  if (fault !== undefined) throw fault;
  if (glue === undefined) {
    const broken = loading === undefined ? "" : " to its end";
    throw new Refused("NotLoaded", `the module in WebAssembly is not loaded: call load() and wait for it${broken} first`);
  }
  try {
    return call(glue);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) {
      // What a trap leaves in memory is not to be relied on.
      const reason = `the module failed (${error.message}), and is not used again: load the page anew. This is a fault of the library, please report it`;
      fault = new Refused("InternalError", reason, { cause: error });
      throw fault;
    }
    // What the glue says of an object whose memory was given back.
    if (error instanceof Error && error.message.includes("null pointer")) {
      throw new Refused("Freed", "the keys were erased by free(): open or generate them again");
    }
    if (error instanceof Error) throw new Refused(error.name, error.message);
    throw error;
  }
}
