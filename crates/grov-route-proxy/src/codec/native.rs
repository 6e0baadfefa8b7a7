//! Providers that speak the Messages API themselves.

mod errors;
mod events;

use super::{filter, reason};
use bytes::{Bytes, BytesMut};
use errors::{Held, HeldErrors};
use events::Events;
use grov_proxy_core::{CodecError, Decoder, Delivery, Encoded, Interruption};
use grov_redact::Secret;
use grov_route::translate::{Failure, PING_EVENT, client_status, in_band_failure, mask_keys};
use grov_route::{Target, with_model, without_own_thinking};
use http::header::{self, HeaderValue};
use http::{StatusCode, request, response};
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::sync::Arc;

/// The largest response that is no stream, in bytes.
const MAX_BODY: usize = 32 * 1024 * 1024;

/// The version of the Messages API.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

const EARLY_END: &str = "connection closed: the provider ended the response before its last event";

/// Whether an endpoint belongs to Anthropic itself.
pub(super) fn is_anthropic(endpoint: &str) -> bool {
    let host = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    host == "anthropic.com" || host.ends_with(".anthropic.com")
}

/// Prepares a request: the model changes, and thinking of other models is removed.
pub(super) fn encode(
    head: &mut request::Parts,
    body: &Bytes,
    target: &Target,
    keys: Arc<[Secret]>,
) -> Result<Encoded, CodecError> {
    let body = without_own_thinking(body).map_or_else(|| body.clone(), Bytes::from);
    let body = with_model(&body, &target.model)
        .ok_or_else(|| CodecError("The request names no model.".to_owned()))?;
    head.headers.insert("anthropic-version", VERSION);
    Ok(Encoded {
        body: body.into(),
        decoder: Some(Box::new(NativeDecoder {
            keys,
            provider: target.provider.clone(),
            ..NativeDecoder::default()
        })),
    })
}

/// A response of the Messages API. Only errors are changed, because the client would take them for those of its own account, and a stream
/// that ends early gets an error event.
#[derive(Default)]
pub(super) struct NativeDecoder {
    /// The provider's status, if it is an error.
    error: Option<u16>,
    /// The body of an error.
    body: Vec<u8>,
    is_stream: bool,
    /// Bytes passed so far.
    passed: usize,
    /// The status of an error that a body with status 200 holds.
    in_band: Option<u16>,
    /// Where the stream is.
    events: Events,
    /// Holds errors inside a stream back.
    errors: HeldErrors,
    /// The provider's keys.
    keys: Arc<[Secret]>,
    /// The provider's name.
    provider: String,
}

/// What tells a message from an error and from other documents.
#[derive(serde::Deserialize)]
struct MessageHead<'b> {
    #[serde(default, borrow, rename = "type")]
    kind: Option<Cow<'b, str>>,
    error: Option<serde_json::Value>,
    content: Option<IgnoredAny>,
}

impl MessageHead<'_> {
    fn is_error(&self) -> bool {
        self.kind.as_deref() == Some("error") || self.error.is_some() && self.content.is_none()
    }
}

impl NativeDecoder {
    /// Writes bytes of a stream, with errors masked like all others.
    fn pass(&mut self, held: Held<'_>, out: &mut BytesMut) {
        match held {
            Held::Bytes(bytes) => out.extend_from_slice(bytes),
            Held::Error(data) => {
                let data = String::from_utf8_lossy(data);
                let data = mask_keys(&data, &self.keys);
                let failure = in_band_failure(data.as_bytes());
                let body = failure
                    .without_keys(&self.keys)
                    .of_provider(&self.provider)
                    .body();
                out.extend_from_slice(format!("event: error\ndata: {body}\n\n").as_bytes());
            }
        }
    }

