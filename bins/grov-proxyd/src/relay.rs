//! Serves clients until something ends the daemon.

use crate::daemon::{Stop, print_line};
use crate::handover::HandOver;
use crate::home_monitor::HomeMonitor;
use crate::launcher::Launcher;
use crate::mitm_setup::MitmSetup;
use crate::recording::Recording;
use grov_proxy_core::{Proxy, ServeError, Shutdown};
use grov_serve::Signals;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Time for unwritten records after a second signal.
const SHORT_FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// What ends the daemon.
pub(crate) struct Ending {
    pub(crate) signals: Signals,
    /// For a daemon of `grov run`.
    pub(crate) launcher: Option<Launcher>,
    pub(crate) hand_over: Arc<HandOver>,
    pub(crate) home_monitor: Arc<HomeMonitor>,
}

/// Serves clients until something ends the daemon, then waits for running responses. Returns the number of responses that were cut
/// off, or `None` after a second signal.
pub(crate) async fn relay(
    mut proxy: Proxy,
    listener: TcpListener,
    mitm: Option<MitmSetup>,
    mut ending: Ending,
    recording: &Recording,
) -> Result<Option<usize>, Stop> {
    let metrics = proxy.metrics();
    let (stop, stopped) = watch::channel(None);
    let mitm_stopped = stopped.clone();
    let intake = mitm.is_some().then(|| proxy.intake());
    let connect_proxy = async move {
        let (Some(mitm), Some(intake)) = (mitm, intake) else {
            return Ok(0);
        };
        mitm.serve(intake, async move {
            requested(mitm_stopped).await;
        })
        .await
    };
    let serving = proxy.serve_until(listener, requested(stopped));
    let serving = async {
        let serving = async { serving.await.map_err(failed) };
        let (cut, tunnels) = tokio::try_join!(serving, connect_proxy)?;
        match tunnels {
            0 => {}
            tunnels => tracing::info!(tunnels, "tunnels were cut off"),
        }
        Ok(cut)
    };
    tokio::pin!(serving);
    let (how, why) = tokio::select! {
        ended = &mut serving => return ended.map(Some),
        () = ending.signals.next() => (Shutdown::Stop, "shutting down"),
        () = Launcher::ended(&mut ending.launcher) => (Shutdown::Stop, "the command has ended"),
        () = ending.hand_over.done() => (Shutdown::HandOver, "another process took over"),
    };
    print_line(&format!(
        "{why}; waiting for {} response(s) to end; a second signal aborts them",
        metrics.streams()
    ));
    tracing::info!(why, "stopping");
    if how == Shutdown::Stop {
        ending.home_monitor.note_stopping(metrics.streams());
    }
    ending.hand_over.close();
    stop.send_replace(Some(how));
    tokio::select! {
        ended = &mut serving => ended.map(Some),
        () = ending.signals.next() => {
            recording.stop(SHORT_FLUSH_TIMEOUT).await;
            Ok(None)
        }
    }
}

/// Resolves when the daemon is to stop; also when the sender is dropped.
async fn requested(mut stopped: watch::Receiver<Option<Shutdown>>) -> Shutdown {
    match stopped.wait_for(Option::is_some).await {
        Ok(how) => how.unwrap_or(Shutdown::Stop),
        Err(_) => Shutdown::Stop,
    }
}

fn failed(error: ServeError) -> Stop {
    match error {
        ServeError::Threads(_) => Stop::fault(error),
        error => Stop::usage(error),
    }
}
