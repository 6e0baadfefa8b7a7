//! Finds the answer to a request: the scenario and the step. No state is kept between requests; the conversation itself
//! shows its progress, so a repeated request gets the same answer.

use crate::behaviour::Behaviour;
use crate::json::Json;
use crate::request::{Message, MessagesRequest, Purpose, Role, is_type};
use crate::scenario::{Block, Scenario, ScenarioSet, Step};
use xxhash_rust::xxh3::Xxh3;

/// Beginnings of user texts that the client writes itself, which are not prompts.
const NOT_TYPED: [&str; 11] = [
    "<system-reminder>",
    "<task-notification>",
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<command-name>",
    INTERRUPTED,
    "[SUGGESTION MODE:",
    "CRITICAL: Respond with TEXT ONLY",
    "Stop hook feedback:",
    "Output token limit hit.",
    "Continue from where you left off.",
];
/// The beginning of the client's note that the user interrupted the model.
const INTERRUPTED: &str = "[Request interrupted by user";
/// The beginning of a message that replaces a conversation by its summary.
const CONTINUED: &str = "This session is being continued from a previous conversation";

/// The simulated model's reply to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    /// The blocks of the message, with placeholders, ids and signatures filled in.
    pub(crate) blocks: Vec<Json>,
    /// Why the model stops.
    pub(crate) stop_reason: String,
    /// How the answer is to be delivered, if the prompt sets it.
    pub(crate) prompt_behaviour: Option<String>,
    /// How the answer is to be delivered, if the scenario's step sets it.
    pub(crate) behaviour: Option<Behaviour>,
    /// Index of the step in its prompt.
    pub(crate) index: usize,
}

/// A conversation's position in its script.
#[derive(Debug, PartialEq, Eq)]
struct Place<'a> {
    scenario: &'a str,
    index: usize,
    /// The newest prompt, or the summary in its place.
    prompt: &'a str,
}

/// The answer to a request. `conversation` names the session and subagent, for the ids of tool calls.
pub(crate) fn reply(set: &ScenarioSet, request: &MessagesRequest, conversation: &str) -> Reply {
    let place = place(set, request);
    let fallback = Scenario::default();
    let scenario = set.get(place.scenario).unwrap_or(&fallback);
    let purpose = request.purpose();
    let step = match purpose {
        Purpose::Step => scenario.step(place.index),
        Purpose::Title => {
            let title = scenario.title.as_deref().unwrap_or("Simulated session");
            Step::of(vec![Block::Text(
                Json::object([("title", title.into())]).to_string(),
            )])
        }
        Purpose::Suggestion => {
            let suggestion = scenario.suggestion.as_deref().unwrap_or("go on");
            Step::of(vec![Block::Text(suggestion.to_owned())])
        }
        Purpose::Compaction => Step::of(vec![Block::Text(summary(scenario, &place))]),
        Purpose::WebSearch => web_search(request),
    };
    let directory = request.working_directory();
    let fill = |text: &str| {
        let text = text.replace("{step}", &(place.index + 1).to_string());
        directory.map_or(text.clone(), |directory| text.replace("{cwd}", directory))
    };
    let place_hash = place_hash(conversation, request, &place);
    let blocks = step
        .blocks
        .iter()
        .enumerate()
        .map(|(at, block)| {
            let id = block_id(place_hash, place.index, at);
            match block {
                Block::Text(text) => Json::object([("type", "text".into()), ("text", fill(text).into())]),
                Block::Thinking(text) => Json::object([
                    ("type", "thinking".into()),
                    ("thinking", fill(text).into()),
                    ("signature", signature(&id).into()),
                ]),
                Block::ToolUse { name, input } => Json::object([
                    ("type", "tool_use".into()),
                    ("id", format!("toolu_01{id}").into()),
                    ("name", name.as_str().into()),
                    ("input", input.map_strings(&fill)),
                ]),
                Block::Other(value) => value.map_strings(&fill),
            }
        })
        .collect();
    Reply {
        blocks,
        stop_reason: step.stop_reason().to_owned(),
        // Applies to the conversation, not to its side requests.
        prompt_behaviour: marker(place.prompt, "sim").filter(|_| purpose == Purpose::Step),
        behaviour: step.behaviour,
        index: place.index,
    }
}

/// Finds the newest prompt and counts the assistant's messages after it.
fn place<'a>(set: &'a ScenarioSet, request: &'a MessagesRequest) -> Place<'a> {
    let mut answered: Vec<&Message> = Vec::new();
    for message in request.messages.iter().rev() {
        match message.role {
            Role::Assistant => answered.push(message),
            Role::System => {}
            Role::User => {
                let Some(text) = prompt_of(message) else {
                    continue;
                };
                let marked = marker(text, "scenario").unwrap_or_default();
                let (name, start) = parse_place(&marked);
                let name = set.names().find(|known| *known == name);
                // After a summary the client keeps the last exchange, which the summary has already counted.
                let counted = answered
                    .iter()
                    .filter(|message| start == 0 || step_of(message).is_some_and(|step| step >= start))
                    .count();
                // A proxy may leave out the first answers. The calls in the others tell their step.
                let reached = answered.iter().find_map(|message| step_of(message));
                return Place {
                    scenario: name.unwrap_or(set.default_name()),
                    index: (start + counted).max(reached.map_or(0, |step| step + 1)),
                    prompt: text,
                };
            }
        }
    }
    Place {
        scenario: set.default_name(),
        index: answered.len(),
        prompt: "",
    }
}

