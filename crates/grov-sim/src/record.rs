//! What arrived, byte for byte, and how it was answered.

use crate::wire::Head;
use bytes::Bytes;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use time::OffsetDateTime;

/// How much of each request is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    /// Heads and bodies. Bodies on paths other than `/v1/messages*` and `/v1/chat/completions` are kept as length and hash only.
    #[default]
    Bodies,
    /// Heads, and of bodies the length and hash.
    Heads,
    /// Nothing; for long runs.
    Nothing,
}

/// One request as it arrived.
#[derive(Debug)]
pub struct RecordedRequest {
    /// Its number in order of arrival, from 0.
    pub number: u64,
    /// The number of its connection, from 0.
    pub connection: u64,
    /// Its head: first line, headers in order and case, and the raw bytes.
    pub head: Head,
    /// `POST`, …
    pub method: String,
    /// The path, without scheme, host and query.
    pub path: String,
    /// What follows the `?`, if there is one.
    pub query: Option<String>,
    /// The body; empty if it is not kept, or is larger than the API takes.
    pub body: Bytes,
    /// Length of the body.
    pub body_length: u64,
    /// XXH3 hash of the body, 128 bits.
    pub body_hash: u128,
    /// Trailers after a chunked body.
    pub trailers: Vec<(String, String)>,
    /// When the body was complete, by the simulation's clock.
    pub received_at: OffsetDateTime,
    /// The `request-id` of the response.
    pub request_id: String,
    /// Its number among the `POST /v1/messages`, from 1; 0 for others.
    pub(crate) ordinal: u64,
    pub(crate) delivery: OnceLock<Delivery>,
}

impl RecordedRequest {
    /// A header's first value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// How the response went; `None` while it is under way. Known a moment after the client has the last byte: wait
    /// for it with [`Sim::wait_until`](crate::Sim::wait_until).
    pub fn delivery(&self) -> Option<&Delivery> {
        self.delivery.get()
    }

    /// Whether this is a `POST` to `/v1/chat/completions`.
    pub fn is_chat(&self) -> bool {
        self.method == "POST" && self.path == crate::chat::PATH
    }

    /// Whether this is a `POST` to `/v1/messages`.
    pub fn is_messages(&self) -> bool {
        self.method == "POST" && self.path == "/v1/messages"
    }
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything was sent.
    Complete,
    /// It was cut, as its behaviour wanted.
    Cut,
    /// The client went away before the end; ending its sending side counts as going away.
    ClientGone,
}

/// How a response went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its status; `None` if there was no head.
    pub status: Option<u16>,
    /// Bytes handed to the socket, head included.
    pub bytes: u64,
    /// How it ended.
    pub end: End,
}

/// Writes an answered request to a directory: `NNNNN.http` with the bytes as they arrived, and a line of
/// `index.jsonl` that tells what it was.
pub(crate) fn save(directory: &Path, request: &RecordedRequest, body: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let mut file = std::fs::File::create(directory.join(format!("{:05}.http", request.number)))?;
    file.write_all(&request.head.raw)?;
    file.write_all(body)?;
    let delivery = request.delivery();
    let line = serde_json::json!({
        "number": request.number,
        "connection": request.connection,
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "body_length": request.body_length,
        "request_id": request.request_id,
        "status": delivery.and_then(|delivery| delivery.status),
        "complete": delivery.is_some_and(|delivery| delivery.end == End::Complete),
    });
    let mut index = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(directory.join("index.jsonl"))?;
    index.write_all(format!("{line}\n").as_bytes())
}
