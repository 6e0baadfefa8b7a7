//! Saves changes outside of exchanges in the background, in order.

use crate::backend::DriftBackend;
use grov_domain::{Correction, DriftState, SessionId, StoreError};
use grov_redact::Redactor;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Delays between attempts while the store is busy.
const RETRY_DELAYS: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// A change to save.
pub(crate) enum Save {
    /// The drift state of a session, and its current task.
    State(Box<DriftState>, SessionId),
    Correction(Box<Correction>),
}

/// Saves changes until the channel closes.
pub(crate) async fn save_all(store: &Arc<dyn DriftBackend>, saves: &mut mpsc::Receiver<Save>) {
    while let Some(save) = saves.recv().await {
        save_with_retries(store, save).await;
    }
}

async fn save_with_retries(store: &Arc<dyn DriftBackend>, save: Save) {
    let redactor = Redactor::shared();
    let mut pauses = RETRY_DELAYS.into_iter();
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
                tracing::warn!(%error, "cannot save the drift state of a session; it is lost at the next restart");
                return;
            }
        }
    }
}
