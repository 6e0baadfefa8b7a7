//! Assembles prompts.

use super::data::DataMarks;
use super::history::History;
use super::instructions::{INSTRUCTIONS, REPAIR, REPAIR_END};
use super::schema::answer_schema;
use super::source::{Source, Standing};
use crate::tokens::tokens;
use crate::{Message, MessageRole, Project, SourceKind, Tool};
use grov_domain::{ChatMessage, ChatPrompt, ChatRole};
use grov_redact::{Redacted, Redactor};
use serde_json::{Value, json};

/// The most bytes of metadata that are shown.
const MAX_METADATA: usize = 8 * 1024;

/// The most bytes of a tool's result that are shown.
const MAX_RESULT: usize = 16 * 1024;

/// The most bytes of the arguments of an earlier call that are shown.
const MAX_EARLIER_ARGUMENTS: usize = 4 * 1024;

/// The most problems that are told in a repair round.
const MAX_PROBLEMS: usize = 20;

/// The most bytes of a wrong answer that are shown in a repair round.
const MAX_WRONG_ANSWER: usize = 8 * 1024;

/// What a prompt is made of. Everything in it was redacted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptParts<'a> {
    pub(crate) project: &'a Project,
    pub(crate) tools: &'a [Tool],
    pub(crate) sources: &'a [Source],
    pub(crate) history: &'a History,
    pub(crate) incoming: &'a Message,
    pub(crate) metadata: Option<&'a Value>,
    pub(crate) marks: &'a DataMarks,
    pub(crate) max_output_tokens: u32,
}

/// Assembles the prompt of a chat: the system prompt, the thread, and the message with what was found.
pub(crate) fn assemble(parts: &PromptParts<'_>) -> ChatPrompt {
    let mut messages: Vec<(ChatRole, String)> = Vec::new();
    if let Some(summary) = &parts.history.summary {
        let quoted = parts.marks.quote(&[("kind", "summary")], &summary.text);
        push(
            &mut messages,
            ChatRole::User,
            format!("The conversation before, in short:\n{quoted}"),
        );
    }
    for message in &parts.history.messages {
        let role = match message.role {
            MessageRole::User | MessageRole::Tool => ChatRole::User,
            MessageRole::Assistant => ChatRole::Assistant,
        };
        push(&mut messages, role, shown(message, parts.marks));
    }
    push(&mut messages, ChatRole::User, incoming(parts));
    // Providers expect that the user begins.
    if messages
        .first()
        .is_some_and(|(role, _)| *role == ChatRole::Assistant)
    {
        messages.insert(
            0,
            (
                ChatRole::User,
                "(The beginning of the conversation is left out.)".to_owned(),
            ),
        );
    }
    ChatPrompt {
        system: redacted(&system(parts)),
        messages: messages
            .into_iter()
            .map(|(role, text)| ChatMessage {
                role,
                text: redacted(&text),
            })
            .collect(),
        schema: answer_schema(parts.tools),
        max_output_tokens: parts.max_output_tokens,
    }
}

/// Adds the wrong answer and what did not hold in it.
///
/// The problems are quoted, because they repeat parts of schemas and of the answer.
pub(crate) fn add_repair(prompt: &mut ChatPrompt, marks: &DataMarks, answer: &str, problems: &[String]) {
    let answer = redacted(answer);
    let shown = if answer.trim().is_empty() {
        redacted("(empty)")
    } else {
        answer.bounded(MAX_WRONG_ANSWER)
    };
    let problems: Vec<String> = problems
        .iter()
        .take(MAX_PROBLEMS)
        .map(|problem| format!("- {problem}"))
        .collect();
    let problems = marks.quote(&[("kind", "problems")], &problems.join("\n"));
    prompt.messages.push(ChatMessage {
        role: ChatRole::Assistant,
        text: shown,
    });
    prompt.messages.push(ChatMessage {
        role: ChatRole::User,
        text: redacted(&[REPAIR, problems.as_str(), REPAIR_END].concat()),
    });
}

/// The parts were redacted one by one; together they may show a secret whose name was in one and its value in the next. Nothing
/// is cut: each part is bounded.
fn redacted(text: &str) -> Redacted {
    Redactor::shared().whole(text)
}

/// Adds a message, to the last one if that has the same author: not every provider takes two in a row.
fn push(messages: &mut Vec<(ChatRole, String)>, role: ChatRole, text: String) {
    match messages.last_mut() {
        Some((last, before)) if *last == role => {
            before.push_str("\n\n");
            before.push_str(&text);
        }
        _ => messages.push((role, text)),
    }
}

