//! A server that answers with what a test scripts, and records what it receives.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request that was received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A scripted response.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    head: String,
    /// Pauses and bytes.
    parts: Vec<(Duration, String)>,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::with(status, "application/json", "", body)
    }

    pub(crate) fn with(status: u16, kind: &str, headers: &str, body: &str) -> Self {
        Self {
            head: format!(
                "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n{headers}connection: close\r\n\r\n",
                body.len()
            ),
            parts: vec![(Duration::ZERO, body.to_owned())],
        }
    }

    /// Announces more bytes than it sends.
    pub(crate) fn cut(body: &str) -> Self {
        let mut reply = Self::json(200, &format!("{body}{}", "x".repeat(100)));
        reply.parts = vec![(Duration::ZERO, body.to_owned())];
        reply
    }

    /// Events with pauses before them; the connection ends behind the last.
    pub(crate) fn events(events: &[(u64, &str)]) -> Self {
        let part = |(pause, data): &(u64, &str)| (Duration::from_millis(*pause), format!("data: {data}\n\n"));
        Self {
            head: "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
                .to_owned(),
            parts: events.iter().map(part).collect(),
        }
    }

    pub(crate) fn after(mut self, pause: Duration) -> Self {
        self.parts[0].0 = pause;
        self
    }
}

/// A running server. Behind the last reply it repeats that.
pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let received = Arc::clone(&requests);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let reply = replies[number.min(replies.len() - 1)].clone();
                let received = Arc::clone(&received);
                thread::spawn(move || answer(stream.unwrap(), &reply, &received));
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, reply: &Reply, received: &Mutex<Vec<Request>>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    let (head, length) = loop {
        let count = stream.read(&mut buffer).unwrap();
        if count == 0 {
            return;
        }
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length: ")
                    .map(str::to_owned)
            });
            break (
                head.to_owned(),
                length.map_or(0, |length| length.parse().unwrap()),
            );
        }
    };
    while bytes.len() < head.len() + 4 + length {
        let count = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..count]);
    }
    let body = serde_json::from_slice(&bytes[head.len() + 4..]).unwrap_or_default();
    let line = head.lines().next().unwrap().to_owned();
    received.lock().unwrap().push(Request { line, head, body });
    // The client may have gone away.
    let _ = stream.write_all(reply.head.as_bytes());
    for (pause, part) in &reply.parts {
        thread::sleep(*pause);
        let _ = stream.write_all(part.as_bytes());
    }
}
