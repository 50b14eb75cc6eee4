/** Columns of a table: their kinds, ranges that may be edited, and which of them are encrypted. */

import type { Column, SurveyChoices } from "../src/local.js";

import { made } from "./dom.js";
import { written } from "./plain.js";

const USES = { encrypted: "encrypted", clear: "in the clear", out: "left out" } as const;

/** Use of a column. */
type Use = keyof typeof USES;

/** Range of a column, in text. */
export type Range = readonly [low: string, high: string];

interface Line {
  readonly column: Column;
  readonly use: HTMLSelectElement;
  readonly ends: readonly [HTMLInputElement, HTMLInputElement] | undefined;
}

interface Ranged {
  readonly range: readonly [number | string, number | string];
  readonly decimals?: number;
}

/** Most labels that a description of a column lists. */
const MOST_LABELS = 12;

/** Form of the columns. */
export class ColumnsForm {
  readonly #root: HTMLElement;
  readonly #changed: () => void;
  #lines: Line[] = [];

  /** Makes the form; the function is called after each change. */
  constructor(root: HTMLElement, changed: () => void) {
    this.#root = root;
    this.#changed = changed;
  }

  /** Shows the columns of a table that was just found. */
  show(columns: readonly Column[], ranges: Readonly<Record<string, Range>>): void {
    this.#lines = columns.map((column) => this.#line(column, ranges[column.name]));
    this.#root.replaceChildren(...this.#lines.map((line) => fields(line)));
  }

  /** Returns the choices that the form has. */
  choices(): SurveyChoices {
    const named = (use: Use): string[] => this.#lines.filter((line) => line.use.value === use).map(({ column }) => column.name);
    const ranges = this.#lines.flatMap(({ column, ends, use }) =>
      ends === undefined || use.value === "out" ? [] : [[column.name, [ends[0].value.trim(), ends[1].value.trim()]] as const],
    );
    const columns = [...this.#lines].filter((line) => line.use.value !== "out").map(({ column }) => column.name);
    return { columns, clear: named("clear"), ranges: Object.fromEntries(ranges) };
  }

  /** Returns the statements that fit the columns. */
  suggestions(): string[] {
    const used = this.#lines.filter(({ column, use }) => use.value !== "out" && !column.name.includes("`"));
    const numbers = used.filter((line) => line.ends !== undefined).map(({ column }) => written(column.name));
    const labels = used.filter((line) => line.ends === undefined).map(({ column }) => written(column.name));
    const [first, second] = numbers;
    // Of two columns of numbers the second is more often what is measured.
    const measured = second ?? first;
    const found = measured === undefined ? ["count()"] : [`mean(${measured})`, `sum(${measured})`];
    if (measured !== undefined && labels[0] !== undefined) found.push(`sum(${measured}) by ${labels[0]}`, `mean(${measured}) by ${labels[0]}`);
    if (first !== undefined && second !== undefined) found.push(`corr(${first}, ${second})`, `mean(${first})`);
    return measured === undefined ? found : [...found, "count()"];
  }

  #line(column: Column, given: Range | undefined): Line {
    const use = made("select", {}, ...Object.entries(USES).map(([value, words]) => made("option", { value }, words)));
    use.addEventListener("change", this.#changed);
    const found = ranged(column)?.range;
    if (found === undefined) return { column, use, ends: undefined };
    const [low, high] = given ?? [String(found[0]), String(found[1])];
    const ends = [low, high].map((value) => made("input", { value, autocomplete: "off", spellcheck: "false" })) as [HTMLInputElement, HTMLInputElement];
    for (const end of ends) end.addEventListener("change", this.#changed);
    return { column, use, ends };
  }
}

/** Returns ranges of round numbers around those of the cells. Dates and the like keep theirs. */
export function widened(columns: readonly Column[]): Record<string, Range> {
  const found = columns.flatMap((column): [string, Range][] => {
    const [low, high] = ranged(column)?.range ?? [];
    if (typeof low !== "number" || typeof high !== "number") return [];
    return [[column.name, [String(low >= 0 ? 0 : -round(-low)), String(high <= 0 ? 0 : round(high))]]];
  });
  return Object.fromEntries(found);
}

/** Returns the kind of a column in words. */
export function kindOf(column: Column): string {
  const kind = column.kind as { readonly category?: { readonly labels: readonly string[] }; readonly real?: unknown };
  const labels = kind.category?.labels;
  if (labels !== undefined) {
    const more = labels.length > MOST_LABELS ? `, and ${labels.length - MOST_LABELS} more` : "";
    return `${labels.length} ${labels.length === 1 ? "label" : "labels"}: ${labels.slice(0, MOST_LABELS).join(", ")}${more}`;
  }
  const { decimals = 0 } = ranged(column) ?? {};
  const { unit } = column as { readonly unit?: string };
  if (unit !== undefined) return `dates or times, as ${unit}`;
  return kind.real !== undefined ? "real numbers" : decimals === 0 ? "whole numbers" : `numbers with ${decimals} ${decimals === 1 ? "decimal" : "decimals"}`;
}

/** Returns the range of a column in words. */
export function rangeOf(column: Column): string {
  const range = ranged(column)?.range;
  return range === undefined ? "" : `${range[0]} to ${range[1]}`;
}

function ranged(column: Column): Ranged | undefined {
  const kind = column.kind as { readonly decimal?: Ranged; readonly real?: Ranged };
  return kind.decimal ?? kind.real;
}

/** Returns the least of 1, 2, 5, 10, 20, … that is not below a positive number. */
function round(number: number): number {
  if (number <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= number) ?? 10 * power;
}

function fields({ column, use, ends }: Line): HTMLElement {
  const ranges = ends === undefined ? [] : [made("label", {}, "Least", ends[0]), made("label", {}, "Largest", ends[1])];
  const last = made("label", { class: "use" }, "On the server", use);
  return made("fieldset", {}, made("legend", {}, column.name || "(no name)"), made("p", { class: "kind" }, kindOf(column)), ...ranges, last);
}
