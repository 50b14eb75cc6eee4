CREATE SCHEMA IF NOT EXISTS sunzi;
CREATE TABLE sunzi.version (version BIGINT NOT NULL);
CREATE TABLE sunzi.accounts (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    token_id BYTEA NOT NULL UNIQUE,
    token_hash BYTEA NOT NULL,
    created BIGINT NOT NULL
);
CREATE TABLE sunzi.objects (
    account BIGINT NOT NULL REFERENCES sunzi.accounts (id) ON DELETE CASCADE,
    place TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    file TEXT COLLATE "C" NOT NULL,
    blob TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (account, place, name, file)
);
CREATE TABLE sunzi.jobs (
    place BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    account BIGINT NOT NULL REFERENCES sunzi.accounts (id) ON DELETE CASCADE,
    state TEXT COLLATE "C" NOT NULL,
    program TEXT NOT NULL,
    keys TEXT NOT NULL,
    tables TEXT NOT NULL,
    precision BIGINT,
    request TEXT COLLATE "C",
    owner TEXT COLLATE "C",
    created BIGINT NOT NULL,
    finished BIGINT,
    error TEXT,
    result TEXT COLLATE "C",
    bytes BIGINT,
    UNIQUE (account, request)
);
CREATE TABLE sunzi.inputs (
    job TEXT COLLATE "C" NOT NULL REFERENCES sunzi.jobs (id) ON DELETE CASCADE,
    account BIGINT NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    blob TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (job, path)
);
CREATE TABLE sunzi.servers (id TEXT COLLATE "C" PRIMARY KEY, until BIGINT NOT NULL);
CREATE TABLE sunzi.holds (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    blob TEXT COLLATE "C" NOT NULL,
    server TEXT COLLATE "C" NOT NULL,
    until BIGINT
);
CREATE INDEX objects_by_blob ON sunzi.objects (blob);
CREATE INDEX inputs_by_blob ON sunzi.inputs (blob);
CREATE INDEX inputs_by_account ON sunzi.inputs (account);
CREATE INDEX jobs_by_result ON sunzi.jobs (result) WHERE result IS NOT NULL;
CREATE INDEX jobs_by_account ON sunzi.jobs (account, state);
CREATE INDEX jobs_by_state ON sunzi.jobs (state) WHERE state IN ('queued', 'running');
CREATE INDEX holds_by_blob ON sunzi.holds (blob);
