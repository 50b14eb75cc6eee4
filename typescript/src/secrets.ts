/** Kinds of files by their first bytes: secrets are refused before a byte of them is sent. */

/** First bytes of a file of Sunzi, as `docs/format.md` has them. */
const MAGIC = [0x89, 0x53, 0x55, 0x4e, 0x5a, 0x49, 0x0d, 0x0a];
/** Byte at which the kind of a file is, 2 bytes in little-endian order. */
const KIND = 10;
/** Number of first bytes of a file that say whether it is a secret. */
export const BEGINNING = 12;

/** Kinds of files that never go to a server, with their names. */
const SECRETS: ReadonlyMap<number, string> = new Map([
  [0x0200, "a SECRET key"],
  [0x0201, "a sharing ledger"],
  [0x0202, "a SECRET under a passphrase"],
  [0x0204, "a SECRET under a wrapped key"],
  [0x0401, "a SECRET re-encryption key"],
  [0x0801, "a BFV plaintext"],
  [0x0802, "a BGV plaintext"],
  [0x0803, "a CKKS plaintext"],
  [0x0e06, "a SECRET of a relinearisation key in the making"],
  [0x0e07, "a SECRET piece of a threshold share"],
  [0x0e08, "a SECRET threshold share"],
  [0x0e17, "a message with a SECRET piece of a threshold share"],
  [0x0e31, "the SECRET state of a party"],
  [0x0f05, "the SECRET note of what a query asks for"],
  [0x0f12, "the SECRET items of a private set"],
]);

/** Returns what a secret is, by its first bytes; undefined for what is none. Checksums are not looked at: a damaged secret is refused too. */
export function secretKind(beginning: Uint8Array): string | undefined {
  if (beginning.length < BEGINNING || MAGIC.some((byte, at) => beginning[at] !== byte)) return undefined;
  return SECRETS.get((beginning[KIND] ?? 0) | ((beginning[KIND + 1] ?? 0) << 8));
}
