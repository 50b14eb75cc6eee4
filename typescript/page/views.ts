/** Views of what came out: results, and what the server saw. */

import type { Result, Told } from "../src/local.js";

import { kindOf, rangeOf } from "./columns.js";
import { type Child, grid, made, scrolling } from "./dom.js";
import type { Plain } from "./plain.js";
import type { Run } from "./run.js";
import { duration, numeral, size } from "./words.js";
import type { Surveyed } from "./worker.js";

/** Most rows of a result that are shown. */
const MOST_ROWS = 20;

/** Returns results beside those in the clear. */
export function resultsView(results: readonly Result[], plain: readonly (Plain | undefined)[]): HTMLElement {
  const lines = results.flatMap(({ name, value }, at): Child[][] => {
    const own = plain[at];
    if (value.kind === "number") return [[name, ...cells(value, typeof own === "number" ? own : undefined)]];
    if (value.kind === "groups") {
      return value.groups.map(({ labels, number }) => {
        const beside = typeof own === "object" && labels.length === 1 ? own.get(labels[0] ?? "") : undefined;
        return [`${name}: ${labels.join(", ")}`, ...cells(number, beside)];
      });
    }
    const rows = value.values.slice(0, MOST_ROWS).map((one, row) => [`${name}: row ${row + 1}`, numeral(one), bound(value.errors[row] ?? 0, false), ""]);
    const left = value.values.length - rows.length;
    return left > 0 ? [...rows, [`${name}: ${left} more rows`, "", "", ""]] : rows;
  });
  const table = grid("Results, decrypted in this page", ["What", "Decrypted", "Error at most", "Computed in the clear"], lines);
  table.className = "results";
  return scrolling("Results", table);
}

function cells(told: Told, plain: number | undefined): Child[] {
  if (told.value === null) return [`not defined: ${told.undefined ?? ""}`, "", ""];
  const beside = plain === undefined || Number.isNaN(plain) ? "not computed here" : numeral(plain);
  return [numeral(told.value), bound(told.error, told.exact !== null), beside];
}

function bound(error: number, exact: boolean): string {
  return exact || error === 0 ? "exact" : error.toExponential(1);
}

/** Returns what the server saw of a run. */
export function seenView(run: Run, table: Surveyed, program: string): HTMLElement[] {
  const sent = run.sent.map(({ what, bytes, time }) => [what, size(bytes), time === undefined ? "with the first" : duration(time)]);
  const columns = table.columns.map((column) => [column.name, kindOf(column), rangeOf(column), column.encrypted ? "encrypted" : "in the clear"]);
  return [
    scrolling("What was sent", grid(`Under the name ${run.name}`, ["What", "Size", "Time"], sent)),
    made("h3", {}, `Description of the table: ${table.rows} ${table.rows === 1 ? "row" : "rows"}`),
    scrolling("Columns that the server saw", grid("Columns", ["Name", "Kind", "Range", "Cells"], columns)),
    made("h3", {}, "Program"),
    made("pre", {}, program),
    made("h3", {}, `First ${run.beginning.length} bytes of the encrypted table`),
    made("p", { class: "small" }, "A header comes first, with the description of the table and the columns in the clear. What follows it is encrypted."),
    made("pre", {}, hexadecimal(run.beginning)),
    made("h3", {}, `${run.middle.length} bytes of its middle`),
    made("pre", {}, hexadecimal(run.middle)),
  ];
}

function hexadecimal(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/** Returns what the server did not see. */
export function unseenView(table: Surveyed): HTMLElement[] {
  const named = (encrypted: boolean): string => table.columns.filter((column) => column.encrypted === encrypted).map(({ name }) => name).join(", ");
  const [hidden, clear] = [named(true), named(false)];
  const lines = [
    hidden === "" ? "" : `the cells of ${hidden}`,
    "the results in the clear",
    "the secret key",
    "the name of your file",
  ].filter((line) => line !== "");
  const items = lines.map((line) => made("li", {}, line));
  return clear === "" ? items : [...items, made("li", {}, made("strong", {}, `It saw the cells of ${clear}: you left them in the clear.`))];
}
