//! The spending ledger.

use super::changes::bounded;
use super::values::{Columns, duration_millis, integer, millis};
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    CallFilter, CallOutcome, LlmCall, LlmCallId, MicroUsd, Purpose, Redacted, Reservation, SessionId,
    SpendingStore, TokenUsage,
};
use sqlx::QueryBuilder;
use sqlx::sqlite::{Sqlite, SqliteConnection, SqliteRow};
use std::time::Duration;
use time::OffsetDateTime;

/// More than any call can cost; keeps a wrong price from overflowing the sums: a million dollars.
const MAX_COST: u64 = 1_000_000_000_000;

/// What is spent and set aside since a time, one call left out.
const SPENT: &str = "SELECT coalesce(sum(cost), 0) AS spent FROM llm_calls WHERE at >= ? AND id <> ?";

#[async_trait]
impl SpendingStore for SqliteStore {
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        budget: MicroUsd,
        since: OffsetDateTime,
    ) -> Result<Reservation, StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        let row = sqlx::query(SPENT)
            .bind(millis(since))
            // A reservation that is repeated must not stand in its own way.
            .bind(call.id.as_str())
            .fetch_one(writer.connection()?)
            .await
            .map_err(fault)?;
        let spent = MicroUsd(Columns(&row).count("spent")?);
        if spent.plus(call.cost) > budget {
            writer.roll_back().await.map_err(fault)?;
            return Ok(Reservation::Refused { spent });
        }
        // What really happened is not replaced by what was expected.
        insert(writer.connection()?, call, "DO NOTHING")
            .await
            .map_err(fault)?;
        writer.commit().await.map_err(fault)?;
        Ok(Reservation::Granted)
    }

    async fn settle(&self, call: &Redacted<LlmCall>) -> Result<(), StoreError> {
        let fault = |error| self.error(error);
        let mut writer = self.writer().await?;
        insert(
            writer.connection()?,
            call,
            "DO UPDATE SET purpose = excluded.purpose, provider = excluded.provider, model = excluded.model, \
             session_id = excluded.session_id, at = excluded.at, latency = excluded.latency, \
             input = excluded.input, cache_read = excluded.cache_read, cache_creation = excluded.cache_creation, \
             cache_creation_5m = excluded.cache_creation_5m, cache_creation_1h = excluded.cache_creation_1h, \
             output = excluded.output, cost = excluded.cost, outcome = excluded.outcome",
        )
        .await
        .map_err(fault)?;
        writer.commit().await.map_err(fault)
    }

    async fn calls(&self, filter: &CallFilter) -> Result<Vec<LlmCall>, StoreError> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM llm_calls WHERE true");
        if let Some(since) = filter.since {
            query.push(" AND at >= ").push_bind(millis(since));
        }
        if let Some(session) = &filter.session_id {
            query.push(" AND session_id = ").push_bind(session.as_str());
        }
        query.push(" ORDER BY at DESC, id DESC");
        if let Some(limit) = filter.limit {
            query.push(" LIMIT ").push_bind(limit);
        }
        let rows = self.reader().await?.rows(self, query.build()).await?;
        // The newest were chosen; the oldest of them comes first.
        rows.iter().rev().map(call).collect()
    }

    async fn spent_since(&self, since: OffsetDateTime) -> Result<MicroUsd, StoreError> {
        let query = sqlx::query(SPENT).bind(millis(since)).bind("");
        let rows = self.reader().await?.rows(self, query).await?;
        let mut spent = MicroUsd::default();
        for row in &rows {
            spent = MicroUsd(Columns(row).count("spent")?);
        }
        Ok(spent)
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    call: &LlmCall,
    on_conflict: &'static str,
) -> Result<(), sqlx::Error> {
    let usage = bounded(&call.usage);
    let mut query = QueryBuilder::<Sqlite>::new(
        "INSERT INTO llm_calls (id, purpose, provider, model, session_id, at, latency, input, cache_read, \
         cache_creation, cache_creation_5m, cache_creation_1h, output, cost, outcome) VALUES (",
    );
    let mut values = query.separated(", ");
    values
        .push_bind(call.id.as_str())
        .push_bind(call.purpose.as_str())
        .push_bind(call.provider.as_str())
        .push_bind(call.model.as_str())
        .push_bind(call.session_id.as_ref().map(SessionId::as_str))
        .push_bind(millis(call.at))
        .push_bind(duration_millis(call.latency))
        .push_bind(integer(usage.input))
        .push_bind(integer(usage.cache_read))
        .push_bind(integer(usage.cache_creation))
        .push_bind(integer(usage.cache_creation_5m))
        .push_bind(integer(usage.cache_creation_1h))
        .push_bind(integer(usage.output))
        .push_bind(integer(call.cost.0.min(MAX_COST)))
        .push_bind(call.outcome.as_str());
    query.push(") ON CONFLICT (id) ").push(on_conflict);
    query.build().execute(connection).await?;
    Ok(())
}

fn call(row: &SqliteRow) -> Result<LlmCall, StoreError> {
    let columns = Columns(row);
    Ok(LlmCall {
        id: LlmCallId::new(columns.get::<String>("id")?),
        purpose: columns.named("purpose", Purpose::from_name)?,
        provider: columns.get("provider")?,
        model: columns.get("model")?,
        session_id: columns.get::<Option<String>>("session_id")?.map(SessionId::new),
        at: columns.time("at")?,
        latency: Duration::from_millis(columns.count("latency")?),
        usage: TokenUsage {
            input: columns.count("input")?,
            cache_read: columns.count("cache_read")?,
            cache_creation: columns.count("cache_creation")?,
            cache_creation_5m: columns.count("cache_creation_5m")?,
            cache_creation_1h: columns.count("cache_creation_1h")?,
            output: columns.count("output")?,
        },
        cost: MicroUsd(columns.count("cost")?),
        outcome: columns.named("outcome", CallOutcome::from_name)?,
    })
}
