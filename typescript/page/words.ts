/** Numbers, sizes, times and errors in words. */

import { SunziError } from "../src/errors.js";

const UNITS = ["bytes", "KiB", "MiB", "GiB"];

/** Returns a number of bytes in words. */
export function size(bytes: number): string {
  let [left, unit] = [bytes, 0];
  while (left >= 1024 && unit < UNITS.length - 1) [left, unit] = [left / 1024, unit + 1];
  return `${unit === 0 ? left : left.toFixed(1)} ${UNITS[unit]}`;
}

/** Returns a time in words. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.max(1, Math.round(milliseconds))} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Returns a number in at most 12 digits. */
export function numeral(value: number): string {
  return String(Number(value.toPrecision(12)));
}

/** Returns the name of an error. */
export function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : "Error";
}

/** Remedies of errors, by their names. */
const REMEDIES: Readonly<Record<string, string>> = {
  WrongToken:
    "Put another one into the field Token, then press Go on. " +
    "“sunzi serve --demo” prints a token when it starts; whoever runs a server for others makes one with “sunzi account add”.",
  LoginUnusable: "Correct address and token under Server, then press Go on.",
  ServerUnreachable: "See that the server runs and that its address is right, then press Go on: nothing that was encrypted is lost.",
  ForeignAnswer: "See that the address is that of a Sunzi server, then press Go on.",
  NotStored: "The server was started anew, or somebody removed it. Press Go on: everything is sent again.",
  TooManyRequests: "Wait a little, or delete what is no longer needed on the server, then press Go on.",
  ServerUnavailable: "Wait a little, then press Go on.",
  DamagedTransfer: "Press Go on: it is sent again.",
  JobFailed: "Change the program or the table, then start again.",
  SealUnavailable: "Save the key as a file under a passphrase instead.",
};

/** Errors whose own words are for the command line, in those of the page. */
const OWN: Readonly<Record<string, string>> = {
  WrongToken: "The server does not know this token",
  ServerUnreachable: "The server is not reached, or the connection broke",
};

/** Returns an error in a sentence, and what to do about it. */
export function told(error: unknown): string {
  const name = nameOf(error);
  const message = OWN[name] ?? (error instanceof Error ? error.message : String(error));
  const remedy = REMEDIES[name] ?? "";
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}`.replace(/[.\s]*$/, ".");
  const unexpected = error instanceof TypeError && !(error instanceof SunziError) ? "This is a fault of the page, please report it: " : "";
  return `${unexpected}${sentence} ${remedy}`.trim();
}

/** Returns an error of a table in a sentence. Advice that is for the command line is put as this page has it. */
export function ofTable(error: unknown): string {
  return told(error)
    .replace(/say what is done about missing cells: --missing.*$/s, "tick “Leave missing cells out of statistics”.")
    .replace("read them with a decimal comma", "tick “Numbers have a decimal comma”");
}
