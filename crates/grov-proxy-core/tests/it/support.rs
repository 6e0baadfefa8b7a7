//! A scripted upstream and client with control over every byte.

use grov_proxy_core::{Intake, Limits, Metrics, Proxy, ProxyBuilder, Shutdown, Upstream};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// Maximum wait for an expected event.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A step of the upstream after it read a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Writes these bytes.
    Write(Vec<u8>),
    /// Writes them in pieces of this size, with a short pause after each.
    Drip(Vec<u8>, usize),
    /// Waits.
    Pause(Duration),
    /// Waits for `release`.
    Hold,
    /// Closes the connection.
    Close,
    /// Closes it with a reset.
    Reset,
    /// Waits until the peer closes, and records it.
    AwaitClose,
}

/// A request as received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The index of its connection.
    pub(crate) connection: usize,
    /// The head as sent.
    pub(crate) head: String,
    /// The body as sent, without chunked framing.
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

#[derive(Default)]
struct Seen {
    requests: Vec<Received>,
    closed_by_peer: usize,
}

/// A scripted upstream.
#[derive(Clone)]
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    release: Arc<tokio::sync::Notify>,
}

impl Scripted {
    pub(crate) async fn start(script: impl Fn(usize, &Received) -> Vec<Act> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let release = Arc::new(tokio::sync::Notify::new());
        let this = Self {
            address,
            seen,
            release,
        };
        let server = this.clone();
        let script = Arc::new(script);
        let serving = async move {
            let mut connection = 0;
            let mut running = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let server = server.clone();
                let script = Arc::clone(&script);
                running.spawn(async move { server.connection(connection, socket, script).await });
                connection += 1;
            }
        };
        std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(async {
                    // The listener was created in another runtime.
                    serving.await;
                });
        });
        this
    }

    async fn connection<S>(&self, ordinal: usize, mut socket: TcpStream, script: Arc<S>)
    where
        S: Fn(usize, &Received) -> Vec<Act> + ?Sized,
    {
        let mut buffer = Vec::new();
        while let Some((head, body)) = read_message(&mut socket, &mut buffer).await {
            let received = Received {
                connection: ordinal,
                head,
                body,
            };
            let number = {
                let mut seen = self.seen.lock().unwrap();
                seen.requests.push(received.clone());
                seen.requests.len() - 1
            };
            for act in script(number, &received) {
                match act {
                    Act::Write(bytes) => {
                        if socket.write_all(&bytes).await.is_err() {
                            return;
                        }
                    }
                    Act::Drip(bytes, size) => {
                        for piece in bytes.chunks(size) {
                            if socket.write_all(piece).await.is_err() {
                                return;
                            }
                            tokio::time::sleep(Duration::from_micros(200)).await;
                        }
                    }
                    Act::Pause(time) => tokio::time::sleep(time).await,
                    Act::Hold => self.release.notified().await,
                    Act::Close => return,
                    Act::Reset => {
                        let _ = socket.set_zero_linger();
                        return;
                    }
                    Act::AwaitClose => {
                        let mut byte = [0; 64];
                        while matches!(socket.read(&mut byte).await, Ok(count) if count > 0) {}
                        self.seen.lock().unwrap().closed_by_peer += 1;
                        return;
                    }
                }
            }
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.seen.lock().unwrap().requests.clone()
    }

    pub(crate) fn closed_by_peer(&self) -> usize {
        self.seen.lock().unwrap().closed_by_peer
    }

    /// Continues all held responses.
    pub(crate) fn release(&self) {
        self.release.notify_waiters();
        self.release.notify_one();
    }
}

