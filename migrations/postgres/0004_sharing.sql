-- What developers' machines share: finished tasks, and the order in which items and tasks changed.

CREATE TABLE shared_tasks (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
    id TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (project_id, id)
);

-- The last revision of each project. Its row is changed with every record, so that revisions are committed in their order.
CREATE TABLE feed_revisions (
    project_id TEXT COLLATE "C" PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
    revision BIGINT NOT NULL
);

-- The revision of the last change of each record. A record that is gone has a row here alone.
CREATE TABLE feed (
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (project_id, kind, id)
);
CREATE UNIQUE INDEX feed_by_revision ON feed (project_id, revision);

INSERT INTO feed (project_id, kind, id, revision)
    SELECT project_id, 'item', id, row_number() OVER (PARTITION BY project_id ORDER BY created_at, id) FROM memory_items;
INSERT INTO feed_revisions (project_id, revision)
    SELECT project_id, count(*) FROM memory_items GROUP BY project_id;
