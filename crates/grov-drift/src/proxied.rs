//! Reads sessions that the proxy recorded.

use crate::error_log::log_error;
use crate::hook::HookContext;
use crate::resume::{SessionRef, intent_reader};
use crate::services::STORE_TIMEOUT;
use crate::task_rows;
use crate::team_memory::is_off;
use grov_context::SessionPoints;
use grov_domain::{Clock, Compaction, Redacted, StoreConnection, StoreError, SystemClock, active_task};
use grov_project::ProjectLocation;
use grov_query::ActiveConstraints;
use grov_session::capture::PerformedAction;
use std::time::Duration;

/// How long to wait for the daemon to compare the client's summary: it saw the summary just before this hook started.
const COMPARISON_TIMEOUT: Duration = Duration::from_millis(600);
const RETRY_INTERVAL: Duration = Duration::from_millis(30);
/// A comparison that is older belongs to an earlier compaction.
const RECENT: time::Duration = time::Duration::seconds(60);

/// Returns what the client's summary lost; all points if the daemon has not compared it. `None` if Grov is off, the session is
/// unknown, or nothing was lost.
pub(crate) async fn lost_points(
    context: &HookContext<'_>,
    session_ref: &SessionRef,
) -> Result<Option<SessionPoints>, StoreError> {
    let Some(store) = context.services.stores.open_existing(Some(STORE_TIMEOUT)).await? else {
        return Ok(None);
    };
    let place = ProjectLocation::locate(&session_ref.directory);
    let id = session_ref.id();
    if is_off(&*store, place.project().key(), &id).await? {
        return Ok(None);
    }
    if let Some(mut compared) = comparison(&*store, session_ref).await? {
        if compared.restored_at.is_some() {
            return Ok(None);
        }
        let points = SessionPoints::of_list(&compared.lost);
        compared.restored.clone_from(&compared.lost);
        compared.restored_at = Some(SystemClock.now());
        // The store above is only for reading. If this fails, the proxy finds the text in the history and records it.
        let writable = context.services.stores.open(Some(STORE_TIMEOUT)).await;
        let saved = match writable {
            Ok(store) => store.save_compaction(&Redacted::of(&compared)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = saved {
            log_error(
                Some(context.home),
                format_args!("recording what was given back: {error}"),
            );
        }
        return Ok(Some(points));
    }
    let tasks = store.client_session(&id).await?;
    let Some(task) = active_task(tasks.iter().map(|task| &task.state)) else {
        return Ok(None);
    };
    let contract = ActiveConstraints::load(&*store, intent_reader(), task, None)
        .await?
        .contract;
    let steps = store.steps(&task.session_id).await?;
    let done = steps.iter().map(PerformedAction::from).collect();
    Ok(Some(task_rows::points(session_ref, &place, &contract, done)))
}

/// Waits for the daemon's comparison of the newest compaction.
async fn comparison(
    store: &dyn StoreConnection,
    session_ref: &SessionRef,
) -> Result<Option<Compaction>, StoreError> {
    let until = tokio::time::Instant::now() + COMPARISON_TIMEOUT;
    loop {
        let newest = store.compactions(&session_ref.id(), 1).await?.into_iter().next();
        let is_recent = |compaction: &Compaction| SystemClock.now() - compaction.at < RECENT;
        if let Some(found) = newest.filter(is_recent) {
            return Ok(Some(found));
        }
        if tokio::time::Instant::now() >= until {
            return Ok(None);
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}
