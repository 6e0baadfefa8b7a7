-- The fingerprint of a memory whose text was checked for orders to the agent and had none, and of the rules that checked it.
-- A prompt then compares it instead of checking the text again. NULL: not checked, or something was found.
ALTER TABLE tasks ADD COLUMN screened INTEGER;
