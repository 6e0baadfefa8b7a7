-- How rules read the instructions of the contract, as JSON.
ALTER TABLE hook_sessions ADD COLUMN prompt_readings TEXT;
