//! The part of a recorded exchange that task orchestration needs.

use crate::action_checker::ToolOutcome;
use grov_actions::redacted_end;
use grov_domain::{ActionSketch, AgentId, ClientSessionId, ExchangeId, ExchangeKind, Project, Prompt, Step};
use grov_session::capture::ends_of_prompt;
use grov_wire::RequestIndex;
use serde_json::Value;
use time::OffsetDateTime;

/// Characters of a tool's output that are kept, from its end.
const MAX_OUTPUT: usize = 400;

/// Bytes from the end of a long result that are read. Enough for [`MAX_OUTPUT`] characters.
const TAIL_BYTES: usize = 40 * MAX_OUTPUT;

/// Maximum size of a result in bytes that is decoded. Of a longer one, the raw end is used.
const MAX_DECODED: usize = 64 * 1024;

/// A recorded exchange.
#[derive(Clone, Debug)]
pub(crate) struct RecordedExchange {
    pub(crate) id: ExchangeId,
    pub(crate) client_session_id: ClientSessionId,
    /// The subagent of the exchange.
    pub(crate) agent_id: Option<AgentId>,
    pub(crate) kind: ExchangeKind,
    pub(crate) project: Project,
    pub(crate) user: Option<String>,
    pub(crate) working_directory: Option<String>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) actions: Vec<SketchedAction>,
    /// Results of earlier calls in the request.
    pub(crate) results: Vec<ToolOutcome>,
    /// The last text of the answer in the main conversation.
    pub(crate) answer: Option<String>,
    /// The last text of a subagent that ended with it.
    pub(crate) report: Option<String>,
    /// The summary of the conversation, if the client asked for one.
    pub(crate) summary: Option<String>,
    /// The title of the session, if the client asked for one.
    pub(crate) title: Option<String>,
    pub(crate) stop_reason: Option<String>,
    /// Whether the turn ends: the answer is complete and the model ended its turn.
    pub(crate) ends_turn: bool,
    /// Whether the conversation begins with the newest prompt.
    pub(crate) begins: bool,
    pub(crate) started_at: OffsetDateTime,
    pub(crate) ended_at: OffsetDateTime,
}

/// An action and the id of its call.
#[derive(Clone, Debug)]
pub(crate) struct SketchedAction {
    pub(crate) tool_use_id: Option<String>,
    pub(crate) sketch: ActionSketch,
}

impl SketchedAction {
    pub(crate) fn of(step: &Step) -> Self {
        Self {
            tool_use_id: step.action.tool_use_id.clone(),
            sketch: sketch(step),
        }
    }
}

/// Returns a step in the form that the judge is shown.
pub(crate) fn sketch(step: &Step) -> ActionSketch {
    ActionSketch {
        reasoning: step.reasoning.clone(),
        ..ActionSketch::of(&step.action)
    }
}

/// Shortens prompts to the part that the judge is shown: the beginning and the end.
pub(crate) fn shortened(prompts: &[Prompt]) -> Vec<Prompt> {
    prompts
        .iter()
        .map(|prompt| Prompt {
            text: ends_of_prompt(&prompt.text),
            queued: prompt.queued,
        })
        .collect()
}

/// Returns the title in the answer to the request for one, an object in JSON.
pub(crate) fn title(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let title = answer["title"].as_str()?.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// Returns the results in the newest user message.
pub(crate) fn outcomes(index: &RequestIndex) -> Vec<ToolOutcome> {
    index
        .newest_results()
        .filter_map(|block| {
            Some(ToolOutcome {
                tool_use_id: block.tool_use_id()?.into_owned(),
                failed: block.is_error(),
                output: block
                    .result_content()
                    .map(output_end)
                    .filter(|text| !text.is_empty()),
            })
        })
        .collect()
}

/// Returns the end of a result, given as raw JSON.
fn output_end(raw: &str) -> String {
    if raw.len() > MAX_DECODED {
        let start = raw.ceil_char_boundary(raw.len() - TAIL_BYTES);
        return redacted_end(&raw[start..].replace("\\n", "\n"), MAX_OUTPUT);
    }
    let text = match serde_json::from_str(raw) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(blocks)) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    };
    let text = grov_wire::without_system_reminders(text.into());
    redacted_end(text.trim(), MAX_OUTPUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_result_is_used() {
        assert_eq!(output_end(r#""one\ntwo""#), "one\ntwo");
        assert_eq!(
            output_end(r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]"#),
            "a\nb"
        );
        assert_eq!(output_end("17"), "");
        let long = format!("\"{}é\"", "x ".repeat(MAX_DECODED));
        let end = output_end(&long);
        let kept = end.chars().count();
        assert!((MAX_OUTPUT - 10..=MAX_OUTPUT).contains(&kept), "{kept}");
        assert!(end.ends_with("é\""));
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_a_result_is_cut() {
        let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        for before in [0, 2 * MAX_DECODED] {
            for after in MAX_OUTPUT - 45..=MAX_OUTPUT {
                let text = format!("{}{token}{}", "a ".repeat(before), " b".repeat(after / 2));
                let end = output_end(&format!("\"{text}\""));
                let has_part = (4..token.len()).any(|from| end.contains(&token[from..]));
                assert!(end.contains(token) || !has_part, "{end}");
            }
        }
    }
}
