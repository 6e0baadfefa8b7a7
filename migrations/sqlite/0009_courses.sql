-- What following a session needs to go on is long, and most hooks do not need it: it has a row of its own.

CREATE TABLE hook_courses (
    client_session_id TEXT NOT NULL PRIMARY KEY,
    course            TEXT NOT NULL -- JSON: nothing is asked of it but to come back
) STRICT;
INSERT INTO hook_courses (client_session_id, course)
SELECT client_session_id, course FROM hook_sessions WHERE course IS NOT NULL;
ALTER TABLE hook_sessions DROP COLUMN course;

-- Prompts that the course does not know of yet, oldest first: JSON, [{text, known_by, at}].
ALTER TABLE hook_sessions ADD COLUMN waiting TEXT;
-- Actions were followed that nobody has checked. Of older rows nobody knows.
ALTER TABLE hook_sessions ADD COLUMN is_unchecked INTEGER NOT NULL DEFAULT 1;
