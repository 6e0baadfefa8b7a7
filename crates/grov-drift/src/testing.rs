//! Services for tests: a database, and rules that judge.

use crate::services::{HookBackend, Services};
use async_trait::async_trait;
use grov_domain::{IntentExtractor, SessionDigest, SettlingJudge, StoreError, SummaryQuestion, SystemClock};
use grov_llm::{JudgeSettings, ModelJudge};
use grov_rules::{IntentMemo, session_summary};
use grov_runtime::Settings;
use grov_store::{OnCorruption, OpenOptions, SqliteStore};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The database at this path.
pub(crate) struct Opened(PathBuf);

impl Opened {
    pub(crate) fn at(database: PathBuf) -> Self {
        Self(database)
    }
}

fn options(patience: Option<Duration>) -> OpenOptions {
    patience.map_or_else(OpenOptions::default, OpenOptions::with_timeout)
}

#[async_trait]
impl Services for Opened {
    async fn store(&self, patience: Option<Duration>) -> Result<Box<dyn HookBackend>, StoreError> {
        Ok(Box::new(SqliteStore::open(&self.0, &options(patience)).await?))
    }

    async fn existing_store(
        &self,
        patience: Option<Duration>,
    ) -> Result<Option<Box<dyn HookBackend>>, StoreError> {
        let store = SqliteStore::open_existing(&self.0, &options(patience)).await?;
        Ok(store.map(|store| Box::new(store) as Box<dyn HookBackend>))
    }

    fn judge(&self, _: &Settings) -> Result<Box<dyn SettlingJudge>, StoreError> {
        let ledger = SqliteStore::reopening(&self.0, &OpenOptions::default(), OnCorruption::Fail);
        let judge = ModelJudge::new(JudgeSettings::default(), Arc::new(ledger), Arc::new(SystemClock));
        Ok(Box::new(
            judge.map_err(|error| StoreError::Other(error.to_string()))?,
        ))
    }

    fn intents(&self) -> Arc<dyn IntentExtractor> {
        Arc::new(IntentMemo::default())
    }

    fn summary(&self, question: &SummaryQuestion) -> SessionDigest {
        session_summary(question)
    }
}
