//! The tap on a response: sees the bytes that go to the client and tells what they were.

use super::assemble::Assembler;
use super::body;
use super::coding::{ContentDecoder, DecodeFault, MAX_DECODED_BYTES};
use super::sse::SseDecoder;
use super::turn::{ApiError, Block, Turn, TurnEnd};

/// The most of a JSON body that is collected, in bytes: half of [`MAX_DECODED_BYTES`], because the body and the
/// blocks read from it exist side by side for a moment.
pub const MAX_JSON_BYTES: usize = MAX_DECODED_BYTES / 2;

/// What kind of body a response has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseKind {
    /// A stream of server-sent events.
    Sse,
    /// One JSON document.
    Json,
    /// Nothing that a turn could be read from.
    Opaque,
    /// The headers do not tell, the first byte of the body will.
    Undetermined,
}

/// Observes one response. Feeding is synchronous and never fails: what cannot be read is flagged in the [`Turn`].
///
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
    /// Some bytes of the body were fed.
    began: bool,
}

/// The decoded text and what is made of it.
struct Text {
    body: Body,
    /// Bytes of decoded text so far.
    decoded: usize,
}

enum Body {
    Undetermined,
    Sse {
        events: SseDecoder,
        assembler: Box<Assembler>,
    },
    Json(Vec<u8>),
    Opaque,
}

impl Body {
    fn of_kind(kind: ResponseKind) -> Self {
        match kind {
            ResponseKind::Sse => Self::Sse {
                events: SseDecoder::new(),
                assembler: Box::default(),
            },
            ResponseKind::Json => Self::Json(Vec::new()),
            ResponseKind::Opaque => Self::Opaque,
            ResponseKind::Undetermined => Self::Undetermined,
        }
    }
}

impl ResponseTap {
    /// A tap for a response with this status, `content-type` and `content-encoding` (several lines of the latter
    /// joined by commas).
    pub fn new(status: u16, content_type: Option<&str>, content_encoding: Option<&str>) -> Self {
        let kind = kind_of(status, content_type);
        let (content, fault) = match content_encoding.map_or(Ok(None), ContentDecoder::for_header) {
            Ok(content) => (content, None),
            Err(fault) => (None, Some(fault)),
        };
        Self {
            status,
            content,
            text: Text {
                body: Body::of_kind(kind),
                decoded: 0,
            },
            fault,
            began: false,
        }
    }

    /// What kind of body this is taken for.
    pub fn kind(&self) -> ResponseKind {
        match self.text.body {
            Body::Undetermined => ResponseKind::Undetermined,
            Body::Sse { .. } => ResponseKind::Sse,
            Body::Json(_) => ResponseKind::Json,
            Body::Opaque => ResponseKind::Opaque,
        }
    }

    /// Takes the next bytes of the body, as they came over the wire.
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
            // Its window may be megabytes, and it will not be asked again.
            self.content = None;
        }
    }

    /// The blocks so far, in the order of their index. Empty for a JSON body, which is read at the end.
    pub fn blocks(&self) -> &[Block] {
        match &self.text.body {
            Body::Sse { assembler, .. } => assembler.blocks(),
            _ => &[],
        }
    }

    /// The turn, once the body has ended. `ended_cleanly` tells whether the transport delivered the whole body (the
    /// last chunk, or all that `content-length` announced).
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
            Body::Json(body) if self.fault.is_none() => body::read(&body, ended_cleanly),
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
            self.body = Body::of_kind(kind_of_first_byte(*first));
        }
        match &mut self.body {
            Body::Sse { events, assembler } => events.feed(text, |event| assembler.event(event)),
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

/// The kind that the headers tell. An absent or unspecific `content-type` leaves it to the body, since a client that
/// asked for a stream reads one whatever it is labelled; so does an error status, since gateways label errors freely.
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

fn kind_of_first_byte(first: u8) -> ResponseKind {
    match first {
        b'{' => ResponseKind::Json,
        // `event:`, `data:`, a comment, or a byte order mark.
        b'e' | b'd' | b':' | 0xEF => ResponseKind::Sse,
        _ => ResponseKind::Opaque,
    }
}

#[cfg(test)]
mod tests;
