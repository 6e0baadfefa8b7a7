//! Other APIs than the Messages API, read in its terms.
//!
//! A request becomes a document of the Messages API that is only read, never sent: see `RequestIndex::parse_foreign`. A response becomes a
//! [`Turn`](crate::response::Turn). Whatever is not understood is left out or kept as a block of another kind: reading never fails
//! because an API has grown.

mod chat;
mod gemini;
mod request;
mod responses;
mod turn;

use crate::api::Api;
use crate::response::{Block, SseEvent, Turn};
use serde_json::Value;
use turn::TurnBuilder;

/// Assembles the turn of a stream of another API.
pub(crate) struct Assembler {
    api: Api,
    turn: TurnBuilder,
}

impl Assembler {
    /// Creates an assembler for an API other than the Messages API.
    pub(crate) fn new(api: Api) -> Self {
        Self {
            api,
            turn: TurnBuilder::default(),
        }
    }

    /// Processes the next event.
    pub(crate) fn event(&mut self, event: SseEvent<'_>) {
        if event.data.trim_ascii() == b"[DONE]" {
            self.turn.done();
            return;
        }
        match serde_json::from_slice::<Value>(event.data) {
            Ok(value @ Value::Object(_)) => self.value(&value),
            _ => self.turn.malformed(),
        }
    }

    /// Returns the blocks so far.
    pub(crate) fn blocks(&self) -> &[Block] {
        self.turn.blocks()
    }

    /// Returns the turn at the end of the stream.
    pub(crate) fn finish(self) -> Turn {
        self.turn.finish()
    }

    fn value(&mut self, value: &Value) {
        match self.api {
            Api::Responses => responses::event(&mut self.turn, value),
            Api::Chat => chat::chunk(&mut self.turn, value),
            Api::Gemini => gemini::chunk(&mut self.turn, value),
            Api::Messages => {}
        }
    }
}

/// Reads a JSON body of an API other than the Messages API. `ended_cleanly` is whether the transport delivered all of it.
pub(crate) fn read_body(api: Api, body: &[u8], ended_cleanly: bool) -> Turn {
    let mut turn = TurnBuilder::default();
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => return turn::unreadable(body, error.is_eof() || !ended_cleanly),
    };
    match (api, &value) {
        (Api::Responses, value) => responses::body(&mut turn, value),
        (Api::Chat, value) => chat::body(&mut turn, value),
        // A stream without `alt=sse` is an array of its chunks.
        (Api::Gemini, Value::Array(chunks)) => {
            chunks.iter().for_each(|chunk| gemini::chunk(&mut turn, chunk));
        }
        (Api::Gemini, value) => gemini::chunk(&mut turn, value),
        (Api::Messages, _) => {}
    }
    turn.finish_body()
}
