-- The limits of client sessions as a model reads them, as JSON: the user's words, and the files, commands and texts that break them.
CREATE TABLE read_limits (
    client_session_id TEXT PRIMARY KEY NOT NULL,
    read_to TEXT NOT NULL,
    limits TEXT NOT NULL,
    read_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
