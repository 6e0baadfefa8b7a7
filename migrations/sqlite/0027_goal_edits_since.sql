-- Which prompt was the newest when the user changed the goal: a hash of it.
ALTER TABLE goal_edits ADD COLUMN since_prompt TEXT;
