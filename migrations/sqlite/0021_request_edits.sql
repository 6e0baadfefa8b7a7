-- What Grov changed of a request, as JSON without its content: places and lengths in the client's body, and the keys of added blocks,
-- which are in the ledger. NULL for a request that was sent as the client made it.
ALTER TABLE exchanges ADD COLUMN edits TEXT;
