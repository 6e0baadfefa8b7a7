-- What a model found in the text of a memory, or the user said of it, as JSON. NULL: it waits to be judged.
ALTER TABLE tasks ADD COLUMN model_screening TEXT;
-- How often the memory was reserved to be judged, and the end of the newest reservation.
ALTER TABLE tasks ADD COLUMN judging_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN judging_until INTEGER;

-- In the order in which they are judged.
CREATE INDEX tasks_unjudged ON tasks (judging_tries, client_session_id IS NOT NULL, created_at DESC, id) WHERE model_screening IS NULL;

-- A verdict holds for the text that was judged.
CREATE TRIGGER task_text_changed
AFTER UPDATE OF original_query, goal, reasoning_trace, files_touched, decisions, constraints, tags, user ON tasks
WHEN (old.original_query, old.goal, old.reasoning_trace, old.files_touched, old.decisions, old.constraints, old.tags, old.user)
    IS NOT (new.original_query, new.goal, new.reasoning_trace, new.files_touched, new.decisions, new.constraints, new.tags, new.user)
BEGIN
    UPDATE tasks SET model_screening = NULL, judging_tries = 0, judging_until = NULL WHERE id = new.id;
END;
