//! Providers that speak the Messages API themselves.

use super::{filter, reason};
use bytes::{Bytes, BytesMut};
use grov_proxy_core::{CodecError, Decoder, Delivery, Encoded, Interruption};
use grov_route::translate::{Failure, client_status};
use grov_route::{with_model, without_own_thinking};
use http::header::{self, HeaderValue};
use http::{StatusCode, request, response};

/// The largest response that is no stream, in bytes.
const MAX_BODY: usize = 32 * 1024 * 1024;

/// The version of the Messages API.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// Whether an endpoint belongs to Anthropic itself.
pub(super) fn is_anthropic(endpoint: &str) -> bool {
    let host = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    host == "anthropic.com" || host.ends_with(".anthropic.com")
}

/// Prepares a request: the model changes, and thinking of other models is removed.
pub(super) fn encode(head: &mut request::Parts, body: &Bytes, model: &str) -> Result<Encoded, CodecError> {
    let body = without_own_thinking(body).map_or_else(|| body.clone(), Bytes::from);
    let body =
        with_model(&body, model).ok_or_else(|| CodecError("The request names no model.".to_owned()))?;
    head.headers.insert("anthropic-version", VERSION);
    Ok(Encoded {
        body: body.into(),
        decoder: Some(Box::new(NativeDecoder::default())),
    })
}

/// A response of the Messages API. Only errors are changed: the client would take them for those of its own account.
#[derive(Default)]
pub(super) struct NativeDecoder {
    /// The provider's status, if it is an error.
    error: Option<u16>,
    /// The body of an error.
    body: Vec<u8>,
    is_stream: bool,
    /// Bytes passed so far.
    passed: usize,
}

impl Decoder for NativeDecoder {
    fn head(&mut self, head: &mut response::Parts) -> Result<Delivery, CodecError> {
        let status = head.status.as_u16();
        if status != 200 {
            self.error = Some(status);
            head.status = StatusCode::from_u16(client_status(status)).unwrap_or(StatusCode::BAD_GATEWAY);
            filter(&mut head.headers);
            head.headers
                .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            return Ok(Delivery::Whole);
        }
        let content_type = head.headers.get(header::CONTENT_TYPE).cloned();
        filter(&mut head.headers);
        if let Some(content_type) = content_type {
            self.is_stream = content_type.as_bytes().starts_with(b"text/event-stream");
            head.headers.insert(header::CONTENT_TYPE, content_type);
        }
        Ok(if self.is_stream {
            Delivery::Stream
        } else {
            Delivery::Whole
        })
    }

    fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), CodecError> {
        if self.error.is_some() {
            let room = MAX_BODY.saturating_sub(self.body.len()).min(chunk.len());
            self.body.extend_from_slice(chunk.get(..room).unwrap_or_default());
            return Ok(());
        }
        self.passed += chunk.len();
        if !self.is_stream && self.passed > MAX_BODY {
            return Err(CodecError(format!(
                "The response has more than {MAX_BODY} bytes."
            )));
        }
        out.extend_from_slice(chunk);
        Ok(())
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), CodecError> {
        if let Some(status) = self.error {
            let failure = Failure::provider(status, &self.body);
            out.extend_from_slice(failure.body().to_string().as_bytes());
        }
        Ok(())
    }

    fn abort(&mut self, interruption: &Interruption, out: &mut BytesMut) {
        let failure = Failure::transport(&reason(interruption));
        // An event may be incomplete: the empty line ends it.
        out.extend_from_slice(format!("\n\nevent: error\ndata: {}\n\n", failure.body()).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anthropic_is_recognised_by_its_host() {
        for (endpoint, expected) in [
            ("https://api.anthropic.com", true),
            ("https://api.anthropic.com:443/v1", true),
            ("https://api.anthropic.com.example.org/v1", false),
            ("https://notanthropic.com", false),
            ("http://127.0.0.1:8080/api.anthropic.com", false),
        ] {
            assert_eq!(is_anthropic(endpoint), expected, "{endpoint}");
        }
    }
}
