/** Elements of the page. Texts of tables and servers become text nodes, and nothing here takes HTML. */

/** What an element is filled with. */
export type Child = Node | string;

/**
 * Returns the element of the page with this id.
 *
 * @throws TypeError where the page has none of this kind.
 */
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`the page has no ${kind.name} ${id}`);
  return found;
}

/** Makes an element with attributes and content. */
export function made<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...content: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

/** Makes a table with a header line, its first column being headers of rows. */
export function grid(caption: string, heads: readonly string[], rows: readonly (readonly Child[])[]): HTMLTableElement {
  const head = made("tr", {}, ...heads.map((text) => made("th", { scope: "col" }, text)));
  const lines = rows.map((cells) => made("tr", {}, ...cells.map((cell, at) => (at === 0 ? made("th", { scope: "row" }, cell) : made("td", {}, cell)))));
  return made("table", {}, made("caption", {}, caption), made("thead", {}, head), made("tbody", {}, ...lines));
}

/** Makes a box that scrolls sideways, by keyboard too. */
export function scrolling(label: string, content: Child): HTMLElement {
  return made("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, content);
}

/** Shows a part of the page, or hides it. */
export function show(element: HTMLElement, shown = true): void {
  element.hidden = !shown;
}

/** Moves the focus to a heading or message that has no place in the order of tabs. */
export function focusOn(element: HTMLElement): void {
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus();
  element.scrollIntoView({ block: "nearest" });
}

/** Offers bytes as a file. */
export function download(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = made("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads the bytes after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
