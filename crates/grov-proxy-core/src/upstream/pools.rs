//! The upstreams of a proxy, each with its own connections.

use super::{Connector, Pool, Upstream};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Identifies an upstream of a proxy, see [`ProxyBuilder::add_upstream`](crate::ProxyBuilder::add_upstream).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpstreamId(usize);

impl UpstreamId {
    /// The main upstream.
    pub const MAIN: Self = Self(0);

    /// The `number`th added upstream, counted from 1.
    pub(crate) fn nth(number: usize) -> Self {
        Self(number)
    }
}

/// The pools of all upstreams of a proxy.
pub(crate) struct Pools {
    main: Arc<Pool>,
    others: Vec<Arc<Pool>>,
}

impl Pools {
    pub(crate) fn new(main: Upstream, others: Vec<Upstream>, limit: Duration, workers: usize) -> Self {
        let pool = |upstream| Arc::new(Pool::new(Connector::new(upstream, limit), workers));
        Self {
            main: pool(main),
            others: others.into_iter().map(pool).collect(),
        }
    }

    pub(crate) fn main(&self) -> &Arc<Pool> {
        &self.main
    }

    /// Returns `None` for an upstream of another proxy.
    pub(crate) fn get(&self, upstream: UpstreamId) -> Option<&Arc<Pool>> {
        match upstream.0.checked_sub(1) {
            None => Some(&self.main),
            Some(other) => self.others.get(other),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Pool>> {
        std::iter::once(&self.main).chain(&self.others)
    }

    /// Returns what has the address `own`, or `None`. See [`Connector::points_at`].
    pub(crate) fn points_at(&self, own: SocketAddr) -> Option<&'static str> {
        self.all().find_map(|pool| pool.connector().points_at(own))
    }

    /// Returns how many connections were reused and opened, of all upstreams.
    pub(crate) fn counts(&self) -> (u64, u64) {
        self.all()
            .map(|pool| pool.counts())
            .fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
    }
}
