//! The upstreams of a proxy, each with its own connections.

use super::pool::Counts;
use super::{Connector, Pool, Upstream};
use rustls::pki_types::CertificateDer;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// The further upstreams of a proxy. They can be added at any time, also while the proxy serves.
///
/// Get it from [`ProxyBuilder::upstreams`](crate::ProxyBuilder::upstreams). Clones add to the same proxy.
#[derive(Clone, Default)]
pub struct Upstreams {
    shared: Arc<Shared>,
}

/// What all pools of a proxy share.
#[derive(Default)]
pub(crate) struct Shared {
    /// Number of worker threads.
    workers: AtomicUsize,
    /// The addresses of the proxy itself and of its embedder: requests sent there would loop.
    own: RwLock<Vec<SocketAddr>>,
    /// Certificates that secure upstreams are trusted with, besides those of this machine.
    extra_roots: OnceLock<Vec<CertificateDer<'static>>>,
    counts: Arc<Counts>,
}

/// An upstream of a proxy. When the last clone is dropped, the upstream is removed: its idle connections close, and running
/// exchanges keep theirs to the end.
///
/// The default is the main upstream.
#[derive(Clone, Default)]
pub struct UpstreamHandle(Option<Arc<Added>>);

struct Added {
    upstream: Upstream,
    /// Maximum time to connect.
    connect: Duration,
    shared: Arc<Shared>,
    /// Created with the first request, because the number of workers is known only when the proxy is built.
    pool: OnceLock<Arc<Pool>>,
}

impl Upstreams {
    /// Adds an upstream. `connect` is the maximum time to open a connection.
    ///
    /// An upstream that is the proxy itself is unreachable.
    pub fn add(&self, upstream: Upstream, connect: Duration) -> UpstreamHandle {
        UpstreamHandle(Some(Arc::new(Added {
            upstream,
            connect,
            shared: Arc::clone(&self.shared),
            pool: OnceLock::new(),
        })))
    }

    /// Refuses later connections to `own`, another listener of this process.
    pub fn refuse(&self, own: SocketAddr) {
        self.shared.refuse(own);
    }
}

impl UpstreamHandle {
    /// The main upstream.
    pub const MAIN: Self = Self(None);

    /// Returns whether it is the main upstream.
    pub fn is_main(&self) -> bool {
        self.0.is_none()
    }
}

impl std::fmt::Debug for UpstreamHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            None => f.write_str("UpstreamHandle(main)"),
            Some(added) => write!(f, "UpstreamHandle({})", added.upstream.uri()),
        }
    }
}

/// The pools of all upstreams of a proxy.
pub(crate) struct Pools {
    main: Arc<Pool>,
    shared: Arc<Shared>,
}

impl Pools {
    pub(crate) fn new(
        main: Upstream,
        limit: Duration,
        workers: usize,
        others: &Upstreams,
        extra_roots: Vec<CertificateDer<'static>>,
    ) -> Self {
        let shared = Arc::clone(&others.shared);
        shared.set_extra_roots(extra_roots);
        shared.workers.store(workers, Ordering::Relaxed);
        Self {
            main: shared.pool(main, limit),
            shared,
        }
    }

    pub(crate) fn main(&self) -> &Arc<Pool> {
        &self.main
    }

    pub(crate) fn get<'p>(&'p self, upstream: &'p UpstreamHandle) -> &'p Arc<Pool> {
        match &upstream.0 {
            None => &self.main,
            Some(added) => added.pool(),
        }
    }

    /// Refuses later connections to `own`, the address of the proxy. Returns what of the main upstream has this address, or
    /// `None`. See [`Connector::points_at`].
    pub(crate) fn refuse_own(&self, own: SocketAddr) -> Option<&'static str> {
        self.shared.refuse(own);
        self.main.connector().points_at(own)
    }

    /// Returns how many connections were reused and opened, of all upstreams.
    pub(crate) fn counts(&self) -> (u64, u64) {
        self.shared.counts.get()
    }
}

impl Shared {
    fn pool(self: &Arc<Self>, upstream: Upstream, connect: Duration) -> Arc<Pool> {
        let workers = self.workers.load(Ordering::Relaxed);
        let connector = Connector::new(upstream, connect, Arc::clone(self));
        Arc::new(Pool::new(connector, workers, Arc::clone(&self.counts)))
    }

    fn set_extra_roots(&self, roots: Vec<CertificateDer<'static>>) {
        // A proxy is built once.
        let _ = self.extra_roots.set(roots);
    }

    /// Returns the certificates that are trusted besides those of this machine.
    pub(super) fn extra_roots(&self) -> Vec<CertificateDer<'static>> {
        self.extra_roots.get().cloned().unwrap_or_default()
    }

    fn refuse(&self, own: SocketAddr) {
        self.own.write().unwrap_or_else(PoisonError::into_inner).push(own);
    }

    /// Returns the first result of `check` for the addresses of this process.
    pub(super) fn find_own<T>(&self, check: impl FnMut(&SocketAddr) -> Option<T>) -> Option<T> {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        own.iter().find_map(check)
    }
}

impl Added {
    fn pool(&self) -> &Arc<Pool> {
        self.pool
            .get_or_init(|| self.shared.pool(self.upstream.clone(), self.connect))
    }
}
