/** Elements of the page. Texts of tables and servers become text nodes, and nothing here takes HTML. */

/** Content of an element. */
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

/** Makes a table with a header line, its first column being headers of rows. Roles are written out, since narrow windows show rows as blocks. */
export function grid(caption: string, heads: readonly string[], rows: readonly (readonly Child[])[]): HTMLTableElement {
  const head = made("tr", { role: "row" }, ...heads.map((text) => made("th", { scope: "col", role: "columnheader" }, text)));
  const cell = (child: Child, at: number): HTMLElement =>
    at === 0 ? made("th", { scope: "row", role: "rowheader" }, child) : made("td", { role: "cell", "data-head": heads[at] ?? "" }, child);
  const lines = rows.map((cells) => made("tr", { role: "row" }, ...cells.map(cell)));
  const parts = [made("thead", { role: "rowgroup" }, head), made("tbody", { role: "rowgroup" }, ...lines)];
  return made("table", { role: "table" }, made("caption", {}, caption), ...parts);
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
