-- The agent service, in a schema of its own. Times are microseconds since 1970, ids are UUIDs as text, lists and objects are JSON.

CREATE TABLE projects (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    role_statement TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    projects TEXT NOT NULL,
    secret_hash BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE UNIQUE INDEX api_keys_in_force ON api_keys (name) WHERE revoked_at IS NULL;

CREATE TABLE documents (
    id TEXT COLLATE "C" PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
    title TEXT NOT NULL,
    category TEXT NOT NULL,
    content_type TEXT NOT NULL,
    version BIGINT NOT NULL,
    chunks BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, title)
);
CREATE INDEX documents_by_content ON documents (sha256);

CREATE TABLE chunks (
    id TEXT COLLATE "C" PRIMARY KEY,
    document_id TEXT COLLATE "C" NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal BIGINT NOT NULL,
    heading_path TEXT NOT NULL,
    text TEXT NOT NULL,
    range_start BIGINT NOT NULL,
    range_end BIGINT NOT NULL
);
CREATE INDEX chunks_by_document ON chunks (document_id, ordinal);

CREATE TABLE threads (
    id TEXT COLLATE "C" PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
    title TEXT NOT NULL,
    messages BIGINT NOT NULL,
    tools TEXT NOT NULL,
    summary TEXT,
    summary_until TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX threads_by_project ON threads (project_id, created_at, id);

CREATE TABLE messages (
    id TEXT COLLATE "C" PRIMARY KEY,
    thread_id TEXT COLLATE "C" NOT NULL REFERENCES threads ON DELETE CASCADE,
    ordinal BIGINT NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    response_json TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (thread_id, ordinal)
);

CREATE TABLE memory_items (
    id TEXT COLLATE "C" PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
    type TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    content TEXT NOT NULL,
    evidence TEXT NOT NULL,
    contradicts TEXT NOT NULL,
    supersedes TEXT COLLATE "C",
    superseded_by TEXT COLLATE "C",
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    decided_by TEXT
);
CREATE INDEX memory_items_by_project ON memory_items (project_id, created_at, id);
CREATE INDEX memory_items_by_type ON memory_items (project_id, type, status, created_at);
CREATE INDEX memory_items_by_end ON memory_items (expires_at) WHERE expires_at IS NOT NULL;

-- A proposal that was made outside of a chat has a call without a thread.
CREATE TABLE tool_calls (
    id TEXT COLLATE "C" PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
    thread_id TEXT COLLATE "C" REFERENCES threads ON DELETE CASCADE,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    requires_approval BIGINT NOT NULL,
    risk TEXT NOT NULL,
    reason TEXT NOT NULL,
    result TEXT,
    error TEXT,
    decided_by TEXT,
    memory_item_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX tool_calls_by_project ON tool_calls (project_id, created_at, id);
CREATE INDEX tool_calls_by_thread ON tool_calls (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX tool_calls_by_item ON tool_calls (memory_item_id) WHERE memory_item_id IS NOT NULL;
CREATE INDEX tool_calls_open ON tool_calls (expires_at) WHERE status IN ('awaiting_approval', 'approved', 'running');

-- Reports that were applied, so that the same one again changes nothing.
CREATE TABLE tool_reports (
    tool_call_id TEXT COLLATE "C" NOT NULL REFERENCES tool_calls ON DELETE CASCADE,
    fingerprint BYTEA NOT NULL,
    PRIMARY KEY (tool_call_id, fingerprint)
);

-- What can be searched: a chunk of a document or an item of memory. The label is the category or the type.
CREATE TABLE entries (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    chunk_id TEXT COLLATE "C" UNIQUE REFERENCES chunks ON DELETE CASCADE,
    item_id TEXT COLLATE "C" UNIQUE REFERENCES memory_items ON DELETE CASCADE,
    -- The words, already split and folded: A title, B headings, C text, D the project and the kind in one word.
    words TSVECTOR NOT NULL,
    CHECK ((chunk_id IS NULL) <> (item_id IS NULL))
);

CREATE INDEX entries_by_words ON entries USING gin (words);

CREATE TABLE models (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimension BIGINT NOT NULL,
    is_current BIGINT NOT NULL
);

-- The dimension differs by model, so each model has a partial index of its own. NULL if the model cannot embed the text.
CREATE TABLE vectors (
    model BIGINT NOT NULL REFERENCES models ON DELETE CASCADE,
    entry BIGINT NOT NULL REFERENCES entries ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    embedding HALFVEC,
    PRIMARY KEY (entry, model)
);
CREATE INDEX vectors_by_scope ON vectors (model, kind, project_id, label);

CREATE TABLE events (
    id TEXT COLLATE "C" PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
    body TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX events_due ON events (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE replays (
    owner TEXT COLLATE "C" NOT NULL,
    replay_key TEXT NOT NULL,
    fingerprint BYTEA NOT NULL,
    status BIGINT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (owner, replay_key)
);
CREATE INDEX replays_by_age ON replays (created_at);
