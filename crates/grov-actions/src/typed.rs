//! What a person typed, told apart from what the client and Grov put beside it.

use grov_domain::without_own_text;
use std::borrow::Cow;

/// Texts that the client writes into the user's messages by itself.
const OF_THE_CLIENT: &[&str] = &[
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<command-name>",
    "<command-message>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<system-reminder>",
    INTERRUPTED,
    "Stop hook feedback:",
    "Output token limit hit.",
    CONTINUED,
];

/// Beginning of the summary that stands for an earlier part of the conversation.
pub const CONTINUED: &str = "This session is being continued from a previous conversation";

/// Beginning of the note that the user broke off the turn.
const INTERRUPTED: &str = "[Request interrupted by user";

/// What of these texts of one message the user typed. Beside tool results the client puts texts of its own, so there only
/// what follows an interruption counts.
pub fn typed(texts: &[Cow<'_, str>], beside_tool_results: bool) -> String {
    let from = if beside_tool_results {
        let interrupted = |text: &Cow<'_, str>| text.trim_start().starts_with(INTERRUPTED);
        match texts.iter().rposition(interrupted) {
            Some(at) => at + 1,
            None => return String::new(),
        }
    } else {
        0
    };
    let of_the_user = |text: &&str| !OF_THE_CLIENT.iter().any(|beginning| text.starts_with(beginning));
    let parts: Vec<Cow<'_, str>> = texts[from..]
        .iter()
        .map(|text| text.trim())
        .filter(of_the_user)
        .map(without_own_text)
        .filter(|text| !text.trim().is_empty())
        .collect();
    parts.join("\n").trim().to_owned()
}
