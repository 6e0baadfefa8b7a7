-- Whether sessions work, wait or have ended, and how actions ended.

-- When the client reported the end of a session that goes through the proxy. A session that is active later was resumed.
CREATE TABLE session_ends (
    client_session_id TEXT    NOT NULL PRIMARY KEY,
    at                INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- When the newest turn ended; NULL while it runs, and in older rows.
ALTER TABLE hook_sessions ADD COLUMN turn_ended_at INTEGER;

-- 'failed', 'denied' or 'stopped'; NULL for an action that succeeded or whose result is unknown.
ALTER TABLE steps ADD COLUMN outcome TEXT;
