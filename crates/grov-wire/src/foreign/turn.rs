//! Builds a [`Turn`] from the parts of another API's response.

use crate::response::{ApiError, Block, Turn, TurnEnd, Unrecognised, Usage};
use serde_json::Value;

/// Maximum number of blocks. Further ones are counted as misplaced.
const MAX_BLOCKS: usize = 4096;

/// Maximum number of unrecognised events that are kept, and their maximum size in bytes.
const MAX_UNRECOGNISED: usize = 64;
const MAX_UNRECOGNISED_BYTES: usize = 16 * 1024;

/// The kinds of blocks that other APIs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
}

/// Builds the turn of a response.
#[derive(Default)]
pub(super) struct TurnBuilder {
    turn: Turn,
    /// The place of each block in the response, for APIs that number them.
    places: Vec<u64>,
    /// Whether the response said that it is complete.
    complete: bool,
    /// Whether any part of a response was recognised.
    recognised: bool,
}

impl TurnBuilder {
    pub(super) fn blocks(&self) -> &[Block] {
        &self.turn.blocks
    }

    /// Notes the response's id and model, of which the first counts.
    pub(super) fn identify(&mut self, id: Option<&str>, model: Option<&str>) {
        self.recognised = true;
        let keep = |target: &mut Option<String>, value: Option<&str>| {
            if target.is_none() {
                *target = value.map(str::to_owned);
            }
        };
        keep(&mut self.turn.id, id);
        keep(&mut self.turn.model, model);
        keep(&mut self.turn.role, Some("assistant"));
    }

    pub(super) fn usage(&mut self) -> &mut Usage {
        &mut self.turn.usage
    }

    pub(super) fn stop_reason(&mut self, reason: &str) {
        self.turn.stop_reason = Some(reason.to_owned());
    }

    /// Returns whether the turn has a complete call of a tool of the client.
    pub(super) fn calls_tools(&self) -> bool {
        let mut blocks = self.turn.blocks.iter();
        blocks.any(|block| matches!(block, Block::ToolUse { .. }))
    }

    pub(super) fn error(&mut self, kind: &str, message: &str) {
        self.recognised = true;
        if self.turn.error.is_none() {
            self.turn.error = Some(ApiError {
                kind: kind.to_owned(),
                message: message.to_owned(),
            });
        }
    }

    /// The model has ended its answer.
    pub(super) fn done(&mut self) {
        self.complete = true;
        for block in &mut self.turn.blocks {
            *block.complete_mut() = true;
        }
    }

    pub(super) fn malformed(&mut self) {
        let count = &mut self.turn.irregularities.malformed;
        *count = count.saturating_add(1);
    }

    pub(super) fn misplaced(&mut self) {
        let count = &mut self.turn.irregularities.misplaced;
        *count = count.saturating_add(1);
    }

    /// Keeps an event of an unknown type.
    pub(super) fn unrecognised(&mut self, kind: &str, value: &Value) {
        let count = &mut self.turn.irregularities.unknown_events;
        *count = count.saturating_add(1);
        let json = value.to_string();
        if self.turn.unrecognised.len() < MAX_UNRECOGNISED && json.len() <= MAX_UNRECOGNISED_BYTES {
            self.turn.unrecognised.push(Unrecognised {
                kind: kind.to_owned(),
                json,
            });
        }
    }

    /// Puts a block at a numbered place, instead of the one that is there.
    pub(super) fn put(&mut self, place: u64, block: Block) {
        match self.position(place) {
            Ok(at) => self.turn.blocks[at] = block,
            Err(_) if self.places.len() >= MAX_BLOCKS => self.misplaced(),
            Err(at) => {
                self.places.insert(at, place);
                self.turn.blocks.insert(at, block);
            }
        }
    }

    /// Returns the block at a numbered place.
    pub(super) fn block_mut(&mut self, place: u64) -> Option<&mut Block> {
        let at = self.position(place).ok()?;
        self.turn.blocks.get_mut(at)
    }

    /// Appends a block after all others.
    pub(super) fn push(&mut self, block: Block) {
        let next = self.places.last().map_or(0, |last| last.saturating_add(1));
        self.put(next, block);
    }

    /// Appends to the last block if it is of this kind and open, else to a new one.
    pub(super) fn push_text(&mut self, kind: Kind, addition: &str) {
        if addition.is_empty() {
            return;
        }
        match (kind, self.turn.blocks.last_mut()) {
            (
                Kind::Text,
                Some(Block::Text {
                    text,
                    complete: false,
                }),
            )
            | (
                Kind::Thinking,
                Some(Block::Thinking {
                    text,
                    complete: false,
                }),
            ) => text.push_str(addition),
            _ => self.push(text_block(kind, addition, false)),
        }
    }

    fn position(&self, place: u64) -> Result<usize, usize> {
        self.places.binary_search(&place)
    }

    /// Returns the turn of a stream.
    pub(super) fn finish(mut self) -> Turn {
        self.turn.end = if self.turn.error.is_some() {
            TurnEnd::Error
        } else if self.complete {
            TurnEnd::Complete
        } else {
            TurnEnd::Truncated
        };
        self.turn
    }

    /// Returns the turn of a JSON body.
    pub(super) fn finish_body(self) -> Turn {
        let recognised = self.recognised;
        let mut turn = self.finish();
        if turn.end == TurnEnd::Truncated && !recognised {
            turn.end = TurnEnd::NotAMessage;
        }
        turn
    }
}

/// Returns the turn of a body that is not JSON.
pub(super) fn unreadable(body: &[u8], is_cut: bool) -> Turn {
    let mut turn = Turn {
        end: if is_cut {
            TurnEnd::Truncated
        } else {
            TurnEnd::NotAMessage
        },
        ..Turn::default()
    };
    turn.irregularities.malformed = u32::from(!body.trim_ascii().is_empty());
    turn
}

pub(super) fn text_block(kind: Kind, text: &str, complete: bool) -> Block {
    let text = text.to_owned();
    match kind {
        Kind::Text => Block::Text { text, complete },
        Kind::Thinking => Block::Thinking { text, complete },
    }
}

/// Reports an error object of any API: `{"message":…,"type":…}`, with `code` or `status` in place of a type, or a plain string.
pub(super) fn report_error(turn: &mut TurnBuilder, error: &Value) {
    if let Some(message) = error.as_str() {
        return turn.error("error", message);
    }
    let named = ["type", "status", "code"];
    let kind = named.iter().find_map(|name| error.get(*name)?.as_str());
    let message = error.get("message").and_then(Value::as_str);
    turn.error(kind.unwrap_or("error"), message.unwrap_or_default());
}

/// Returns a count, 0 if it is absent.
pub(super) fn count(value: &Value, path: &[&str]) -> u64 {
    let mut value = value;
    for name in path {
        match value.get(*name) {
            Some(inner) => value = inner,
            None => return 0,
        }
    }
    value.as_u64().unwrap_or(0)
}
