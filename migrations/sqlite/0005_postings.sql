-- The index of team memory in tables of our own, which take the place of full-text tables: a term is one row with a short
-- list in it instead of a row per place, and the text is not kept a second time.

DROP TRIGGER memory_document_added;
DROP TRIGGER memory_document_gone;
DROP TABLE memory_frequencies;
DROP TABLE memory_postings;
DROP TABLE memory_terms;
DROP TABLE memory_documents;
DELETE FROM memory_scopes;

-- One row per task that is indexed, with what ranking needs. Numbers grow and are never used again, so that postings are
-- always added at the end. No cascade: the postings have to be taken out before the task can go.
CREATE TABLE memory_documents (
    id            INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    task_id       TEXT    NOT NULL UNIQUE REFERENCES tasks (id),
    scope         INTEGER NOT NULL REFERENCES memory_scopes (id),
    created_at    INTEGER NOT NULL,
    status        TEXT    NOT NULL,
    text_terms    INTEGER NOT NULL,
    trace_terms   INTEGER NOT NULL,
    path_terms    INTEGER NOT NULL,
    file_terms    INTEGER NOT NULL,
    superseded_by TEXT,
    files         TEXT -- JSON, as in tasks
) STRICT;
CREATE INDEX memory_documents_by_time ON memory_documents (scope, created_at);

-- Where terms stand. Terms are made by the program (words without endings, parts of identifiers, pairs of characters in
-- scripts without spaces, file names and paths). A change in how they are made needs a migration after which the index
-- is filled again.
CREATE TABLE memory_postings (
    scope     INTEGER NOT NULL,
    term      TEXT    NOT NULL,
    part      INTEGER NOT NULL, -- 0: the newest, which still grows; another: the first document of a part that is full
    documents INTEGER NOT NULL, -- in part 0: memories of the scope in which the term stands; in another: those in the part
    postings  BLOB    NOT NULL, -- ascending, packed
    PRIMARY KEY (scope, term, part)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER memory_document_added AFTER INSERT ON memory_documents BEGIN
    UPDATE memory_scopes SET documents = documents + 1,
        text_terms = text_terms + new.text_terms, trace_terms = trace_terms + new.trace_terms,
        path_terms = path_terms + new.path_terms, file_terms = file_terms + new.file_terms
    WHERE id = new.scope;
END;
CREATE TRIGGER memory_document_gone AFTER DELETE ON memory_documents BEGIN
    UPDATE memory_scopes SET documents = documents - 1,
        text_terms = text_terms - old.text_terms, trace_terms = trace_terms - old.trace_terms,
        path_terms = path_terms - old.path_terms, file_terms = file_terms - old.file_terms
    WHERE id = old.scope;
END;
CREATE TRIGGER memory_superseded AFTER UPDATE OF superseded_by ON tasks BEGIN
    UPDATE memory_documents SET superseded_by = new.superseded_by WHERE task_id = new.id;
END;
