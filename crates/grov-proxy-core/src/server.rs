//! The accept loop, and the shutdown of all connections.

use crate::admission::{Access, Client};
use crate::connection;
use crate::connection_state::{ConnectionState, NOT_EVICTABLE, Phase, Signal};
use crate::exchange::Service;
use crate::gate::Peer;
use crate::intake::Taken;
use crate::limits::{CONNECTIONS_ON_CREDIT, Limits};
use crate::prepared_stream::PreparedStream;
use crate::profile::ConnectionProfile;
use crate::secure_stream::SecureStream;
use crate::workers::{Transfer, Workers};
use socket2::{SockRef, TcpKeepalive};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

/// Errors of `accept` are logged at most this often.
const LOG_EVERY: Duration = Duration::from_secs(60);

/// How long connections stay open for one more request after [`Shutdown::HandOver`]. Clients close idle connections about as
/// soon.
const RETIREMENT: Duration = Duration::from_secs(10);

/// How a proxy stops serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Idle connections close at once.
    Stop,
    /// Another process accepts connections at the same address. Each open connection may send one more request, whose response
    /// tells the client to connect again, within ten seconds. So no request meets a connection that is being closed.
    HandOver,
}

/// Serves until `shutdown` resolves, then waits up to `grace` for running exchanges. Returns how many were cut. `tls` is for
/// connections of the listener.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<Arc<rustls::ServerConfig>>,
    mut streams: Option<mpsc::Receiver<Taken>>,
    service: Arc<Service>,
    workers: &Workers,
    shutdown: impl Future<Output = Shutdown>,
    grace: Duration,
) -> usize {
    let mut clients = ConnectionSet::new(service);
    let mut shutdown = pin!(shutdown);
    let mut pause = pin!(tokio::time::sleep(Duration::ZERO));
    let mut pausing = None;
    let shutdown = loop {
        tokio::select! {
            how = &mut shutdown => break how,
            Some(ended) = clients.tasks.join_next_with_id() => {
                clients.ended(ended);
                pausing = pausing.filter(|why| *why == Pause::AcceptFailed || clients.is_crowded());
            }
            () = &mut pause, if pausing.is_some() => pausing = None,
            accepted = listener.accept(), if pausing.is_none() && clients.has_capacity() => {
                pausing = match accepted {
                    Ok((socket, remote)) => {
                        prepare_accepted(&socket);
                        // Fails only for a client that is gone. Then it gets no privileges of this machine.
                        let local = socket.local_addr().unwrap_or(SocketAddr::from(([0; 4], 0)));
                        let sender = Sender::Peer(Peer { remote, local });
                        match tls.clone() {
                            None => clients.serve(workers, socket, sender, |socket, _| socket),
                            Some(tls) => clients.serve(workers, socket, sender, |socket: TcpStream, state| {
                                SecureStream::new(socket, tls, state)
                            }),
                        }
                    }
                    Err(error) => clients.not_accepted(&error),
                };
                if let Some(why) = pausing {
                    pause.as_mut().reset(Instant::now() + why.length());
                }
            }
            stream = next(&mut streams), if pausing.is_none() && clients.has_capacity() => {
                pausing = match stream {
                    None => None,
                    Some(Taken::Stream(stream)) => {
                        clients.serve(workers, stream, Sender::Intake(None), |stream, _| stream)
                    }
                    Some(Taken::Intercepted { socket, prepare, profile }) => {
                        clients.serve(workers, socket, Sender::Intake(Some(profile)), |socket, _| {
                            PreparedStream::Preparing(prepare(socket))
                        })
                    }
                };
                if let Some(why) = pausing {
                    pause.as_mut().reset(Instant::now() + why.length());
                }
            }
        }
    };
    drop((listener, streams));
    if shutdown == Shutdown::HandOver {
        clients.retire().await;
    }
    // Idle connections close at once, busy ones after their running exchange.
    for state in clients.open.values() {
        state.signal_stop();
    }
    let mut connections = clients.tasks;
    let all_done = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, all_done).await.is_err() {
        let cut = connections.len();
        connections.shutdown().await;
        return cut;
    }
    0
}

/// How long an accepted connection is silent before the system asks whether the client's machine is still there, and how long
/// between two questions.
const KEEP_ALIVE: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(15));

/// Prepares an accepted connection: small writes leave at once, and a client whose machine is gone is noticed. Fails
/// only for a client that is gone already.
pub fn prepare_accepted(socket: &TcpStream) {
    let _ = socket.set_nodelay(true);
    let (time, interval) = KEEP_ALIVE;
    let keep_alive = TcpKeepalive::new().with_time(time).with_interval(interval);
    let _ = SockRef::from(socket).set_tcp_keepalive(&keep_alive);
}

/// Returns the next stream of the intake. Never resolves once it is closed.
async fn next(streams: &mut Option<mpsc::Receiver<Taken>>) -> Option<Taken> {
    let Some(receiver) = streams else {
        return std::future::pending().await;
    };
    let stream = receiver.recv().await;
    if stream.is_none() {
        *streams = None;
    }
    stream
}

