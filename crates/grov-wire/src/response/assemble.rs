//! Assembles a [`Turn`] from the events of a stream.

use super::canonical::{CanonicalDelta, DeltaKind};
use super::event::{self, Delta, Envelope, Message, Raw};
use super::sse::SseEvent;
use super::turn::{ApiError, Block, Turn, TurnEnd, Unrecognised};

/// Maximum number of blocks. Further ones are counted as misplaced.
const MAX_BLOCKS: usize = 4096;

/// Maximum number of unrecognised events and deltas that are kept, and their maximum size in bytes.
const MAX_UNRECOGNISED: usize = 64;
const MAX_UNRECOGNISED_BYTES: usize = 16 * 1024;

/// Assembles the turn of a stream.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    turn: Turn,
    /// One for each of `turn.blocks`, ordered by index.
    slots: Vec<Slot>,
    started: bool,
    stopped: bool,
}

#[derive(Debug)]
struct Slot {
    index: u64,
    /// The input at the start of a tool call, used if no delta follows.
    initial_input: String,
}

impl Assembler {
    /// Processes the next event.
    pub(super) fn event(&mut self, event: SseEvent<'_>) {
        if let Some(delta) = CanonicalDelta::recognise(event.data)
            && self.canonical_delta(&delta)
        {
            return;
        }
        self.parsed_event(event);
    }

    /// Returns the blocks so far.
    pub(super) fn blocks(&self) -> &[Block] {
        &self.turn.blocks
    }

    /// Returns the turn at the end of the stream.
    pub(super) fn finish(mut self) -> Turn {
        self.turn.end = if self.stopped {
            TurnEnd::Complete
        } else if self.turn.error.is_some() {
            TurnEnd::Error
        } else {
            TurnEnd::Truncated
        };
        self.turn
    }

    /// Processes a delta in canonical form. Returns `false` and does nothing if it does not continue an open block of its type.
    fn canonical_delta(&mut self, delta: &CanonicalDelta<'_>) -> bool {
        if self.stopped || self.turn.error.is_some() {
            return false;
        }
        let Some(position) = self.position(delta.index) else {
            return false;
        };
        let target = match (delta.kind, &mut self.turn.blocks[position]) {
            (
                DeltaKind::Text,
                Block::Text {
                    text,
                    complete: false,
                },
            ) => text,
            (
                DeltaKind::Thinking,
                Block::Thinking {
                    text,
                    complete: false,
                },
            ) => text,
            (
                DeltaKind::InputJson,
                Block::ToolUse {
                    input,
                    complete: false,
                    ..
                }
                | Block::ServerToolUse {
                    input,
                    complete: false,
                    ..
                },
            ) => input,
            _ => return false,
        };
        delta.append_to(target)
    }