    /// Looks at a whole body with status 200: an error in it is masked like all others, and what is no message is of no use.
    fn check_message(&mut self, body: &mut BytesMut) -> Result<(), CodecError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(CodecError("the answer is empty".to_owned()));
        }
        let Ok(message) = serde_json::from_slice::<MessageHead>(body) else {
            return Err(CodecError("the answer is no JSON object".to_owned()));
        };
        if message.is_error() {
            let text = String::from_utf8_lossy(body);
            let failure = in_band_failure(mask_keys(&text, &self.keys).as_bytes())
                .without_keys(&self.keys)
                .of_provider(&self.provider);
            self.in_band = Some(failure.status);
            *body = BytesMut::from(failure.body().to_string().as_bytes());
        } else if message.content.is_none() {
            let detail = "the answer is no message of the Messages API";
            return Err(CodecError(detail.to_owned()));
        }
        Ok(())
    }

    fn interrupt(&self, reason: &str, out: &mut BytesMut) {
        let failure = Failure::transport(reason).of_provider(&self.provider);
        // An event may be incomplete: the empty line ends it.
        out.extend_from_slice(format!("\n\nevent: error\ndata: {}\n\n", failure.body()).as_bytes());
    }
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
        if !self.is_stream {
            out.extend_from_slice(chunk);
            return Ok(());
        }
        self.events.chunk(chunk);
        let mut errors = std::mem::take(&mut self.errors);
        errors.chunk(chunk, &mut |held| self.pass(held, out));
        self.errors = errors;
        Ok(())
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), CodecError> {
        if let Some(status) = self.error {
            let body = String::from_utf8_lossy(&self.body);
            let body = mask_keys(&body, &self.keys);
            let failure = Failure::provider(status, body.as_bytes())
                .without_keys(&self.keys)
                .of_provider(&self.provider);
            out.extend_from_slice(failure.body().to_string().as_bytes());
            return Ok(());
        }
        if !self.is_stream {
            return self.check_message(out);
        }
        let mut errors = std::mem::take(&mut self.errors);
        if !self.events.is_at_boundary() {
            let end = b"\n\n";
            self.events.chunk(end);
            errors.chunk(end, &mut |held| self.pass(held, out));
        }
        errors.end(&mut |held| self.pass(held, out));
        if !self.events.has_ended() {
            self.interrupt(EARLY_END, out);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.events.has_ended() && self.events.is_at_boundary()
    }

    fn abort(&mut self, interruption: &Interruption, out: &mut BytesMut) {
        self.interrupt(&reason(interruption), out);
    }

    fn collected(&mut self, head: &mut response::Parts, _: &[u8]) {
        if let Some(status) = self.in_band {
            head.status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        }
    }

    fn ping(&mut self, out: &mut BytesMut) {
        if self.is_stream && self.events.is_at_boundary() && !self.events.has_ended() {
            out.extend_from_slice(PING_EVENT);
        }
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

    fn stream() -> NativeDecoder {
        let mut decoder = NativeDecoder::default();
        let response = http::Response::builder().header(header::CONTENT_TYPE, "text/event-stream");
        let (mut head, ()) = response.body(()).unwrap().into_parts();
        assert!(matches!(decoder.head(&mut head), Ok(Delivery::Stream)));
        decoder
    }

    fn ended(text: &str) -> (String, bool) {
        let mut decoder = stream();
        let mut out = BytesMut::new();
        decoder.chunk(text.as_bytes(), &mut out).unwrap();
        let done = decoder.is_done();
        decoder.end(&mut out).unwrap();
        (String::from_utf8(out.to_vec()).unwrap(), done)
    }

    #[test]
    fn a_stream_that_ends_early_ends_with_an_error_event() {
        for text in [
            "",
            "event: ping\ndata: {}\n\n",
            "event: message_delta\ndata: {\"ty",
        ] {
            let (out, done) = ended(text);
            assert!(!done && out.starts_with(text), "{out}");
            let last = out.trim_end().rsplit("\n\n").next().unwrap();
            assert!(last.trim_start().starts_with("event: error\ndata: {"), "{out}");
        }
        let text = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".to_owned();
        assert_eq!(ended(&text), (text, true));
    }

    #[test]
    fn an_error_inside_a_stream_is_masked_and_names_the_provider() {
        let error =
            r#"{"type":"error","error":{"type":"overloaded_error","message":"busy, key 0123-plain_key"}}"#;
        for event in [
            format!("event: error\ndata: {error}\n\n"),
            format!("data: {error}\n\n"),
        ] {
            for cut in [1, 7, 20, event.len() - 1] {
                let mut decoder = stream();
                decoder.keys = Arc::from([Secret::from("0123-plain_key")]);
                decoder.provider = "local".to_owned();
                let (first, rest) = event.split_at(cut);
                let mut out = BytesMut::from("");
                for chunk in ["event: ping\ndata: {}\n\n", first, rest] {
                    decoder.chunk(chunk.as_bytes(), &mut out).unwrap();
                }
                assert!(decoder.is_done());
                decoder.end(&mut out).unwrap();
                let out = String::from_utf8(out.to_vec()).unwrap();
                let error = out
                    .strip_prefix("event: ping\ndata: {}\n\nevent: error\ndata: ")
                    .unwrap();
                let error: serde_json::Value = serde_json::from_str(error).unwrap();
                assert_eq!(error["error"]["type"], "overloaded_error");
                let message = error["error"]["message"].as_str().unwrap();
                assert!(
                    message.starts_with("[HTTP_529] Grov: local: busy, key [REDACTED]"),
                    "{message}"
                );
            }
        }
    }

    fn whole(body: &str) -> (u16, Result<String, CodecError>) {
        let mut decoder = NativeDecoder {
            keys: Arc::from([Secret::from("0123-plain_key")]),
            ..NativeDecoder::default()
        };
        let (mut head, ()) = http::Response::new(()).into_parts();
        assert!(matches!(decoder.head(&mut head), Ok(Delivery::Whole)));
        let mut out = BytesMut::new();
        decoder.chunk(body.as_bytes(), &mut out).unwrap();
        let ended = decoder.end(&mut out);
        decoder.collected(&mut head, &out);
        let text = String::from_utf8(out.to_vec()).unwrap();
        (head.status.as_u16(), ended.map(|()| text))
    }

    #[test]
    fn a_whole_answer_that_is_no_message_is_no_answer() {
        for body in [
            "",
            " \n",
            "<html>",
            "[1]",
            r#"{"choices":[]}"#,
            r#"{"type":"mess"#,
        ] {
            assert!(whole(body).1.is_err(), "{body}");
        }
        for body in [
            r#"{"type":"message","content":[],"error":null}"#,
            r#"{"content":[{"type":"text","text":"\u00e9"}]}"#,
        ] {
            assert_eq!(whole(body), (200, Ok(body.to_owned())));
        }
    }

    #[test]
    fn an_error_in_a_whole_answer_has_its_status_and_no_key() {
        for (body, status) in [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"bad key 0123-plain_key"}}"#,
                502,
            ),
            (r#"{"error":{"code":400,"message":"0123-plain_key"}}"#, 400),
            (r#"{"error":"0123-plain_key"}"#, 502),
        ] {
            let (seen, text) = whole(body);
            let text = text.unwrap();
            assert_eq!(seen, status, "{text}");
            assert!(
                text.contains("[REDACTED]") && !text.contains("plain_key"),
                "{text}"
            );
        }
    }

    #[test]
    fn pings_come_between_events_only() {
        let mut decoder = stream();
        for (chunk, pings) in [
            ("event: content_block_delta\n", false),
            ("data: {}\n\n", true),
            ("ev", false),
            ("ent: message_stop\ndata: {}\n\n", false),
        ] {
            let mut out = BytesMut::new();
            decoder.chunk(chunk.as_bytes(), &mut out).unwrap();
            out.clear();
            decoder.ping(&mut out);
            assert_eq!(!out.is_empty(), pings, "{chunk}");
        }
    }

    #[test]
    fn keys_that_a_provider_repeats_are_masked_whole() {
        let mut decoder = NativeDecoder {
            keys: Arc::from([Secret::from("0123-plain_key")]),
            ..NativeDecoder::default()
        };
        let response = http::Response::builder().status(401).body(());
        let (mut head, ()) = response.unwrap().into_parts();
        decoder.head(&mut head).unwrap();
        let mut out = BytesMut::new();
        decoder
            .chunk(b"the key 0123-plain_key is wrong", &mut out)
            .unwrap();
        decoder.end(&mut out).unwrap();
        let out = String::from_utf8(out.to_vec()).unwrap();
        assert!(out.contains("the key [REDACTED] is wrong"), "{out}");
    }
}
