-- What memories mean, as numbers: made by a model in the background, where one is set up.

-- Models that embedded something, and how many tasks they have looked at.
CREATE TABLE embedding_models (
    id        INTEGER NOT NULL PRIMARY KEY,
    name      TEXT    NOT NULL UNIQUE,
    dimension INTEGER NOT NULL, -- 0 until it is known
    tasks     INTEGER NOT NULL DEFAULT 0
) STRICT;

-- At most one embedding per task. One signed byte for each dimension; NULL: beyond the model.
CREATE TABLE task_embeddings (
    task_id   TEXT    NOT NULL PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    model     INTEGER NOT NULL REFERENCES embedding_models (id),
    embedding BLOB
) STRICT, WITHOUT ROWID;

CREATE TRIGGER task_embedding_added AFTER INSERT ON task_embeddings BEGIN
    UPDATE embedding_models SET tasks = tasks + 1 WHERE id = new.model;
END;
CREATE TRIGGER task_embedding_gone AFTER DELETE ON task_embeddings BEGIN
    UPDATE embedding_models SET tasks = tasks - 1 WHERE id = old.model;
END;

-- Other words mean something else. A task that is saved again as it was keeps what it has.
CREATE TRIGGER task_words_changed
AFTER UPDATE OF original_query, goal, reasoning_trace, files_touched, decisions, constraints, tags ON tasks
WHEN (old.original_query, old.goal, old.reasoning_trace, old.files_touched, old.decisions, old.constraints, old.tags)
    IS NOT (new.original_query, new.goal, new.reasoning_trace, new.files_touched, new.decisions, new.constraints, new.tags)
BEGIN
    DELETE FROM task_embeddings WHERE task_id = new.id;
END;
