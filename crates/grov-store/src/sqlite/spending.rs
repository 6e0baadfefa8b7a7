//! The spending ledger.

use super::columns::{RowExt, duration_millis, from_row, params};
use super::insert::{Insert, insert};
use super::select::Select;
use super::session_changes::bounded;
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{CallFilter, LlmCall, MicroUsd, Purpose, Redacted, Reservation, SpendingStore, TokenUsage};
use sqlx::sqlite::SqliteRow;
use std::time::Duration;
use time::OffsetDateTime;

/// Maximum cost of a call in millionths of a US dollar, so that a wrong price does not overflow the sums: a million
/// dollars.
pub(super) const MAX_COST: u64 = 1_000_000_000_000;

/// The amount spent and reserved since a time, except for one call: on external tools, or on everything else.
const SPENT: &str = "SELECT coalesce(sum(cost), 0) AS spent FROM llm_calls \
     WHERE at >= ? AND id <> ? AND (purpose = 'tool') = ?";

// A recorded call is not reserved again.
insert! {
    RESERVE, bind(call in &LlmCall):
    "INSERT INTO llm_calls", "ON CONFLICT (id) DO NOTHING";
    call => { id, purpose, provider, model, session_id, at, outcome }
    bounded(&call.usage) => { input, cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output };
    latency: duration_millis(call.latency),
    cost: call.cost.0.min(MAX_COST),
}

const SETTLE: Insert = Insert {
    into: "INSERT OR REPLACE INTO llm_calls",
    tail: "",
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
        // A repeated reservation does not count itself.
        let spent = transaction
            .value(SPENT, params![since, call.id, call.purpose == Purpose::Tool])
            .await?;
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
        // Selected newest first, returned oldest first.
        calls.reverse();
        Ok(calls)
    }

    async fn spent_since(&self, since: OffsetDateTime) -> Result<MicroUsd, StoreError> {
        let mut connection = self.connection().await?;
        let spent = connection.value(SPENT, params![since, "", false]).await?;
        Ok(spent.unwrap_or_default())
    }
}

fn call(row: &SqliteRow) -> Result<LlmCall, StoreError> {
    Ok(from_row!(row => LlmCall {
        id, purpose, provider, model, session_id, at, cost, outcome,
        latency: Duration::from_millis(row.read("latency")?),
        usage: from_row!(row => TokenUsage {
            input, cache_read, cache_creation, cache_creation_5m, cache_creation_1h, output,
        }),
    }))
}
