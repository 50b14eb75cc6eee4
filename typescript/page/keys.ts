/** Secret key in the page: saved as a file, kept in the browser, and opened again. */

import type { Client } from "../src/index.js";
import type { Result } from "../src/local.js";

import { byId, download, focusOn, show } from "./dom.js";
import type { Kept } from "./kept.js";
import type { Owner } from "./owner.js";
import { told } from "./words.js";

/** Fewest characters of a passphrase. */
const SHORTEST = 12;

/** Parts of the page around the secret key. */
export class KeyParts {
  readonly #owner: Owner;
  /** Returns what is kept of the run that is on the page. */
  readonly #note: () => Kept | undefined;
  readonly #part = byId("key-part", HTMLElement);
  readonly #keep = byId("keep", HTMLInputElement);
  readonly #status = byId("key-status", HTMLElement);
  readonly #problem = byId("key-problem", HTMLElement);

  /** Makes the parts work. */
  constructor(owner: Owner, note: () => Kept | undefined) {
    [this.#owner, this.#note] = [owner, note];
    byId("save", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#told(() => this.#save());
    });
    byId("save-parameters", HTMLButtonElement).addEventListener("click", () => void this.#told(() => this.#saveParameters()));
    this.#keep.addEventListener("change", () => void this.#told(() => (this.#keep.checked ? this.keep() : this.#forget())));
  }

  /** Shows the parts, or hides them. */
  show(shown: boolean): void {
    show(this.#part, shown);
    this.#status.textContent = "";
    show(this.#problem, false);
  }

  /** Keeps the key of the run in the browser, where that was asked for. */
  async keep(): Promise<void> {
    const note = this.#note();
    if (!this.#keep.checked) return;
    if (note === undefined) {
      this.#status.textContent = "The key is kept as soon as the server has the job.";
      return;
    }
    await this.#owner.call("keep", note);
    this.#status.textContent = "The key is kept in this browser.";
  }

  /** Keeps the key, and says beside the choice why that failed: the run goes on. */
  keepOrTell(): Promise<void> {
    return this.#told(() => this.keep());
  }

  async #forget(): Promise<void> {
    await this.#owner.call("forget");
    this.#status.textContent = "The key is no longer kept in this browser.";
  }

  async #save(): Promise<void> {
    const [passphrase, again] = ["passphrase", "again"].map((id) => byId(id, HTMLInputElement));
    if (passphrase === undefined || again === undefined) return;
    if (passphrase.value.length < SHORTEST) {
      passphrase.focus();
      throw new Error(`The passphrase is too short: ${SHORTEST} characters at least.`);
    }
    if (passphrase.value !== again.value) {
      again.focus();
      throw new Error("The two passphrases differ: write the same one twice.");
    }
    this.#status.textContent = "Encrypting the key under the passphrase: this takes a moment on purpose.";
    download("secret.sz", await this.#owner.call("secretFile", passphrase.value));
    [passphrase.value, again.value] = ["", ""];
    this.#status.textContent = "Saved as secret.sz. Keep the file and the passphrase in different places.";
  }

  async #saveParameters(): Promise<void> {
    download("parameters.sz", await this.#owner.call("parameters"));
    this.#status.textContent = "Saved as parameters.sz.";
  }

  async #told(call: () => Promise<void>): Promise<void> {
    show(this.#problem, false);
    try {
      await call();
    } catch (error) {
      this.#status.textContent = "";
      this.#problem.textContent = told(error);
      show(this.#problem);
    }
  }
}

/** Callbacks of the part of an earlier run. */
interface EarlierParts {
  readonly owner: Owner;
  /** Returns a client of the account in the form. */
  readonly client: () => Client;
  /** Is called before the keys of the page are replaced. */
  readonly before: () => void;
  /** Takes the results of the earlier run. */
  readonly opened: (note: Kept, results: readonly Result[], client: Client) => void;
}

/** Offers to open the result of an earlier run whose key this browser keeps. */
export async function offerEarlier({ owner, client, before, opened }: EarlierParts): Promise<void> {
  const [part, problem] = [byId("earlier", HTMLElement), byId("earlier-problem", HTMLElement)];
  const tell = (error: unknown): void => {
    problem.textContent = told(error).replace(/,? then press Go on\.?/, ", then try again.");
    show(problem);
  };
  const note = await owner.call("kept").catch((error: unknown) => {
    // A browser that keeps nothing has no earlier run either.
    if (error instanceof Error && error.name === "SealUnavailable") return undefined;
    tell(error);
    return null;
  });
  if (note === undefined) return;
  const broken = "This browser keeps a key that cannot be read.";
  const text = (kept: Kept): string => `This browser keeps the key of a run of ${new Date(kept.when).toLocaleString()}: ${kept.program}`;
  byId("earlier-text", HTMLElement).textContent = note === null ? broken : text(note);
  show(part);
  const open = byId("earlier-open", HTMLButtonElement);
  show(open, note !== null);
  open.addEventListener("click", async () => {
    if (note === null) return;
    const run = byId("run", HTMLButtonElement);
    show(problem, false);
    show(byId("server-part", HTMLElement));
    before();
    [open.disabled, run.disabled] = [true, true];
    try {
      await owner.call("restore");
      const own = client();
      const result = await own.job(note.job).result({ timeout: 600 });
      opened(note, await owner.call("decrypt", result), own);
    } catch (error) {
      tell(error);
    } finally {
      [open.disabled, run.disabled] = [false, false];
    }
  });
  byId("earlier-forget", HTMLButtonElement).addEventListener("click", async () => {
    try {
      await owner.call("forget");
      byId("keep", HTMLInputElement).checked = false;
      show(part, false);
      focusOn(byId("table-title", HTMLElement));
    } catch (error) {
      tell(error);
    }
  });
}
