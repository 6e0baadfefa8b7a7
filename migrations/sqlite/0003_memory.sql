-- The index of team memory: which terms stand in which task.
--
-- Terms are made by the program (words without endings, parts of identifiers, pairs of characters in scripts without
-- spaces, file names and paths) and stored with the number of their scope in front, as in `7:limit`: what one project's
-- search reads and counts is that project alone. A change in how terms are made needs a migration after which the index
-- is filled again.

-- Projects that have memories, and how much.
CREATE TABLE memory_scopes (
    id             INTEGER NOT NULL PRIMARY KEY,
    project_path   TEXT    NOT NULL,
    project_remote TEXT    NOT NULL, -- '' without one
    documents      INTEGER NOT NULL DEFAULT 0,
    text_terms     INTEGER NOT NULL DEFAULT 0,
    trace_terms    INTEGER NOT NULL DEFAULT 0,
    path_terms     INTEGER NOT NULL DEFAULT 0,
    file_terms     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project_path, project_remote)
) STRICT;
CREATE INDEX memory_scopes_by_remote ON memory_scopes (project_remote);

-- One row per task that is indexed; its number is the row of memory_terms. The other columns are what ranking needs.
CREATE TABLE memory_documents (
    id          INTEGER NOT NULL PRIMARY KEY,
    task_id     TEXT    NOT NULL UNIQUE REFERENCES tasks (id) ON DELETE CASCADE,
    scope       INTEGER NOT NULL REFERENCES memory_scopes (id),
    created_at  INTEGER NOT NULL,
    text_terms  INTEGER NOT NULL,
    trace_terms INTEGER NOT NULL,
    path_terms  INTEGER NOT NULL,
    file_terms  INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_documents_by_time ON memory_documents (scope, created_at);

-- The tokenizer only parts at spaces: a term may hold any other character that the program lets through.
CREATE VIRTUAL TABLE memory_terms USING fts5 (
    text, trace, path, file,
    columnsize = 0,
    tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO memory_terms (memory_terms, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE memory_frequencies USING fts5vocab (memory_terms, 'row');
CREATE VIRTUAL TABLE memory_postings USING fts5vocab (memory_terms, 'instance');

CREATE TRIGGER memory_document_added AFTER INSERT ON memory_documents BEGIN
    UPDATE memory_scopes SET documents = documents + 1,
        text_terms = text_terms + new.text_terms, trace_terms = trace_terms + new.trace_terms,
        path_terms = path_terms + new.path_terms, file_terms = file_terms + new.file_terms
    WHERE id = new.scope;
END;
CREATE TRIGGER memory_document_gone AFTER DELETE ON memory_documents BEGIN
    DELETE FROM memory_terms WHERE rowid = old.id;
    UPDATE memory_scopes SET documents = documents - 1,
        text_terms = text_terms - old.text_terms, trace_terms = trace_terms - old.trace_terms,
        path_terms = path_terms - old.path_terms, file_terms = file_terms - old.file_terms
    WHERE id = old.scope;
END;