/// Reads an HTTP/1.1 message: the head as text, and the body without framing. Returns `None` at the end of the connection.
pub(crate) async fn read_message(
    socket: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> Option<(String, Vec<u8>)> {
    let head_end = loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            break at + 4;
        }
        if socket.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    buffer.drain(..head_end);
    let header = |name: &str| {
        head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let mut body = Vec::new();
    if header("transfer-encoding").is_some() {
        loop {
            let line_end = loop {
                if let Some(at) = find(buffer, b"\r\n") {
                    break at;
                }
                if socket.read_buf(buffer).await.ok()? == 0 {
                    return None;
                }
            };
            let line = String::from_utf8_lossy(&buffer[..line_end]).into_owned();
            let size = usize::from_str_radix(line.split(';').next().unwrap().trim(), 16).ok()?;
            while buffer.len() < line_end + 2 + size + 2 {
                if socket.read_buf(buffer).await.ok()? == 0 {
                    return None;
                }
            }
            body.extend_from_slice(&buffer[line_end + 2..line_end + 2 + size]);
            buffer.drain(..line_end + 2 + size + 2);
            if size == 0 {
                return Some((head, body));
            }
        }
    }
    let length: usize = header("content-length")
        .and_then(|value| value.parse().ok())
        .unwrap_or(0);
    while buffer.len() < length {
        if socket.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    body.extend(buffer.drain(..length));
    Some((head, body))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// A proxy that serves in the background.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) metrics: Arc<Metrics>,
    stop: Option<oneshot::Sender<Shutdown>>,
    done: std::thread::JoinHandle<usize>,
}

/// Number of worker threads.
const WORKERS: usize = 2;

impl Running {
    pub(crate) async fn start(builder: ProxyBuilder) -> Self {
        Self::run(builder.workers(WORKERS).build().unwrap())
    }

    /// Starts a proxy with an intake.
    pub(crate) fn with_intake(builder: ProxyBuilder) -> (Self, Intake) {
        let mut proxy = builder.workers(WORKERS).build().unwrap();
        let intake = proxy.intake();
        (Self::run(proxy), intake)
    }

    fn run(proxy: Proxy) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let metrics = proxy.metrics();
        let (stop, stopped) = oneshot::channel();
        let done = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                let shutdown = async { stopped.await.unwrap_or(Shutdown::Stop) };
                proxy.serve_until(listener, shutdown).await.unwrap()
            })
        });
        Self {
            address,
            metrics,
            stop: Some(stop),
            done,
        }
    }

    pub(crate) async fn before(upstream: &Scripted) -> Self {
        Self::start(Proxy::builder(Upstream::parse(&upstream.url()).unwrap())).await
    }

    pub(crate) async fn with_limits(upstream: &Scripted, limits: Limits) -> Self {
        Self::start(Proxy::builder(Upstream::parse(&upstream.url()).unwrap()).limits(limits)).await
    }

    pub(crate) async fn client(&self) -> Client {
        Client {
            socket: TcpStream::connect(self.address).await.unwrap(),
            buffer: Vec::new(),
        }
    }

    /// Starts the shutdown.
    pub(crate) fn stop(&mut self) {
        self.end(Shutdown::Stop);
    }

    /// Starts the shutdown as if another process served new connections.
    pub(crate) fn hand_over(&mut self) {
        self.end(Shutdown::HandOver);
    }

    fn end(&mut self, how: Shutdown) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(how);
        }
    }

    /// Shuts down and returns the number of cut connections.
    pub(crate) fn finish(mut self) -> usize {
        self.stop();
        self.done.join().unwrap()
    }
}

/// A client on one connection.
pub(crate) struct Client {
    pub(crate) socket: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.socket.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Sends bytes unless the proxy closed the connection.
    pub(crate) async fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.socket.write_all(bytes.as_ref()).await
    }

    /// Returns the next complete response.
    pub(crate) async fn receive(&mut self) -> Option<(String, Vec<u8>)> {
        tokio::time::timeout(SOON, read_message(&mut self.socket, &mut self.buffer))
            .await
            .expect("an answer in time")
    }

    /// Returns all bytes until the peer closes.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.buffer);
        let _ = tokio::time::timeout(SOON, self.socket.read_to_end(&mut all))
            .await
            .expect("a close in time");
        all
    }

    /// Returns the next `count` bytes.
    pub(crate) async fn at_least(&mut self, count: usize) -> Vec<u8> {
        while self.buffer.len() < count {
            let read = tokio::time::timeout(SOON, self.socket.read_buf(&mut self.buffer))
                .await
                .expect("bytes in time");
            assert!(
                read.unwrap() > 0,
                "closed after {}",
                String::from_utf8_lossy(&self.buffer)
            );
        }
        self.buffer.clone()
    }
}

/// Returns a `POST` request with this body and few headers.
pub(crate) fn post(path: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Returns a JSON response.
pub(crate) fn json_answer(body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Waits until the condition holds.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed() < SOON, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
