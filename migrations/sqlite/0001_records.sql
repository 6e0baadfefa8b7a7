-- Records of what agents did, and what outlives them.
--
-- Times are INTEGER Unix milliseconds, UTC. Lists are TEXT holding JSON, NULL when empty. Flags are 0 or 1. Free text
-- was redacted before it got here. Applied in one transaction; `PRAGMA user_version` is set to the file's number by the runner.

-- One row per task of a client session, with the counters that recording keeps.
CREATE TABLE session_states (
    session_id               TEXT    NOT NULL PRIMARY KEY,
    client_session_id        TEXT    NOT NULL,
    parent_session_id        TEXT,
    task_type                TEXT    NOT NULL DEFAULT 'main',
    user_id                  TEXT,
    project_path             TEXT    NOT NULL DEFAULT '', -- '' while the project is unknown
    project_remote           TEXT,
    original_goal            TEXT,
    expected_scope           TEXT,
    constraints              TEXT,
    keywords                 TEXT,
    token_count              INTEGER NOT NULL DEFAULT 0,  -- context after the newest main exchange
    token_count_at           INTEGER,                     -- when that exchange ended; NULL before the first
    escalation_count         INTEGER NOT NULL DEFAULT 0,
    session_mode             TEXT    NOT NULL DEFAULT 'normal',
    waiting_for_recovery     INTEGER NOT NULL DEFAULT 0,
    last_checked_at          INTEGER NOT NULL DEFAULT 0,
    last_clear_at            INTEGER,
    start_time               INTEGER NOT NULL,
    last_update              INTEGER NOT NULL,
    status                   TEXT    NOT NULL DEFAULT 'active',
    last_step_id             TEXT,                        -- the newest of its steps
    last_step_at             INTEGER,
    prompt_count             INTEGER NOT NULL DEFAULT 0,
    step_count               INTEGER NOT NULL DEFAULT 0,
    exchange_count           INTEGER NOT NULL DEFAULT 0,
    tokens_input             INTEGER NOT NULL DEFAULT 0,
    tokens_cache_read        INTEGER NOT NULL DEFAULT 0,
    tokens_cache_creation    INTEGER NOT NULL DEFAULT 0,
    tokens_cache_creation_5m INTEGER NOT NULL DEFAULT 0,
    tokens_cache_creation_1h INTEGER NOT NULL DEFAULT 0,
    tokens_output            INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX session_states_by_client_session ON session_states (client_session_id);
CREATE INDEX session_states_by_project ON session_states (project_path);

-- One row per recorded request and response; no bodies. Its key makes recording idempotent. The session comes first in
-- this key and in that of steps, so that one tree serves uniqueness, listing and removal: each further tree is a page
-- written per batch.
CREATE TABLE exchanges (
    session_id        TEXT    NOT NULL,
    id                TEXT    NOT NULL,
    agent_id          TEXT,
    kind              TEXT    NOT NULL,
    model             TEXT,
    stop_reason       TEXT,
    outcome           TEXT    NOT NULL,
    started_at        INTEGER NOT NULL,
    ended_at          INTEGER NOT NULL,
    input             INTEGER NOT NULL,
    cache_read        INTEGER NOT NULL,
    cache_creation    INTEGER NOT NULL,
    cache_creation_5m INTEGER NOT NULL,
    cache_creation_1h INTEGER NOT NULL,
    output            INTEGER NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;

-- What the user typed.
CREATE TABLE prompts (
    session_id        TEXT    NOT NULL,
    exchange_id       TEXT    NOT NULL,
    ordinal           INTEGER NOT NULL,
    client_session_id TEXT    NOT NULL,
    text              TEXT    NOT NULL,
    queued            INTEGER NOT NULL, -- typed while a turn was running
    at                INTEGER NOT NULL,
    PRIMARY KEY (session_id, exchange_id, ordinal)
) STRICT;

-- One row per action of the agent. The foreign key is checked at commit: steps are written before the counters of
-- their session.
CREATE TABLE steps (
    session_id       TEXT    NOT NULL REFERENCES session_states (session_id) DEFERRABLE INITIALLY DEFERRED,
    id               TEXT    NOT NULL,
    exchange_id      TEXT    NOT NULL,
    agent_id         TEXT,
    tool             TEXT    NOT NULL,
    tool_use_id      TEXT,
    action_type      TEXT    NOT NULL,
    files            TEXT,
    folders          TEXT,
    command          TEXT,
    effects          TEXT,
    reasoning        TEXT,
    drift_score      INTEGER,
    drift_type       TEXT,
    is_key_decision  INTEGER NOT NULL DEFAULT 0,
    is_validated     INTEGER NOT NULL DEFAULT 1,
    correction_given TEXT,
    correction_level TEXT,
    keywords         TEXT,
    timestamp        INTEGER NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT;

-- Which steps with reasoning touched a file; read from its end, it is newest first.
CREATE TABLE step_files (
    path       TEXT    NOT NULL,
    timestamp  INTEGER NOT NULL,
    session_id TEXT    NOT NULL,
    step_id    TEXT    NOT NULL,
    PRIMARY KEY (path, timestamp, session_id, step_id)
) STRICT, WITHOUT ROWID;

-- Finished tasks: team memory. Never pruned.
CREATE TABLE tasks (
    id                TEXT    NOT NULL PRIMARY KEY,
    project_path      TEXT    NOT NULL,
    project_remote    TEXT,
    user              TEXT,
    client_session_id TEXT,
    session_id        TEXT,
    original_query    TEXT    NOT NULL,
    goal              TEXT,
    reasoning_trace   TEXT,
    files_touched     TEXT,
    decisions         TEXT,
    constraints       TEXT,
    status            TEXT    NOT NULL,
    trigger_reason    TEXT,
    linked_commit     TEXT,
    parent_task_id    TEXT, -- no foreign key: the parent may live in another store
    tags              TEXT,
    created_at        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tasks_by_session ON tasks (client_session_id, session_id)
    WHERE client_session_id IS NOT NULL AND session_id IS NOT NULL;
CREATE INDEX tasks_by_project ON tasks (project_path, created_at);

CREATE TABLE task_files (
    path    TEXT NOT NULL,
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (path, task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_files_by_task ON task_files (task_id);

-- Actions judged off goal. No foreign key: an event outlives its session.
CREATE TABLE drift_log (
    id               TEXT    NOT NULL PRIMARY KEY,
    session_id       TEXT    NOT NULL,
    timestamp        INTEGER NOT NULL,
    action_type      TEXT,
    files            TEXT,
    drift_score      INTEGER,
    level            TEXT,
    reason           TEXT,
    correction_given TEXT,
    recovery_plan    TEXT
) STRICT;
CREATE INDEX drift_log_by_session ON drift_log (session_id, timestamp);

-- Why a file is as it is, as captured on the hook path.
CREATE TABLE file_reasoning (
    id           TEXT    NOT NULL PRIMARY KEY,
    task_id      TEXT,
    project_path TEXT    NOT NULL,
    file_path    TEXT    NOT NULL,
    anchor       TEXT,
    line_start   INTEGER,
    line_end     INTEGER,
    code_hash    TEXT,
    change_type  TEXT,
    reasoning    TEXT    NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX file_reasoning_by_file ON file_reasoning (project_path, file_path, created_at);
