//! Usage of requests that were routed to other models.

use super::columns::{RowExt, from_row};
use super::insert::insert;
use super::select::Select;
use super::session_changes::bounded;
use super::spending::MAX_COST;
use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{Redacted, RoutedUsage, RoutedUsageStore, TokenUsage};
use sqlx::sqlite::SqliteRow;
use time::{OffsetDateTime, UtcOffset};

insert! {
    ADD, bind(usage in &RoutedUsage):
    "INSERT INTO routed_usage",
    "ON CONFLICT (day, provider, label, model, asked_model) DO UPDATE SET requests = requests + excluded.requests, \
     unpriced = unpriced + excluded.unpriced, input = input + excluded.input, cache_read = cache_read + excluded.cache_read, \
     cache_creation = cache_creation + excluded.cache_creation, output = output + excluded.output, cost = cost + excluded.cost, \
     asked_cost = asked_cost + excluded.asked_cost";
    usage => { provider, label, model, asked_model, requests, unpriced }
    bounded(&usage.tokens) => { input, cache_read, cache_creation, output };
    day: day_of(usage.day),
    cost: usage.cost.0.min(MAX_COST),
    asked_cost: usage.asked_cost.0.min(MAX_COST),
}

#[async_trait]
impl RoutedUsageStore for SqliteStore {
    async fn add_routed_usage(&self, usage: &Redacted<RoutedUsage>) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        transaction.insert(&ADD, &[&**usage], bind).await?;
        transaction.commit().await
    }

    async fn routed_usage(&self, since: Option<OffsetDateTime>) -> Result<Vec<RoutedUsage>, StoreError> {
        let mut select = Select::new("SELECT * FROM routed_usage");
        select.and("day >=", since.map(day_of));
        select.end("ORDER BY day, provider, label, model, asked_model", None);
        select.read(self, usage).await
    }
}

/// The start of a UTC day.
fn day_of(time: OffsetDateTime) -> OffsetDateTime {
    time.to_offset(UtcOffset::UTC).replace_time(time::Time::MIDNIGHT)
}

fn usage(row: &SqliteRow) -> Result<RoutedUsage, StoreError> {
    Ok(from_row!(row => RoutedUsage {
        day, provider, label, model, asked_model, requests, unpriced, cost, asked_cost,
        tokens: from_row!(row => TokenUsage {
            input, cache_read, cache_creation, output,
            cache_creation_5m: 0,
            cache_creation_1h: 0,
        }),
    }))
}
