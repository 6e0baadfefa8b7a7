//! Translates one response while it arrives.

mod stream;

use super::answer::Answer;
use super::blocks::{Blocks, Part, Parts};
use super::event::{Event, Usage};
use super::failure::{ErrorCategory, Failure, client_status, mask_keys, named};
use super::sse::SseDecoder;
use super::transform::ResponseChain;
use super::whole::WholeMessage;
use super::writer::EventWriter;
use bytes::BytesMut;
use grov_redact::Secret;
use std::collections::HashSet;
use std::sync::Arc;
use stream::{MAX_UNREADABLE, StreamState, Take};

/// The most bytes of a body that is not a stream, and of one event of a stream.
const MAX_BODY: usize = 32 << 20;

/// The bytes of an error body that are read.
const MAX_ERROR_BODY: usize = 64 << 10;

/// Translates the response to one request.
///
/// Call [`head`](Self::head) once, [`chunk`](Self::chunk) for each chunk, and at the end either [`end`](Self::end) or
/// [`abort`](Self::abort). All of them are infallible: an error becomes an error response or an error event.
///
/// Where the answer is no stream, the status is known only at the end: an embedder that can wait should send the head
/// after `end`, with [`status`](Self::status).
pub struct ResponseTranslator {
    label: String,
    streams: bool,
    status: u16,
    source: Source,
    chain: ResponseChain,
    blocks: Blocks,
    whole: WholeMessage,
    failure: Option<Failure>,
    done: bool,
    events: Vec<Event>,
    /// The provider's keys.
    keys: Arc<[Secret]>,
    /// The provider's name in errors; empty if they are not named.
    provider: String,
}

/// What the provider sends.
enum Source {
    /// Nothing but white space yet.
    Unknown(Answer),
    /// Events.
    Stream(SseDecoder, StreamState),
    /// One JSON body.
    Body(Answer, Vec<u8>),
    /// The body of an error, with the provider's status.
    Error(u16, Vec<u8>),
}

impl ResponseTranslator {
    pub(super) fn new(label: String, streams: bool, answer: Answer, chain: ResponseChain) -> Self {
        Self {
            label,
            streams,
            status: 200,
            source: Source::Unknown(answer),
            chain,
            blocks: Blocks::default(),
            whole: WholeMessage::default(),
            failure: None,
            done: false,
            events: Vec::new(),
            keys: Arc::default(),
            provider: String::new(),
        }
    }

    /// Names the provider in errors.
    pub fn naming(mut self, provider: &str) -> Self {
        provider.clone_into(&mut self.provider);
        self
    }

    /// Masks the provider's keys in errors.
    pub fn masking(mut self, keys: Arc<[Secret]>) -> Self {
        self.keys = keys;
        self
    }

    /// Keeps the ids of tool calls distinct from these of the conversation so far. Some providers number the calls of each answer.
    pub(super) fn avoiding(mut self, ids: HashSet<String>) -> Self {
        self.blocks.avoid(ids);
        self
    }

    /// Takes the provider's status and content type. Returns the status for the client.
    ///
    /// The content type is not trusted: the first byte of the body says whether it is a stream.
    pub fn head(&mut self, status: u16, _content_type: Option<&str>) -> u16 {
        self.status = client_status(status);
        if status != 200 {
            self.source = Source::Error(status, Vec::new());
        }
        self.status
    }

