CREATE TABLE IF NOT EXISTS accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    token_id BLOB NOT NULL UNIQUE,
    token_hash BLOB NOT NULL,
    created INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS objects (
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    place TEXT NOT NULL,
    name TEXT NOT NULL,
    file TEXT NOT NULL,
    blob TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (account, place, name, file)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    program TEXT NOT NULL,
    keys TEXT NOT NULL,
    tables TEXT NOT NULL,
    precision INTEGER,
    request TEXT,
    owner TEXT,
    created INTEGER NOT NULL,
    finished INTEGER,
    error TEXT,
    result TEXT,
    bytes INTEGER,
    UNIQUE (account, request)
) STRICT;
CREATE TABLE IF NOT EXISTS inputs (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    account INTEGER NOT NULL,
    path TEXT NOT NULL,
    blob TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (job, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS objects_by_blob ON objects (blob);
CREATE INDEX IF NOT EXISTS inputs_by_blob ON inputs (blob);
CREATE INDEX IF NOT EXISTS inputs_by_account ON inputs (account);
CREATE INDEX IF NOT EXISTS jobs_by_result ON jobs (result) WHERE result IS NOT NULL;
CREATE INDEX IF NOT EXISTS jobs_by_account ON jobs (account, state);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state) WHERE state IN ('queued', 'running');
