//! Making a change of tasks last, however long the store takes.

use super::Context;
use grov_domain::{Applied, StoreError, TaskTransition};
use grov_redact::{Redacted, Redactor};
use std::time::Duration;
use tokio::time::Instant;

/// First pause between two attempts; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long records on their way to the store are waited for. Longer than that only spooled ones take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a store that fails is tried.
const PATIENCE_WITH_FAULTS: Duration = Duration::from_secs(10 * 60);

/// Reads, again and again while the store fails.
pub(super) async fn with_retries<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let start = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt().await {
            Err(error)
                if !matches!(error, StoreError::NewerSchema { .. })
                    && start.elapsed() < PATIENCE_WITH_FAULTS =>
            {
                tracing::debug!(%error, "the store could not be read; trying again");
            }
            result => return result,
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Applies a transition, again and again while the store is busy or the records it is about are still on their way.
/// What is not there in the end is passed over. `false`: it was not applied, because something may have been forgotten
/// since it was judged.
pub(super) async fn persist(context: &Context, transition: TaskTransition) -> Result<bool, StoreError> {
    let mut transition = Redactor::shared().clean(transition);
    let start = Instant::now();
    // Since when records are missed while the store works.
    let mut missed_since = None;
    let mut pause = FIRST_PAUSE;
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
                if since.elapsed() >= PATIENCE && transition.moves.is_some() {
                    tracing::debug!(missing = missing.len(), "no longer waiting for records");
                    transition = taking_what_is_there(transition);
                    continue;
                }
            }
            Err(error @ StoreError::NewerSchema { .. }) => return Err(error),
            Err(error) => {
                let patience = match error {
                    // Such as a task that is not there: time does not mend it.
                    StoreError::Other(_) => PATIENCE,
                    _ => PATIENCE_WITH_FAULTS,
                };
                if start.elapsed() >= patience {
                    return Err(error);
                }
                missed_since = None;
                tracing::debug!(%error, "the store did not take a change of tasks; trying again");
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The transition that passes over records that are not there.
fn taking_what_is_there(transition: Redacted<TaskTransition>) -> Redacted<TaskTransition> {
    let mut transition = transition.into_inner();
    if let Some(moves) = &mut transition.moves {
        moves.all_or_nothing = false;
    }
    Redactor::shared().clean(transition)
}
