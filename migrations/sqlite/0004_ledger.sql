-- What was added to which history, what is switched off, and what memories are pinned to and replaced by.

ALTER TABLE tasks ADD COLUMN file_pins TEXT; -- JSON: [{path, hash}]
ALTER TABLE tasks ADD COLUMN superseded_by TEXT; -- a task's id
CREATE INDEX tasks_superseded ON tasks (superseded_by) WHERE superseded_by IS NOT NULL;

-- Message lists that grow: the main conversation of a client session ('' as agent), or one of its subagents.
CREATE TABLE ledger_lineages (
    id                INTEGER NOT NULL PRIMARY KEY,
    client_session_id TEXT    NOT NULL,
    agent_id          TEXT    NOT NULL,
    project_path      TEXT    NOT NULL, -- '' while unknown
    model             TEXT    NOT NULL,
    tip               BLOB, -- where it stood at its newest request; see ledger_tips
    barred            INTEGER NOT NULL DEFAULT 0,
    created_at        INTEGER NOT NULL,
    seen_at           INTEGER NOT NULL,
    UNIQUE (client_session_id, agent_id)
) STRICT;
CREATE INDEX ledger_lineages_by_time ON ledger_lineages (seen_at);

-- Decisions: the block as it was sent, or NULL for nothing. Keys are 16 bytes, most significant first.
CREATE TABLE ledger_entries (
    lineage    INTEGER NOT NULL REFERENCES ledger_lineages (id) ON DELETE CASCADE,
    anchor     BLOB    NOT NULL,
    block      TEXT,
    decided_at INTEGER NOT NULL,
    PRIMARY KEY (lineage, anchor)
) STRICT, WITHOUT ROWID;

-- Which memories a block quotes.
CREATE TABLE ledger_memories (
    lineage INTEGER NOT NULL,
    anchor  BLOB    NOT NULL,
    task_id TEXT    NOT NULL,
    PRIMARY KEY (task_id, lineage, anchor),
    FOREIGN KEY (lineage, anchor) REFERENCES ledger_entries (lineage, anchor) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_memories_by_entry ON ledger_memories (lineage, anchor);

-- Where a lineage stood at each of its requests: what a session that was forked off there is recognised by.
CREATE TABLE ledger_tips (
    tip     BLOB    NOT NULL,
    lineage INTEGER NOT NULL REFERENCES ledger_lineages (id) ON DELETE CASCADE,
    model   TEXT    NOT NULL, -- the one that was asked there: only its own cache holds the history
    PRIMARY KEY (tip, lineage, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_tips_by_lineage ON ledger_tips (lineage);

-- What a person turned off.
CREATE TABLE switched_off (
    kind TEXT NOT NULL CHECK (kind IN ('project', 'session')),
    key  TEXT NOT NULL,
    at   INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

-- Counts changes that a running daemon has to hear of: text taken out of the ledger by hand, switches.
CREATE TABLE revisions (
    id     INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL
) STRICT;
INSERT INTO revisions (id, number) VALUES (1, 1);
