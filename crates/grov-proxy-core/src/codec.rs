//! Translation between the Messages API and the API of another upstream.

use bytes::{Bytes, BytesMut};
use http::{request, response};
use std::panic::AssertUnwindSafe;

/// A request or response that cannot be translated. The client sees the message: it must not contain secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(pub String);

/// Translates the exchanges of a [`Target`](crate::Target).
///
/// An error before the response head was sent becomes an error response of the Messages API. A panic counts as an error.
pub trait Codec: Send + Sync + 'static {
    /// Translates a request. Changes the head in place.
    ///
    /// `accept-encoding` is already `identity`, because a response with a content coding is not translated. For a foreign
    /// target, all other headers but `content-type` and `accept` are removed; length, host and framing are set afterwards. Called once
    /// for each attempt, with the body as the policies edited it.
    ///
    /// # Errors
    /// If the request cannot be translated. It is answered with status 400.
    fn encode(&self, head: &mut request::Parts, body: Bytes) -> Result<Encoded, CodecError>;
}

/// A translated request.
pub struct Encoded {
    /// The body for the upstream.
    pub body: Bytes,
    /// Translates the response. With `None`, it passes unchanged.
    pub decoder: Option<Box<dyn Decoder>>,
}

/// How a translated response is sent to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Each translated chunk is sent at once.
    #[default]
    Stream,
    /// The translated body is collected, and [`Decoder::collected`] can still change the head. The decoder limits its size.
    Whole,
}

/// Translates one response while it arrives.
pub trait Decoder: Send + 'static {
    /// Translates the response head in place. Its `content-length` is removed afterwards.
    ///
    /// # Errors
    /// If the response cannot be translated. The client receives status 502.
    fn head(&mut self, head: &mut response::Parts) -> Result<Delivery, CodecError>;

    /// Translates a chunk and appends the result to `out`. May append nothing until more chunks arrive.
    ///
    /// # Errors
    /// If the chunk cannot be translated. The bytes in `out` are sent, then the response is interrupted.
    fn chunk(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), CodecError>;

    /// Appends the rest when the upstream's response ended properly.
    ///
    /// # Errors
    /// Like [`Decoder::chunk`], also if the upstream ended too early.
    fn end(&mut self, out: &mut BytesMut) -> Result<(), CodecError>;

    /// Returns whether the translated response is complete although the upstream's has not ended. The upstream then has half a
    /// second to end its response, so that the connection can be reused. Of a collected response, the rest is not awaited. What
    /// the upstream does then is no error, and [`Decoder::end`] may not be called.
    fn is_done(&self) -> bool {
        false
    }

    /// Appends what tells the client that the response was interrupted, such as an error event. Then the response ends properly.
    /// If nothing is appended, its connection is cut. The decoder is not called again.
    fn abort(&mut self, interruption: &Interruption, out: &mut BytesMut) {
        let _ = (interruption, out);
    }

    /// Appends an event without meaning, because the upstream is silent, see [`Target::ping`](crate::Target::ping). Must append
    /// nothing while an event is incomplete.
    fn ping(&mut self, out: &mut BytesMut) {
        let _ = out;
    }

    /// Changes the head for a response that was collected, see [`Delivery::Whole`].
    fn collected(&mut self, head: &mut response::Parts, body: &[u8]) {
        let _ = (head, body);
    }
}

/// Why a response was interrupted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Interruption {
    /// The upstream closed the connection, or its framing is broken.
    #[error("the upstream cut the response")]
    Cut,
    /// The upstream sent nothing for too long.
    #[error("the upstream sent nothing for {0:?}")]
    Silent(std::time::Duration),
    /// The response cannot be translated.
    #[error("the response cannot be translated: {0}")]
    Untranslatable(CodecError),
}

/// Calls a codec. A panic becomes an error.
pub(crate) fn caught<T>(part: impl FnOnce() -> Result<T, CodecError>) -> Result<T, CodecError> {
    std::panic::catch_unwind(AssertUnwindSafe(part))
        .unwrap_or_else(|_| Err(CodecError("the translation panicked".to_owned())))
}
