//! The files of a memory, and whether they have changed since.

use grov_domain::{FilePin, Task};
use grov_project::pins;
use serde::Serialize;
use std::path::Path;

/// Number of files that are hashed in one call.
const BATCH: usize = 32;

/// A file of a memory.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct FileView {
    pub(super) path: String,
    /// `unchanged`, `changed`, `gone` or `back` since the memory was saved; `None` if unknown.
    pub(super) since: Option<&'static str>,
}

/// Compares the files of a task with the working tree `top`; without `top` they are only listed.
pub(super) fn of(task: &Task, top: Option<&Path>) -> Vec<FileView> {
    let pinned: Vec<String> = task.file_pins.iter().map(|pin| pin.path.clone()).collect();
    let current: Vec<FilePin> = match top {
        Some(top) => pinned.chunks(BATCH).flat_map(|files| pins(top, files)).collect(),
        None => Vec::new(),
    };
    let view = |path: &String| FileView {
        path: path.clone(),
        since: find(&task.file_pins, path).and_then(|saved| Some(compared(saved, find(&current, path)?))),
    };
    task.files_touched.iter().map(view).collect()
}

fn find<'a>(pins: &'a [FilePin], path: &str) -> Option<&'a FilePin> {
    pins.iter().find(|pin| pin.path == path)
}

fn compared(saved: &FilePin, current: &FilePin) -> &'static str {
    match (&saved.hash, &current.hash) {
        (saved, current) if saved == current => "unchanged",
        (Some(_), None) => "gone",
        (None, Some(_)) => "back",
        _ => "changed",
    }
}

impl FileView {
    /// For a person.
    pub(super) fn text(&self) -> String {
        match self.since {
            None => self.path.clone(),
            Some("gone") => format!("{} (deleted since)", self.path),
            Some("back") => format!("{} (exists again)", self.path),
            Some(other) => format!("{} ({other} since)", self.path),
        }
    }
}
