//! Connections kept ready for the next request.

use super::{ConnectError, Connector, Link};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// An idle connection older than this is not trusted: middle boxes drop them silently after a minute.
const MAX_IDLE: Duration = Duration::from_secs(50);

/// Most idle connections kept.
const MAX_KEPT: usize = 256;

struct Idle {
    link: Link,
    since: Instant,
    /// The wall clock goes on while the machine sleeps; the monotonic one may not.
    since_wall: SystemTime,
}

/// Idle connections to one upstream, newest on top.
pub(crate) struct Pool {
    connector: Connector,
    idle: Mutex<Vec<Idle>>,
    reused: AtomicU64,
    opened: AtomicU64,
}

impl Pool {
    pub(crate) fn new(connector: Connector) -> Self {
        Self {
            connector,
            idle: Mutex::default(),
            reused: AtomicU64::new(0),
            opened: AtomicU64::new(0),
        }
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// An idle connection that is still good, if there is one.
    pub(crate) fn take(&self) -> Option<Link> {
        loop {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            let slept = SystemTime::now()
                .duration_since(idle.since_wall)
                .unwrap_or(Duration::MAX);
            if idle.since.elapsed() < MAX_IDLE && slept < MAX_IDLE && idle.link.is_usable() {
                self.reused.fetch_add(1, Ordering::Relaxed);
                return Some(idle.link);
            }
        }
    }

    /// A new connection.
    pub(crate) async fn open(&self) -> Result<Link, ConnectError> {
        let transport = self.connector.connect().await?;
        let link = Link::new(transport)
            .await
            .map_err(|error| ConnectError::Connect {
                to: self.connector.upstream().host().to_owned(),
                reason: error.to_string(),
            })?;
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(link)
    }

    /// Takes back a connection whose exchange is over; drops it if it is not free for another.
    pub(crate) fn give_back(&self, mut link: Link) {
        if !link.is_usable() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle
            .first()
            .is_some_and(|oldest| oldest.since.elapsed() >= MAX_IDLE)
        {
            idle.retain(|kept| kept.since.elapsed() < MAX_IDLE);
        }
        if idle.len() < MAX_KEPT {
            idle.push(Idle {
                link,
                since: Instant::now(),
                since_wall: SystemTime::now(),
            });
        }
    }

    /// Requests that found a connection ready, and connections opened.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (
            self.reused.load(Ordering::Relaxed),
            self.opened.load(Ordering::Relaxed),
        )
    }
}
