-- What is left out of the histories of the injection ledger.

-- The beginnings that are left out. The history from the anchor on is sent, with the block in front of it.
CREATE TABLE ledger_cuts (
    lineage       INTEGER NOT NULL REFERENCES ledger_lineages (id) ON DELETE CASCADE,
    anchor        BLOB    NOT NULL, -- the history up to and including the first part that is kept
    block         TEXT    NOT NULL, -- as sent
    decided_at    INTEGER NOT NULL,
    applied_at    INTEGER, -- NULL until a request is sent without the beginning
    tokens_before INTEGER NOT NULL,
    tokens_after  INTEGER NOT NULL, -- estimated until the first response
    is_measured   INTEGER NOT NULL DEFAULT 0,
    cost          INTEGER, -- millionths of a USD: writing the new prefix to the prompt cache; NULL without a price
    saving        INTEGER, -- millionths of a USD in the next ten requests
    PRIMARY KEY (lineage, anchor)
) STRICT, WITHOUT ROWID;

-- Results of tools that are replaced by a line.
CREATE TABLE ledger_trims (
    lineage     INTEGER NOT NULL REFERENCES ledger_lineages (id) ON DELETE CASCADE,
    tool_use_id TEXT    NOT NULL,
    content     TEXT    NOT NULL, -- JSON, as sent
    decided_at  INTEGER NOT NULL,
    PRIMARY KEY (lineage, tool_use_id)
) STRICT, WITHOUT ROWID;
