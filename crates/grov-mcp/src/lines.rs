//! Reads a client's messages, one on each line.

use bytes::BytesMut;
use futures_util::StreamExt;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::RxJsonRpcMessage;
use rmcp::transport::async_rw::{JsonRpcMessageCodec, JsonRpcMessageCodecError};
use serde_json::Value;
use serde_json::value::RawValue;
use std::io;
use tokio::io::AsyncRead;
use tokio_util::codec::{Decoder, FramedRead};

/// What a client sent.
pub(crate) enum Line {
    /// A message.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// JSON that is no message, and the response to it.
    Refused { id: Option<RequestId>, error: ErrorData },
}

/// The lines of a client. Those that are no JSON or too long are skipped.
pub(crate) struct Lines<R>(FramedRead<R, Codec>);

/// Reads JSON. A line that is none is an item too: after an error, a framed stream would wait for more bytes.
struct Codec(JsonRpcMessageCodec<Box<RawValue>>);

impl Codec {
    fn skipping(
        decoded: Result<Option<Box<RawValue>>, JsonRpcMessageCodecError>,
    ) -> io::Result<Option<Option<Box<RawValue>>>> {
        match decoded {
            Ok(decoded) => Ok(decoded.map(Some)),
            Err(JsonRpcMessageCodecError::Io(error)) => Err(error),
            Err(_) => Ok(Some(None)),
        }
    }
}

impl Decoder for Codec {
    type Item = Option<Box<RawValue>>;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        Self::skipping(self.0.decode(buffer))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        Self::skipping(self.0.decode_eof(buffer))
    }
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R, max_length: usize) -> Self {
        let codec = Codec(JsonRpcMessageCodec::new_with_max_length(max_length));
        Self(FramedRead::new(input, codec))
    }

    /// The next line; `None` at the end. Nothing is lost if the future is dropped.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        loop {
            let json = self.0.next().await?.ok()?;
            if let Some(line) = json.and_then(|json| line(&json)) {
                return Some(line);
            }
        }
    }
}

/// Reads a message; `None` for a notification that is none, which nobody waits for.
fn line(json: &RawValue) -> Option<Line> {
    if let Ok(message) = serde_json::from_str(json.get()) {
        return Some(Line::Message(Box::new(message)));
    }
    let found: Value = serde_json::from_str(json.get()).unwrap_or_default();
    let sent_id = found.get("id");
    let method = found.get("method").and_then(Value::as_str);
    if sent_id.is_none() && method.is_some() {
        return None;
    }
    let id = sent_id.and_then(|id| serde_json::from_value(id.clone()).ok());
    let has_version = found.get("jsonrpc").is_some_and(|version| version == "2.0");
    let has_parameters = found
        .get("params")
        .is_none_or(|params| params.is_object() || params.is_null());
    let error = match method {
        Some(method) if id.is_some() && has_version && !has_parameters => ErrorData::invalid_params(
            format!("the parameters of {} have to be an object", shown(method)),
            None,
        ),
        _ => ErrorData::invalid_request(
            "this is no message of the protocol: a request has \"jsonrpc\": \"2.0\", an id and the name of a method",
            None,
        ),
    };
    Some(Line::Refused { id, error })
}

/// The beginning of a name that the client sent.
pub(crate) fn shown(name: &str) -> &str {
    &name[..name.floor_char_boundary(64)]
}
