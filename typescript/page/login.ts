/** Form of address and token. The token is nowhere but in the form. */

import { Client } from "../src/index.js";

import { byId } from "./dom.js";

/** Form of the server. */
export class LoginForm {
  readonly #address = byId("address", HTMLInputElement);
  readonly #token = byId("token", HTMLInputElement);
  #last = "";

  /** Fills the form: the address is that of the page, and the token comes from the fragment of the address. */
  constructor() {
    this.#address.value = location.origin;
    this.#take();
    addEventListener("hashchange", () => this.#take());
  }

  /**
   * Returns a client of the account.
   *
   * @throws LoginUnusable for an address or a token that cannot be used.
   */
  client(): Client {
    return new Client({ server: this.#address.value.trim(), token: this.#token.value.trim(), patience: 10 });
  }

  /** Whether the account is another one than at the last call. */
  isChanged(): boolean {
    const now = `${this.#address.value.trim()} ${this.#token.value.trim()}`;
    const changed = now !== this.#last;
    this.#last = now;
    return changed;
  }

  /** Field of the token. */
  get token(): HTMLInputElement {
    return this.#token;
  }

  /** Takes the token out of the address bar at once, so that it is in no history, and no copy of the address. */
  #take(): void {
    const token = /^#token=(.+)$/.exec(location.hash)?.[1];
    if (token === undefined) return;
    history.replaceState(history.state, "", location.pathname + location.search);
    this.#token.value = token;
  }
}
