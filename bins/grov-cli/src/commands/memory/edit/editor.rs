//! Opens a record in the user's editor.

use super::draft;
use crate::failure::Failure;
use crate::output::Terminal;
use grov_domain::Task;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;

/// A temporary file with a record.
pub(super) struct Draft {
    file: NamedTempFile,
    original: String,
}

impl Draft {
    /// Writes the record to a file that only its owner can read.
    pub(super) fn of(task: &Task) -> Result<Self, Failure> {
        let original = draft::serialize(task)?;
        let file = tempfile::Builder::new()
            .prefix("grov-memory-")
            .suffix(".json")
            .tempfile()
            .and_then(|mut file| file.write_all(original.as_bytes()).map(|()| file))
            .map_err(|error| Failure::error("draft", format!("cannot write a draft: {error}")))?;
        Ok(Self { file, original })
    }

    /// Opens the file in the editor and waits for the editor to end.
    pub(super) fn open(&self, terminal: Terminal) -> Result<(), Failure> {
        let editor = ["VISUAL", "EDITOR"]
            .iter()
            .find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
            .ok_or_else(|| {
                Failure::error(
                    "editor",
                    "no editor is configured: neither VISUAL nor EDITOR is set",
                )
                .hint("set one, or use flags such as --goal")
            })?;
        // The shell splits an editor's own arguments, as in `code --wait`.
        let mut script = editor.clone();
        script.push(" \"$@\"");
        let mut command = Command::new("/bin/sh");
        command.args([OsStr::new("-c"), &script, &editor, self.file.path().as_os_str()]);
        if terminal.wants_json() {
            // Standard output is for the answer.
            command.stdout(Stdio::from(io::stderr()));
        }
        let failed = |problem: String| Failure::error("editor", format!("the editor {editor:?} {problem}"));
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(format!("failed with {status}; nothing was changed"))),
            Err(error) => Err(failed(format!("cannot be started: {error}"))),
        }
    }

    /// The current text, read by path because an editor may have replaced the file.
    pub(super) fn text(&self) -> Result<Vec<u8>, Failure> {
        let path = self.file.path();
        std::fs::read(path)
            .map_err(|error| Failure::error("draft", format!("cannot read {}: {error}", path.display())))
    }

    /// Keeps the file if it was edited, and returns its path.
    pub(super) fn keep_if_changed(self) -> Option<PathBuf> {
        if self.text().ok()? == self.original.as_bytes() {
            return None;
        }
        self.file.into_temp_path().keep().ok()
    }
}