fn system(parts: &PromptParts<'_>) -> String {
    let mut sections = Vec::new();
    let role = parts.project.role_statement.trim();
    sections.push(if role.is_empty() {
        format!("You are the assistant of the project {}.\n", parts.project.name)
    } else {
        format!("{role}\n")
    });
    sections.push(INSTRUCTIONS.replace("TAG", parts.marks.tag()));
    for (standing, title) in [
        (Standing::Rule, "# Accepted rules of the project"),
        (Standing::OpenLoop, "# The situation: open commitments"),
        (
            Standing::Event,
            "# The situation: what happened last, newest first",
        ),
        (Standing::Idea, "# The situation: ideas"),
    ] {
        let items: Vec<String> = parts
            .sources
            .iter()
            .filter(|source| source.standing == Some(standing))
            .map(|source| quoted(source, parts.marks))
            .collect();
        if !items.is_empty() {
            sections.push(format!("{title}\n\n{}\n", items.join("\n")));
        }
    }
    sections.push(format!("# The tools\n\n{}\n", tools(parts.tools, parts.marks)));
    sections.join("\n")
}

/// Quotes the tools, one JSON object a line.
fn tools(tools: &[Tool], marks: &DataMarks) -> String {
    let lines: Vec<String> = tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.input_schema,
                "needs_approval": tool.awaits_approval(),
                "risk": tool.risk,
            })
            .to_string()
        })
        .collect();
    marks.quote(&[("kind", "tools")], &lines.join("\n"))
}

fn quoted(source: &Source, marks: &DataMarks) -> String {
    let headings = source.heading_path.join(" > ");
    let mut attributes = vec![
        (
            "kind",
            if source.kind == SourceKind::Chunk {
                "chunk"
            } else {
                "memory"
            },
        ),
        ("id", source.id.as_str()),
    ];
    match source.category {
        Some(category) => {
            attributes.push(("category", category.as_str()));
            attributes.push(("title", &source.title));
        }
        None => attributes.push(("type", &source.title)),
    }
    if !headings.is_empty() {
        attributes.push(("headings", &headings));
    }
    marks.quote(&attributes, &source.text)
}

/// The new message, after what was found for it.
fn incoming(parts: &PromptParts<'_>) -> String {
    let mut sections = Vec::new();
    let found: Vec<String> = parts
        .sources
        .iter()
        .filter(|source| source.standing.is_none())
        .map(|source| quoted(source, parts.marks))
        .collect();
    sections.push(if found.is_empty() {
        "Nothing was found in the documents and in memory for this message.".to_owned()
    } else {
        format!(
            "Found in the documents and in memory for this message:\n{}",
            found.join("\n")
        )
    });
    if let Some(metadata) = parts.metadata {
        let text = grov_redact::bounded(&metadata.to_string(), MAX_METADATA).into_owned();
        sections.push(format!(
            "Metadata of the caller:\n{}",
            parts.marks.quote(&[("kind", "metadata")], &text)
        ));
    }
    let id = parts.incoming.id;
    sections.push(match parts.incoming.role {
        MessageRole::Tool => format!(
            "{}\n\nA tool call of this conversation ended; its result is above. Continue: give the answer (NOOP), the next call (ACT) or a \
             question (ASK).",
            shown(parts.incoming, parts.marks)
        ),
        _ => format!("The message of the user (id {id}):\n{}", parts.incoming.content),
    });
    sections.join("\n\n")
}

/// The tokens that a message of the thread takes as the model sees it, without the marks around a quotation.
pub(crate) fn shown_tokens(message: &Message) -> u32 {
    match message.role {
        MessageRole::User => tokens(&message.content),
        MessageRole::Tool => tokens(&grov_redact::bounded(&message.content, MAX_RESULT)),
        MessageRole::Assistant => tokens(&answered(message)),
    }
}

/// A message of the thread as the model sees it.
fn shown(message: &Message, marks: &DataMarks) -> String {
    match message.role {
        MessageRole::User => message.content.clone(),
        MessageRole::Tool => {
            let text = grov_redact::bounded(&message.content, MAX_RESULT);
            marks.quote(&[("kind", "tool_result")], &text)
        }
        MessageRole::Assistant => answered(message),
    }
}

fn answered(message: &Message) -> String {
    match &message.response_json {
        Some(response) => earlier_answer(response),
        None => json!({"decision": "NOOP", "answer": message.content}).to_string(),
    }
}

/// The arguments of an earlier call. Long ones are shown as text with a gap.
fn earlier_arguments(arguments: &Value) -> Value {
    let text = arguments.to_string();
    if text.len() <= MAX_EARLIER_ARGUMENTS {
        return arguments.clone();
    }
    Value::String(grov_redact::bounded(&text, MAX_EARLIER_ARGUMENTS).into_owned())
}

/// An earlier answer in the form in which the model writes answers: without ids, states and times.
fn earlier_answer(response: &Value) -> String {
    let mut answer = serde_json::Map::new();
    for member in ["decision", "message", "question", "options", "answer"] {
        if let Some(value) = response.get(member) {
            answer.insert(member.to_owned(), value.clone());
        }
    }
    if let Some(calls) = response.get("tool_calls").and_then(Value::as_array) {
        let calls: Vec<Value> = calls
            .iter()
            .map(|call| json!({"name": call["name"], "arguments": earlier_arguments(&call["arguments"])}))
            .collect();
        answer.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Value::Object(answer).to_string()
}
