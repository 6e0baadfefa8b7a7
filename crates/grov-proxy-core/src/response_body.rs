//! The body of a response, decoded if the exchange is translated.

use crate::codec::{CodecError, Decoder, Interruption, caught};
use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Why a response body ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the upstream broke the response: {0}")]
    Upstream(#[from] hyper::Error),
    #[error("the response cannot be translated: {0}")]
    Codec(#[from] CodecError),
}

impl BodyError {
    fn interruption(&self) -> Interruption {
        match self {
            Self::Upstream(_) => Interruption::Cut,
            Self::Codec(error) => Interruption::Untranslatable(error.clone()),
        }
    }
}

/// The body of a response, decoded. Frames may be empty.
pub(crate) enum ResponseBody {
    /// Unchanged.
    Plain(Incoming),
    /// Translated while it arrives.
    Decoded(Box<Decoded>),
    /// Collected. `None` once it was sent.
    Whole(Option<Bytes>),
}

/// A body that is translated while it arrives.
pub(crate) struct Decoded {
    body: Incoming,
    decoder: Box<dyn Decoder>,
    /// An error to return after the frame before it.
    failed: Option<BodyError>,
    /// Whether everything is decoded.
    over: bool,
    /// Whether the decoder needs nothing more.
    is_done: bool,
    /// An error that the decoder already reported to the client, for the log.
    reported: Option<BodyError>,
}

type Polled = Option<Result<Frame<Bytes>, BodyError>>;

impl ResponseBody {
    pub(crate) fn decoded(body: Incoming, decoder: Box<dyn Decoder>) -> Self {
        Self::Decoded(Box::new(Decoded {
            body,
            decoder,
            failed: None,
            over: false,
            is_done: false,
            reported: None,
        }))
    }

    /// Returns a body that is already collected.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole((!bytes.is_empty()).then_some(bytes))
    }

    /// Returns an event without meaning, or `None` if the body has none now.
    pub(crate) fn ping(&mut self) -> Option<Bytes> {
        let Self::Decoded(decoded) = self else { return None };
        let mut out = BytesMut::new();
        let usable = !decoded.over
            && caught(|| {
                decoded.decoder.ping(&mut out);
                Ok(())
            })
            .is_ok();
        (usable && !out.is_empty()).then(|| out.freeze())
    }

    /// Returns whether the client has everything, see [`Decoder::is_done`].
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Self::Decoded(decoded) => !decoded.over && decoded.is_done,
            _ => false,
        }
    }

    /// Ends the body because the upstream was silent. Returns what tells the client, or `None` if the response must be cut.
    pub(crate) fn interrupt(&mut self, interruption: &Interruption) -> Option<Bytes> {
        let Self::Decoded(decoded) = self else { return None };
        let mut out = BytesMut::new();
        decoded.abort(interruption, &mut out);
        (!out.is_empty()).then(|| out.freeze())
    }

    /// Returns the error that interrupted the body and was reported to the client, once.
    pub(crate) fn take_told(&mut self) -> Option<BodyError> {
        match self {
            Self::Decoded(decoded) => decoded.reported.take(),
            _ => None,
        }
    }
}

impl Decoded {
    /// Ends the body. The bytes of a decoder that panics are discarded.
    fn abort(&mut self, interruption: &Interruption, out: &mut BytesMut) {
        self.over = true;
        let before = out.len();
        let aborted = caught(|| {
            self.decoder.abort(interruption, out);
            Ok(())
        });
        if aborted.is_err() {
            out.truncate(before);
        }
    }

    /// Ends the body with an error, reported to the client if the decoder can.
    /// What breaks after the client has everything does not matter to it.
    fn fail(&mut self, error: BodyError, mut out: BytesMut) -> Polled {
        if self.is_done {
            self.over = true;
            tracing::debug!(%error, "the upstream broke off after a complete response");
            return None;
        }
        let before = out.len();
        self.abort(&error.interruption(), &mut out);
        if out.len() > before {
            self.reported = Some(error);
        } else if out.is_empty() {
            return Some(Err(error));
        } else {
            self.failed = Some(error);
        }
        Some(Ok(Frame::data(out.freeze())))
    }

    fn frame(
        &mut self,
        part: impl FnOnce(&mut dyn Decoder, &mut BytesMut) -> Result<(), CodecError>,
    ) -> Polled {
        let mut out = BytesMut::new();
        match caught(|| part(self.decoder.as_mut(), &mut out)) {
            Ok(()) => {
                self.is_done = caught(|| Ok(self.decoder.is_done())).unwrap_or_default();
                Some(Ok(Frame::data(out.freeze())))
            }
            Err(error) => self.fail(error.into(), out),
        }
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Polled> {
        if let Some(error) = self.failed.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if self.over {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body)
            .poll_frame(cx)
            .map(|polled| match polled {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.frame(|decoder, out| decoder.chunk(&data, out)),
                    // Trailers are not translated.
                    Err(_) => Some(Ok(Frame::data(Bytes::new()))),
                },
                Some(Err(error)) => self.fail(error.into(), BytesMut::new()),
                None => {
                    self.over = true;
                    self.frame(|decoder, out| decoder.end(out))
                }
            })
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Polled> {
        match self.get_mut() {
            Self::Plain(body) => Pin::new(body)
                .poll_frame(cx)
                .map(|polled| polled.map(|frame| frame.map_err(BodyError::from))),
            Self::Decoded(decoded) => decoded.poll_frame(cx),
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Plain(body) => body.is_end_stream(),
            Self::Decoded(decoded) => decoded.over && decoded.failed.is_none(),
            Self::Whole(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Plain(body) => body.size_hint(),
            Self::Decoded(_) => SizeHint::default(),
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}
