//! What changes outside of an exchange is saved in the background, in order.

use crate::backend::DriftBackend;
use grov_domain::{Correction, DriftState, SessionId, StoreError};
use grov_redact::Redactor;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Pauses between tries, where the store is busy.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// Something to be saved.
pub(crate) enum Save {
    /// Where a session stands, and its task in work.
    State(Box<DriftState>, SessionId),
    /// A correction.
    Correction(Box<Correction>),
}

/// Saves what comes, one after the other.
pub(crate) async fn saving(store: &Arc<dyn DriftBackend>, waiting: &mut mpsc::Receiver<Save>) {
    while let Some(save) = waiting.recv().await {
        keep(store, save).await;
    }
}

async fn keep(store: &Arc<dyn DriftBackend>, save: Save) {
    let redactor = Redactor::shared();
    let mut pauses = PAUSES.into_iter();
    loop {
        let result: Result<(), StoreError> = match &save {
            Save::State(state, task) => {
                store
                    .save_drift_state(&redactor.clean((**state).clone()), task)
                    .await
            }
            Save::Correction(correction) => {
                store
                    .save_correction(&redactor.clean((**correction).clone()))
                    .await
            }
        };
        match (result, pauses.next()) {
            (Ok(()), _) => return,
            (Err(error), Some(pause)) if error.is_transient() => tokio::time::sleep(pause).await,
            (Err(error), _) => {
                tracing::warn!(%error, "where a session stands could not be saved; after a restart it is not known");
                return;
            }
        }
    }
}
