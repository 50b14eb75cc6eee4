/** Address of a server and token of an account. */

import { LoginUnusable } from "./errors.js";
import { quoted } from "./names.js";

const TOKEN = /^sunzi-[0-9a-f]{16}-[0-9a-f]{64}$/;
/** Names of this machine, whose connections no other machine can read. */
const OWN = ["localhost", "127.0.0.1", "[::1]"];

/** Login that was checked. The token is in a private field, so that nothing prints it. */
export class Login {
  /** Address of the server, without a slash at its end. */
  readonly server: string;
  readonly #token: string;

  /**
   * Checks address and token before a token is sent where it should not be.
   *
   * @throws LoginUnusable for an address that is none or to which a token would pass in the clear, and for a text that is no token.
   */
  constructor(server: string, token: string) {
    if (typeof server !== "string" || typeof token !== "string") {
      throw new LoginUnusable("give the address of a server and a token, both of them texts");
    }
    this.server = server.replace(/\/{1,8}$/, "");
    checkAddress(this.server);
    if (!TOKEN.test(token)) {
      throw new LoginUnusable("this is no token: expected sunzi-, 16 digits, - and 64 digits, as sunzi account add printed it");
    }
    this.#token = token;
  }

  /** Returns the header that opens the account. */
  authorization(): string {
    return `Bearer ${this.#token}`;
  }

  /** Returns the token for a file that its owner alone can read. */
  reveal(): string {
    return this.#token;
  }

  /** Returns a text without the token and without its secret half. */
  hide(text: string): string {
    return text.replaceAll(this.#token, "…").replaceAll(this.#token.slice(-64), "…");
  }
}

function checkAddress(server: string): void {
  const expected = "expected one such as https://compute.example.org";
  // What a parser of addresses drops, or others read in another way, is refused.
  const plain = /^https?:\/\/[^/]/i.test(server) && !/[\p{C}\p{Z}\\?#@]/u.test(server);
  let url: URL;
  try {
    url = new URL(server);
  } catch {
    throw new LoginUnusable(`${quoted(server)} is no address of a server: ${expected}`);
  }
  if (!plain || url.hostname === "" || url.username !== "" || url.password !== "") {
    throw new LoginUnusable(`${quoted(server)} is no address of a server: ${expected}`);
  }
  if (url.protocol === "http:" && !OWN.includes(url.hostname)) {
    const message =
      "expected an address that begins with https://, since the token would pass in the clear; http:// is for 127.0.0.1 and localhost";
    throw new LoginUnusable(`${quoted(server)}: ${message}`);
  }
}
