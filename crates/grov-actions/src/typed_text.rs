//! Separates what the user typed from text added by the client or by Grov.

use grov_domain::{ClientDialect, without_own_text};
use std::borrow::Cow;

/// The texts of a message that the user typed, joined by newlines. In a message with tool results the client adds
/// texts of its own, so there only texts after an interruption count.
pub fn typed_text(client: &ClientDialect, texts: &[Cow<'_, str>], beside_tool_results: bool) -> String {
    let from = if beside_tool_results {
        let interrupted = |text: &Cow<'_, str>| text.trim_start().starts_with(client.interrupted);
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
        .filter(|text| !client.is_inserted(text))
        .map(without_own_text)
        .filter(|text| !text.trim().is_empty())
        .collect();
    parts.join("\n").trim().to_owned()
}
