-- What was found of actions, where a client session stands, what the agent was told, and what people changed of goals.

-- A judged step: `findings` is JSON, the gravest first; `judged_by` is 'model' or 'rules'.
ALTER TABLE steps ADD COLUMN findings TEXT;
ALTER TABLE steps ADD COLUMN judged_by TEXT;

-- An event that was a step has the step's id and all that the step had, so that it can become one again. The project is
-- a copy, since an event outlives its session.
ALTER TABLE drift_log ADD COLUMN client_session_id TEXT;
ALTER TABLE drift_log ADD COLUMN project_path TEXT NOT NULL DEFAULT ''; -- '' while unknown
ALTER TABLE drift_log ADD COLUMN step_id TEXT;
ALTER TABLE drift_log ADD COLUMN exchange_id TEXT;
ALTER TABLE drift_log ADD COLUMN command TEXT;
ALTER TABLE drift_log ADD COLUMN findings TEXT;
ALTER TABLE drift_log ADD COLUMN judged_by TEXT;
ALTER TABLE drift_log ADD COLUMN agent_id TEXT;
ALTER TABLE drift_log ADD COLUMN tool TEXT;
ALTER TABLE drift_log ADD COLUMN tool_use_id TEXT;
ALTER TABLE drift_log ADD COLUMN folders TEXT;
ALTER TABLE drift_log ADD COLUMN effects TEXT;
ALTER TABLE drift_log ADD COLUMN reasoning TEXT;
ALTER TABLE drift_log ADD COLUMN is_key_decision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE drift_log ADD COLUMN keywords TEXT;
UPDATE drift_log SET (client_session_id, project_path) =
    (SELECT s.client_session_id, s.project_path FROM session_states s WHERE s.session_id = drift_log.session_id)
WHERE session_id IN (SELECT session_id FROM session_states);

-- When what was known of a task was forgotten: programs that still hold words of it write none of them again.
ALTER TABLE session_states ADD COLUMN forgotten_at INTEGER;

-- Where a client session stands, as JSON: nothing is asked of it but to come back.
CREATE TABLE drift_states (
    client_session_id TEXT    NOT NULL PRIMARY KEY,
    state             TEXT    NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the agent is told because of drift. No foreign keys: it may be recorded before its task and stay behind it.
CREATE TABLE corrections (
    client_session_id TEXT    NOT NULL,
    id                TEXT    NOT NULL,
    session_id        TEXT    NOT NULL,
    step_id           TEXT,
    level             TEXT    NOT NULL,
    score             INTEGER NOT NULL,
    reason            TEXT    NOT NULL,
    text              TEXT    NOT NULL,
    recovery_plan     TEXT, -- JSON: [{file, action}]
    made_at           INTEGER NOT NULL,
    delivered_at      INTEGER,
    outcome           TEXT,
    PRIMARY KEY (client_session_id, id)
) STRICT, WITHOUT ROWID;

-- What a person changed of a goal contract; it is added to what is understood of the session.
CREATE TABLE goal_edits (
    client_session_id TEXT    NOT NULL,
    id                TEXT    NOT NULL,
    kind              TEXT    NOT NULL,
    text              TEXT    NOT NULL,
    at                INTEGER NOT NULL,
    PRIMARY KEY (client_session_id, id)
) STRICT, WITHOUT ROWID;
