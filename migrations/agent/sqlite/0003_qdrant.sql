-- Qdrant, if it keeps a copy of the vectors: its address, and the entries whose points have to be brought up to date there.
-- Each change of a vector notes its entry in the same transaction.

CREATE TABLE vector_copy (
    address TEXT NOT NULL
);

CREATE TABLE point_changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    entry INTEGER NOT NULL
);
CREATE INDEX point_changes_by_scope ON point_changes (project_id, kind);

CREATE TRIGGER vector_inserted AFTER INSERT ON vectors WHEN EXISTS (SELECT 1 FROM vector_copy) BEGIN
    INSERT INTO point_changes (project_id, kind, entry) VALUES (NEW.project_id, NEW.kind, NEW.entry);
END;

CREATE TRIGGER vector_updated AFTER UPDATE ON vectors WHEN EXISTS (SELECT 1 FROM vector_copy) BEGIN
    INSERT INTO point_changes (project_id, kind, entry) VALUES (NEW.project_id, NEW.kind, NEW.entry);
END;

CREATE TRIGGER vector_deleted AFTER DELETE ON vectors WHEN EXISTS (SELECT 1 FROM vector_copy) BEGIN
    INSERT INTO point_changes (project_id, kind, entry) VALUES (OLD.project_id, OLD.kind, OLD.entry);
END;
