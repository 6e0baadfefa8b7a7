//! Keeps thinking of other models away from Anthropic, which would refuse its signature.

use bytes::Bytes;
use grov_proxy_core::{Codec, CodecError, Encoded};
use grov_route::{OWN_SIGNATURE, without_own_thinking};
use http::request;

/// Removes thinking blocks that Grov signed from a request to the main upstream. The response passes unchanged.
pub(crate) struct OwnThinking;

impl OwnThinking {
    /// Whether a body may contain such blocks.
    pub(crate) fn is_in(body: &[u8]) -> bool {
        memchr::memmem::find(body, OWN_SIGNATURE.as_bytes()).is_some()
    }
}

impl Codec for OwnThinking {
    fn encode(&self, _: &mut request::Parts, body: Bytes) -> Result<Encoded, CodecError> {
        let body = without_own_thinking(&body).map_or(body, Bytes::from);
        Ok(Encoded { body, decoder: None })
    }
}
