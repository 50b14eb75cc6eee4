/** Client of the Sunzi server, for browsers and Node. The module `sunzi/node` has what takes files. */

export { Client, Job } from "./client.js";
export type { CallOptions, ClientOptions, ResultOptions, RunOptions, SendOptions, WaitOptions } from "./client.js";
export type { KeyFiles } from "./calls.js";
export {
  Changed,
  DamagedTransfer,
  ForeignAnswer,
  Io,
  JobFailed,
  JobUnfinished,
  LoginUnusable,
  Memory,
  MissingKey,
  NameUnusable,
  NotStored,
  SecretRefused,
  ServerError,
  ServerRefused,
  ServerUnavailable,
  ServerUnreachable,
  SunziError,
  TooManyRequests,
  WrongToken,
} from "./errors.js";
export type { Refusal } from "./errors.js";
export type { AnyKind, Kind } from "./names.js";
export type { Account, JobStatus, State, Stored } from "./records.js";
export type { Content, Progress, Streamed } from "./source.js";
export type { Fetch } from "./transport.js";