/// The prompt in a user message, if there is one. A text with a marker is preferred, because a proxy may have added
/// another text after it. In a message with tool results, only a text with a marker or a text after an interruption
/// counts.
fn prompt_of(message: &Message) -> Option<&str> {
    let typed = || message.texts().rev().filter(|text| is_typed(text));
    let in_loop = message.tool_result_ids().next().is_some();
    let interrupted = message.texts().any(|text| text.starts_with(INTERRUPTED));
    let unmarked = || {
        if in_loop && !interrupted {
            None
        } else {
            typed().next()
        }
    };
    typed()
        .find(|text| marker(text, "scenario").is_some())
        .or_else(unmarked)
}

fn is_typed(text: &str) -> bool {
    let text = text.trim_start();
    !NOT_TYPED.iter().any(|start| text.starts_with(start))
        && (!text.starts_with(CONTINUED) || marker(text, "scenario").is_some())
}

/// The content of the last `[[kind:…]]` in a text.
fn marker(text: &str, kind: &str) -> Option<String> {
    let start = format!("[[{kind}:");
    let text = without_injected(text);
    let (_, rest) = text.rsplit_once(&start)?;
    let (content, _) = rest.split_once("]]")?;
    Some(content.trim().to_owned())
}

/// Leaves out text that Grov added: it may quote an earlier prompt with its marker. The summary of a clear stays, because
/// it stands for the prompts that the clear left out.
fn without_injected(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, injected)) = rest.split_once("<grov-context") {
        kept.push_str(before);
        let (added, after) = injected.split_once("</grov-context>").unwrap_or((injected, ""));
        if added.starts_with(" source=\"context\"") {
            kept.push_str(added);
        }
        rest = after;
    }
    kept + rest
}

/// `NAME` or, in a summary, `NAME+STEPS`.
fn parse_place(marker: &str) -> (&str, usize) {
    let with_steps = marker
        .rsplit_once('+')
        .and_then(|(name, steps)| Some((name, steps.parse().ok()?)));
    with_steps.unwrap_or((marker, 0))
}

/// The summary contains the scenario's marker and the number of steps done, so that the scenario continues after a
/// compaction.
fn summary(scenario: &Scenario, place: &Place<'_>) -> String {
    let text = scenario
        .summary
        .as_deref()
        .unwrap_or("The work so far went as planned.");
    format!(
        "<summary>\n{text}\n[[scenario:{}+{}]]\n</summary>",
        place.scenario, place.index
    )
}

/// The answer of the API's own search tool: the call, the result, and a text about it.
fn web_search(request: &MessagesRequest) -> Step {
    let query = request
        .messages
        .last()
        .and_then(|message| message.texts().next_back())
        .unwrap_or_default();
    let query = query.rsplit_once(": ").map_or(query, |(_, query)| query);
    let page = Json::object([
        ("type", "web_search_result".into()),
        ("title", "A simulated page".into()),
        ("url", "https://example.com/simulated".into()),
        ("encrypted_content", "c2ltdWxhdGVk".into()),
        ("page_age", Json::Null),
    ]);
    Step::of(vec![
        Block::Other(Json::object([
            ("type", "server_tool_use".into()),
            ("id", "srvtoolu_01simulated".into()),
            ("name", "web_search".into()),
            ("input", Json::object([("query", query.into())])),
        ])),
        Block::Other(Json::object([
            ("type", "web_search_tool_result".into()),
            ("tool_use_id", "srvtoolu_01simulated".into()),
            ("content", Json::Array(vec![page])),
        ])),
        Block::Text("One page was found.".to_owned()),
    ])
}

/// A hash of the position in the conversation. It includes the beginning of the conversation, so that ids do not repeat
/// when the messages start over after a compaction.
fn place_hash(conversation: &str, request: &MessagesRequest, place: &Place<'_>) -> u64 {
    let first = request.messages.first().and_then(prompt_of).unwrap_or_default();
    let length = request.messages.len().to_string();
    let mut hash = Xxh3::new();
    for part in [conversation, first, place.prompt, &length] {
        hash.update(part.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}

/// 22 characters: a hash, with the step in the last four, so that a tool call's id contains its step.
fn block_id(place: u64, step: usize, at: usize) -> String {
    format!("{place:016x}{:02x}{:04x}", at & 0xff, step & 0xffff)
}

/// The step of a message of the simulated model, from its tool calls.
fn step_of(message: &Message) -> Option<usize> {
    let id = message
        .blocks
        .iter()
        .filter(|block| is_type(block, "tool_use"))
        .find_map(|block| block.get_str("id")?.strip_prefix("toolu_01"))?;
    usize::from_str_radix(id.get(18..22)?, 16).ok()
}

/// An opaque signature like the real one: the client only sends it back.
fn signature(id: &str) -> String {
    format!("EqoB{}==", id.repeat(6))
}

#[cfg(test)]
mod tests;
