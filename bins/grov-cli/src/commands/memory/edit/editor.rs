//! A draft in a file, and the editor that a person likes.

use super::draft;
use crate::failure::Failure;
use crate::output::Terminal;
use grov_domain::Task;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;

/// A draft that is gone when nobody wants to keep it.
pub(super) struct Draft {
    file: NamedTempFile,
    original: String,
}

impl Draft {
    /// A file with the record, which only its owner can read.
    pub(super) fn of(task: &Task) -> Result<Self, Failure> {
        let original = draft::written(task)?;
        let file = tempfile::Builder::new()
            .prefix("grov-memory-")
            .suffix(".json")
            .tempfile()
            .and_then(|mut file| file.write_all(original.as_bytes()).map(|()| file))
            .map_err(|error| Failure::error("draft", format!("a draft cannot be written: {error}"), None))?;
        Ok(Self { file, original })
    }

    /// Opens it, and waits until the person is done.
    pub(super) fn open(&self, terminal: Terminal) -> Result<(), Failure> {
        let editor = ["VISUAL", "EDITOR"]
            .iter()
            .find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
            .ok_or_else(|| {
                Failure::error(
                    "editor",
                    "no editor is known: neither VISUAL nor EDITOR is set",
                    Some("set one, or say what to change with flags such as --goal"),
                )
            })?;
        // The shell parts an editor from its own arguments, as in `code --wait`.
        let mut script = editor.clone();
        script.push(" \"$@\"");
        let mut command = Command::new("/bin/sh");
        command.args([OsStr::new("-c"), &script, &editor, self.file.path().as_os_str()]);
        if terminal.wants_json() {
            // Standard output is for the answer.
            command.stdout(Stdio::from(io::stderr()));
        }
        let failed = |what: String| {
            let name = OsString::from(&editor);
            Failure::error("editor", format!("the editor {name:?} {what}"), None)
        };
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(format!("ended with {status}; nothing was changed"))),
            Err(error) => Err(failed(format!("cannot be run: {error}"))),
        }
    }

    /// What it says now. An editor may have put another file in its place.
    pub(super) fn text(&self) -> Result<Vec<u8>, Failure> {
        std::fs::read(self.file.path()).map_err(|error| {
            Failure::error(
                "draft",
                format!("{} cannot be read: {error}", self.file.path().display()),
                None,
            )
        })
    }

    /// Keeps the file where it is if somebody wrote in it.
    pub(super) fn keep_if_changed(self) -> Option<PathBuf> {
        let text = self.text().ok()?;
        if text == self.original.as_bytes() {
            return None;
        }
        self.file.into_temp_path().keep().ok()
    }
}
