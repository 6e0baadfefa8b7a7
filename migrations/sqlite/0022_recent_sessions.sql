-- Live views ask several times a second for what happened lately; without it they read all requests.
CREATE INDEX session_states_by_update ON session_states (last_update, client_session_id);
