-- A worker without a daemon ends some time after the last hook.
CREATE INDEX hook_sessions_by_update ON hook_sessions (updated_at);
