//! What the arguments of each tool mean, for all clients.

use serde_json::Value;
use std::borrow::Cow;

/// The meaning of a tool's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A command line.
    Shell,
    /// One file.
    File,
    /// A notebook.
    Notebook,
    /// Files by pattern.
    Glob,
    /// Text in files.
    Grep,
    /// One folder.
    Folder,
    /// A patch of Codex.
    Patch,
    /// Unknown.
    Other,
}

impl Form {
    /// Returns the form of a tool.
    pub(crate) fn of(tool: &str) -> Self {
        match tool {
            "Bash" | "bash" | "exec_command" | "shell" | "shell_command" | "local_shell"
            | "run_shell_command" => Self::Shell,
            "Edit" | "MultiEdit" | "Write" | "Read" | "edit" | "multiedit" | "write" | "read" | "replace"
            | "write_file" | "read_file" | "view_image" => Self::File,
            "NotebookEdit" | "NotebookRead" => Self::Notebook,
            "Glob" | "glob" => Self::Glob,
            "Grep" | "grep" | "grep_search" | "search_file_content" => Self::Grep,
            "LS" | "list" | "list_directory" => Self::Folder,
            "apply_patch" | "patch" => Self::Patch,
            _ => Self::Other,
        }
    }
}

/// Returns the command line of a shell tool: `command` or `cmd`, as text or as a list of words.
pub(crate) fn command_line(input: &Value) -> Option<Cow<'_, str>> {
    match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(line) => Some(Cow::Borrowed(line.as_str())).filter(|line| !line.is_empty()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            words_as_line(&words)
        }
        _ => None,
    }
}

/// Returns the script of `bash -lc SCRIPT`, or the words as a line.
fn words_as_line<'w>(words: &[&'w str]) -> Option<Cow<'w, str>> {
    match words {
        [] => None,
        [shell, flag, script] if is_shell(shell) && matches!(*flag, "-c" | "-lc") => {
            Some(Cow::Borrowed(*script))
        }
        words => Some(Cow::Owned(
            words
                .iter()
                .map(|word| quoted(word))
                .collect::<Vec<_>>()
                .join(" "),
        )),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "bash" | "sh" | "zsh")
}

fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

/// Returns the folder in which a call runs, if it names one.
pub(crate) fn folder(input: &Value) -> Option<&str> {
    let names = ["workdir", "dir_path", "working_directory", "directory"];
    let named = names.iter().find_map(|name| input.get(*name)?.as_str());
    named.filter(|folder| !folder.is_empty())
}

/// Returns the text of a patch.
pub(crate) fn patch(input: &Value) -> Option<&str> {
    let names = ["input", "patch", "patchText"];
    names.iter().find_map(|name| input.get(*name)?.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn commands_are_lines_or_lists_of_words() {
        let line = |input: Value| command_line(&input).map(Cow::into_owned);
        assert_eq!(line(json!({"command": "ls -l"})).as_deref(), Some("ls -l"));
        assert_eq!(line(json!({"cmd": "ls -l"})).as_deref(), Some("ls -l"));
        assert_eq!(
            line(json!({"command": ["bash", "-lc", "rm a && ls"]})).as_deref(),
            Some("rm a && ls")
        );
        assert_eq!(
            line(json!({"command": ["rm", "a file", "it's"]})).as_deref(),
            Some(r"rm 'a file' 'it'\''s'")
        );
        for empty in [
            json!({}),
            json!({"command": ""}),
            json!({"command": []}),
            json!({"cmd": 3}),
        ] {
            assert_eq!(line(empty), None);
        }
    }
}
