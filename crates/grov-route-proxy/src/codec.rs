//! Requests and responses of providers, in the types of the proxy.

mod native;

use crate::table::PreparedTarget;
use bytes::{Bytes, BytesMut};
use grov_proxy_core::{Codec, CodecError, Decoder, Delivery, Encoded, Interruption};
use grov_route::strip_marker;
use grov_route::translate::{PING_EVENT, ResponseTranslator, new_request_id};
use http::header::{self, HeaderMap, HeaderValue};
use http::uri::PathAndQuery;
use http::{StatusCode, Uri, request, response};
use std::sync::Arc;

/// The header that identifies a response. The client writes it into its transcript, where it tells the blocks of one response
/// from two responses.
const REQUEST_ID: header::HeaderName = header::HeaderName::from_static("request-id");
/// Response headers of a provider that the client gets.
const KEPT: [header::HeaderName; 2] = [header::RETRY_AFTER, REQUEST_ID];

/// Translates the exchanges with a target.
pub(crate) struct ProviderCodec {
    prepared: Arc<PreparedTarget>,
    /// The position of the key.
    key: Option<usize>,
}

impl ProviderCodec {
    pub(crate) fn new(prepared: &Arc<PreparedTarget>, key: Option<usize>) -> Self {
        Self {
            prepared: Arc::clone(prepared),
            key,
        }
    }

    /// Sets the provider's key.
    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), CodecError> {
        let Some(key) = self.key.and_then(|key| self.prepared.provider.keys.get(key)) else {
            return Ok(());
        };
        let sensitive = |text: String| {
            let mut value = HeaderValue::try_from(text)
                .map_err(|_| CodecError("The provider's key cannot be sent.".into()))?;
            value.set_sensitive(true);
            Ok(value)
        };
        if self.prepared.translator.is_none() {
            headers.insert("x-api-key", sensitive(key.expose().to_owned())?);
        }
        // Anthropic itself takes a bearer token for a login.
        if self.prepared.translator.is_some() || !native::is_anthropic(&self.prepared.target.endpoint) {
            headers.insert(
                header::AUTHORIZATION,
                sensitive(format!("Bearer {}", key.expose()))?,
            );
        }
        Ok(())
    }
}

impl Codec for ProviderCodec {
    fn encode(&self, head: &mut request::Parts, body: Bytes) -> Result<Encoded, CodecError> {
        let body = match strip_marker(&body) {
            Some(marked) => Bytes::from(marked.body),
            None => body,
        };
        let target = &self.prepared.target;
        let keys = Arc::clone(&self.prepared.provider.keys);
        self.authorize(&mut head.headers)?;
        head.headers
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let Some(translator) = &self.prepared.translator else {
            head.uri = path(target.api_path())?;
            return native::encode(head, &body, target, keys);
        };
        let translated = translator
            .request(&body)
            .map_err(|error| CodecError(error.to_string()))?;
        head.uri = path(translated.path)?;
        let accept = if translated.stream {
            "text/event-stream"
        } else {
            "application/json"
        };
        head.headers
            .insert(header::ACCEPT, HeaderValue::from_static(accept));
        Ok(Encoded {
            body: translated.body.into(),
            decoder: Some(Box::new(TranslatedResponse(
                translated.response.masking(keys).naming(&target.provider),
            ))),
        })
    }
}

fn path(path: &'static str) -> Result<Uri, CodecError> {
    let uri = Uri::builder()
        .path_and_query(PathAndQuery::from_static(path))
        .build();
    uri.map_err(|error| CodecError(error.to_string()))
}

/// The response of a provider with another API.
struct TranslatedResponse(ResponseTranslator);

impl TranslatedResponse {
    fn set_status(head: &mut response::Parts, status: u16) {
        head.status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    }
}

/// Removes the headers of a provider that mean nothing to the client, and adds an id if it sent none.
fn filter(headers: &mut HeaderMap) {
    let kept: Vec<_> = KEPT
        .iter()
        .filter_map(|name| Some((name.clone(), headers.remove(name)?)))
        .collect();
    headers.clear();
    headers.extend(kept);
    if !headers.contains_key(REQUEST_ID)
        && let Ok(id) = HeaderValue::try_from(new_request_id())
    {
        headers.insert(REQUEST_ID, id);
    }
}

impl Decoder for TranslatedResponse {
    fn head(&mut self, head: &mut response::Parts) -> Result<Delivery, CodecError> {
        let content_type = head.headers.get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let status = self.0.head(head.status.as_u16(), content_type);
        Self::set_status(head, status);
        filter(&mut head.headers);
        let content_type = HeaderValue::from_static(self.0.content_type());
        head.headers.insert(header::CONTENT_TYPE, content_type);
        Ok(if self.0.is_stream() {
            Delivery::Stream
        } else {
            Delivery::Whole
        })
    }

    fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), CodecError> {
        self.0.chunk(chunk, out);
        Ok(())
    }

    fn end(&mut self, out: &mut BytesMut) -> Result<(), CodecError> {
        self.0.end(out);
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.0.is_done()
    }

    fn abort(&mut self, interruption: &Interruption, out: &mut BytesMut) {
        self.0.abort(&reason(interruption), out);
    }

    fn ping(&mut self, out: &mut BytesMut) {
        if !self.0.is_done() {
            out.extend_from_slice(PING_EVENT);
        }
    }

    fn collected(&mut self, head: &mut response::Parts, _: &[u8]) {
        Self::set_status(head, self.0.status());
    }
}

/// The reason of an interruption, in words that its class follows from.
fn reason(interruption: &Interruption) -> String {
    match interruption {
        Interruption::Cut => "connection closed: the provider cut the response".to_owned(),
        Interruption::Silent(limit) => format!("timed out: the provider sent nothing for {limit:?}"),
        Interruption::Untranslatable(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(name: &'static str, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("server", HeaderValue::from_static("nginx"));
        headers.insert(name, HeaderValue::from_static(value));
        filter(&mut headers);
        headers
    }

    #[test]
    fn a_translated_answer_has_a_request_id() {
        let (one, other) = (filtered("retry-after", "9"), filtered("retry-after", "9"));
        assert_eq!(one.len(), 2, "{one:?}");
        assert_eq!(one["retry-after"], "9");
        assert!(one[REQUEST_ID].as_bytes().starts_with(b"req_"), "{one:?}");
        assert_ne!(one[REQUEST_ID], other[REQUEST_ID]);
        assert_eq!(filtered("request-id", "req_011")[REQUEST_ID], "req_011");
    }
}
