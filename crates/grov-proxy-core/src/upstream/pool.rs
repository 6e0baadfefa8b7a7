//! Idle connections for the next request.

use super::{ConnectError, Connector, UpstreamConnection};
use crate::workers;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How long an idle connection is kept. Middleboxes drop them silently after a minute.
const MAX_IDLE: Duration = Duration::from_secs(50);

/// After this long without use, other workers may take an idle connection: opening one takes longer than being woken by
/// another thread. A worker without any connection may take one at once.
const LEND_AFTER: Duration = Duration::from_millis(100);

/// Most idle connections of all workers.
const MAX_IDLE_CONNECTIONS: usize = 256;

struct Idle {
    connection: UpstreamConnection,
    since: Instant,
    /// The monotonic clock may stop while the machine sleeps.
    since_wall: SystemTime,
}

/// The connections that one worker opened. Their I/O events wake that worker.
#[derive(Default)]
struct WorkerConnections {
    /// The newest last.
    idle: Mutex<Vec<Idle>>,
    /// Number of connections, idle or not.
    open: Arc<AtomicUsize>,
}

/// The worker that opened a connection.
pub(crate) struct Owner {
    worker: usize,
    open: Arc<AtomicUsize>,
}

impl Owner {
    /// Counts a connection of this worker.
    pub(crate) fn new(worker: usize, open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self {
            worker,
            open: Arc::clone(open),
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Idle connections to one upstream.
pub(crate) struct Pool {
    connector: Connector,
    by_worker: Box<[WorkerConnections]>,
    counts: Arc<Counts>,
}

/// How many connections were reused and opened.
#[derive(Default)]
pub(super) struct Counts {
    reused: AtomicU64,
    opened: AtomicU64,
}

impl Counts {
    /// Returns how many were reused and opened.
    pub(super) fn get(&self) -> (u64, u64) {
        (
            self.reused.load(Ordering::Relaxed),
            self.opened.load(Ordering::Relaxed),
        )
    }
}

impl Pool {
    /// Creates a pool for `workers` threads; 0 means that any thread uses the connections.
    pub(super) fn new(connector: Connector, workers: usize, counts: Arc<Counts>) -> Self {
        Self {
            connector,
            by_worker: (0..workers.max(1))
                .map(|_| WorkerConnections::default())
                .collect(),
            counts,
        }
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Returns an idle connection: of this worker, or of one that does not use it now.
    pub(crate) fn take(&self) -> Option<UpstreamConnection> {
        let (others, own) = self.by_worker.split_at(self.own());
        let (own, more) = own.split_first()?;
        let connection = own.take(Duration::ZERO).or_else(|| {
            let has_none = own.open.load(Ordering::Relaxed) == 0;
            let at_least = if has_none { Duration::ZERO } else { LEND_AFTER };
            let mut others = others.iter().chain(more);
            others.find_map(|other| other.take(at_least))
        })?;
        self.counts.reused.fetch_add(1, Ordering::Relaxed);
        Some(connection)
    }

    /// Returns the index of this worker.
    fn own(&self) -> usize {
        workers::number() % self.by_worker.len()
    }

    /// Opens a connection.
    pub(crate) async fn open(&self) -> Result<UpstreamConnection, ConnectError> {
        let stream = self.connector.connect().await?;
        let number = self.own();
        let open = self.by_worker.get(number).map(|worker| &worker.open);
        let owner = Owner::new(number, open.unwrap_or(&Arc::default()));
        let connection =
            UpstreamConnection::new(stream, owner)
                .await
                .map_err(|error| ConnectError::Connect {
                    to: self.connector.upstream().host().to_owned(),
                    reason: error.to_string(),
                })?;
        self.counts.opened.fetch_add(1, Ordering::Relaxed);
        Ok(connection)
    }

    /// Keeps a connection whose exchange is over, if it is free for another.
    pub(crate) fn give_back(&self, mut connection: UpstreamConnection) {
        if !connection.is_usable() {
            return;
        }
        let Some(worker) = self.by_worker.get(connection.owner().worker) else {
            return;
        };
        let mut idle = worker.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle
            .first()
            .is_some_and(|oldest| oldest.since.elapsed() >= MAX_IDLE)
        {
            idle.retain(|kept| kept.since.elapsed() < MAX_IDLE);
        }
        if idle.len() < MAX_IDLE_CONNECTIONS / self.by_worker.len() {
            idle.push(Idle {
                connection,
                since: Instant::now(),
                since_wall: SystemTime::now(),
            });
        }
    }
}

impl WorkerConnections {
    /// Returns the newest usable connection that was idle for `at_least`.
    fn take(&self, at_least: Duration) -> Option<UpstreamConnection> {
        loop {
            let mut idle = {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.pop_if(|newest| newest.since.elapsed() >= at_least)?
            };
            let slept = SystemTime::now()
                .duration_since(idle.since_wall)
                .unwrap_or(Duration::MAX);
            if idle.since.elapsed() < MAX_IDLE && slept < MAX_IDLE && idle.connection.is_usable() {
                return Some(idle.connection);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_limiter::ReadLimiter;
    use tokio::net::{TcpListener, TcpStream};

    /// A pool of two workers whose connections were last used so long ago: the first worker's two, then the second's.
    async fn pool(ages: [u64; 3]) -> (Pool, Vec<TcpStream>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let upstream = crate::Upstream::parse(&format!("http://{address}")).unwrap();
        let pool = Pool::new(
            Connector::new(upstream, Duration::from_secs(1), Arc::default()),
            2,
            Arc::default(),
        );
        let mut peers = Vec::new();
        for (owner, age) in [0, 0, 1].into_iter().zip(ages) {
            let (stream, peer) = tokio::join!(TcpStream::connect(address), listener.accept());
            let place = Owner::new(owner, &pool.by_worker[owner].open);
            let stream = ReadLimiter::of_responses(Box::new(stream.unwrap()) as _);
            let connection = UpstreamConnection::new(stream, place).await;
            pool.give_back(connection.unwrap());
            let mut idle = pool.by_worker[owner].idle.lock().unwrap();
            idle.last_mut().unwrap().since = Instant::now() - Duration::from_millis(age);
            peers.push(peer.unwrap().0);
        }
        (pool, peers)
    }

    /// The workers from whose connections are taken, one after the other, by the first.
    fn taken(pool: &Pool) -> Vec<usize> {
        std::iter::from_fn(|| pool.take())
            .map(|connection| connection.owner().worker)
            .collect()
    }

    #[tokio::test]
    async fn a_worker_takes_its_own_connections_first() {
        let (pool, _peers) = pool([40_000, 30_000, 20_000]).await;
        assert_eq!(taken(&pool), [0, 0, 1]);
        assert_eq!(pool.counts.get(), (3, 0));
    }

    #[tokio::test]
    async fn recently_used_connections_stay_with_their_worker() {
        // As if used an hour from now: nothing that this test waits for makes it old.
        let (pool, _peers) = pool([40_000, 30_000, 0]).await;
        pool.by_worker[1].idle.lock().unwrap()[0].since = Instant::now() + Duration::from_secs(3600);
        let (one, other) = (pool.take().unwrap(), pool.take().unwrap());
        assert!(pool.take().is_none());
        // But for one that has none at all, idle or not.
        drop(one);
        assert!(pool.take().is_none());
        drop(other);
        assert_eq!(taken(&pool), [1]);
    }

    #[tokio::test]
    async fn connection_returns_to_the_worker_that_opened_it() {
        let (pool, _peers) = pool([60_000, 60_000, 20_000]).await;
        let connection = pool.take().unwrap();
        pool.give_back(connection);
        let idle = |worker: usize| pool.by_worker[worker].idle.lock().unwrap().len();
        assert_eq!((idle(0), idle(1)), (0, 1));
    }
}
