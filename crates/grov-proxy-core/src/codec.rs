//! Translation between the Messages API and the API of another upstream.

use bytes::{Bytes, BytesMut};
use http::{request, response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A request or response that cannot be translated. The client sees the message: it must not contain secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(pub String);

/// Translates the exchanges of a [`Route`](crate::Route).
///
/// An error before the response head was sent becomes an error response of the Messages API. A panic counts as an error.
pub trait Codec: Send + Sync + 'static {
    /// Translates a request. Returns the body for the upstream and the decoder of the response; changes the head in place.
    ///
    /// `accept-encoding` is already removed; length, host and framing are set afterwards. A codec for another provider must
    /// remove the client's credentials.
    ///
    /// # Errors
    /// If the request cannot be translated. It is answered with status 400.
    fn encode(&self, head: &mut request::Parts, body: Bytes)
    -> Result<(Bytes, Box<dyn Decoder>), CodecError>;
}

/// Translates one response while it streams.
pub trait Decoder: Send + 'static {
    /// Translates the response head in place. Its `content-length` is removed afterwards.
    ///
    /// # Errors
    /// If the response cannot be translated. The client receives status 502.
    fn head(&mut self, head: &mut response::Parts) -> Result<(), CodecError>;

    /// Translates a chunk and appends the result to `out`. May append nothing until more chunks arrive.
    ///
    /// # Errors
    /// If the chunk cannot be translated. The bytes in `out` are sent, then the response is cut.
    fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), CodecError>;

    /// Appends the rest when the upstream's response ended properly.
    ///
    /// # Errors
    /// Like [`Decoder::chunk`], also if the upstream ended too early.
    fn end(&mut self, out: &mut BytesMut) -> Result<(), CodecError>;
}

/// Calls a codec. A panic becomes an error.
pub(crate) fn caught<T>(part: impl FnOnce() -> Result<T, CodecError>) -> Result<T, CodecError> {
    std::panic::catch_unwind(AssertUnwindSafe(part))
        .unwrap_or_else(|_| Err(CodecError("the translation panicked".to_owned())))
}

/// Why a response body ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the upstream broke the response: {0}")]
    Upstream(#[from] hyper::Error),
    #[error("the response cannot be translated: {0}")]
    Codec(#[from] CodecError),
}

/// The body of a response, decoded. Frames may be empty.
pub(crate) struct ResponseBody {
    body: Incoming,
    decoding: Option<Decoding>,
}

struct Decoding {
    decoder: Box<dyn Decoder>,
    /// An error to return after the frame before it.
    failed: Option<CodecError>,
    /// Whether everything is decoded.
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
                // Trailers are not translated.
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
