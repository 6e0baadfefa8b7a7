//! What the recorder tells about an exchange that it recorded.

use grov_domain::{
    ActionSketch, AgentId, ClientSessionId, ExchangeId, ExchangeKind, OWN_TEXT_CLOSING, OWN_TEXT_OPENING,
    Project, Prompt, Step,
};
use grov_wire::{BlockKind, RequestIndex};
use serde_json::Value;
use time::OffsetDateTime;

/// Longest end of a tool's output that is kept, in characters.
const MAX_OUTPUT: usize = 400;

/// Bytes kept of each end of a long prompt.
const MAX_PROMPT_END: usize = 16 * 1024;

/// A result longer than this is not decoded; its raw end is looked at, in bytes.
const MAX_DECODED: usize = 64 * 1024;

/// A recorded exchange, as far as tasks are concerned.
#[derive(Clone, Debug)]
pub(crate) struct RecordedExchange {
    pub(crate) id: ExchangeId,
    pub(crate) client_session_id: ClientSessionId,
    /// The subagent, if it was one.
    pub(crate) agent_id: Option<AgentId>,
    pub(crate) kind: ExchangeKind,
    pub(crate) project: Project,
    pub(crate) user: Option<String>,
    pub(crate) working_directory: Option<String>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) actions: Vec<SketchedAction>,
    /// Results of earlier calls that the request brought.
    pub(crate) results: Vec<ToolOutcome>,
    /// The last text of a main turn's answer.
    pub(crate) answer: Option<String>,
    pub(crate) stop_reason: Option<String>,
    /// The main conversation came to rest: the answer arrived whole and the model ended its turn.
    pub(crate) ends_turn: bool,
    /// Nothing lies before the newest prompt: a conversation begins.
    pub(crate) begins: bool,
    pub(crate) started_at: OffsetDateTime,
    pub(crate) ended_at: OffsetDateTime,
}

