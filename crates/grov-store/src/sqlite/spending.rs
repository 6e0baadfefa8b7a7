//! The spending ledger.

use super::columns::{RowExt, Values, duration_millis, from_row, params};
use super::insert::Insert;
use super::select::Select;
use super::session_changes::bounded;
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{CallFilter, LlmCall, MicroUsd, Redacted, Reservation, SpendingStore};
use sqlx::sqlite::SqliteRow;
use std::time::Duration;
use time::OffsetDateTime;

/// More than any call can cost; keeps a wrong price from overflowing the sums: a million dollars.
const MAX_COST: u64 = 1_000_000_000_000;

/// What is spent and set aside since a time, one call left out.
const SPENT: &str = "SELECT coalesce(sum(cost), 0) AS spent FROM llm_calls WHERE at >= ? AND id <> ?";

/// What was recorded for a call stays.
const RESERVE: Insert = Insert {
    head: "INSERT INTO llm_calls (id, purpose, provider, model, session_id, at, latency, cost, outcome, input, \
           cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output)",
    columns: 15,
    tail: "ON CONFLICT (id) DO NOTHING",
};

const SETTLE: Insert = Insert {
    tail: "ON CONFLICT (id) DO UPDATE SET purpose = excluded.purpose, provider = excluded.provider, \
           model = excluded.model, session_id = excluded.session_id, at = excluded.at, latency = excluded.latency, \
           input = excluded.input, cache_read = excluded.cache_read, cache_creation = excluded.cache_creation, \
           cache_creation_5m = excluded.cache_creation_5m, cache_creation_1h = excluded.cache_creation_1h, \
           output = excluded.output, cost = excluded.cost, outcome = excluded.outcome",
    ..RESERVE
};

#[async_trait]
impl SpendingStore for SqliteStore {
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        budget: MicroUsd,
        since: OffsetDateTime,
    ) -> Result<Reservation, StoreError> {
        let mut transaction = self.begin().await?;
        // A reservation that is repeated does not count itself.
        let spent = transaction.value(SPENT, params![since, call.id]).await?;
        let spent: MicroUsd = spent.unwrap_or_default();
        if spent.plus(call.cost) > budget {
            transaction.roll_back().await?;
            return Ok(Reservation::Refused { spent });
        }
        transaction.insert(&RESERVE, &[&**call], bind).await?;
        transaction.commit().await?;
        Ok(Reservation::Granted)
    }

    async fn settle(&self, call: &Redacted<LlmCall>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        transaction.insert(&SETTLE, &[&**call], bind).await?;
        transaction.commit().await
    }

    async fn calls(&self, filter: &CallFilter) -> Result<Vec<LlmCall>, StoreError> {
        let mut select = Select::new("SELECT * FROM llm_calls");
        select.and("at >=", filter.since);
        select.and("session_id =", filter.session_id.as_ref());
        select.end("ORDER BY at DESC, id DESC", filter.limit);
        let mut calls = select.read(self, call).await?;
        // The newest were chosen; the oldest of them comes first.
        calls.reverse();
        Ok(calls)
    }

    async fn spent_since(&self, since: OffsetDateTime) -> Result<MicroUsd, StoreError> {
        let mut connection = self.connection().await?;
        let spent = connection.value(SPENT, params![since, ""]).await?;
        Ok(spent.unwrap_or_default())
    }
}

fn bind(values: &mut Values, call: &&LlmCall) {
    values.add(&call.id);
    values.add(&call.purpose);
    values.add(&call.provider);
    values.add(&call.model);
    values.add(&call.session_id);
    values.add(&call.at);
    values.add(&duration_millis(call.latency));
    values.add(&call.cost.0.min(MAX_COST));
    values.add(&call.outcome);
    values.add_usage(&bounded(&call.usage));
}

fn call(row: &SqliteRow) -> Result<LlmCall, StoreError> {
    let usage = [
        "input",
        "cache_read",
        "cache_creation",
        "cache_creation_5m",
        "cache_creation_1h",
        "output",
    ];
    Ok(from_row!(row => LlmCall {
        id, purpose, provider, model, session_id, at, cost, outcome,
        latency: Duration::from_millis(row.read("latency")?),
        usage: row.usage(usage)?,
    }))
}
