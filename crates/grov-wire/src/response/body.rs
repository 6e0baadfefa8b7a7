//! Parses a JSON body into a [`Turn`]: a message, an error, or neither.

use super::event::{self, Malformed, Message, Raw};
use super::turn::{ApiError, Block, Turn, TurnEnd};

/// Reads a JSON body. `ended_cleanly` is whether the transport delivered all of it.
pub(super) fn read(body: &[u8], ended_cleanly: bool) -> Turn {
    let mut turn = Turn::default();
    let message: Message<'_> = match event::object(body) {
        Ok(message) => message,
        Err(Malformed { is_cut }) => {
            turn.end = if is_cut || !ended_cleanly {
                TurnEnd::Truncated
            } else {
                TurnEnd::NotAMessage
            };
            turn.irregularities.malformed = u32::from(!body.trim_ascii().is_empty());
            return turn;
        }
    };
    let kind = event::text(message.kind);
    turn.error = ApiError::read(message.error);
    if turn.error.is_none() && kind.as_deref() == Some("error") {
        turn.error = Some(ApiError::unreadable());
    }
    if turn.error.is_some() {
        turn.end = TurnEnd::Error;
        return turn;
    }
    let content = message
        .content
        .and_then(|raw| serde_json::from_str::<Vec<Raw<'_>>>(raw.0).ok());
    let (Some(content), Some("message")) = (content, kind.as_deref()) else {
        turn.end = TurnEnd::NotAMessage;
        return turn;
    };
    turn.end = TurnEnd::Complete;
    turn.id = event::owned_text(message.id);
    turn.model = event::owned_text(message.model);
    turn.role = event::owned_text(message.role);
    turn.stop_reason = event::owned_text(message.stop_reason);
    turn.stop_sequence = event::owned_text(message.stop_sequence);
    turn.usage.update(message.usage);
    for raw in content {
        match event::block(raw, true) {
            Some(block) => turn.blocks.push(block),
            None => {
                // Kept as it is: nothing in the response is dropped silently.
                turn.irregularities.malformed = turn.irregularities.malformed.saturating_add(1);
                turn.blocks.push(Block::Other {
                    kind: String::new(),
                    json: raw.0.to_owned(),
                    complete: true,
                });
            }
        }
    }
    turn
}

#[cfg(test)]
mod tests;
