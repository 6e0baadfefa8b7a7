-- Links of projects to projects of the agent service. Keys are in files of their own, not here.
CREATE TABLE links (
    project_path   TEXT    NOT NULL PRIMARY KEY,
    project_remote TEXT    NOT NULL, -- '' without one
    url            TEXT    NOT NULL,
    remote_project TEXT    NOT NULL,
    cursor         INTEGER NOT NULL, -- the newest revision of the service that was applied
    state          TEXT    NOT NULL,
    fault          TEXT,
    last_sync      INTEGER,
    linked_at      INTEGER NOT NULL
) STRICT;

-- Changes to send, one row a record. The record is read when it is sent. A version is a random number: it tells whether the record
-- changed while it was sent.
CREATE TABLE link_outbox (
    project_path TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    PRIMARY KEY (project_path, kind, id)
) STRICT;

-- What is known of the service's copy of a record.
CREATE TABLE link_records (
    project_path TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    revision     INTEGER,          -- of the service; NULL until it has one
    is_foreign   INTEGER NOT NULL, -- whether it came from the service
    sent         TEXT,             -- the fingerprint of the item that was sent last
    conflict     TEXT,             -- the service's item, as JSON, if both sides changed it
    PRIMARY KEY (project_path, kind, id)
) STRICT;
CREATE INDEX link_conflicts ON link_records (project_path) WHERE conflict IS NOT NULL;

CREATE TRIGGER link_item_added AFTER INSERT ON memory_items
WHEN new.status IN ('accepted', 'done', 'blocked') AND new.type NOT IN ('event', 'metric') BEGIN
    INSERT INTO link_outbox (project_path, kind, id, version)
    SELECT l.project_path, 'item', new.id, random() FROM links l
    WHERE l.project_path = new.project_path OR l.project_remote <> '' AND l.project_remote = new.project_remote
    ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER link_item_changed AFTER UPDATE OF status, content, expires_at ON memory_items
WHEN new.status IN ('accepted', 'done', 'blocked') AND new.type NOT IN ('event', 'metric')
AND (new.status IS NOT old.status OR new.content IS NOT old.content OR new.expires_at IS NOT old.expires_at) BEGIN
    INSERT INTO link_outbox (project_path, kind, id, version)
    SELECT l.project_path, 'item', new.id, random() FROM links l
    WHERE l.project_path = new.project_path OR l.project_remote <> '' AND l.project_remote = new.project_remote
    ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version;
    UPDATE link_records SET conflict = NULL WHERE kind = 'item' AND id = new.id;
END;
CREATE TRIGGER link_item_removed AFTER DELETE ON memory_items BEGIN
    INSERT INTO link_outbox (project_path, kind, id, version)
    SELECT r.project_path, 'item', old.id, random() FROM link_records r
    WHERE r.kind = 'item' AND r.id = old.id AND r.is_foreign = 0
    ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version;
END;

-- The records of finished tasks. A memory that is an item is shared as an item.
CREATE TRIGGER link_task_added AFTER INSERT ON tasks WHEN new.item IS NULL AND new.status <> 'abandoned' BEGIN
    INSERT INTO link_outbox (project_path, kind, id, version)
    SELECT l.project_path, 'task', new.id, random() FROM links l
    WHERE l.project_path = new.project_path OR l.project_remote <> '' AND l.project_remote = new.project_remote
    ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER link_task_changed AFTER UPDATE OF original_query, goal, reasoning_trace, files_touched, decisions, constraints, status,
    linked_commit, tags, superseded_by, user ON tasks
WHEN new.item IS NULL AND new.status <> 'abandoned' AND (new.original_query IS NOT old.original_query OR new.goal IS NOT old.goal
    OR new.reasoning_trace IS NOT old.reasoning_trace OR new.files_touched IS NOT old.files_touched
    OR new.decisions IS NOT old.decisions OR new.constraints IS NOT old.constraints OR new.status IS NOT old.status
    OR new.linked_commit IS NOT old.linked_commit OR new.tags IS NOT old.tags OR new.superseded_by IS NOT old.superseded_by
    OR new.user IS NOT old.user) BEGIN
    INSERT INTO link_outbox (project_path, kind, id, version)
    SELECT l.project_path, 'task', new.id, random() FROM links l
    WHERE l.project_path = new.project_path OR l.project_remote <> '' AND l.project_remote = new.project_remote
    ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version;
END;
CREATE TRIGGER link_task_removed AFTER DELETE ON tasks WHEN old.item IS NULL BEGIN
    INSERT INTO link_outbox (project_path, kind, id, version)
    SELECT r.project_path, 'task', old.id, random() FROM link_records r
    WHERE r.kind = 'task' AND r.id = old.id AND r.is_foreign = 0
    ON CONFLICT (project_path, kind, id) DO UPDATE SET version = excluded.version;
END;
