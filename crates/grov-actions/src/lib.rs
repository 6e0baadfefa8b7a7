//! Parses tool calls of a turn or a transcript into actions: what the agent did.
//!
//! Entry points: [`understand`] parses one [`ToolCall`] into a [`grov_domain::Action`]; [`keywords`] and
//! [`is_key_decision`] describe it for search and for readers, [`content`] returns what it writes.
//! [`understand_redacted`] does the same with secrets masked; everything recorded, judged or shown comes from that.
//! [`transcript`] reads the client's own record of a session, also with secrets masked.
//!
//! This crate does not know who asked, where actions are stored or how they came over the wire. It uses no file system:
//! everything is derived from the call itself.
#![forbid(unsafe_code)]

mod arguments;
mod call;
mod content;
mod inline;
mod input;
mod keywords;
mod path;
mod redacted_call;
mod shell;
mod tools;
pub mod transcript;
mod typed_text;

pub use call::{ToolCall, ToolInput};
pub use content::content;
pub use keywords::{is_key_decision, keywords};
pub use path::MAX_FILES;
pub use redacted_call::{RedactedCall, redacted_end, understand_redacted, understand_redacted_whole};
pub use typed_text::typed_text;

use grov_domain::{Action, CommandLine};

/// Parses one tool call. Infallible: an unknown or malformed call yields whatever fields could be parsed.
///
/// Paths are made absolute against the call's working directory, as text, without the file system. For commands,
/// `files` and `folders` together are the paths of all effects; known folders (search roots, `mkdir`, `cd`, a trailing
/// slash) are in `folders` only. Paths stay relative where the working directory is unknown. Each list holds at most 200
/// paths, and the command at most 8 KB.
///
/// ```
/// use grov_actions::{ToolCall, understand};
/// use grov_domain::EffectKind;
///
/// let call = ToolCall {
///     name: "Bash",
///     id: Some("toolu_1"),
///     input: r#"{"command": "cd src && rm old.rs"}"#.into(),
///     working_directory: Some("/project"),
/// };
/// let action = understand(&call);
/// assert_eq!(action.effects[0].kind, EffectKind::Delete);
/// assert_eq!(action.files, ["/project/src/old.rs"]);
/// ```
pub fn understand(call: &ToolCall<'_>) -> Action {
    understood(call, tools::MAX_COMMAND)
}

/// Like [`understand`], but keeps the whole command, to decide whether a call may run.
pub fn understand_whole(call: &ToolCall<'_>) -> Action {
    understood(call, usize::MAX)
}

/// Parses a command line that was stored without its programs.
///
/// ```
/// let line = grov_actions::command_line("cd src && sudo -u me rm old.rs");
/// let names: Vec<&str> = line.programs.iter().map(|program| program.name()).collect();
/// assert_eq!(names, ["cd", "rm"]);
/// ```
pub fn command_line(command: &str) -> CommandLine {
    shell::understand(command, None).line
}

/// Whether `word` is one of the words, which are separated by spaces.
fn has_word(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|one| one == word)
}

fn understood(call: &ToolCall<'_>, most: usize) -> Action {
    tools::act(
        call.name,
        call.id,
        &call.input.value(),
        call.working_directory,
        most,
    )
}
