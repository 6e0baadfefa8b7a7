-- Memory items: what sessions propose to remember, and what a person decided about it. An item in force is a row of `tasks` too,
-- with the same id, so that it is found like any memory.
CREATE TABLE memory_items (
    id             TEXT    NOT NULL PRIMARY KEY,
    project_path   TEXT    NOT NULL,
    project_remote TEXT    NOT NULL, -- '' without one
    task_id        TEXT,             -- the memory of the work that it comes from; no foreign key
    type           TEXT    NOT NULL,
    status         TEXT    NOT NULL,
    content        TEXT    NOT NULL,
    evidence       TEXT,             -- JSON
    contradicts    TEXT,             -- JSON
    supersedes     TEXT,
    superseded_by  TEXT,
    expires_at     INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    decided_by     TEXT,
    reason         TEXT
) STRICT;
CREATE INDEX memory_items_by_project ON memory_items (project_path, status);
CREATE INDEX memory_items_by_remote ON memory_items (project_remote, status) WHERE project_remote <> '';
CREATE INDEX memory_items_by_task ON memory_items (task_id) WHERE task_id IS NOT NULL;

-- What kind of item a memory is; NULL for the record of a task.
ALTER TABLE tasks ADD COLUMN item TEXT;

-- When a session start last mentioned the waiting proposals of a project.
CREATE TABLE inbox_notices (
    project_path TEXT    NOT NULL PRIMARY KEY,
    at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
