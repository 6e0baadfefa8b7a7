//! Extracts the actions of an answer.

use grov_actions::{RedactedCall, ToolCall, ToolInput, is_key_decision, keywords, understand_redacted};
use grov_domain::{ExchangeId, Step, StepId, without_own_text};
use grov_redact::Redactor;
use grov_wire::response::{Block, Turn};
use time::OffsetDateTime;

/// Maximum length of the reasoning of a step in characters.
const MAX_REASONING: usize = 1000;

/// A step and the part of the action that is not recorded.
pub(super) struct PerformedAction {
    pub(super) step: Step,
    /// The beginning of the written content.
    pub(super) content: Option<String>,
}

/// Returns one step per complete tool call. Its reasoning is the nearest text before it.
pub(super) fn of_turn(
    turn: &Turn,
    exchange: &ExchangeId,
    timestamp: OffsetDateTime,
    working_directory: Option<&str>,
) -> Vec<PerformedAction> {
    let mut steps = Vec::new();
    let mut nearest_text: Option<&str> = None;
    // Computed only for texts before a call, because redaction is the slowest part of observing an answer.
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
                    // Gemini names no id.
                    id: Some(id.as_str()).filter(|id| !id.is_empty()),
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

/// Returns the reasoning to record.
fn reasoning(text: &str) -> String {
    let text = without_own_text(text);
    // Redacted before it is cut, because a part of a secret would not be recognised later.
    let text = Redactor::shared().redact(text.trim());
    first_characters(&text, MAX_REASONING).to_owned()
}

fn first_characters(text: &str, count: usize) -> &str {
    text.char_indices()
        .nth(count)
        .map_or(text, |(end, _)| &text[..end])
}
