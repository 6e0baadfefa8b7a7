//! Parses a response from a copy of the bytes that go to the client.

use super::assemble::Assembler;
use super::body;
use super::sse::SseDecoder;
use super::turn::{ApiError, Block, Turn, TurnEnd};
use crate::api::Api;
use crate::coding::{ContentDecoder, DecodeFault, MAX_DECODED_BYTES};
use crate::foreign;

/// Maximum size of a JSON body that is collected, in bytes. Half of [`MAX_DECODED_BYTES`], because the body and the blocks parsed
/// from it are in memory together for a moment.
pub const MAX_JSON_BYTES: usize = MAX_DECODED_BYTES / 2;

/// The kind of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseKind {
    /// Server-sent events.
    Sse,
    /// One JSON document.
    Json,
    /// Something else, which is not parsed.
    Opaque,
    /// Not known before the first byte of the body.
    Undetermined,
}

/// Parses one response incrementally.
///
/// [`feed`](Self::feed) takes the body in chunks of any size, decodes the content coding and parses events as they complete.
/// Errors never surface while feeding: [`finish`](Self::finish) reports them in the [`Turn`]. At most [`MAX_DECODED_BYTES`] are
/// decoded. Dropping the tap discards the response.
///
/// # Examples
/// ```
/// use grov_wire::response::{Block, ResponseTap, TurnEnd};
///
/// let mut tap = ResponseTap::new(200, Some("application/json"), None);
/// tap.feed(br#"{"type":"message","id":"msg_1","role":"assistant","model":"m","#);
/// tap.feed(br#""content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"output_tokens":3}}"#);
/// let turn = tap.finish(true);
/// assert_eq!(turn.end, TurnEnd::Complete);
/// assert_eq!(turn.blocks, [Block::Text { text: "Hi".to_owned(), complete: true }]);
/// assert_eq!(turn.usage.output, 3);
/// ```
pub struct ResponseTap {
    status: u16,
    content: Option<ContentDecoder>,
    text: Text,
    fault: Option<DecodeFault>,
    /// Whether any bytes were fed.
    began: bool,
}

/// The decoded body.
struct Text {
    api: Api,
    body: Body,
    /// Decoded bytes so far.
    decoded: usize,
}

enum Body {
    Undetermined,
    Sse {
        events: SseDecoder,
        assembler: Box<Assembler>,
    },
    ForeignSse {
        events: SseDecoder,
        assembler: Box<foreign::Assembler>,
    },
    Json(Vec<u8>),
    Opaque,
}

impl Body {
    fn of_kind(kind: ResponseKind, api: Api) -> Self {
        match kind {
            ResponseKind::Sse if api == Api::Messages => Self::Sse {
                events: SseDecoder::new(),
                assembler: Box::default(),
            },
            ResponseKind::Sse => Self::ForeignSse {
                events: SseDecoder::new(),
                assembler: Box::new(foreign::Assembler::new(api)),
            },
            ResponseKind::Json => Self::Json(Vec::new()),
            ResponseKind::Opaque => Self::Opaque,
            ResponseKind::Undetermined => Self::Undetermined,
        }
    }
}

impl ResponseTap {
    /// Creates a tap from the status and the headers `content-type` and `content-encoding` of the response. Join repeated
    /// `content-encoding` headers with commas.
    pub fn new(status: u16, content_type: Option<&str>, content_encoding: Option<&str>) -> Self {
        Self::for_api(Api::Messages, status, content_type, content_encoding)
    }

    /// Like [`new`](Self::new), for a response of another API.
    pub fn for_api(
        api: Api,
        status: u16,
        content_type: Option<&str>,
        content_encoding: Option<&str>,
    ) -> Self {
        let kind = kind_of(status, content_type);
        let (content, fault) = match content_encoding.map_or(Ok(None), ContentDecoder::for_header) {
            Ok(content) => (content, None),
            Err(fault) => (None, Some(fault)),
        };
        Self {
            status,
            content,
            text: Text {
                api,
                body: Body::of_kind(kind, api),
                decoded: 0,
            },
            fault,
            began: false,
        }
    }

    /// Returns the kind of the body.
    pub fn kind(&self) -> ResponseKind {
        match self.text.body {
            Body::Undetermined => ResponseKind::Undetermined,
            Body::Sse { .. } | Body::ForeignSse { .. } => ResponseKind::Sse,
            Body::Json(_) => ResponseKind::Json,
            Body::Opaque => ResponseKind::Opaque,
        }
    }

