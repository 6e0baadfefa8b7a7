-- A deleted thread leaves its calls: they are records of what was asked for and done. Memory items keep why they were blocked
-- or rejected.

ALTER TABLE memory_items ADD COLUMN reason TEXT;
ALTER TABLE tool_calls DROP CONSTRAINT tool_calls_thread_id_fkey;
