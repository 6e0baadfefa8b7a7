//! Threads that serve connections, each with a separate runtime.
//!
//! A connection stays on one thread with everything it needs: no task is woken across threads, and memory is freed where it was
//! allocated. The price: blocking a thread delays its other connections, and those of other threads that use an upstream connection
//! it opened.

use crate::connection::render_date;
use crate::intake::BoxedStream;
use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::{Id, JoinSet};

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of the worker that this thread is, or 0.
pub(crate) fn number() -> usize {
    NUMBER.get()
}

/// Threads that serve connections. They end when this is dropped.
pub(crate) struct Workers(Vec<Worker>);

struct Worker {
    runtime: Handle,
    /// Number of its connections.
    connections: Arc<AtomicUsize>,
    /// Dropping it ends the thread.
    _running: oneshot::Sender<Infallible>,
}

/// Counts a connection of a worker until dropped.
struct LoadGuard(Arc<AtomicUsize>);

impl Workers {
    /// Starts `count` threads.
    ///
    /// # Errors
    /// If a thread or its runtime cannot be created.
    pub(crate) fn start(count: usize) -> io::Result<Self> {
        (0..count).map(Worker::start).collect::<io::Result<_>>().map(Self)
    }

    /// Serves a connection on the worker with the fewest connections, the first of these: recently used upstream connections are
    /// there. Returns the id of its task.
    ///
    /// # Errors
    /// If the socket cannot be moved to the worker.
    pub(crate) fn serve<S, F>(
        &self,
        connections: &mut JoinSet<()>,
        socket: S,
        serve: impl FnOnce(S) -> F + Send + 'static,
    ) -> io::Result<Id>
    where
        S: Transfer,
        F: Future<Output = ()> + Send + 'static,
    {
        let load = |worker: &&Worker| worker.connections.load(Ordering::Relaxed);
        let Some(worker) = self.0.iter().min_by_key(load) else {
            return Ok(connections.spawn(serve(socket)).id());
        };
        let socket = socket.detach()?;
        let served = LoadGuard::by(worker);
        let serving = async move {
            let _served = served;
            match S::attach(socket) {
                Ok(socket) => serve(socket).await,
                Err(error) => tracing::error!(%error, "a client's connection cannot be served"),
            }
        };
        Ok(connections.spawn_on(serving, &worker.runtime).id())
    }
}

/// A client stream that can move from one runtime to another.
pub(crate) trait Transfer: Sized + Send + 'static {
    /// The stream between two runtimes.
    type Detached: Send + 'static;

    /// Detaches it from the current runtime.
    fn detach(self) -> io::Result<Self::Detached>;

    /// Attaches it to the current runtime.
    fn attach(stream: Self::Detached) -> io::Result<Self>;
}

impl Transfer for TcpStream {
    type Detached = std::net::TcpStream;

    fn detach(self) -> io::Result<Self::Detached> {
        self.into_std()
    }

    fn attach(stream: Self::Detached) -> io::Result<Self> {
        Self::from_std(stream)
    }
}

/// The inner stream stays with the runtime that created it.
impl Transfer for BoxedStream {
    type Detached = Self;

    fn detach(self) -> io::Result<Self> {
        Ok(self)
    }

    fn attach(stream: Self) -> io::Result<Self> {
        Ok(stream)
    }
}

impl Worker {
    fn start(number: usize) -> io::Result<Self> {
        let (running, stopped) = oneshot::channel();
        let (ready, started) = std::sync::mpsc::channel();
        std::thread::Builder::new()
            .name(format!("grov-worker-{number}"))
            .spawn(move || {
                NUMBER.set(number);
                let runtime = match Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime,
                    Err(error) => {
                        let _ = ready.send(Err(error));
                        return;
                    }
                };
                runtime.block_on(render_date());
                let _ = ready.send(Ok(runtime.handle().clone()));
                let _ = runtime.block_on(stopped);
                runtime.shutdown_background();
            })?;
        let runtime = started
            .recv()
            .map_err(|_| io::Error::other("a thread ended early"))??;
        Ok(Self {
            runtime,
            connections: Arc::default(),
            _running: running,
        })
    }
}

impl LoadGuard {
    fn by(worker: &Worker) -> Self {
        worker.connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&worker.connections))
    }
}

impl Drop for LoadGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use tokio::net::TcpListener;

    /// A connection that was accepted, and its client.
    async fn connection(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let address = listener.local_addr().unwrap();
        let (accepted, client) = tokio::join!(listener.accept(), TcpStream::connect(address));
        (accepted.unwrap().0, client.unwrap())
    }

    #[tokio::test]
    async fn connection_goes_to_the_first_worker_with_the_fewest_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let workers = Workers::start(3).unwrap();
        let mut connections = JoinSet::new();
        let seen: Arc<Mutex<Vec<usize>>> = Arc::default();
        let mut clients = Vec::new();
        let mut ends = Vec::new();
        for place in [0, 1, 2, 0, 1] {
            let (socket, client) = connection(&listener).await;
            let (end, ended) = oneshot::channel::<()>();
            let (noted, was_noted) = oneshot::channel();
            let seen = Arc::clone(&seen);
            workers
                .serve(&mut connections, socket, move |_socket| async move {
                    seen.lock().unwrap().push(number());
                    let _ = noted.send(());
                    let _ = ended.await;
                })
                .unwrap();
            was_noted.await.unwrap();
            clients.push(client);
            ends.push((place, end));
        }
        assert_eq!(*seen.lock().unwrap(), [0, 1, 2, 0, 1]);
        // Both of the second worker's end: it has the fewest.
        ends.retain(|(place, _)| *place != 1);
        for _ in 0..2 {
            connections.join_next().await.unwrap().unwrap();
        }
        let (socket, _client) = connection(&listener).await;
        let (sender, number) = oneshot::channel();
        workers
            .serve(&mut connections, socket, |_socket| async {
                let _ = sender.send(super::number());
            })
            .unwrap();
        assert_eq!(number.await.unwrap(), 1);
    }

    #[tokio::test]
    async fn without_workers_a_connection_is_served_where_it_was_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let workers = Workers::start(0).unwrap();
        let mut connections = JoinSet::new();
        let (socket, _client) = connection(&listener).await;
        let here = std::thread::current().id();
        workers
            .serve(&mut connections, socket, move |_socket| async move {
                assert_eq!(std::thread::current().id(), here);
            })
            .unwrap();
        connections.join_next().await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn the_threads_end_with_the_workers() {
        let workers = Workers::start(2).unwrap();
        let runtimes: Vec<Handle> = workers.0.iter().map(|worker| worker.runtime.clone()).collect();
        drop(workers);
        for runtime in runtimes {
            // A runtime that has shut down refuses tasks. One that is shutting down may accept a task and drop it.
            let mut tasks = JoinSet::new();
            tasks.spawn_on(std::future::pending::<()>(), &runtime);
            let ended = tasks.join_next().await.unwrap();
            assert!(ended.unwrap_err().is_cancelled());
        }
    }
}
