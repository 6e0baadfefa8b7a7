//! The upstreams of one proxy, each with connections of its own.

use super::{Connector, Pool, Upstream};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// One upstream of a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpstreamId(usize);

impl UpstreamId {
    /// The upstream that the proxy was built for.
    pub const MAIN: Self = Self(0);

    /// The one that was added as the `number`th, counted from 1.
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

    /// `None`: it is an upstream of another proxy.
    pub(crate) fn get(&self, upstream: UpstreamId) -> Option<&Arc<Pool>> {
        match upstream.0.checked_sub(1) {
            None => Some(&self.main),
            Some(other) => self.others.get(other),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Arc<Pool>> {
        std::iter::once(&self.main).chain(&self.others)
    }

    /// What, if anything, on the route to one of them is the listener `own`.
    pub(crate) fn points_at(&self, own: SocketAddr) -> Option<&'static str> {
        self.all().find_map(|pool| pool.connector().points_at(own))
    }

    /// Requests that found a connection ready, and connections opened, of all upstreams together.
    pub(crate) fn counts(&self) -> (u64, u64) {
        self.all()
            .map(|pool| pool.counts())
            .fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
    }
}
