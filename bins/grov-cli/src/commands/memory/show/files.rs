//! The files of a memory, and whether they are still as it left them.

use grov_domain::{FilePin, Task};
use grov_project::pins;
use serde::Serialize;
use std::path::Path;

/// Files that are looked at in one call.
const AT_ONCE: usize = 32;

/// A file that was touched.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct FileView {
    pub(super) path: String,
    /// `unchanged`, `changed`, `gone` or `back` since the memory was saved; `None` where nobody knows.
    pub(super) since: Option<&'static str>,
}

/// The files of a task as they are below `top`, the working tree that it is about; without one nothing is looked at.
pub(super) fn of(task: &Task, top: Option<&Path>) -> Vec<FileView> {
    let pinned: Vec<String> = task.file_pins.iter().map(|pin| pin.path.clone()).collect();
    let now: Vec<FilePin> = top
        .map(|top| {
            pinned
                .chunks(AT_ONCE)
                .flat_map(|files| pins(top, files))
                .collect()
        })
        .unwrap_or_default();
    task.files_touched
        .iter()
        .map(|path| FileView {
            path: path.clone(),
            since: pin_of(&task.file_pins, path)
                .and_then(|then| Some(since(then, pin_of(&now, &then.path)?))),
        })
        .collect()
}

fn pin_of<'a>(pins: &'a [FilePin], path: &str) -> Option<&'a FilePin> {
    pins.iter().find(|pin| pin.path == path)
}

fn since(then: &FilePin, now: &FilePin) -> &'static str {
    match (&then.hash, &now.hash) {
        (then, now) if then == now => "unchanged",
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
            Some("unchanged") => format!("{} (unchanged since)", self.path),
            Some("back") => format!("{} (there again)", self.path),
            Some(other) => format!("{} ({other} since)", self.path),
        }
    }
}
