-- A deleted thread leaves its calls: they are records of what was asked for and done. Memory items keep why they were blocked
-- or rejected.

ALTER TABLE memory_items ADD COLUMN reason TEXT;

-- SQLite cannot drop a foreign key, so the tables are made again.
CREATE TABLE tool_calls_2 (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects ON DELETE CASCADE,
    thread_id TEXT,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT NOT NULL,
    requires_approval INTEGER NOT NULL,
    risk TEXT NOT NULL,
    reason TEXT NOT NULL,
    result TEXT,
    error TEXT,
    decided_by TEXT,
    memory_item_id TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
INSERT INTO tool_calls_2 SELECT id, project_id, thread_id, name, arguments, status, requires_approval, risk, reason, result, error, decided_by, memory_item_id, created_at, expires_at FROM tool_calls;

CREATE TABLE tool_reports_2 (
    tool_call_id TEXT NOT NULL REFERENCES tool_calls_2 ON DELETE CASCADE,
    fingerprint BLOB NOT NULL,
    PRIMARY KEY (tool_call_id, fingerprint)
) WITHOUT ROWID;
INSERT INTO tool_reports_2 SELECT tool_call_id, fingerprint FROM tool_reports;

DROP TABLE tool_reports;
DROP TABLE tool_calls;
ALTER TABLE tool_calls_2 RENAME TO tool_calls;
ALTER TABLE tool_reports_2 RENAME TO tool_reports;
CREATE INDEX tool_calls_by_project ON tool_calls (project_id, created_at, id);
CREATE INDEX tool_calls_by_thread ON tool_calls (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX tool_calls_by_item ON tool_calls (memory_item_id) WHERE memory_item_id IS NOT NULL;
CREATE INDEX tool_calls_open ON tool_calls (expires_at) WHERE status IN ('awaiting_approval', 'approved', 'running');
