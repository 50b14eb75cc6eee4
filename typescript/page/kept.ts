/** Record of a run that this browser keeps: what its result is opened with later. */

/** Note of a run that is kept beside its keys. */
export interface Kept {
  /** Text of the program. */
  readonly program: string;
  /** Plan in JSON; the worker fills it in. */
  readonly plan: string;
  /** Address of the server. */
  readonly server: string;
  /** Name of everything that was sent. */
  readonly name: string;
  /** Name of the job. */
  readonly job: string;
  /** Time at which the job was asked for, in milliseconds since 1970. */
  readonly when: number;
}

interface Parts {
  readonly note: Kept;
  readonly parameters: Uint8Array;
  readonly secret: Uint8Array;
}

/** Returns a record as bytes: the lengths of its first two parts, then all three. */
export function packed({ note, parameters, secret }: Parts): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(note));
  const bytes = new Uint8Array(8 + text.length + parameters.length + secret.length);
  const lengths = new DataView(bytes.buffer);
  lengths.setUint32(0, text.length);
  lengths.setUint32(4, parameters.length);
  bytes.set(text, 8);
  bytes.set(parameters, 8 + text.length);
  bytes.set(secret, 8 + text.length + parameters.length);
  return bytes;
}

/** Returns the record that bytes have; its parts are views of them. */
export function unpacked(bytes: Uint8Array): Parts {
  const lengths = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = 8 + lengths.getUint32(0);
  const second = first + lengths.getUint32(4);
  const note = JSON.parse(new TextDecoder().decode(bytes.subarray(8, first))) as Kept;
  return { note, parameters: bytes.subarray(first, second), secret: bytes.subarray(second) };
}
