-- What requests that were routed to other models used, a row per UTC day and model. Prices change and provider files are edited,
-- so costs are stored as they were.
CREATE TABLE routed_usage (
    day            INTEGER NOT NULL, -- its start
    provider       TEXT    NOT NULL,
    label          TEXT    NOT NULL,
    model          TEXT    NOT NULL, -- the provider's name
    asked_model    TEXT    NOT NULL, -- the model that the client asked for
    requests       INTEGER NOT NULL,
    unpriced       INTEGER NOT NULL, -- requests without a known price; their costs are not counted
    input          INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    cache_creation INTEGER NOT NULL,
    output         INTEGER NOT NULL,
    cost           INTEGER NOT NULL, -- millionths of a US dollar
    asked_cost     INTEGER NOT NULL, -- what the model that was asked for would have cost
    PRIMARY KEY (day, provider, label, model, asked_model)
) STRICT, WITHOUT ROWID;
