/** Worker of the key holder, called from the page. */

import type { Answer, Calls, Request } from "./worker.js";

/** Refusal of the worker, with the name that the error has there. */
export class OwnerError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** Key holder's side: one worker, until it is stopped. */
export class Owner {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #last = 0;

  /** Calls the worker, and waits for its answer. */
  call<K extends keyof Calls>(call: K, ...given: Parameters<Calls[K]>): Promise<Awaited<ReturnType<Calls[K]>>> {
    const id = (this.#last += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const request: Request = { id, call, given };
      this.#worker ??= this.#started();
      this.#worker.postMessage(request);
    });
  }

  /** Whether the worker has a call to answer. */
  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  /** Stops the worker in the middle of what it does; the next call starts another, without the keys of this one. */
  restart(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#fail(new OwnerError("AbortError", "stopped"));
  }

  #started(): Worker {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("value" in data) waiting?.resolve(data.value as never);
      else waiting?.reject(new OwnerError(data.name, data.message));
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      worker.terminate();
      // The next call tries again.
      if (this.#worker === worker) this.#worker = undefined;
      this.#fail(new OwnerError("WorkerUnusable", `the part of the page that encrypts does not start: ${event.message || "a script did not load"}`));
    });
    return worker;
  }

  #fail(error: OwnerError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
