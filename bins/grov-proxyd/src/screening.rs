//! Screens memories in the background: by the rules after an upgrade of them, so that prompts need not, and by the judging
//! model, which reads each text once.

use crate::assembly::DaemonStore;
use grov_domain::{Clock, Judge, SystemClock};
use grov_memory::{Round, rescreen, screen_by_model};
use grov_runtime::Shutdown;
use std::sync::Arc;
use std::time::Duration;

/// Memories screened at once.
const BATCH_SIZE: u32 = 64;
/// Pause between batches, to leave the machine time for other work.
const BATCH_PAUSE: Duration = Duration::from_millis(250);
/// Pause between looks for memories that wait for the model.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// Pause between questions, so that they do not keep the model from questions about running work.
const QUESTION_PAUSE: Duration = Duration::from_secs(2);
/// Pause after a question without an answer. Each further one is twice as long.
const FIRST_RETRY: Duration = Duration::from_secs(60);
const LAST_RETRY: Duration = Duration::from_secs(60 * 60);

/// Runs until all memories are screened, the store fails or the daemon stops. The next start continues.
pub(crate) async fn run(store: Arc<DaemonStore>, mut stopping: Shutdown) {
    let work = async {
        loop {
            match rescreen(&*store, BATCH_SIZE).await {
                Ok(true) => tokio::time::sleep(BATCH_PAUSE).await,
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, "memories are not screened again; every prompt checks those that it finds");
                    return;
                }
            }
        }
    };
    tokio::select! {
        () = work => {}
        () = stopping.requested() => {}
    }
}

/// Lets the model read memories until the daemon stops.
pub(crate) async fn run_by_model(store: Arc<DaemonStore>, judge: Arc<dyn Judge>, mut stopping: Shutdown) {
    let work = async {
        let mut retry = FIRST_RETRY;
        loop {
            let (pause, next_retry) = match round(&store, &*judge).await {
                Round::Done => (LOOK_PAUSE, FIRST_RETRY),
                Round::Judged => (QUESTION_PAUSE, FIRST_RETRY),
                Round::NoAnswer => (retry, LAST_RETRY.min(retry * 2)),
            };
            retry = next_retry;
            tokio::time::sleep(pause).await;
        }
    };
    tokio::select! {
        () = work => {}
        () = stopping.requested() => {}
    }
}

async fn round(store: &DaemonStore, judge: &dyn Judge) -> Round {
    if !judge.has_model() {
        return Round::NoAnswer;
    }
    let done = screen_by_model(store, judge, SystemClock.now()).await;
    done.unwrap_or_else(|error| {
        tracing::debug!(%error, "the model reads no memories");
        Round::NoAnswer
    })
}
