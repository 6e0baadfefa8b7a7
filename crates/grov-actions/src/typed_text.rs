//! What a person typed, told apart from what the client and Grov put beside it.

use grov_domain::{ClientDialect, without_own_text};
use std::borrow::Cow;

const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

/// What of these texts of one message the user typed. Beside tool results the client puts texts of its own, so there only
/// what follows an interruption counts.
pub fn typed_text(texts: &[Cow<'_, str>], beside_tool_results: bool) -> String {
    let from = if beside_tool_results {
        let interrupted = |text: &Cow<'_, str>| text.trim_start().starts_with(CLIENT.interrupted);
        match texts.iter().rposition(interrupted) {
            Some(at) => at + 1,
            None => return String::new(),
        }
    } else {
        0
    };
    let parts: Vec<Cow<'_, str>> = texts[from..]
        .iter()
        .map(|text| text.trim())
        .filter(|text| !CLIENT.is_inserted(text))
        .map(without_own_text)
        .filter(|text| !text.trim().is_empty())
        .collect();
    parts.join("\n").trim().to_owned()
}
