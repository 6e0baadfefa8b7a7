//! What the agent did: tool calls of a turn or a transcript become actions.
//!
//! Entry points: [`understand`] turns one [`ToolCall`] into a [`grov_domain::Action`]; [`keywords`] and
//! [`is_key_decision`] tell what a search and a reader need of it, [`content`] what it writes. [`understand_redacted`] is the same
//! without secrets: what is recorded, judged or said is made of that. [`transcript`] reads the client's own record of a
//! session, without secrets too.
//!
//! This crate does not know who asked, where actions are stored or how they came over the wire. It never looks at a
//! file system: what it tells is what the call itself shows.
#![forbid(unsafe_code)]

mod arguments;
mod call;
mod content;
mod inline;
mod input;
mod keywords;
mod path;
mod prefix;
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

/// Understands one tool call. Never fails: of a broken or unknown call it tells what can be told.
///
/// Paths are made absolute against the call's working directory, as text: no file system is asked. For commands,
/// `files` and `folders` together are the paths of all effects; known folders (search roots, `mkdir`, `cd`, a slash at
/// the end) are in `folders` only. Where the folder is not known (any more), paths stay relative. At most 200 of each
/// are told, and 8 KB of the command.
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

/// The same with the whole command: whether a call may run depends on all of it.
pub fn understand_whole(call: &ToolCall<'_>) -> Action {
    understood(call, usize::MAX)
}

/// Reads the programs of a command line, of one that was stored without them.
///
/// ```
/// let line = grov_actions::command_line("cd src && sudo -u me rm old.rs");
/// let names: Vec<&str> = line.programs.iter().map(|program| program.name()).collect();
/// assert_eq!(names, ["cd", "rm"]);
/// ```
pub fn command_line(command: &str) -> CommandLine {
    shell::understand(command, None).line
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
