-- What the hook path keeps, and what was forgotten.

-- A client session as its hooks saw it: one row, read and replaced as a whole. The long columns come last.
CREATE TABLE hook_sessions (
    client_session_id TEXT    NOT NULL PRIMARY KEY,
    project_path      TEXT    NOT NULL,
    working_directory TEXT    NOT NULL,
    transcript_path   TEXT,
    read_to           INTEGER NOT NULL, -- bytes of the transcript that were followed
    drift_score       INTEGER,
    escalation        INTEGER NOT NULL,
    prompts           INTEGER NOT NULL,
    actions           INTEGER NOT NULL,
    memories_told     INTEGER NOT NULL,
    started_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    ended_at          INTEGER,
    forgotten_at      INTEGER,          -- up to when what the session holds was forgotten
    revision          INTEGER NOT NULL,
    contract          TEXT    NOT NULL, -- JSON; '' once it was forgotten
    course            TEXT              -- JSON: nothing is asked of it but to come back
) STRICT;
CREATE INDEX hook_sessions_by_project ON hook_sessions (project_path);

-- One row per action that was found in a transcript, numbered as they were found.
CREATE TABLE hook_steps (
    number            INTEGER NOT NULL PRIMARY KEY,
    client_session_id TEXT    NOT NULL,
    id                TEXT    NOT NULL,
    tool_use_id       TEXT,
    agent_id          TEXT,
    tool              TEXT    NOT NULL,
    action_type       TEXT    NOT NULL,
    files             TEXT,
    command           TEXT,
    effects           TEXT,
    reasoning         TEXT,
    failed            INTEGER,
    output            TEXT,
    content           TEXT,
    prompt            INTEGER NOT NULL,
    score             INTEGER,
    findings          TEXT, -- JSON, the gravest first
    timestamp         INTEGER NOT NULL,
    UNIQUE (client_session_id, id)
) STRICT;

CREATE TABLE hook_checks (
    client_session_id TEXT    NOT NULL,
    id                TEXT    NOT NULL,
    actions           INTEGER NOT NULL,
    score             INTEGER NOT NULL,
    level             TEXT,
    reason            TEXT,
    files             TEXT,
    recovery_plan     TEXT, -- JSON: [{file, action}]
    correction        TEXT,
    at                INTEGER NOT NULL,
    PRIMARY KEY (client_session_id, id)
) STRICT, WITHOUT ROWID;

-- What a guard said. It may be there without the session.
CREATE TABLE hook_guards (
    client_session_id TEXT    NOT NULL,
    tool_use_id       TEXT    NOT NULL,
    verdict           TEXT    NOT NULL,
    subject           TEXT    NOT NULL,
    reason            TEXT    NOT NULL,
    ran               INTEGER NOT NULL,
    at                INTEGER NOT NULL,
    PRIMARY KEY (client_session_id, tool_use_id)
) STRICT, WITHOUT ROWID;

-- Memories that were forgotten, by their ids alone: text that quotes one and was being made meanwhile is not kept.
CREATE TABLE forgotten (
    task_id TEXT    NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The tool call that a correction is about.
ALTER TABLE corrections ADD COLUMN tool_use_id TEXT;
