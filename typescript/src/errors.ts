/** Errors of the client. Messages say what was expected, what came and what to do; no message has a token. */

/** Error of Sunzi. */
export class SunziError extends Error {
  static {
    this.prototype.name = "SunziError";
  }
}

/** Call that does not go on: a server that refuses, fails, answers something else or is not reached, or input that is not sent to one. */
export class ServerError extends SunziError {
  static {
    this.prototype.name = "ServerError";
  }
}

/** Parts of a server's refusal of a request. */
export interface Refusal {
  /** Status code of HTTP. */
  readonly status: number;
  /** What is wrong. */
  readonly reason: string;
  /** What the server expected; undefined where it does not say. */
  readonly expected: string | undefined;
  /** What came, by what the server says; undefined where it does not say. */
  readonly got: string | undefined;
  /** What to do, by what the server says; undefined where it does not say. */
  readonly remedy: string | undefined;
  /** Seconds after which the server asks to be asked again; undefined where it does not say. */
  readonly retryAfter: number | undefined;
}

/** Request that the server refuses: the message has what it says. */
export interface ServerRefused extends Refusal {}
export class ServerRefused extends ServerError {
  static {
    this.prototype.name = "ServerRefused";
  }

  /** Makes the error of a refusal. */
  constructor(message: string, told: Refusal) {
    super(message);
    Object.assign(this, told);
  }
}

/** Token that opens no account. */
export class WrongToken extends ServerRefused {
  static {
    this.prototype.name = "WrongToken";
  }
}

/** Name or job that the account does not have. */
export class NotStored extends ServerRefused {
  static {
    this.prototype.name = "NotStored";
  }
}

/** Quota or queue that is full, or too many uploads at a time: `retryAfter` says when to ask again. */
export class TooManyRequests extends ServerRefused {
  static {
    this.prototype.name = "TooManyRequests";
  }
}

/** Server that is stopping, or cannot use its files now. */
export class ServerUnavailable extends ServerRefused {
  static {
    this.prototype.name = "ServerUnavailable";
  }
}

/** Server that is not reached, whose certificate is not trusted, or whose connections break. */
export class ServerUnreachable extends ServerError {
  static {
    this.prototype.name = "ServerUnreachable";
  }
}

/** Answer that no server of Sunzi gives, a redirect among them. */
export class ForeignAnswer extends ServerError {
  static {
    this.prototype.name = "ForeignAnswer";
  }
}

/** Bytes that are not those which were sent, or which the server says it has. */
export class DamagedTransfer extends ServerError {
  static {
    this.prototype.name = "DamagedTransfer";
  }
}

/** Job that failed: the message says why. */
export class JobFailed extends ServerError {
  static {
    this.prototype.name = "JobFailed";
  }
}

/** Job that is not done in the time that was given: it goes on. */
export class JobUnfinished extends ServerError {
  static {
    this.prototype.name = "JobUnfinished";
  }
}

/** Address, token or kept login that cannot be used, or none at all. */
export class LoginUnusable extends ServerError {
  static {
    this.prototype.name = "LoginUnusable";
  }
}

/** Name that nothing on a server can have. */
export class NameUnusable extends ServerError {
  static {
    this.prototype.name = "NameUnusable";
  }
}

/** Bytes that say they are a secret, which never goes to a server: nothing was sent. */
export class SecretRefused extends ServerError {
  static {
    this.prototype.name = "SecretRefused";
  }
}

/** Stream or file that has another number of bytes than was said when it was given. */
export class Changed extends SunziError {
  static {
    this.prototype.name = "Changed";
  }
}

/** Result that is too long for memory. */
export class Memory extends SunziError {
  static {
    this.prototype.name = "Memory";
  }
}

/** Evaluation keys without a file. */
export class MissingKey extends SunziError {
  static {
    this.prototype.name = "MissingKey";
  }
}

/** File that is there already, or is no regular file. */
export class Io extends SunziError {
  static {
    this.prototype.name = "Io";
  }
}
