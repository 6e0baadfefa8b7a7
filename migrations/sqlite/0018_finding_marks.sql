-- What a person says of findings: whether the action was really off the goal. No foreign key: a mark outlives its event, because it
-- counts for the installation's own rate of false alarms.
CREATE TABLE finding_marks (
    event_id TEXT    NOT NULL PRIMARY KEY,
    rule     TEXT    NOT NULL,
    is_right INTEGER NOT NULL,
    at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
