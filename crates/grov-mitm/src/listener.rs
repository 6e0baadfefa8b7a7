//! The accept loop of the CONNECT proxy.

use crate::connection;
use crate::leaves::Leaves;
use grov_ca::Target;
use grov_proxy_core::{ConnectionProfile, Intake};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Connections beyond the limit that wait for their 503.
const BEYOND: usize = 64;

/// Pause after an error of `accept`, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// A repeated error is logged at most this often.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// Interval between two checks whether the authority is due for renewal.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(3600);

/// Limits of the CONNECT proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MitmLimits {
    /// Maximum number of connections that are tunnelled or not yet intercepted. Further ones are answered with 503.
    pub connections: usize,
    /// Maximum time to connect to a server.
    pub connect: Duration,
    /// Maximum wait for a request head.
    pub head: Duration,
    /// Maximum wait for TLS to begin, and then to complete.
    pub handshake: Duration,
    /// How long tunnels may continue after shutdown began.
    pub grace: Duration,
}

impl MitmLimits {
    /// Connections that may be open for a moment beyond [`MitmLimits::connections`].
    pub const BEYOND: usize = BEYOND;
}

impl Default for MitmLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            connect: Duration::from_secs(30),
            head: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }
}

/// What the CONNECT proxy has done.
#[derive(Debug, Default)]
pub struct Counters {
    pub(crate) intercepted: Counter,
    pub(crate) tunnelled: Counter,
    pub(crate) forwarded: Counter,
    pub(crate) refused: Counter,
    pub(crate) failed_handshakes: Counter,
    pub(crate) open_tunnels: Counter,
}

/// A counter, or a number of something that is open.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts until the guard is dropped.
    pub(crate) fn enter(&self) -> OpenGuard<'_> {
        self.add();
        OpenGuard(self)
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// See [`Counter::enter`].
pub(crate) struct OpenGuard<'a>(&'a Counter);

impl Drop for OpenGuard<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counters {
    /// Returns all values with their names.
    pub fn all(&self) -> [(&'static str, u64); 6] {
        [
            ("intercepted", self.intercepted.get()),
            ("tunnelled", self.tunnelled.get()),
            ("open_tunnels", self.open_tunnels.get()),
            ("forwarded", self.forwarded.get()),
            ("refused", self.refused.get()),
            ("failed_handshakes", self.failed_handshakes.get()),
        ]
    }
}

/// Lets a message that repeats be logged once a minute.
#[derive(Debug, Default)]
pub(crate) struct LogGate(Mutex<Option<Instant>>);

impl LogGate {
    pub(crate) fn may_log(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let may = last.is_none_or(|last| last.elapsed() >= LOG_EVERY);
        if may {
            *last = Some(Instant::now());
        }
        may
    }
}

/// An intercepted host.
pub(crate) struct Host {
    pub(crate) tls: TlsAcceptor,
    pub(crate) profile: Arc<ConnectionProfile>,
}

/// A CONNECT proxy.
pub struct Mitm {
    pub(crate) hosts: HashMap<Target, Host>,
    pub(crate) intake: Intake,
    pub(crate) limits: MitmLimits,
    pub(crate) counters: Arc<Counters>,
    pub(crate) distrust: LogGate,
    /// The address that it listens on.
    pub(crate) own: SocketAddr,
    leaves: Arc<Leaves>,
}

impl Mitm {
    /// Creates a CONNECT proxy that decrypts the connections to `hosts`, hands them to `intake`, and listens on `own`.
    ///
    /// # Errors
    /// If the TLS library refuses the configuration.
    pub fn new(
        leaves: Arc<Leaves>,
        hosts: impl IntoIterator<Item = (Target, Arc<ConnectionProfile>)>,
        intake: Intake,
        limits: MitmLimits,
        own: SocketAddr,
    ) -> Result<Self, rustls::Error> {
        let hosts = hosts
            .into_iter()
            .map(|(target, profile)| {
                let config = leaves.server_config(target.name.clone())?;
                let tls = TlsAcceptor::from(Arc::new(config));
                Ok((target, Host { tls, profile }))
            })
            .collect::<Result<_, rustls::Error>>()?;
        Ok(Self {
            hosts,
            intake,
            limits,
            counters: Arc::default(),
            distrust: LogGate::default(),
            own,
            leaves,
        })
    }

    /// Counts in `counters`.
    #[must_use]
    pub fn with_counters(mut self, counters: Arc<Counters>) -> Self {
        self.counters = counters;
        self
    }

    /// Serves clients until `shutdown` resolves. Then tunnels may continue for [`MitmLimits::grace`]. Returns the number of
    /// connections that were cut.
    ///
    /// Intercepted connections belong to the proxy once they are handed over, and end with it.
    ///
    /// # Cancellation
    /// If the future is dropped, all connections are cut at once.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) -> usize {
        let mitm = Arc::new(self);
        let (stop, stopped) = watch::channel(false);
        let mut clients = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        let mut pause = pin!(tokio::time::sleep(Duration::ZERO));
        let mut is_paused = false;
        let mut renewal = tokio::time::interval(RENEWAL_INTERVAL);
        renewal.reset();
        let not_accepted = LogGate::default();
        loop {
            let limit = mitm.limits.connections;
            tokio::select! {
                () = &mut shutdown => break,
                Some(_) = clients.join_next() => {}
                () = &mut pause, if is_paused => is_paused = false,
                _ = renewal.tick() => mitm.renew(),
                accepted = listener.accept(), if !is_paused && clients.len() < limit.saturating_add(BEYOND) => match accepted {
                    Ok((socket, _)) => {
                        let is_full = clients.len() >= limit;
                        clients.spawn(connection::serve(socket, Arc::clone(&mitm), is_full, stopped.clone()));
                    }
                    Err(error) if is_of_one_client(&error) => {}
                    Err(error) => {
                        if not_accepted.may_log() {
                            tracing::error!(%error, "the CONNECT proxy cannot accept clients; retrying");
                        }
                        is_paused = true;
                        pause.as_mut().reset(tokio::time::Instant::now() + ACCEPT_PAUSE);
                    }
                },
            }
        }
        drop(listener);
        stop.send_replace(true);
        let all_done = async { while clients.join_next().await.is_some() {} };
        if tokio::time::timeout(mitm.limits.grace, all_done).await.is_err() {
            let cut = clients.len();
            clients.shutdown().await;
            return cut;
        }
        0
    }

    /// Renews the authority if it is due, on a thread of its own: another process may hold the lock of its files for long, and
    /// nothing has to wait for the renewal.
    fn renew(&self) {
        let leaves = Arc::clone(&self.leaves);
        let renewing = move || {
            if let Err(error) = leaves.renew() {
                tracing::error!(%error, "the certificate authority cannot be renewed; the one in memory stays in use");
            }
        };
        let thread = std::thread::Builder::new().name("grov-ca-renewal".to_owned());
        if let Err(error) = thread.spawn(renewing) {
            tracing::error!(%error, "the renewal of the certificate authority cannot be started");
        }
    }
}

/// Whether an error of `accept` concerns only one client.
fn is_of_one_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}
