/** Types of the module in WebAssembly, which `cargo xtask typescript` builds into `build/wasm`. `src/local.ts` is the interface for programs. */

export class TableSchema {
  private constructor();
  static survey(csv: Uint8Array, choices: string): TableSchema;
  static fromJson(json: string): TableSchema;
  readonly rows: number;
  toJson(): string;
  free(): void;
}

export class TableProgram {
  constructor(text: string, schema: TableSchema);
  readonly outputs: string[];
  toJson(): string;
  plan(choices: string): TablePlan;
  free(): void;
}

export class TablePlan {
  private constructor();
  static fromJson(json: string): TablePlan;
  readonly scheme: string;
  readonly degree: number;
  readonly security: number;
  readonly keyBytes: number;
  readonly tableBytes: number;
  readonly reasons: string[];
  toJson(): string;
  free(): void;
}

type Bytes = Uint8Array | undefined;

export class TableKeys {
  private constructor();
  static generate(plan: TablePlan): TableKeys;
  static open(parameters: Uint8Array, secret: Bytes, passphrase: string | undefined, publicKey: Bytes, relinearization: Bytes, galois: Bytes): TableKeys;
  readonly id: string | undefined;
  parameters(): Uint8Array<ArrayBuffer>;
  secretKey(passphrase: string | undefined): Uint8Array<ArrayBuffer>;
  publicKey(): Uint8Array<ArrayBuffer>;
  relinearizationKey(): Uint8Array<ArrayBuffer>;
  galoisKeys(): Uint8Array<ArrayBuffer>;
  encrypt(plan: TablePlan, schema: TableSchema, csv: Uint8Array): Uint8Array<ArrayBuffer>;
  compute(plan: TablePlan, table: Uint8Array): Uint8Array<ArrayBuffer>;
  decrypt(plan: TablePlan, results: Uint8Array): string;
  free(): void;
}

export class Integers {
  private constructor();
  static generate(needs: string): Integers;
  static open(parameters: Uint8Array, secret: Bytes, publicKey: Bytes, relinearization: Bytes): Integers;
  readonly slots: number;
  readonly degree: number;
  readonly plainModulus: bigint;
  parameters(): Uint8Array<ArrayBuffer>;
  secretKey(): Uint8Array<ArrayBuffer>;
  publicKey(): Uint8Array<ArrayBuffer>;
  relinearizationKey(): Uint8Array<ArrayBuffer>;
  encrypt(values: BigInt64Array): Uint8Array<ArrayBuffer>;
  add(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer>;
  multiply(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer>;
  decrypt(ciphertext: Uint8Array): BigInt64Array<ArrayBuffer>;
  free(): void;
}

export function inspect(bytes: Uint8Array): string;

export default function init(options: { readonly module_or_path: BufferSource | Promise<Response> | Response | URL | WebAssembly.Module }): Promise<unknown>;
