//! Parses tool calls of a turn or a transcript into actions.
//!
//! Entry points: [`understand`] parses one [`ToolCall`] into a [`grov_domain::Action`]. [`keywords`] and
//! [`is_key_decision`] describe an action for search and display. [`content`] returns the text that a call writes.
//! [`understand_redacted`] masks secrets as well; everything that is recorded, judged or displayed comes from it.
//! [`transcript`] reads the client's record of a session, also with secrets masked.
//!
//! This crate does not access the file system: everything is derived from the call itself.
#![forbid(unsafe_code)]

mod arguments;
mod call;
mod content;
mod cursor;
mod form;
mod inline;
mod input;
mod keywords;
mod patch;
mod path;
mod redacted_call;
mod script;
mod shell;
mod subject;
mod tools;
pub mod transcript;
mod typed_text;

pub use call::{ToolCall, ToolInput};
pub use content::content;
pub use keywords::{is_key_decision, keywords};
pub use path::MAX_FILES;
pub use redacted_call::{RedactedCall, redacted_end, understand_redacted, understand_redacted_whole};
pub use script::{ScriptCommands, ScriptFile, line_of, script_files};
pub use subject::call_subject;
pub use typed_text::typed_text;

use grov_domain::{Action, ActionSketch, ActionType, CommandLine, DriftEvent};

/// Parses one tool call. Infallible: an unknown or malformed call yields whatever fields could be parsed.
///
/// Paths are made absolute against the call's working directory, as text, without the file system. For commands,
/// `files` and `folders` together are the paths of all effects. Paths that are known to be folders (search roots, `mkdir`,
/// `cd`, a trailing slash) are in `folders` only. Paths stay relative if the working directory is unknown. Each list holds
/// at most 200 paths, and the command at most 8 KiB.
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

/// Like [`understand`], but does not truncate the command. Used to decide whether a call may run.
pub fn understand_whole(call: &ToolCall<'_>) -> Action {
    understood(call, usize::MAX)
}

/// Parses a command line.
///
/// ```
/// let line = grov_actions::command_line("cd src && sudo -u me rm old.rs");
/// let names: Vec<&str> = line.programs.iter().map(|program| program.name()).collect();
/// assert_eq!(names, ["cd", "rm"]);
/// ```
pub fn command_line(command: &str) -> CommandLine {
    shell::understand(command, None).line
}

/// Returns the action of a recorded event. Its command is parsed again, because events have no effects.
pub fn recorded_action(event: &DriftEvent) -> ActionSketch {
    let action_type = event.action_type.unwrap_or(ActionType::Other);
    let command = event
        .command
        .as_deref()
        .filter(|_| action_type == ActionType::Bash);
    let effects = command.map(|command| shell::understand(command, None).effects);
    ActionSketch {
        files: event.files.clone(),
        command: event.command.clone(),
        effects: effects
            .unwrap_or_default()
            .iter()
            .map(|effect| effect.kind)
            .collect(),
        ..ActionSketch::empty(action_type)
    }
}

/// Whether `words`, which are separated by spaces, contain `word`.
fn has_word(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|one| one == word)
}

fn understood(call: &ToolCall<'_>, most: usize) -> Action {
    tools::parse_action(
        call.name,
        call.id,
        &call.input.value(),
        call.working_directory,
        most,
    )
}