    /// Processes any event with the JSON parser.
    fn parsed_event(&mut self, event: SseEvent<'_>) {
        let Ok(envelope) = event::object::<Envelope<'_>>(event.data) else {
            return self.malformed();
        };
        let name = String::from_utf8_lossy(event.name);
        let kind = event::text(envelope.kind).unwrap_or(name);
        if (self.stopped || self.turn.error.is_some()) && kind != "ping" {
            return self.misplaced();
        }
        match &*kind {
            "message_start" => self.message_start(&envelope),
            "content_block_start" => self.block_start(&envelope),
            "content_block_delta" => self.block_delta(&envelope),
            "content_block_stop" => self.block_stop(&envelope),
            "message_delta" => self.message_delta(&envelope),
            "message_stop" => {
                if !self.started {
                    self.misplaced();
                }
                self.stopped = true;
            }
            "error" => {
                self.turn.error = Some(ApiError::read(envelope.error).unwrap_or_else(ApiError::unreadable));
            }
            "ping" => {}
            _ => {
                let count = &mut self.turn.irregularities.unknown_events;
                *count = count.saturating_add(1);
                self.keep_unrecognised(&kind, &String::from_utf8_lossy(event.data));
            }
        }
    }

    fn message_start(&mut self, envelope: &Envelope<'_>) {
        let Some(message) = event::inner::<Message<'_>>(envelope.message) else {
            return self.malformed();
        };
        self.turn.usage.update(message.usage);
        if self.started {
            // A second start updates only the usage.
            return self.misplaced();
        }
        self.started = true;
        self.turn.id = event::owned_text(message.id);
        self.turn.model = event::owned_text(message.model);
        self.turn.role = event::owned_text(message.role);
    }

    fn block_start(&mut self, envelope: &Envelope<'_>) {
        let (Some(index), Some(raw)) = (event::count(envelope.index), envelope.content_block) else {
            return self.malformed();
        };
        let Some(mut block) = event::block(raw, false) else {
            return self.malformed();
        };
        if !self.started || self.position(index).is_some() {
            self.misplaced();
        }
        if self.slots.len() == MAX_BLOCKS {
            return self.misplaced();
        }
        let mut initial_input = String::new();
        if let Block::ToolUse { input, .. } | Block::ServerToolUse { input, .. } = &mut block {
            initial_input = std::mem::take(input);
        }
        let position = self.slots.partition_point(|slot| slot.index <= index);
        self.slots.insert(position, Slot { index, initial_input });
        self.turn.blocks.insert(position, block);
    }

    fn block_delta(&mut self, envelope: &Envelope<'_>) {
        let (Some(index), Some(raw)) = (event::count(envelope.index), envelope.delta) else {
            return self.malformed();
        };
        let Some(delta) = event::inner::<Delta<'_>>(Some(raw)) else {
            return self.malformed();
        };
        let Some(kind) = event::text(delta.kind) else {
            return self.malformed();
        };
        let Some(position) = self.position(index) else {
            return self.misplaced();
        };
        let block = &mut self.turn.blocks[position];
        if block.is_complete() {
            return self.misplaced();
        }
        let (target, addition) = match (&*kind, block) {
            (_, Block::Other { json, .. }) => {
                json.push('\n');
                json.push_str(raw.0);
                return;
            }
            ("text_delta", Block::Text { text, .. }) => (text, delta.text),
            ("thinking_delta", Block::Thinking { text, .. }) => (text, delta.thinking),
            ("input_json_delta", Block::ToolUse { input, .. } | Block::ServerToolUse { input, .. }) => {
                (input, delta.partial_json)
            }
            // Signatures are not kept.
            ("signature_delta", Block::Thinking { .. }) => return,
            ("text_delta" | "thinking_delta" | "input_json_delta" | "signature_delta", _) => {
                return self.misplaced();
            }
            _ => {
                let count = &mut self.turn.irregularities.unknown_deltas;
                *count = count.saturating_add(1);
                return self.keep_unrecognised(&kind, raw.0);
            }
        };
        match event::text(addition) {
            Some(addition) => target.push_str(&addition),
            None => self.malformed(),
        }
    }

    fn block_stop(&mut self, envelope: &Envelope<'_>) {
        let Some(index) = event::count(envelope.index) else {
            return self.malformed();
        };
        let Some(position) = self.position(index) else {
            return self.misplaced();
        };
        let block = &mut self.turn.blocks[position];
        if block.is_complete() {
            return self.misplaced();
        }
        *block.complete_mut() = true;
        if let Block::ToolUse { input, .. } | Block::ServerToolUse { input, .. } = block
            && input.is_empty()
        {
            *input = std::mem::take(&mut self.slots[position].initial_input);
        }
    }

    fn message_delta(&mut self, envelope: &Envelope<'_>) {
        if !self.started {
            self.misplaced();
        }
        self.turn.usage.update(envelope.usage);
        if let Some(delta) = event::inner::<Delta<'_>>(envelope.delta) {
            let keep = |target: &mut Option<String>, raw: Option<Raw<'_>>| {
                if let Some(text) = event::owned_text(raw) {
                    *target = Some(text);
                }
            };
            keep(&mut self.turn.stop_reason, delta.stop_reason);
            keep(&mut self.turn.stop_sequence, delta.stop_sequence);
        }
    }

    /// Returns the position of the newest block with this index.
    fn position(&self, index: u64) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        if self.slots[last].index == index {
            return Some(last);
        }
        let after = self.slots.partition_point(|slot| slot.index <= index);
        after
            .checked_sub(1)
            .filter(|position| self.slots[*position].index == index)
    }

    fn malformed(&mut self) {
        let count = &mut self.turn.irregularities.malformed;
        *count = count.saturating_add(1);
    }

    fn misplaced(&mut self) {
        let count = &mut self.turn.irregularities.misplaced;
        *count = count.saturating_add(1);
    }

    fn keep_unrecognised(&mut self, kind: &str, json: &str) {
        if self.turn.unrecognised.len() < MAX_UNRECOGNISED && json.len() <= MAX_UNRECOGNISED_BYTES {
            self.turn.unrecognised.push(Unrecognised {
                kind: kind.to_owned(),
                json: json.to_owned(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
