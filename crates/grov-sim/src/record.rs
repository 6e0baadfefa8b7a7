//! Records of requests, byte for byte, and of the delivery of their responses.

use crate::wire::Head;
use bytes::Bytes;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use time::OffsetDateTime;

/// How much of each request is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    /// Heads and bodies. For paths other than `/v1/messages*` and those of other model calls and external tools, only the
    /// body's length and hash.
    #[default]
    Bodies,
    /// Heads, and the length and hash of bodies.
    Heads,
    /// Nothing, for long runs.
    Nothing,
}

/// One request, as it arrived.
#[derive(Debug)]
pub struct RecordedRequest {
    /// Its index in order of arrival, from 0.
    pub number: u64,
    /// The index of its connection, from 0.
    pub connection: u64,
    /// Its head: first line, headers in order and case, and the raw bytes.
    pub head: Head,
    /// `POST`, …
    pub method: String,
    /// The path, without scheme, host and query.
    pub path: String,
    /// The part after the `?`, if there is one.
    pub query: Option<String>,
    /// The body; empty if it is not kept, or is larger than the API accepts.
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
    /// Its number among the `POST /v1/messages` requests, from 1; 0 for others.
    pub(crate) ordinal: u64,
    pub(crate) delivery: OnceLock<Delivery>,
}

impl RecordedRequest {
    /// A header's first value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// The delivery of the response; `None` while it is in progress. Known shortly after the client has the last byte:
    /// wait for it with [`Sim::wait_until`](crate::Sim::wait_until).
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
    /// It was cut, as its behaviour requires.
    Cut,
    /// The client disconnected before the end; shutting down its sending side counts as disconnecting.
    ClientGone,
}

/// The delivery of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its status; `None` if no head was sent.
    pub status: Option<u16>,
    /// Bytes handed to the socket, head included.
    pub bytes: u64,
    /// How it ended.
    pub end: End,
}

/// Writes an answered request to a directory: `NNNNN.http` with the bytes as they arrived, and a line in `index.jsonl`
/// that describes it.
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
