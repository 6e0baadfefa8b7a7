//! The text that stands for the beginning of a conversation.

use grov_domain::{OWN_TEXT_CLOSING, OWN_TEXT_OPENING};
use grov_redact::{Redacted, Redactor};

/// Bytes of the user's newest prompts that are quoted.
const MAX_PROMPT_BYTES: usize = 6000;

/// Tools that are named at most.
const MAX_TOOLS: usize = 40;

/// What a cut leaves out, apart from what the summary says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// The prompt that is being worked on, redacted, if it is not in the messages that are kept.
    pub(super) prompt: Option<String>,
    /// Tools that were loaded by a tool search.
    pub(super) loaded_tools: Vec<String>,
}

/// Returns the text for the agent: the summary, and what it cannot say.
pub(super) fn render(summary: &Redacted, left_out: &LeftOut) -> Redacted {
    let fixed = |text: &str| Redactor::shared().text(text);
    let mut parts = vec![
        summary.clone(),
        fixed(&format!("{OWN_TEXT_OPENING} source=\"context\">")),
        fixed(
            "The context window was nearly full, so the beginning of this conversation is left out. The messages after this one are complete.",
        ),
    ];
    if let Some(prompt) = &left_out.prompt {
        parts.push(fixed("The user's newest request, word for word:"));
        parts.push(fixed(prompt).bounded(MAX_PROMPT_BYTES));
    }
    if !left_out.loaded_tools.is_empty() {
        let named = left_out.loaded_tools.iter().take(MAX_TOOLS).map(String::as_str);
        let named: Vec<&str> = named.collect();
        parts.push(fixed(&format!(
            "Tools that a tool search loaded are no longer described here. Search for a tool again before you call it: {}.",
            named.join(", ")
        )));
    }
    parts.push(fixed(
        "If Read answers that a file is unchanged since the last read and its content is not in the messages below, read it with \
         another offset or limit, or print it with a shell command.",
    ));
    parts.push(fixed(OWN_TEXT_CLOSING));
    Redacted::joined(&parts, "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_what_is_missing() {
        let summary = Redactor::shared().text("GOAL: port the parser");
        let plain = render(&summary, &LeftOut::default());
        assert!(plain.starts_with("GOAL: port the parser\n<grov-context source=\"context\">\n"));
        assert!(plain.ends_with("\n</grov-context>"));
        assert!(!plain.contains("word for word"));
        let left_out = LeftOut {
            prompt: Some("use tabs".to_owned()),
            loaded_tools: vec!["WebFetch".to_owned(), "mcp__db__query".to_owned()],
        };
        let full = render(&summary, &left_out);
        assert!(full.contains("word for word:\nuse tabs\n"));
        assert!(full.contains("before you call it: WebFetch, mcp__db__query."));
    }
}