    /// Parses the next chunk of the body, as received: with its content coding, without its transfer coding.
    pub fn feed(&mut self, chunk: &[u8]) {
        if self.fault.is_some() || chunk.is_empty() || matches!(self.text.body, Body::Opaque) {
            return;
        }
        self.began = true;
        let text = &mut self.text;
        let result = match &mut self.content {
            None => text.feed(chunk),
            Some(content) => content.feed(chunk, &mut |decoded| text.feed(decoded)),
        };
        self.fault = result.err();
        if self.fault.is_some() || matches!(self.text.body, Body::Opaque) {
            // Not used again, and its window may take megabytes.
            self.content = None;
        }
    }

    /// Returns the blocks so far, ordered by index. Empty for a JSON body, which is parsed in [`finish`](Self::finish).
    pub fn blocks(&self) -> &[Block] {
        match &self.text.body {
            Body::Sse { assembler, .. } => assembler.blocks(),
            Body::ForeignSse { assembler, .. } => assembler.blocks(),
            _ => &[],
        }
    }

    /// Ends the body and returns the turn. `ended_cleanly` is whether the transport delivered the whole body: the last chunk, or
    /// as many bytes as `content-length`.
    pub fn finish(self, ended_cleanly: bool) -> Turn {
        let is_cut_inside = self.began && self.content.is_some_and(|content| !content.is_at_end());
        let fault = self.fault.or(is_cut_inside.then_some(DecodeFault::Truncated));
        let mut turn = match self.text.body {
            Body::Sse { events, assembler } => {
                let mut turn = assembler.finish();
                turn.irregularities.oversized = events.oversized();
                turn.irregularities.cut_mid_event = events.is_mid_event();
                turn
            }
            Body::ForeignSse { events, assembler } => {
                let mut turn = assembler.finish();
                turn.irregularities.oversized = events.oversized();
                turn.irregularities.cut_mid_event = events.is_mid_event();
                turn
            }
            Body::Json(body) if self.fault.is_none() => match self.text.api {
                Api::Messages => body::read(&body, ended_cleanly),
                api => foreign::read_body(api, &body, ended_cleanly),
            },
            Body::Json(_) => Turn::default(),
            Body::Undetermined if self.fault.is_some() => Turn::default(),
            Body::Opaque | Body::Undetermined => {
                let end = if ended_cleanly {
                    TurnEnd::NotAMessage
                } else {
                    TurnEnd::Truncated
                };
                Turn {
                    end,
                    ..Turn::default()
                }
            }
        };
        turn.irregularities.decoding = fault;
        if self.fault.is_some() && turn.end == TurnEnd::Truncated {
            turn.end = TurnEnd::Unobserved;
        }
        if self.status >= 400 {
            turn.end = TurnEnd::Error;
        }
        if turn.end == TurnEnd::Error && turn.error.is_none() {
            turn.error = Some(ApiError {
                kind: format!("http_{}", self.status),
                message: String::new(),
            });
        }
        turn
    }
}

impl Text {
    fn feed(&mut self, text: &[u8]) -> Result<(), DecodeFault> {
        self.decoded = self.decoded.saturating_add(text.len());
        if self.decoded > MAX_DECODED_BYTES {
            return Err(DecodeFault::TooLarge);
        }
        if let (Body::Undetermined, Some(first)) = (&self.body, text.trim_ascii_start().first()) {
            self.body = Body::of_kind(kind_of_first_byte(*first, self.api), self.api);
        }
        match &mut self.body {
            Body::Sse { events, assembler } => events.feed(text, |event| assembler.event(event)),
            Body::ForeignSse { events, assembler } => events.feed(text, |event| assembler.event(event)),
            Body::Json(body) if body.len() + text.len() > MAX_JSON_BYTES => {
                *body = Vec::new();
                return Err(DecodeFault::TooLarge);
            }
            Body::Json(body) => body.extend_from_slice(text),
            Body::Undetermined | Body::Opaque => {}
        }
        Ok(())
    }
}

/// Returns the kind according to the headers. It stays undetermined for a missing or generic `content-type`, because clients
/// that requested a stream accept it with any label, and for an error status, because gateways often label errors wrongly.
fn kind_of(status: u16, content_type: Option<&str>) -> ResponseKind {
    if status >= 400 {
        return ResponseKind::Undetermined;
    }
    let essence = content_type
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim();
    match essence.to_ascii_lowercase().as_str() {
        "text/event-stream" => ResponseKind::Sse,
        "application/json" => ResponseKind::Json,
        "" | "text/plain" | "application/octet-stream" => ResponseKind::Undetermined,
        _ => ResponseKind::Opaque,
    }
}

fn kind_of_first_byte(first: u8, api: Api) -> ResponseKind {
    match first {
        // Gemini's stream without server-sent events.
        b'[' if api == Api::Gemini => ResponseKind::Json,
        b'{' => ResponseKind::Json,
        // `event:`, `data:`, a comment or a byte order mark.
        b'e' | b'd' | b':' | 0xEF => ResponseKind::Sse,
        _ => ResponseKind::Opaque,
    }
}

#[cfg(test)]
mod tests;
