/** Table in the clear, and statistics of it: what decrypted results are compared with. */

/** Number in the clear, or those of groups by their labels. */
export type Plain = number | ReadonlyMap<string, number>;

/** Cells that stand for none. */
const MISSING = new Set(["", "null", "nan", "na", "n/a", "none"]);
const STATEMENT = /^(?:[A-Za-z_][\w.]*\s*=(?!=)\s*)?(mean|sum|count|corr)\s*\(([^()]*)\)\s*(?:by\s+(.+))?$/s;

/** Table in the clear. */
export class PlainTable {
  readonly #heads: readonly string[];
  readonly #rows: readonly (readonly string[])[];

  readonly #comma: boolean;

  /** Reads a table, whose numbers may have a decimal comma; what is none has no rows. */
  constructor(csv: string, comma = false) {
    this.#comma = comma;
    const [heads = [], ...rows] = lines(csv.replace(/^\uFEFF/, ""));
    this.#heads = heads.map((head) => head.trim());
    this.#rows = rows;
  }

  /** Names of the columns. */
  get heads(): readonly string[] {
    return this.#heads;
  }

  /** Returns the first rows. */
  first(rows: number): readonly (readonly string[])[] {
    return this.#rows.slice(0, rows);
  }

  /** Returns the result of each statement of a program; undefined for those that this page does not compute. */
  results(program: string): (Plain | undefined)[] {
    return statements(program).map((statement) => this.#result(statement));
  }

  #result(statement: string): Plain | undefined {
    const [, what, inner = "", by] = STATEMENT.exec(statement) ?? [];
    if (what === undefined) return undefined;
    const names = inner.trim() === "" ? [] : inner.split(",").map(bare);
    const columns = names.map((name) => this.#numbers(name));
    const groups = by === undefined ? undefined : this.#cells(bare(by));
    if (columns.some((column) => column === undefined) || (by !== undefined && groups === undefined)) return undefined;
    const parts = new Map<string, number[][]>();
    for (let row = 0; row < this.#rows.length; row += 1) {
      const numbers = columns.map((column) => column?.[row] ?? NaN);
      const label = groups?.[row] ?? "";
      if (numbers.some(Number.isNaN)) continue;
      const own = parts.get(label);
      if (own === undefined) parts.set(label, [numbers]);
      else own.push(numbers);
    }
    const found = new Map([...parts].map(([label, rows]) => [label, statistic(what, names.length, rows)] as const));
    if ([...found.values()].includes(undefined)) return undefined;
    return by === undefined ? found.get("") : (found as ReadonlyMap<string, number>);
  }

  #cells(name: string): string[] | undefined {
    const at = this.#heads.indexOf(name);
    return at < 0 ? undefined : this.#rows.map((row) => (row[at] ?? "").trim());
  }

  /** Returns the numbers of a column, NaN where one is missing; undefined for a column of anything else. */
  #numbers(name: string): number[] | undefined {
    const cells = this.#cells(name)?.map((cell) => {
      if (MISSING.has(cell.toLowerCase())) return NaN;
      const text = this.#comma ? cell.replace(",", ".") : cell;
      return /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined;
    });
    return cells?.includes(undefined) ? undefined : (cells as number[] | undefined);
  }
}

/** Returns the statements of a program, without comments. */
export function statements(program: string): string[] {
  const parts = program.replace(/#[^\n]*/g, "").split(";");
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** Returns a name of a column as a program writes it. */
export function written(name: string): string {
  return /^[A-Za-z_][\w.]*$/.test(name) && name !== "by" ? name : `\`${name}\``;
}

function bare(name: string): string {
  return name.trim().replace(/^`(.*)`$/s, "$1");
}

function statistic(what: string, columns: number, rows: readonly (readonly number[])[]): number | undefined {
  const column = (at: number): number[] => rows.map((row) => row[at] ?? NaN);
  if (what === "count") return columns < 2 ? rows.length : undefined;
  if (what === "corr") return columns === 2 ? correlation(column(0), column(1)) : undefined;
  if (columns !== 1) return undefined;
  return what === "sum" ? sum(column(0)) : sum(column(0)) / rows.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const away = (numbers: readonly number[]): number[] => {
    const mean = sum(numbers) / numbers.length;
    return numbers.map((one) => one - mean);
  };
  const dot = (one: readonly number[], other: readonly number[]): number => sum(one.map((value, at) => value * (other[at] ?? NaN)));
  const [x, y] = [away(a), away(b)];
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
}

/** Returns the cells of CSV, by lines; the delimiter is the one that the header line has most of. */
function lines(csv: string): string[][] {
  const header = /^[^\r\n]*/.exec(csv)?.[0] ?? "";
  const often = (delimiter: string): number => header.split(delimiter).length;
  const delimiter = [",", ";", "\t"].reduce((best, one) => (often(one) > often(best) ? one : best));
  const rows: string[][] = [];
  let [row, cell, quoted] = [[] as string[], "", false];
  for (let at = 0; at < csv.length; at += 1) {
    const character = csv.charAt(at);
    if (quoted) {
      if (character !== '"') cell += character;
      else if (csv[at + 1] === '"') [cell, at] = [`${cell}"`, at + 1];
      else quoted = false;
    } else if (character === '"' && cell === "") quoted = true;
    else if (character === delimiter) [row, cell] = [[...row, cell], ""];
    else if (character === "\n") {
      rows.push([...row, cell]);
      [row, cell] = [[], ""];
    } else if (character !== "\r") cell += character;
  }
  if (cell !== "" || row.length > 0) rows.push([...row, cell]);
  return rows.filter((cells) => cells.some((one) => one !== ""));
}
