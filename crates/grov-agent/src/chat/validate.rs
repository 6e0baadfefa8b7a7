//! Checks what a model wrote, and names everything that does not hold in words for the model.

mod calls;
mod fields;

use super::citations;
use super::draft::{Draft, DraftDecision};
use super::extract::one_object;
use super::source::Source;
use crate::Tool;
use crate::json_text::JsonText;
use fields::{Fields, MAX_TEXT_CHARS};
use grov_redact::Redacted;
use serde_json::Value;

/// The most options of a question.
const MAX_OPTIONS: usize = 20;

/// What the model was offered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offered<'a> {
    /// The tools, built-in ones included.
    pub(crate) tools: &'a [Tool],
    /// The passages and items.
    pub(crate) sources: &'a [Source],
}

/// Reads and checks the answer of a model. Secrets in it are masked first.
///
/// # Errors
///
/// Returns everything that does not hold.
pub(crate) fn validate(text: &str, offered: Offered<'_>) -> Result<Draft, Vec<String>> {
    let object = one_object(text).map_err(|problem| vec![problem])?;
    let JsonText(answer) = Redacted::of(&JsonText(object)).into_inner();
    check(&answer, offered)
}

fn check(answer: &Value, offered: Offered<'_>) -> Result<Draft, Vec<String>> {
    let Some(members) = answer.as_object() else {
        return Err(vec!["the answer is not a JSON object".to_owned()]);
    };
    let mut fields = Fields::new(members);
    let decision = decision(&mut fields, offered);
    let proposals = calls::proposals(&mut fields);
    let citations = fields.list("citations");
    let mut problems = fields.problems;
    let cited = decision
        .as_ref()
        .map(|decision| citations::checked(citations, offered.sources, text_of(decision)))
        .unwrap_or_default();
    problems.extend(cited.problems);
    match decision {
        Some(decision) if problems.is_empty() => Ok(Draft {
            decision,
            citations: cited.citations,
            proposals,
        }),
        _ => Err(problems),
    }
}

/// The text of a decision for a person.
fn text_of(decision: &DraftDecision) -> &str {
    match decision {
        DraftDecision::Act { message, .. } => message,
        DraftDecision::Ask { question, .. } => question,
        DraftDecision::Noop { answer } => answer,
    }
}

fn decision(fields: &mut Fields<'_>, offered: Offered<'_>) -> Option<DraftDecision> {
    let found = match fields.get("decision") {
        None => {
            fields.problem("decision is missing; give \"ACT\", \"ASK\" or \"NOOP\"");
            return None;
        }
        Some(Value::String(name)) => name.as_str(),
        Some(_) => "",
    };
    match found {
        "ACT" => {
            let calls = calls::calls(fields, offered.tools);
            let message = fields.text("message", MAX_TEXT_CHARS);
            Some(DraftDecision::Act { calls, message })
        }
        "ASK" => {
            fields.must_be_without_calls("ASK");
            Some(DraftDecision::Ask {
                question: fields.required_text("question", "ASK"),
                options: fields.texts("options", MAX_OPTIONS),
                reason: fields.text("reason", MAX_TEXT_CHARS),
            })
        }
        "NOOP" => {
            fields.must_be_without_calls("NOOP");
            Some(DraftDecision::Noop {
                answer: fields.required_text("answer", "NOOP"),
            })
        }
        _ => {
            let found = grov_redact::beginning_of(found, 40);
            fields.problem(format!(
                "decision is \"{found}\"; it is exactly \"ACT\", \"ASK\" or \"NOOP\""
            ));
            None
        }
    }
}

#[cfg(test)]
mod tests;
