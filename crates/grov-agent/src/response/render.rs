//! The answer as Markdown.

use super::{Citation, Decision, Response};
use crate::phrases::Phrases;
use crate::{MemoryItem, MemoryStatus, ToolCall, ToolCallStatus};
use std::fmt::Write as _;

/// The most characters of a quotation that are shown.
const MAX_QUOTE_CHARS: usize = 300;

/// Renders an answer. What the service adds is said with `phrases`.
pub(crate) fn render(response: &Response, phrases: &Phrases) -> String {
    let mut text = String::new();
    match &response.decision {
        Decision::Act { tool_calls, message } => {
            text.push_str(message);
            paragraph(&mut text);
            for call in tool_calls {
                render_call(&mut text, call, phrases);
            }
        }
        Decision::Ask {
            question,
            options,
            reason,
        } => {
            text.push_str(question);
            paragraph(&mut text);
            for option in options {
                let _ = writeln!(text, "- {}", one_line(option));
            }
            paragraph(&mut text);
            if !reason.is_empty() {
                let _ = writeln!(text, "{} {reason}", phrases.why);
            }
        }
        Decision::Noop { answer } => text.push_str(answer),
    }
    if !response.citations.is_empty() {
        paragraph(&mut text);
        let _ = writeln!(text, "{}", phrases.sources);
        for citation in &response.citations {
            render_citation(&mut text, citation);
        }
    }
    if !response.memory_proposals.is_empty() {
        paragraph(&mut text);
        let _ = writeln!(text, "{}", phrases.memory);
        for item in &response.memory_proposals {
            render_item(&mut text, item, phrases);
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Ends a paragraph. Writing to a string does not fail, so results are not looked at.
fn paragraph(text: &mut String) {
    text.truncate(text.trim_end().len());
    if !text.is_empty() {
        text.push_str("\n\n");
    }
}

fn render_call(text: &mut String, call: &ToolCall, phrases: &Phrases) {
    let state = match call.status {
        ToolCallStatus::AwaitingApproval => phrases.waits,
        ToolCallStatus::Approved => phrases.allowed,
        other => other.as_str(),
    };
    let _ = write!(text, "- `{}` ({state})", call.name);
    if !call.reason.is_empty() {
        let _ = write!(text, ": {}", one_line(&call.reason));
    }
    let arguments = call.arguments.to_string().replace('`', "'");
    let _ = writeln!(text, "\n  `{}`", grov_redact::beginning_of(&arguments, 500));
}

fn render_citation(text: &mut String, citation: &Citation) {
    let mut place = vec![one_line(&citation.title)];
    place.extend(citation.heading_path.iter().map(|heading| one_line(heading)));
    let quote = one_line(grov_redact::beginning_of(&citation.quote, MAX_QUOTE_CHARS));
    let _ = writeln!(text, "- {}: “{quote}”", place.join(" › "));
}

fn render_item(text: &mut String, item: &MemoryItem, phrases: &Phrases) {
    let state = match item.status {
        MemoryStatus::Proposed => phrases.proposed,
        _ => phrases.kept,
    };
    let _ = write!(text, "- {state} {}: {}", item.kind, one_line(&item.content));
    if !item.contradicts.is_empty() {
        let count = item.contradicts.len().to_string();
        let _ = write!(text, " ({})", phrases.contradicts.replace("{count}", &count));
    }
    text.push('\n');
}

/// Foreign text on one line, without effect as Markdown or HTML.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            if matches!(letter, '<' | '>' | '[' | ']' | '`' | '\\') {
                line.push('\\');
            }
            line.push(letter);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SourceKind, phrases};

    #[test]
    fn a_question_has_its_options_and_its_reason() {
        let response = Response {
            decision: Decision::Ask {
                question: "Which?".to_owned(),
                options: vec!["one".to_owned(), "two <b>".to_owned()],
                reason: "There are two.".to_owned(),
            },
            citations: vec![Citation {
                kind: SourceKind::Chunk,
                id: "1".to_owned(),
                title: "Orders [x](http://e)".to_owned(),
                heading_path: vec!["Open".to_owned()],
                quote: "two\norders".to_owned(),
            }],
            memory_proposals: Vec::new(),
        };
        assert_eq!(
            render(&response, phrases::of("Which of the orders?")),
            "Which?\n\n- one\n- two \\<b\\>\n\nWhy I ask: There are two.\n\nSources:\n- Orders \\[x\\](http://e) › Open: “two orders”"
        );
    }

    #[test]
    fn an_answer_to_a_german_question_has_german_headings() {
        let response = Response {
            decision: Decision::Ask {
                question: "Welche?".to_owned(),
                options: Vec::new(),
                reason: "Es gibt zwei.".to_owned(),
            },
            citations: vec![Citation {
                kind: SourceKind::Chunk,
                id: "1".to_owned(),
                title: "Aufträge".to_owned(),
                heading_path: Vec::new(),
                quote: "zwei".to_owned(),
            }],
            memory_proposals: Vec::new(),
        };
        assert_eq!(
            render(&response, phrases::of("Wie viele Aufträge sind offen?")),
            "Welche?\n\nWarum ich frage: Es gibt zwei.\n\nQuellen:\n- Aufträge: “zwei”"
        );
    }
}
