//! A server that answers each connection with the next line of its script, and remembers what it was asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Line {
    /// Answers with this status, these header lines (each ending in CRLF) and this body.
    Reply(u16, &'static str, String),
    /// Promises more than it sends, and closes.
    Broken,
    /// Says nothing.
    Hang,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Plays `script`, the last line again and again.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test's own server, aborted when it is dropped"
    )]
    pub(crate) async fn play(script: Vec<Line>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&heard);
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
                    Line::Broken => {
                        let _ = stream
                            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"content")
                            .await;
                    }
                    Line::Hang => held.push(stream),
                }
            }
        });
        Self { address, heard, task }
    }

    /// The requests so far, head and body.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
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
