//! Answers without a model, by rules. It quotes what was found, and asks where nothing was.
//!
//! 1. A request to remember something (`remember that …`) becomes a proposal for memory.
//! 2. A message that names exactly one offered tool and gives every required argument by its name becomes a call.
//! 3. A question whose words are in a sentence of a document or an item is answered by quoting the sentence.
//! 4. Everything else is a question back.

mod answer;
mod candidate;
mod remember;
mod request;

use super::draft::{Draft, DraftDecision};
use super::source::Source;
use super::validate::Offered;
use crate::{ToolCall, ToolCallStatus, phrases};

/// The most characters of a result that are repeated.
const MAX_RESULT_CHARS: usize = 2_000;

/// Answers a message.
pub(crate) fn answer(message: &str, offered: Offered<'_>) -> Draft {
    if let Some(draft) = remember::proposal(message) {
        return draft;
    }
    if let Some(draft) = request::call(message, offered) {
        return draft;
    }
    let has_tools = offered
        .tools
        .iter()
        .any(|tool| !crate::tool::is_built_in(&tool.name));
    answer::from_sources(message, offered.sources, has_tools)
        .unwrap_or_else(|| nothing_found(message, offered.sources))
}

/// Continues after a call that ended.
pub(crate) fn continued(call: &ToolCall) -> Draft {
    let name = &call.name;
    let error = call.error.as_deref().unwrap_or("no reason was given");
    let decision = match call.status {
        ToolCallStatus::Succeeded => {
            let result = call.result.as_ref().map(|result| match result.as_str() {
                Some(text) => text.to_owned(),
                None => result.to_string(),
            });
            let result = result.filter(|result| !result.is_empty());
            let shown = result.map_or_else(String::new, |result| {
                format!(
                    " It returned:\n\n{}",
                    indented(grov_redact::beginning_of(&result, MAX_RESULT_CHARS))
                )
            });
            DraftDecision::Noop {
                answer: format!("The call of `{name}` succeeded.{shown}"),
            }
        }
        ToolCallStatus::Rejected => DraftDecision::Noop {
            answer: format!("The call of `{name}` was rejected ({error}). Nothing was done."),
        },
        _ => DraftDecision::Ask {
            question: format!("The call of `{name}` failed: {error}. What shall be done now?"),
            options: Vec::new(),
            reason: "The tool reported an error.".to_owned(),
        },
    };
    plain(decision)
}

/// A block of code in Markdown that its content cannot close.
fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

fn nothing_found(message: &str, sources: &[Source]) -> Draft {
    let phrases = phrases::of(message);
    let reason = if sources.is_empty() {
        phrases.nothing
    } else {
        phrases.no_answer
    };
    ask(phrases.question, Vec::new(), reason)
}

fn ask(question: &str, options: Vec<String>, reason: &str) -> Draft {
    plain(DraftDecision::Ask {
        question: question.to_owned(),
        options,
        reason: reason.to_owned(),
    })
}

fn plain(decision: DraftDecision) -> Draft {
    Draft {
        decision,
        citations: Vec::new(),
        proposals: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
