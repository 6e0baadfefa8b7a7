//! A server that answers each connection with the next entry of its script, and records the requests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The server's reaction to a request.
#[derive(Clone)]
pub(crate) enum Line {
    /// Answers with this status, these header lines (each ending in CRLF) and this body.
    Reply(u16, &'static str, String),
    /// Sends an event stream in these parts, and closes the connection.
    Stream(Vec<String>),
    /// Announces a longer body than it sends, and closes the connection.
    Broken,
    /// Never answers.
    Hang,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Plays `script` and repeats its last entry.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test's own server, aborted when it is dropped"
    )]
    pub(crate) async fn play(script: Vec<Line>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&received);
        let task = tokio::spawn(async move {
            let mut held = Vec::new();
            let mut next = 0;
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = request(&mut stream).await;
                requests.lock().unwrap().push(request);
                let line = &script[next.min(script.len() - 1)];
                next += 1;
                match line {
                    Line::Reply(status, headers, body) => {
                        let answer = format!(
                            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}connection: close\r\n\
                             content-length: {}\r\n\r\n{body}",
                            body.len()
                        );
                        let _ = stream.write_all(answer.as_bytes()).await;
                    }
                    Line::Stream(parts) => {
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                                    connection: close\r\n\r\n";
                        let _ = stream.write_all(head.as_bytes()).await;
                        for part in parts {
                            let _ = stream.write_all(part.as_bytes()).await;
                            let _ = stream.flush().await;
                            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                        }
                    }
                    Line::Broken => {
                        let _ = stream
                            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"content")
                            .await;
                    }
                    Line::Hang => held.push(stream),
                }
            }
        });
        Self {
            address,
            received,
            task,
        }
    }

    /// The requests so far, head and body.
    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

/// Reads one request, head and body.
async fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).to_string();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase()
                        .strip_prefix("content-length:")?
                        .trim()
                        .parse()
                        .ok()
                })
                .unwrap_or(0);
            if body.len() >= length {
                return text;
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return text;
        }
    }
}
