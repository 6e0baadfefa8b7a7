-- How full the context window of a session is, a row per client session.
CREATE TABLE context_readings (
    client_session_id TEXT    NOT NULL PRIMARY KEY,
    model             TEXT,
    tokens            INTEGER NOT NULL,
    window_tokens     INTEGER NOT NULL,
    window_source     TEXT    NOT NULL,
    content           TEXT,             -- what fills it, JSON
    measured_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The prepared summary of a session.
CREATE TABLE prepared_summaries (
    client_session_id TEXT    NOT NULL PRIMARY KEY,
    points            TEXT,             -- JSON
    written_by        TEXT    NOT NULL, -- model, rules
    prompts           INTEGER NOT NULL,
    made_at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Compactions by the client: what its summary kept and lost, and what was given back. Lists are JSON.
CREATE TABLE compactions (
    client_session_id TEXT    NOT NULL,
    id                TEXT    NOT NULL,
    is_compared       INTEGER NOT NULL,
    tokens_before     INTEGER,
    kept              TEXT,
    lost              TEXT,
    restored          TEXT,
    restored_at       INTEGER,
    at                INTEGER NOT NULL,
    PRIMARY KEY (client_session_id, id)
) STRICT, WITHOUT ROWID;
