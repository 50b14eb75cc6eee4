/** Table of made-up visits to a clinic. */

const WARDS = ["north", "south", "east"];
/** Number of visits. */
const VISITS = 60;

/** Program that is tried on the example. */
export const EXAMPLE_PROGRAM = "mean(cost);\nsum(cost) by ward;\ncorr(age, cost)";

/** Ranges of the example: those that anybody would guess. */
export const EXAMPLE_RANGES: Readonly<Record<string, readonly [string, string]>> = { age: ["0", "120"], cost: ["0", "5000"] };

/** Returns the table in CSV. It is the same every time, and nobody's. */
export function exampleTable(): string {
  const lines = Array.from({ length: VISITS }, (_, at) => {
    const age = 18 + ((at * 37) % 71);
    const cents = 4_000 + age * 1_210 + ((at * 7_919) % 90_000);
    return `${age},${(cents / 100).toFixed(2)},${WARDS[(at * 7 + Math.floor(at / 5)) % WARDS.length]}`;
  });
  return ["age,cost,ward", ...lines, ""].join("\n");
}
