-- Where a task is worked on, where an exchange went when it turned out to belong to another task, which task a finished
-- one served, and what Grov's own model calls cost.

ALTER TABLE session_states ADD COLUMN working_directory TEXT;
ALTER TABLE session_states ADD COLUMN head_at_start TEXT;     -- commit that was checked out when the task began
ALTER TABLE session_states ADD COLUMN judged_at INTEGER;      -- when a verdict last put a turn into the task

-- The task that the exchange belongs to now; NULL in the row of that task itself. The row under the old key stays, so
-- that recording the exchange again still finds it there.
ALTER TABLE exchanges ADD COLUMN moved_to TEXT;

ALTER TABLE tasks ADD COLUMN parent_session_id TEXT;
CREATE INDEX tasks_by_parent_session ON tasks (client_session_id, parent_session_id)
    WHERE parent_session_id IS NOT NULL;

-- Calls to a model, paid for by the user; also what is set aside for those under way. No foreign key: a call outlives
-- its session.
CREATE TABLE llm_calls (
    id                TEXT    NOT NULL PRIMARY KEY,
    purpose           TEXT    NOT NULL,
    provider          TEXT    NOT NULL,
    model             TEXT    NOT NULL,
    session_id        TEXT,
    at                INTEGER NOT NULL,
    latency           INTEGER NOT NULL, -- milliseconds
    input             INTEGER NOT NULL,
    cache_read        INTEGER NOT NULL,
    cache_creation    INTEGER NOT NULL,
    cache_creation_5m INTEGER NOT NULL,
    cache_creation_1h INTEGER NOT NULL,
    output            INTEGER NOT NULL,
    cost              INTEGER NOT NULL, -- millionths of a US dollar
    outcome           TEXT    NOT NULL
) STRICT;
CREATE INDEX llm_calls_by_time ON llm_calls (at);
