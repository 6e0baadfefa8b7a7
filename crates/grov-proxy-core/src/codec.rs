//! The seam through which an upstream may speak another dialect than its clients.

use bytes::{Bytes, BytesMut};
use http::{request, response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Why something cannot be said in the other dialect. The client is told the message, so it must not hold secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(pub String);

/// Translates the exchanges of a [`Route`](crate::Route).
///
/// An error before the head of the answer was sent becomes an error in the shape of the Messages API. A panic is an error.
pub trait Codec: Send + Sync + 'static {
    /// The request for the upstream: its body is returned, its head changed in place. `accept-encoding` has been taken out, and
    /// length, host and framing are set afterwards. A codec for another provider has to take the client's credentials out.
    ///
    /// # Errors
    /// Where the request has no form in the upstream's dialect. It is not sent then, and answered with 400.
    fn encode(&self, head: &mut request::Parts, body: Bytes)
    -> Result<(Bytes, Box<dyn Decoder>), CodecError>;
}

/// Translates the answer to one request while it streams through.
pub trait Decoder: Send + 'static {
    /// Changes the head of the answer, before anything of it is sent. The length is taken out afterwards.
    ///
    /// # Errors
    /// Where the answer has no form in the client's dialect. The client gets a 502 then.
    fn head(&mut self, head: &mut response::Parts) -> Result<(), CodecError>;

    /// Appends to `out` what the client is sent for a chunk: nothing where more has to come first.
    ///
    /// # Errors
    /// What is in `out` is sent, and then the response breaks off.
    fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), CodecError>;

    /// Appends what is left when the upstream has come to its proper end. Not called where it broke off.
    ///
    /// # Errors
    /// As [`Decoder::chunk`]: also where the upstream ended before its dialect says that it may.
    fn end(&mut self, out: &mut BytesMut) -> Result<(), CodecError>;
}

/// Runs a part of a codec; a panic in it is an error.
pub(crate) fn caught<T>(part: impl FnOnce() -> Result<T, CodecError>) -> Result<T, CodecError> {
    std::panic::catch_unwind(AssertUnwindSafe(part))
        .unwrap_or_else(|_| Err(CodecError("the translation panicked".to_owned())))
}

/// Why the body of an answer broke.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the upstream broke the response: {0}")]
    Upstream(#[from] hyper::Error),
    #[error("the response cannot be translated: {0}")]
    Codec(#[from] CodecError),
}

/// The body of an answer, in the client's dialect. Empty frames say nothing.
pub(crate) struct ResponseBody {
    body: Incoming,
    decoding: Option<Decoding>,
}

struct Decoding {
    decoder: Box<dyn Decoder>,
    /// What came before it has to be sent first.
    failed: Option<CodecError>,
    /// Nothing is left to be decoded.
    over: bool,
}

impl ResponseBody {
    pub(crate) fn new(body: Incoming, decoder: Option<Box<dyn Decoder>>) -> Self {
        let decoding = decoder.map(|decoder| Decoding {
            decoder,
            failed: None,
            over: false,
        });
        Self { body, decoding }
    }
}

impl Decoding {
    fn frame(
        &mut self,
        part: impl FnOnce(&mut dyn Decoder, &mut BytesMut) -> Result<(), CodecError>,
    ) -> Polled {
        let mut out = BytesMut::new();
        match caught(|| part(self.decoder.as_mut(), &mut out)) {
            Ok(()) => {}
            Err(error) if out.is_empty() => {
                self.over = true;
                return Some(Err(error.into()));
            }
            Err(error) => self.failed = Some(error),
        }
        Some(Ok(Frame::data(out.freeze())))
    }

    fn poll_frame(&mut self, body: &mut Incoming, cx: &mut Context<'_>) -> Poll<Polled> {
        if let Some(error) = self.failed.take() {
            self.over = true;
            return Poll::Ready(Some(Err(error.into())));
        }
        if self.over {
            return Poll::Ready(None);
        }
        Pin::new(body).poll_frame(cx).map(|polled| match polled {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => self.frame(|decoder, out| decoder.chunk(&data, out)),
                // Trailers are the upstream's dialect.
                Err(_) => Some(Ok(Frame::data(Bytes::new()))),
            },
            Some(Err(error)) => {
                self.over = true;
                Some(Err(error.into()))
            }
            None => {
                self.over = true;
                self.frame(|decoder, out| decoder.end(out))
            }
        })
    }
}

type Polled = Option<Result<Frame<Bytes>, BodyError>>;

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Polled> {
        let Self { body, decoding } = self.get_mut();
        match decoding {
            None => Pin::new(body)
                .poll_frame(cx)
                .map(|polled| polled.map(|frame| frame.map_err(BodyError::from))),
            Some(decoding) => decoding.poll_frame(body, cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.decoding {
            None => self.body.is_end_stream(),
            Some(decoding) => decoding.over && decoding.failed.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.decoding {
            None => self.body.size_hint(),
            Some(_) => SizeHint::default(),
        }
    }
}
