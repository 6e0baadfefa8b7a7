//! Responses: server-sent events, and the [`Turn`] parsed from them.

mod assemble;
mod body;
mod canonical;
mod event;
mod sse;
mod tap;
#[cfg(test)]
pub(crate) mod testing;
mod turn;

pub use crate::coding::{DecodeFault, MAX_DECODED_BYTES};
pub use sse::{MAX_EVENT_BYTES, SseDecoder, SseEvent};
pub use tap::{MAX_JSON_BYTES, ResponseKind, ResponseTap};
pub use turn::{ApiError, Block, Irregularities, Turn, TurnEnd, Unrecognised, Usage};
