//! The injection ledger and the switches.

mod decisions;
mod lineages;
mod switches;
mod uses;

use super::{SqliteStore, StoreError};
use async_trait::async_trait;
use grov_domain::{
    AgentId, HistoryKey, LedgerEntry, LedgerLineage, LedgerStore, LedgerUse, Lineage, LineageTip, NewLineage,
    Redacted, SwitchScope, SwitchStore, TaskId,
};
use std::time::Instant;

#[async_trait]
impl LedgerStore for SqliteStore {
    async fn lineage(&self, lineage: &Lineage) -> Result<Option<LedgerLineage>, StoreError> {
        self.ledger_lineage(lineage).await
    }

    async fn adopt(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError> {
        self.adopt_lineage(new).await
    }

    async fn decide(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry<Redacted>,
        until: Instant,
    ) -> Result<bool, StoreError> {
        self.keep_decision(lineage, entry, until).await
    }

    async fn withdraw(&self, lineage: &Lineage, anchors: &[HistoryKey]) -> Result<(), StoreError> {
        self.withdraw_decisions(lineage, anchors).await
    }

    async fn note_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError> {
        self.keep_tips(tips).await
    }

    async fn disable_edits(&self, lineage: &Lineage) -> Result<(), StoreError> {
        self.bar_lineage(lineage).await
    }

    async fn lineages_with_edits_disabled(&self) -> Result<Vec<Lineage>, StoreError> {
        self.barred_lineages().await
    }

    async fn uses(&self, tasks: &[TaskId]) -> Result<Vec<LedgerUse>, StoreError> {
        self.uses_of(tasks).await
    }
}

#[async_trait]
impl SwitchStore for SqliteStore {
    async fn switch(&self, scope: &SwitchScope, on: bool) -> Result<(), StoreError> {
        self.set_switch(scope, on).await
    }

    async fn switched_off(&self) -> Result<Vec<SwitchScope>, StoreError> {
        self.scopes_off().await
    }

    async fn revision(&self) -> Result<i64, StoreError> {
        self.current_revision().await
    }
}

/// The number that [`BUMP_REVISION`] raises.
pub(super) const REVISION: &str = "SELECT number FROM revisions WHERE id = 1";

/// Tells running daemons to look again.
pub(super) const BUMP_REVISION: &str = "UPDATE revisions SET number = number + 1 WHERE id = 1";

/// Says which agent a lineage is of; the main conversation has none.
fn agent(lineage: &Lineage) -> &str {
    lineage.agent.as_ref().map_or("", AgentId::as_str)
}

/// A key as its column holds it.
fn key(key: HistoryKey) -> Vec<u8> {
    key.0.to_be_bytes().to_vec()
}

/// Keys as a JSON list of hexadecimal numbers, to be read with `unhex`.
fn keys(keys: &[HistoryKey]) -> String {
    use std::fmt::Write;
    let mut list = String::with_capacity(keys.len() * 35 + 2);
    list.push('[');
    for key in keys {
        if list.len() > 1 {
            list.push(',');
        }
        // Writing to a string does not fail.
        let _ = write!(list, "\"{:032x}\"", key.0);
    }
    list.push(']');
    list
}
