-- The agent service. Times are microseconds since 1970, ids are UUIDs as text, lists and objects are JSON.

-- "GrAg": tells this database from others when a backup is restored.
PRAGMA application_id = 1198670183;

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role_statement TEXT NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    projects TEXT NOT NULL,
    secret_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
);
CREATE UNIQUE INDEX api_keys_in_force ON api_keys (name) WHERE revoked_at IS NULL;

CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects ON DELETE CASCADE,
    title TEXT NOT NULL,
    category TEXT NOT NULL,
    content_type TEXT NOT NULL,
    version INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (project_id, title)
);
CREATE INDEX documents_by_content ON documents (sha256);

CREATE TABLE chunks (
    id TEXT PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    heading_path TEXT NOT NULL,
    text TEXT NOT NULL,
    range_start INTEGER NOT NULL,
    range_end INTEGER NOT NULL
);
CREATE INDEX chunks_by_document ON chunks (document_id, ordinal);

CREATE TABLE threads (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects ON DELETE CASCADE,
    title TEXT NOT NULL,
    messages INTEGER NOT NULL,
    tools TEXT NOT NULL,
    summary TEXT,
    summary_until TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX threads_by_project ON threads (project_id, created_at, id);

CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL REFERENCES threads ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    response_json TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (thread_id, ordinal)
);

CREATE TABLE memory_items (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects ON DELETE CASCADE,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    content TEXT NOT NULL,
    evidence TEXT NOT NULL,
    contradicts TEXT NOT NULL,
    supersedes TEXT,
    superseded_by TEXT,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    decided_by TEXT
);
CREATE INDEX memory_items_by_project ON memory_items (project_id, created_at, id);
CREATE INDEX memory_items_by_type ON memory_items (project_id, type, status, created_at);
CREATE INDEX memory_items_by_end ON memory_items (expires_at) WHERE expires_at IS NOT NULL;

-- A proposal that was made outside of a chat has a call without a thread.
CREATE TABLE tool_calls (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects ON DELETE CASCADE,
    thread_id TEXT REFERENCES threads ON DELETE CASCADE,
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
CREATE INDEX tool_calls_by_project ON tool_calls (project_id, created_at, id);
CREATE INDEX tool_calls_by_thread ON tool_calls (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX tool_calls_by_item ON tool_calls (memory_item_id) WHERE memory_item_id IS NOT NULL;
CREATE INDEX tool_calls_open ON tool_calls (expires_at) WHERE status IN ('awaiting_approval', 'approved', 'running');

-- Reports that were applied, so that the same one again changes nothing.
CREATE TABLE tool_reports (
    tool_call_id TEXT NOT NULL REFERENCES tool_calls ON DELETE CASCADE,
    fingerprint BLOB NOT NULL,
    PRIMARY KEY (tool_call_id, fingerprint)
) WITHOUT ROWID;

-- What can be searched: a chunk of a document or an item of memory. The label is the category or the type.
CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    project_id TEXT NOT NULL,
    label TEXT NOT NULL,
    chunk_id TEXT UNIQUE REFERENCES chunks ON DELETE CASCADE,
    item_id TEXT UNIQUE REFERENCES memory_items ON DELETE CASCADE,
    CHECK ((chunk_id IS NULL) <> (item_id IS NULL))
);

-- The words of an entry, already split and folded. The scope is one word made of the project and the kind of the entry.
CREATE VIRTUAL TABLE entry_words USING fts5 (
    scope, title, heading, body,
    content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
CREATE TRIGGER entries_deleted AFTER DELETE ON entries BEGIN
    DELETE FROM entry_words WHERE rowid = old.number;
END;

CREATE TABLE models (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL,
    is_current INTEGER NOT NULL
);

-- One byte per dimension; NULL if the model cannot embed the text.
CREATE TABLE vectors (
    model INTEGER NOT NULL REFERENCES models ON DELETE CASCADE,
    entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
    kind TEXT NOT NULL,
    project_id TEXT NOT NULL,
    label TEXT NOT NULL,
    embedding BLOB,
    PRIMARY KEY (entry, model)
);
CREATE INDEX vectors_by_scope ON vectors (model, kind, project_id, label);

CREATE TABLE events (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects ON DELETE CASCADE,
    body TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER,
    created_at INTEGER NOT NULL
);
CREATE INDEX events_due ON events (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE replays (
    owner TEXT NOT NULL,
    replay_key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (owner, replay_key)
) WITHOUT ROWID;
CREATE INDEX replays_by_age ON replays (created_at);
