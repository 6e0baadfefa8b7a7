-- How an action off the goal ended: 'failed', 'denied' or 'stopped'; NULL if it succeeded or its result is unknown.
ALTER TABLE drift_log ADD COLUMN outcome TEXT;