/// Who sends the requests of a connection.
enum Sender {
    /// A client of the listener.
    Peer(Peer),
    /// A stream of the intake, which may be intercepted.
    Intake(Option<Arc<ConnectionProfile>>),
}

/// Why the accept loop pauses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// `accept` failed.
    AcceptFailed,
    /// Idle connections are closing.
    Room,
}

impl Pause {
    /// Returns the longest pause.
    fn length(self) -> Duration {
        match self {
            Self::AcceptFailed => Duration::from_millis(200),
            Self::Room => Duration::from_millis(10),
        }
    }
}

/// All client connections.
struct ConnectionSet {
    service: Arc<Service>,
    start: Instant,
    tasks: JoinSet<()>,
    open: HashMap<Id, ConnectionState>,
    /// When an error of `accept` was last logged.
    logged: Option<Instant>,
}

impl ConnectionSet {
    fn new(service: Arc<Service>) -> Self {
        Self {
            service,
            start: Instant::now(),
            tasks: JoinSet::new(),
            open: HashMap::new(),
            logged: None,
        }
    }

    /// Returns whether another connection can be accepted.
    fn has_capacity(&self) -> bool {
        self.open.len() < self.most().saturating_add(Limits::BEYOND)
    }

    /// Returns whether too many connections are open while idle ones close.
    fn is_crowded(&self) -> bool {
        self.open.len() >= self.most().saturating_add(CONNECTIONS_ON_CREDIT)
    }

    fn most(&self) -> usize {
        self.service.limits.connections
    }

    /// Serves a connection on the stream that `wrap` makes of its socket. Returns a pause before the next one.
    fn serve<S, W>(
        &mut self,
        workers: &Workers,
        socket: S,
        sender: Sender,
        wrap: impl FnOnce(S, ConnectionState) -> W + Send + 'static,
    ) -> Option<Pause>
    where
        S: Transfer,
        W: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            self.ended(ended);
        }
        let has_place = self.open.len() < self.most() || self.make_room();
        let access = if has_place && !self.is_crowded() {
            Access::Everything
        } else {
            Access::AdminOnly
        };
        let (service, start) = (Arc::clone(&self.service), self.start);
        let state = ConnectionState::default();
        // Until its task runs.
        state.set_eviction_rank(connection::eviction_rank(Phase::FirstRequest, start.elapsed()));
        let own = state.clone();
        let (peer, profile) = match sender {
            Sender::Peer(peer) => (Some(peer), None),
            Sender::Intake(profile) => (None, profile),
        };
        let client = Client {
            access,
            peer,
            profile,
        };
        let serve = move |socket| {
            let stream = wrap(socket, own.clone());
            connection::serve(stream, service, own, client, start)
        };
        match workers.serve(&mut self.tasks, socket, serve) {
            Ok(task) => {
                self.open.insert(task, state);
                self.count();
            }
            Err(error) => tracing::error!(%error, "a client's connection cannot be handed over"),
        }
        let asked = |state: &ConnectionState| state.signal() == Signal::MakeRoom;
        (self.is_crowded() && self.open.values().any(asked)).then_some(Pause::Room)
    }

    /// Asks the connection with the lowest eviction rank to close. Returns `false` if all are busy.
    fn make_room(&self) -> bool {
        let ranked = self.open.values().map(|state| (state.eviction_rank(), state));
        match ranked.min_by_key(|(rank, _)| *rank) {
            Some((rank, state)) if rank != NOT_EVICTABLE => {
                state.signal_make_room();
                self.service.metrics.evictions.inc();
                true
            }
            _ => false,
        }
    }

    /// Lets each connection serve one more request. Returns when all have ended, or after [`RETIREMENT`].
    async fn retire(&mut self) {
        for state in self.open.values() {
            state.signal_retire();
        }
        let all_ended = async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                self.ended(ended);
            }
        };
        // What is still open then is idle, or in an exchange that has the grace period.
        let _ = tokio::time::timeout(RETIREMENT, all_ended).await;
    }

    fn ended(&mut self, ended: Result<(Id, ()), JoinError>) {
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        self.open.remove(&id);
        self.count();
    }

    fn count(&self) {
        self.service.metrics.set_connections(self.open.len());
    }

    /// Handles an error of `accept`. Closing an idle connection frees a file descriptor.
    fn not_accepted(&mut self, error: &io::Error) -> Option<Pause> {
        let one_client_only = matches!(
            error.kind(),
            io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionRefused
        );
        if one_client_only {
            return None;
        }
        self.service.metrics.not_accepted(error);
        self.make_room();
        if self.logged.is_none_or(|logged| logged.elapsed() >= LOG_EVERY) {
            self.logged = Some(Instant::now());
            let open = self.open.len();
            tracing::error!(%error, open, "cannot accept clients; closing an idle connection and retrying");
        }
        Some(Pause::AcceptFailed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_whose_machine_is_gone_is_noticed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let socket = accepted.unwrap().0;
        prepare_accepted(&socket);
        assert!(SockRef::from(&socket).keepalive().unwrap());
        assert!(socket.nodelay().unwrap());
        drop(client);
    }
}
