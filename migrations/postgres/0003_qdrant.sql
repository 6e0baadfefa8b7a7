-- Qdrant, if it keeps a copy of the vectors: its address, and the entries whose points have to be brought up to date there.
-- Each change of a vector notes its entry in the same transaction.

CREATE TABLE vector_copy (
    address TEXT NOT NULL
);

CREATE TABLE point_changes (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    entry BIGINT NOT NULL
);
CREATE INDEX point_changes_by_scope ON point_changes (project_id, kind);

CREATE FUNCTION note_vector() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM grov_agent.vector_copy) THEN
        IF TG_OP = 'DELETE' THEN
            INSERT INTO grov_agent.point_changes (project_id, kind, entry) VALUES (OLD.project_id, OLD.kind, OLD.entry);
        ELSE
            INSERT INTO grov_agent.point_changes (project_id, kind, entry) VALUES (NEW.project_id, NEW.kind, NEW.entry);
        END IF;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER vector_noted AFTER INSERT OR UPDATE OR DELETE ON vectors FOR EACH ROW EXECUTE FUNCTION note_vector();
