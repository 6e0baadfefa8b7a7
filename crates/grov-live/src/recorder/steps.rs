//! The actions of an answer.

use grov_actions::{RedactedCall, ToolCall, ToolInput, is_key_decision, keywords, understand_redacted};
use grov_domain::{ExchangeId, Step, StepId, without_own_text};
use grov_redact::Redactor;
use grov_wire::response::{Block, Turn};
use time::OffsetDateTime;

/// Longest reasoning kept with a step, in characters.
const MAX_REASONING: usize = 1000;

/// A step, and what is not recorded of it.
pub(super) struct PerformedAction {
    pub(super) step: Step,
    /// The beginning of what it writes.
    pub(super) content: Option<String>,
}

/// One step per whole tool call, with the text nearest before it.
pub(super) fn of_turn(
    turn: &Turn,
    exchange: &ExchangeId,
    timestamp: OffsetDateTime,
    working_directory: Option<&str>,
) -> Vec<PerformedAction> {
    let mut steps = Vec::new();
    let mut nearest_text: Option<&str> = None;
    // Only of a text that a call follows: looking for secrets is the costliest part of observing an answer.
    let mut nearest_reasoning: Option<String> = None;
    for block in &turn.blocks {
        match block {
            Block::Text { text, .. } if !text.trim().is_empty() => nearest_text = Some(text),
            Block::ToolUse {
                id,
                name,
                input,
                complete: true,
            } => {
                if let Some(text) = nearest_text.take() {
                    nearest_reasoning = Some(reasoning(text));
                }
                let arguments = ToolInput::Text(input).value();
                let call = ToolCall {
                    name,
                    id: Some(id),
                    input: ToolInput::Json(&arguments),
                    working_directory,
                };
                let RedactedCall { action, content, .. } = understand_redacted(&call);
                let step = Step {
                    id: StepId::of(exchange, steps.len()),
                    keywords: keywords(&action),
                    is_key_decision: is_key_decision(&action, nearest_reasoning.as_deref()),
                    reasoning: nearest_reasoning.clone(),
                    action,
                    timestamp,
                    verdict: None,
                };
                steps.push(PerformedAction { step, content });
            }
            _ => {}
        }
    }
    steps
}

/// What is kept of the text before a call.
fn reasoning(text: &str) -> String {
    let text = without_own_text(text);
    // Half a secret is none to the redactor at the store's door.
    let text = Redactor::shared().redact(text.trim());
    first_characters(&text, MAX_REASONING).to_owned()
}

fn first_characters(text: &str, count: usize) -> &str {
    text.char_indices()
        .nth(count)
        .map_or(text, |(end, _)| &text[..end])
}