/// An action and the call it was.
#[derive(Clone, Debug)]
pub(crate) struct SketchedAction {
    pub(crate) tool_use_id: Option<String>,
    pub(crate) sketch: ActionSketch,
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolOutcome {
    pub(crate) tool_use_id: String,
    pub(crate) failed: bool,
    /// The end of the output.
    pub(crate) output: Option<String>,
}

impl SketchedAction {
    pub(crate) fn of(step: &Step) -> Self {
        let action = &step.action;
        Self {
            tool_use_id: action.tool_use_id.clone(),
            sketch: ActionSketch {
                action_type: action.action_type,
                files: action.files.clone(),
                command: action.command.clone(),
                effects: action.effects.iter().map(|effect| effect.kind).collect(),
                reasoning: step.reasoning.clone(),
                failed: None,
                output: None,
            },
        }
    }
}

/// Prompts cut to what a judge looks at: of a pasted log the beginning and the end say what is wanted.
pub(crate) fn bounded(prompts: &[Prompt]) -> Vec<Prompt> {
    prompts
        .iter()
        .map(|prompt| Prompt {
            text: both_ends(&prompt.text),
            queued: prompt.queued,
        })
        .collect()
}

/// The first and the last [`MAX_PROMPT_END`] bytes of a longer text.
pub(super) fn both_ends(text: &str) -> String {
    if text.len() <= 2 * MAX_PROMPT_END {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(MAX_PROMPT_END);
    let tail = text.ceil_char_boundary(text.len() - MAX_PROMPT_END);
    format!(
        "{}\n[…]\n{}",
        whole_beginning(&text[..head]),
        whole_end(&text[tail..])
    )
}

/// Parts of a text that nobody is shown, and how they end. Cut in the middle they would no longer be known for what
/// they are.
const HIDDEN: [(&str, &str); 2] = [("<private>", "</private>"), (OWN_TEXT_OPENING, OWN_TEXT_CLOSING)];

/// The end of a longer text, without the rest of a hidden part that began before it.
pub(crate) fn whole_end(end: &str) -> &str {
    // Offsets stay the same: only ASCII letters change.
    let lower = end.to_ascii_lowercase();
    let start = HIDDEN.iter().filter_map(|(opening, closing)| {
        let closed = lower.find(closing)?;
        let opened_before = lower[..closed].contains(opening);
        (!opened_before).then_some(closed + closing.len())
    });
    &end[start.max().unwrap_or(0)..]
}

/// The beginning of a longer text, without a hidden part that goes on behind it.
fn whole_beginning(beginning: &str) -> &str {
    let lower = beginning.to_ascii_lowercase();
    let stop = HIDDEN.iter().filter_map(|(opening, closing)| {
        let opened = lower.rfind(opening)?;
        let closed_behind = lower[opened..].contains(closing);
        (!closed_behind).then_some(opened)
    });
    &beginning[..stop.min().unwrap_or(beginning.len())]
}

/// Results in the newest user message.
pub(crate) fn outcomes(index: &RequestIndex) -> Vec<ToolOutcome> {
    let newest = index.newest_user_message();
    newest
        .iter()
        .flat_map(|message| message.blocks())
        .filter(|block| block.kind() == BlockKind::ToolResult)
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

/// The end of a result, given as raw JSON.
fn output_end(raw: &str) -> String {
    if raw.len() > MAX_DECODED {
        let mut start = raw.len() - 2 * MAX_OUTPUT;
        while !raw.is_char_boundary(start) {
            start += 1;
        }
        return last_characters(&raw[start..].replace("\\n", "\n"));
    }
    let text = match serde_json::from_str(raw) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(blocks)) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    };
    last_characters(grov_wire::without_system_reminders(text.into()).trim())
}

fn last_characters(text: &str) -> String {
    let start = text
        .char_indices()
        .rev()
        .nth(MAX_OUTPUT - 1)
        .map_or(0, |(at, _)| at);
    let end = &text[start..];
    if start == 0 { end } else { whole_end(end) }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_prompt_both_ends_are_kept() {
        assert_eq!(both_ends("short"), "short");
        let long = format!("fix this: {}: why?", "é".repeat(1 << 20));
        let cut = both_ends(&long);
        assert!(cut.starts_with("fix this") && cut.ends_with("why?"));
        assert!(cut.len() < 2 * MAX_PROMPT_END + 16);
    }

    #[test]
    fn a_hidden_part_does_not_show_where_it_is_cut() {
        for (opening, closing) in [
            ("<private>", "</private>"),
            ("<PRIVATE>", "</Private>"),
            HIDDEN[1],
        ] {
            for before in [0, 10, MAX_PROMPT_END - 20, 2 * MAX_PROMPT_END, 5 * MAX_PROMPT_END] {
                for secrets in [1, 4000, 20_000] {
                    let text = format!(
                        "{}{opening}{}{closing}{}",
                        "a".repeat(before),
                        "zebra ".repeat(secrets),
                        "b".repeat(2000)
                    );
                    let cut = both_ends(&text);
                    let shown = match (
                        cut.to_lowercase().find(&opening.to_lowercase()),
                        cut.len() < text.len(),
                    ) {
                        // Not cut there: it is still known for what it is.
                        (Some(at), _) => format!("{}{}", &cut[..at], cut.rsplit("</").next().unwrap_or("")),
                        (None, true) => cut,
                        (None, false) => String::new(),
                    };
                    assert!(!shown.contains("zebra"), "{opening} {before} {secrets}");
                }
            }
        }
        assert_eq!(whole_end("rest of it</private> shown"), " shown");
        assert_eq!(whole_end("a <private>b</private> c"), "a <private>b</private> c");
    }

    #[test]
    fn the_end_of_a_result_is_kept() {
        assert_eq!(output_end(r#""one\ntwo""#), "one\ntwo");
        assert_eq!(
            output_end(r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]"#),
            "a\nb"
        );
        assert_eq!(output_end("17"), "");
        let long = format!("\"{}é\"", "x".repeat(MAX_DECODED));
        let end = output_end(&long);
        assert_eq!(end.chars().count(), MAX_OUTPUT);
        assert!(end.ends_with("é\""));
    }
}
