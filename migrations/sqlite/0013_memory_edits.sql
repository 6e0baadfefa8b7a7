-- What a person changed in a memory, as JSON. A session that saves the memory again keeps it. NULL: nothing.
ALTER TABLE tasks ADD COLUMN edits TEXT;
-- How far the memories were checked for orders to the agent by the rules of this version of Grov. One row, or none.
CREATE TABLE screening (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    rules    INTEGER NOT NULL, -- the version of the rules
    task_id  TEXT              -- the last memory that was checked, in the order of ids; NULL: all
) STRICT;
