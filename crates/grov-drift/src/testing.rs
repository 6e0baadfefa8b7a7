//! For tests: services with a database and a judge that only applies rules, and a session with a transcript.

use crate::resume::SessionRef;
use crate::services::Services;
use grov_domain::{Judge, StoreError, SystemClock};
use grov_llm::{JudgeSettings, ModelJudge};
use grov_store::{OnCorruption, OpenOptions, SqliteOpener, SqliteStore};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Services with the database at this path.
pub(crate) fn services(database: PathBuf) -> Arc<Services> {
    let stores = Box::new(SqliteOpener::new(&database));
    let judge = move |_: &_| {
        let ledger = SqliteStore::reopening(&database, &OpenOptions::default(), OnCorruption::Fail);
        let judge = ModelJudge::new(JudgeSettings::default(), Arc::new(ledger), Arc::new(SystemClock));
        let judge = judge.map_err(|error| StoreError::Other(error.to_string()))?;
        Ok(Box::new(judge) as Box<dyn Judge>)
    };
    Arc::new(Services {
        stores,
        judge: Box::new(judge),
    })
}

/// A session that has this transcript in a folder.
pub(crate) fn session_ref(folder: &Path, transcript: &str) -> SessionRef {
    let path = folder.join("s.jsonl");
    fs::write(&path, transcript).unwrap();
    SessionRef {
        session: "s".to_owned(),
        directory: folder.to_owned(),
        transcript: Some(path),
    }
}
