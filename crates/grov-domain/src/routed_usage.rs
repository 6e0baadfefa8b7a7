//! Usage of requests that were routed to other models.

use crate::{MicroUsd, StoreError, TokenUsage};
use async_trait::async_trait;
use grov_redact::Redacted;
use serde::Serialize;
use time::OffsetDateTime;

/// What routed requests of one UTC day to one model used, or a single one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoutedUsage {
    /// When; read back as the start of the day.
    #[serde(with = "time::serde::rfc3339")]
    pub day: OffsetDateTime,
    /// The provider's name in the provider file.
    pub provider: String,
    /// The label.
    pub label: String,
    /// The provider's name of the model.
    pub model: String,
    /// The model that the client asked for.
    pub asked_model: String,
    /// The number of requests.
    pub requests: u64,
    /// Those without a known price; their costs are not counted.
    pub unpriced: u64,
    /// Token counts by class.
    pub tokens: TokenUsage,
    /// The cost.
    #[serde(rename = "cost_usd")]
    pub cost: MicroUsd,
    /// What the model that was asked for would have cost; the same as the cost if its price is unknown.
    #[serde(rename = "asked_cost_usd")]
    pub asked_cost: MicroUsd,
}

/// Stores the usage of routed requests.
#[async_trait]
pub trait RoutedUsageStore: Send + Sync {
    /// Adds a request to the row of its day and model.
    async fn add_routed_usage(&self, usage: &Redacted<RoutedUsage>) -> Result<(), StoreError>;
    /// Returns the rows of the days from that of `since` on, oldest first.
    async fn routed_usage(&self, since: Option<OffsetDateTime>) -> Result<Vec<RoutedUsage>, StoreError>;
}
