/** Chromium for tests: a page of its own, with its faults. */

import { existsSync } from "node:fs";

import { chromium, type Page } from "playwright-core";

/** Path of the browser. */
const BROWSER = process.env["SUNZI_CHROMIUM"] ?? "/usr/bin/chromium";
/** Reason why tests in a browser are skipped; false where they are not. */
export const NO_BROWSER = existsSync(BROWSER) ? false : `there is no browser at ${BROWSER}: name one in SUNZI_CHROMIUM`;
/** Reason why tests of the module are skipped; false where they are not. */
export const NO_MODULE = existsSync(new URL("../wasm/sunzi_wasm_bg.wasm", import.meta.url))
  ? false
  : "there is no module in WebAssembly: cargo xtask typescript builds it";

/** Runs a block with a page of a new browser, and with the errors of its scripts and what its policy forbids. */
export async function browsing<T>(block: (page: Page, faults: string[]) => Promise<T>): Promise<T> {
  const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ acceptDownloads: true });
    const faults: string[] = [];
    page.setDefaultTimeout(30_000);
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("dialog", (dialog) => {
      faults.push(`a script spoke: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    const telling = "(event) => console.error(`forbidden: ${event.violatedDirective} ${event.blockedURI}`)";
    await page.addInitScript(`addEventListener("securitypolicyviolation", ${telling})`);
    return await block(page, faults);
  } finally {
    await browser.close();
  }
}
