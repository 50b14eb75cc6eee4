/** Names of objects and jobs, and quoting of what is none. */

import { NameUnusable } from "./errors.js";

/** Pattern of a name of an object. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Pattern of a name of a job. */
export const ID = /^[0-9a-f]{32}$/;
/** Pattern of a hash. */
export const SHA256 = /^[0-9a-f]{64}$/;

/** Kinds of objects of an account. */
export type Kind = "keys" | "programs" | "tables";
/** Kinds of objects of an account, and jobs. */
export type AnyKind = Kind | "jobs";

const KINDS: readonly string[] = ["keys", "programs", "tables", "jobs"];
/** Longest text of a caller that a message repeats, in UTF-16 units. */
const LONGEST_QUOTE = 100;

/** Returns a text of the caller for a message, on one line and shortened. */
export function quoted(text: unknown): string {
  return typeof text === "string" ? JSON.stringify(text.slice(0, LONGEST_QUOTE)) : `a value of type ${typeof text}`;
}

/**
 * Returns a name of an object.
 *
 * @throws NameUnusable for a text that is none.
 */
export function name(text: string): string {
  // A dollar sign matches at the end alone without the flag m, so a line feed is refused too.
  if (typeof text !== "string" || !NAME.test(text)) {
    const expected = "1 to 64 of the characters a-z, A-Z, 0-9, '.', '_' and '-', the first of them a letter or digit";
    throw new NameUnusable(`${quoted(text)} is no name: expected ${expected}`);
  }
  return text;
}

/**
 * Returns a name of a job.
 *
 * @throws NameUnusable for a text that is none.
 */
export function jobId(text: string): string {
  if (typeof text !== "string" || !ID.test(text)) {
    throw new NameUnusable(`${quoted(text)} is no job: expected 32 hexadecimal digits, as Job.id has them`);
  }
  return text;
}

/**
 * Returns a kind of objects.
 *
 * @throws NameUnusable for a text that is none.
 */
export function kind(text: string): AnyKind {
  if (!KINDS.includes(text)) throw new NameUnusable(`${quoted(text)} is no kind: expected one of ${KINDS.join(", ")}`);
  return text as AnyKind;
}
