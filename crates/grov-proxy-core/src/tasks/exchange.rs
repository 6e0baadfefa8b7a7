//! What the recorder tells about an exchange that it recorded.

use crate::watch::ToolOutcome;
use grov_domain::{
    ActionSketch, AgentId, ClientSessionId, ExchangeId, ExchangeKind, OWN_TEXT_CLOSING, OWN_TEXT_OPENING,
    Project, Prompt, Step,
};
use grov_wire::RequestIndex;
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

impl SketchedAction {
    pub(crate) fn of(step: &Step) -> Self {
        Self {
            tool_use_id: step.action.tool_use_id.clone(),
            sketch: sketch(step),
        }
    }
}

/// What a judge is told of a step.
pub(crate) fn sketch(step: &Step) -> ActionSketch {
    let action = &step.action;
    ActionSketch {
        action_type: action.action_type,
        files: action.files.clone(),
        command: action.command.clone(),
        effects: action.effects.iter().map(|effect| effect.kind).collect(),
        reasoning: step.reasoning.clone(),
        failed: None,
        output: None,
        content: None,
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
    let beginning = &text[..head];
    let beginning = &beginning[..hidden_since(beginning).unwrap_or(head)];
    format!("{beginning}\n[…]\n{}", end_from(text, tail))
}

/// Parts of a text that nobody is shown, and how they end. Cut in the middle they would no longer be known for what
/// they are.
const HIDDEN: [(&str, &str); 2] = [("<private", "</private"), (OWN_TEXT_OPENING, OWN_TEXT_CLOSING)];

/// `text` from `at` on, without the rest of a hidden part that began before.
pub(crate) fn end_from(text: &str, at: usize) -> &str {
    let end = &text[at..];
    if hidden_since(&text[..at]).is_none() {
        return end;
    }
    let closings = HIDDEN.iter().filter_map(|(_, closing)| {
        let closed = tags(end).rev().find(|&tag| begins_with(&end[tag..], closing))?;
        let behind = end[closed..]
            .find('>')
            .map_or(end.len(), |close| closed + close + 1);
        Some(behind)
    });
    &end[closings.max().unwrap_or(end.len())..]
}

/// Where the hidden part begins that `text` ends in.
fn hidden_since(text: &str) -> Option<usize> {
    let open = |(opening, closing): &(&str, &str)| {
        let mut since = None;
        for tag in tags(text) {
            if begins_with(&text[tag..], closing) {
                since = None;
            } else if since.is_none() && begins_with(&text[tag..], opening) {
                since = Some(tag);
            }
        }
        since
    };
    HIDDEN.iter().filter_map(open).min()
}

fn tags(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    memchr::memchr_iter(b'<', text.as_bytes())
}

fn begins_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Results in the newest user message.
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
    end_from(text, start).to_owned()
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
                    // Where both ends are whole it is still known for what it is.
                    let is_whole = cut.contains(opening) && cut.contains(closing);
                    if cut.len() < text.len() && !is_whole {
                        assert!(!cut.contains("zebra"), "{opening} {before} {secrets}");
                    }
                }
            }
        }
        let text = "<private>all of it</private> shown";
        assert_eq!(end_from(text, 12), " shown");
        assert_eq!(
            end_from("a <private>b</private> c", 0),
            "a <private>b</private> c"
        );
        assert_eq!(end_from("<private>never closed", 12), "");
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
