//! What systemd is told, if it started the daemon: that it is ready, its process id after a restart, and that it still answers.

use grov_runtime::Shutdown;
use grov_runtime::port::{connect, fetch_health};
use sd_notify::NotifyState;
use std::net::SocketAddr;

/// Reports that this process accepts connections.
pub(crate) fn ready() {
    notify(&[NotifyState::MainPid(std::process::id()), NotifyState::Ready]);
}

/// Reports that the daemon answers, as often as systemd asks for, until it does not or stops: systemd then restarts it.
pub(crate) async fn watchdog(address: SocketAddr, mut shutdown: Shutdown) {
    let Some(limit) = sd_notify::watchdog_enabled() else {
        return;
    };
    let mut ticks = tokio::time::interval(limit / 3);
    loop {
        tokio::select! {
            () = shutdown.requested() => return,
            _ = ticks.tick() => {}
        }
        if answers(address).await {
            notify(&[NotifyState::Watchdog]);
        } else {
            tracing::warn!("the daemon does not answer its own health request");
        }
    }
}

/// Whether a request to this daemon is answered, within little more than a second.
async fn answers(address: SocketAddr) -> bool {
    let asked = tokio::task::spawn_blocking(move || {
        let stream = connect(address).ok()?;
        fetch_health::<serde_json::Value>(stream)
    });
    asked.await.is_ok_and(|health| health.is_some())
}

/// Does nothing if systemd did not start the daemon.
fn notify(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "systemd cannot be notified");
    }
}
