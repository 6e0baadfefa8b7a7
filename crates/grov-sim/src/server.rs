//! One connection of the simulated API: reads requests, gets their answers, passes the answers to the transmitter.

use crate::behaviour::{Encoding, Ending, Fault};
use crate::chat;
use crate::foreign::ForeignApi;
use crate::message;
use crate::record::{Delivery, End};
use crate::routes;
use crate::state::{Shared, lock};
use crate::tools;
use crate::transmit::{self, After};
use crate::wire::{Frame, Framing, Head, Wire, WireError};
use bytes::{Bytes, BytesMut};
use std::sync::Arc;
use tokio::net::TcpStream;
use xxhash_rust::xxh3::Xxh3;

/// Maximum body size of `/v1/messages*`, as the API documents it.
pub(crate) const MAX_BODY: u64 = 32 * 1024 * 1024;

/// Serves a connection until either side ends it.
pub(crate) async fn serve(shared: Arc<Shared>, stream: TcpStream, connection: u64) {
    // Without it the kernel would join small writes, and the requested sizes would not be visible to the client.
    let _ = stream.set_nodelay(true);
    let mut wire = Wire::new(stream);
    loop {
        match exchange(&shared, &mut wire, connection).await {
            Ok(After::KeepAlive) => {}
            Ok(After::Close) => {
                let _ = wire.finish().await;
                return;
            }
            Ok(After::Reset) => {
                let _ = wire.stream().set_zero_linger();
                return;
            }
            Err(WireError::Malformed(problem)) => {
                let body = message::error_body("invalid_request_error", problem).to_string();
                let response = format!(
                    "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
                     connection: close\r\n\r\n{body}",
                    body.len()
                );
                lock(&shared.state).malformed += 1;
                let _ = wire.send(response.as_bytes()).await;
                let _ = wire.finish().await;
                return;
            }
            Err(_) => return,
        }
    }
}

/// One request as read.
pub(crate) struct Incoming {
    pub(crate) head: Head,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) body: Bytes,
    pub(crate) length: u64,
    pub(crate) hash: u128,
    pub(crate) trailers: Vec<(String, String)>,
}

impl Incoming {
    pub(crate) fn is_messages(&self) -> bool {
        self.method == "POST" && self.path == "/v1/messages"
    }
}

async fn exchange(
    shared: &Arc<Shared>,
    wire: &mut Wire<TcpStream>,
    connection: u64,
) -> Result<After, WireError> {
    let Some(head) = wire.read_head().await? else {
        return Ok(After::Close);
    };
    let mut incoming = read(wire, head).await?;
    let keep_alive =
        incoming.head.line.ends_with("HTTP/1.1") && !incoming.head.has_token("connection", "close");
    let now = shared.now();
    let record = shared.arrive(&incoming, connection, now);
    let body = incoming.body.clone();
    let encoding = incoming.head.header("content-encoding");
    // The Messages API takes no encoded requests.
    if let Some(encoding) = encoding.and_then(Encoding::from_name)
        && !incoming.is_messages()
    {
        incoming.body = encoding.decode(&body).into();
    }
    let decided = routes::decide(shared, &incoming, &record, now);
    let (delivery, after) = match decided.response.behaviour.fault {
        Some(Fault::NoAnswer(ending)) => {
            let after = if ending == Ending::Reset {
                After::Reset
            } else {
                After::Close
            };
            (
                Delivery {
                    status: None,
                    bytes: 0,
                    end: End::Cut,
                },
                after,
            )
        }
        _ => {
            let begun = || shared.begun(decided.cached);
            transmit::transmit(wire, decided.response, keep_alive, begun).await
        }
    };
    shared.answered(&record, delivery, body).await;
    Ok(after)
}

async fn read(wire: &mut Wire<TcpStream>, head: Head) -> Result<Incoming, WireError> {
    let mut words = head.line.split(' ');
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
        return Err(WireError::Malformed("request line"));
    };
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return Err(WireError::Malformed("request line"));
    }
    let (method, (path, query)) = (method.to_owned(), split_target(target));
    let framing = head.request_framing()?;
    if head.has_token("expect", "100-continue") && framing != Framing::Length(0) {
        wire.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let kept = path.starts_with("/v1/messages")
        || path == chat::PATH
        || tools::is_path(&path)
        || ForeignApi::of(&method, &path).is_some();
    let mut body = BytesMut::new();
    let mut hash = Xxh3::new();
    let mut length = 0;
    let mut reader = wire.body(framing);
    let trailers = loop {
        match reader.frame().await? {
            Frame::Data(data) => {
                length += data.len() as u64;
                hash.update(&data);
                if kept && length <= MAX_BODY {
                    body.extend_from_slice(&data);
                }
            }
            Frame::End(trailers) => break trailers,
        }
    };
    if length > MAX_BODY {
        body.clear();
    }
    Ok(Incoming {
        head,
        method,
        path,
        query,
        body: body.freeze(),
        length,
        hash: hash.digest128(),
        trailers,
    })
}

/// Path and query of a request target, in origin or absolute form.
fn split_target(target: &str) -> (String, Option<String>) {
    let origin = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => target,
    };
    match origin.split_once('?') {
        Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
        None => (origin.to_owned(), None),
    }
}
