//! Responses: server-sent events, content codings, and the [`Turn`] parsed from them.

mod assemble;
mod body;
mod canonical;
mod coding;
mod event;
mod sse;
mod tap;
#[cfg(test)]
mod testing;
mod turn;

pub use coding::{DecodeFault, MAX_DECODED_BYTES};
pub use sse::{MAX_EVENT_BYTES, SseDecoder, SseEvent};
pub use tap::{MAX_JSON_BYTES, ResponseKind, ResponseTap};
pub use turn::{ApiError, Block, Irregularities, Turn, TurnEnd, Unrecognised, Usage};
