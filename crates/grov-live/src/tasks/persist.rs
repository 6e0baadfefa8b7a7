//! Retries of reads and writes while the store is unavailable.

use super::Context;
use grov_domain::{Applied, StoreError, TaskTransition};
use grov_redact::{Redacted, Redactor};
use std::time::Duration;
use tokio::time::Instant;

/// First delay between two attempts. It doubles with each attempt.
const FIRST_DELAY: Duration = Duration::from_millis(20);

/// Maximum delay between two attempts.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// How long to wait for records on their way to the store. Only spooled records take longer.
const RECORDS_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a failing store is retried.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Repeats a read while the store fails.
pub(super) async fn with_retries<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let start = Instant::now();
    let mut delay = FIRST_DELAY;
    loop {
        match attempt().await {
            Err(error)
                if !matches!(error, StoreError::NewerSchema { .. }) && start.elapsed() < FAILURE_TIMEOUT =>
            {
                tracing::debug!(%error, "cannot read the store; retrying");
            }
            result => return result,
        }
        tokio::time::sleep(delay).await;
        delay = (delay * 2).min(MAX_DELAY);
    }
}

/// Applies a transition. Retries while the store fails or records of the transition are not stored yet. Records that
/// never arrive are skipped. Returns `false` if a memory was forgotten since the transition was judged; then nothing is
/// applied.
pub(super) async fn persist(context: &Context, transition: TaskTransition) -> Result<bool, StoreError> {
    let mut transition = Redactor::shared().clean(transition);
    let start = Instant::now();
    // When records were first missing from a working store.
    let mut missed_since = None;
    let mut delay = FIRST_DELAY;
    loop {
        match context.store.apply(&transition).await {
            Ok(Applied::Done { missing }) => {
                if !missing.is_empty() {
                    tracing::warn!(
                        missing = missing.len(),
                        "exchanges of a turn never reached the store"
                    );
                }
                return Ok(true);
            }
            Ok(Applied::Outdated) => return Ok(false),
            Ok(Applied::NotYet { missing }) => {
                let since = *missed_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= RECORDS_TIMEOUT && transition.moves.is_some() {
                    tracing::debug!(missing = missing.len(), "no longer waiting for records");
                    transition = without_missing_records(transition);
                    continue;
                }
            }
            Err(error @ StoreError::NewerSchema { .. }) => return Err(error),
            Err(error) => {
                let patience = match error {
                    // For example a task that does not exist, which retries do not change.
                    StoreError::Other(_) => RECORDS_TIMEOUT,
                    _ => FAILURE_TIMEOUT,
                };
                if start.elapsed() >= patience {
                    return Err(error);
                }
                missed_since = None;
                tracing::debug!(%error, "cannot store a change of tasks; retrying");
            }
        }
        tokio::time::sleep(delay).await;
        delay = (delay * 2).min(MAX_DELAY);
    }
}

/// Returns the transition without the requirement that all its records are stored.
fn without_missing_records(transition: Redacted<TaskTransition>) -> Redacted<TaskTransition> {
    let mut transition = transition.into_inner();
    if let Some(moves) = &mut transition.moves {
        moves.all_or_nothing = false;
    }
    Redactor::shared().clean(transition)
}