    /// The content type of the client's response.
    pub fn content_type(&self) -> &'static str {
        match self.source {
            Source::Error(..) => "application/json",
            _ if self.streams => "text/event-stream",
            _ => "application/json",
        }
    }

    /// Whether output arrives while the provider sends. If not, all of it arrives with `end`, `abort`, or the chunk
    /// after which [`is_done`](Self::is_done) is true.
    pub fn is_stream(&self) -> bool {
        self.streams && !matches!(self.source, Source::Error(..))
    }

    /// The status for the client, as far as it is known by now.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the response is complete. The rest of the provider's response can be dropped.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The usage that the provider reported, or `None` if it reported none.
    pub fn usage(&self) -> Option<Usage> {
        Some(self.blocks.usage()).filter(|usage| *usage != Usage::default())
    }

    /// The class of the error that ended the response, for the log.
    pub fn error(&self) -> Option<ErrorCategory> {
        self.failure.as_ref().map(|failure| failure.category)
    }

    /// Translates a chunk and appends the result to `out`.
    pub fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) {
        if self.done {
            return;
        }
        if let Source::Unknown(_) = self.source {
            let text = chunk.trim_ascii_start();
            let Some(first) = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).first() else {
                return;
            };
            self.begin(*first);
        }
        let result = match &mut self.source {
            Source::Unknown(_) => Ok(()),
            Source::Stream(decoder, state) => {
                let mut payloads = Take {
                    state,
                    chain: &mut self.chain,
                    events: &mut self.events,
                };
                decoder
                    .chunk(chunk, &mut payloads)
                    .map_err(|error| Failure::unreadable(&error.to_string()))
            }
            Source::Body(_, body) => extend(body, chunk),
            Source::Error(_, body) => {
                let most = MAX_ERROR_BODY.saturating_sub(body.len()).min(chunk.len());
                body.extend_from_slice(&chunk[..most]);
                if body.len() == MAX_ERROR_BODY {
                    return self.end(out);
                }
                Ok(())
            }
        };
        match result {
            Ok(()) => self.write(out),
            Err(failure) => self.fail(failure, out),
        }
    }

    /// Translates what is left when the provider's response ended properly.
    pub fn end(&mut self, out: &mut BytesMut) {
        if self.done {
            return;
        }
        match &mut self.source {
            Source::Unknown(_) => {
                return self.fail(Failure::unreadable("the provider's answer is empty"), out);
            }
            Source::Error(status, body) => {
                let body = String::from_utf8_lossy(body);
                let body = mask_keys(&body, &self.keys);
                let failure = Failure::provider(*status, body.as_bytes());
                return self.fail(failure, out);
            }
            Source::Body(answer, body) => {
                let mut events = Vec::new();
                if answer.body(body, &mut events).is_err() {
                    let text = String::from_utf8_lossy(body);
                    let text = mask_keys(&text, &self.keys);
                    let text = grov_redact::beginning_of(text.trim(), 200);
                    let failure =
                        Failure::unreadable(&format!("the provider's answer cannot be read: {text}"));
                    return self.fail(failure, out);
                }
                for event in events {
                    self.chain.event(event, &mut self.events);
                }
            }
            Source::Stream(decoder, state) => {
                let mut payloads = Take {
                    state,
                    chain: &mut self.chain,
                    events: &mut self.events,
                };
                if let Err(error) = decoder.end(&mut payloads) {
                    return self.fail(Failure::unreadable(&error.to_string()), out);
                }
                self.write(out);
                return self.end_of_stream(out);
            }
        }
        self.write(out);
    }

    /// Ends a response that broke off. `reason` goes to the client, redacted; its words decide the class of the error.
    pub fn abort(&mut self, reason: &str, out: &mut BytesMut) {
        if !self.done {
            self.fail(Failure::transport(reason), out);
        }
    }

    fn begin(&mut self, first: u8) {
        let old = std::mem::replace(&mut self.source, Source::Error(0, Vec::new()));
        let Source::Unknown(answer) = old else {
            self.source = old;
            return;
        };
        // A page of a gateway is read as a body, so that its text gets into the message.
        self.source = if matches!(first, b'{' | b'[' | b'<') {
            self.chain.whole();
            Source::Body(answer, Vec::new())
        } else {
            Source::Stream(SseDecoder::new(MAX_BODY), StreamState::new(answer))
        };
    }

    /// Ends a stream. Without a finish reason and an end mark, it was cut.
    fn end_of_stream(&mut self, out: &mut BytesMut) {
        if self.done {
            return;
        }
        let readable = matches!(&self.source, Source::Stream(_, state) if state.is_readable());
        if self.blocks.is_finished() {
            self.chain.event(Event::End, &mut self.events);
            self.write(out);
        } else if readable {
            self.fail(
                Failure::transport("unexpected end of file: the provider's answer broke off"),
                out,
            );
        } else {
            self.fail(
                Failure::unreadable("the provider's answer contains no events"),
                out,
            );
        }
    }

    /// Writes the collected events.
    fn write(&mut self, out: &mut BytesMut) {
        let mut events = std::mem::take(&mut self.events);
        for mut event in events.drain(..) {
            if let Event::Error(error) = &mut event {
                error.message = mask_keys(&error.message, &self.keys).into_owned();
                if !self.provider.is_empty() {
                    let category = Failure::in_band(error).category;
                    error.message = named(&self.provider, category, &error.message);
                }
            }
            let mut output = Output {
                label: &self.label,
                out: self.streams.then_some(&mut *out),
                whole: &mut self.whole,
                failure: &mut self.failure,
            };
            self.blocks.event(event, &mut output);
        }
        self.events = events;
        if self.blocks.is_over() && !self.done {
            self.done = true;
            self.write_whole(out);
            return;
        }
        if self.whole.len() > MAX_BODY {
            return self.fail(too_large(), out);
        }
        if let Source::Stream(_, state) = &self.source
            && state.is_unreadable()
        {
            let text = format!("{MAX_UNREADABLE} chunks in a row of the provider's answer cannot be read");
            self.fail(Failure::unreadable(&text), out);
        }
    }

    /// Writes the body of a response that is no stream.
    fn write_whole(&mut self, out: &mut BytesMut) {
        if self.streams {
            return;
        }
        match self.whole.end.take() {
            Some(Ok((stop_reason, usage))) => {
                out.extend_from_slice(&self.whole.body(&self.label, stop_reason, usage));
            }
            Some(Err(failure)) => self.fail(failure, out),
            None => {}
        }
    }

    fn fail(&mut self, failure: Failure, out: &mut BytesMut) {
        self.done = true;
        let failure = failure.without_keys(&self.keys).of_provider(&self.provider);
        if self.is_stream() {
            EventWriter {
                label: &self.label,
                out,
            }
            .failure(&failure);
        } else {
            self.status = failure.status;
            out.extend_from_slice(failure.body().to_string().as_bytes());
        }
        self.failure = Some(failure);
    }
}

fn extend(body: &mut Vec<u8>, chunk: &[u8]) -> Result<(), Failure> {
    if body.len() + chunk.len() > MAX_BODY {
        return Err(too_large());
    }
    body.extend_from_slice(chunk);
    Ok(())
}

fn too_large() -> Failure {
    Failure::unreadable(&format!("the provider's answer exceeds {MAX_BODY} bytes"))
}

/// Writes the parts of a message as a stream, or collects them, and remembers an error among them.
struct Output<'o> {
    label: &'o str,
    /// Where to write; `None` collects.
    out: Option<&'o mut BytesMut>,
    whole: &'o mut WholeMessage,
    failure: &'o mut Option<Failure>,
}

impl Parts for Output<'_> {
    fn part(&mut self, part: Part<'_>) {
        if let Part::Error(error) = &part {
            *self.failure = Some(Failure::in_band(error));
        }
        match &mut self.out {
            Some(out) => EventWriter {
                label: self.label,
                out,
            }
            .part(part),
            None => self.whole.part(part),
        }
    }
}
