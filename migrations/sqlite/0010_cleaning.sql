-- What is still to be done to rows that an older version wrote, beside the migration: it takes too long for a hook to wait
-- for. 'rows': words that were cut out of texts before their secrets were masked are to be made anew. 'traces': that is
-- done, but copies may be left in pages and in the write-ahead log.
CREATE TABLE cleaning (
    what TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
