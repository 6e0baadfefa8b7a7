//! Changes of the user's files that can be undone byte for byte.

use crate::{PlanError, file};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The maximum length of a file that is changed, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// Added to the name of a file that another one takes the place of.
pub(super) const ASIDE: &str = "before-grov";

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Edit {
    /// A text was added.
    Added {
        path: PathBuf,
        text: String,
        /// A newline was added before it, to end the last line.
        ended_line: bool,
        /// The file did not exist.
        created: bool,
        /// The folder did not exist.
        created_folder: bool,
    },
    /// The file was moved aside, and another one took its place.
    Replaced {
        path: PathBuf,
        aside: PathBuf,
        text: String,
    },
}

impl Edit {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Added { path, .. } | Self::Replaced { path, .. } => path,
        }
    }

    /// The text that was added.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Added { text, .. } | Self::Replaced { text, .. } => text,
        }
    }

    /// Whether the change is still there.
    pub(super) fn is_applied(&self) -> bool {
        let text = file::read_text(self.path(), MAX_FILE).ok().flatten();
        text.is_some_and(|text| text.contains(self.text()))
    }

    /// Adds a text at the end of a file, which is created if it does not exist.
    pub(super) fn append(path: &Path, added: &str) -> Result<Self, PlanError> {
        Self::add(path, added, 0o644, |old| old.len())
    }

    /// Adds a text at the place that `place` finds, on a line of its own. A new file gets `mode`.
    pub(super) fn add(
        path: &Path,
        added: &str,
        mode: u32,
        place: impl FnOnce(&str) -> usize,
    ) -> Result<Self, PlanError> {
        let created_folder = match path.parent() {
            Some(folder) if !folder.is_dir() => {
                std::fs::create_dir_all(folder).map_err(PlanError::io(folder, "created"))?;
                true
            }
            _ => false,
        };
        let old = file::read_text(path, MAX_FILE)?;
        let created = old.is_none();
        let old = old.unwrap_or_default();
        let edit = |ended_line| Self::Added {
            path: path.to_owned(),
            text: added.to_owned(),
            ended_line,
            created,
            created_folder,
        };
        if old.contains(added) {
            // Left by an installation whose record is lost.
            return Ok(edit(false));
        }
        let (before, after) = old.split_at(place(&old));
        let ended_line = !before.is_empty() && !before.ends_with('\n');
        let end = if ended_line { "\n" } else { "" };
        file::replace_with_mode(path, format!("{before}{end}{added}{after}").as_bytes(), mode)?;
        Ok(edit(ended_line))
    }

    /// Moves a file aside and puts another one in its place.
    pub(super) fn replace(path: &Path, text: impl FnOnce(&Path) -> String) -> Result<Self, PlanError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let aside = path.with_file_name(format!("{name}.{ASIDE}"));
        if file::status(&aside)?.is_some() {
            return Err(PlanError::WrongKind {
                path: aside,
                wanted: "free name for the hook that was there before",
            });
        }
        let text = text(&aside);
        std::fs::rename(path, &aside).map_err(PlanError::io(path, "moved"))?;
        if let Err(error) = file::replace_with_mode(path, text.as_bytes(), 0o755) {
            // Nothing else can be done if the file cannot be moved back.
            let _ = std::fs::rename(&aside, path);
            return Err(error);
        }
        Ok(Self::Replaced {
            path: path.to_owned(),
            aside,
            text,
        })
    }

    /// Undoes the change. Returns a note if the user changed it, so that it was left.
    pub(super) fn undo(&self) -> Result<Option<String>, PlanError> {
        match self {
            Self::Added {
                path,
                text,
                ended_line,
                created,
                created_folder,
            } => {
                let Some(now) = file::read_text(path, MAX_FILE)? else {
                    return Ok(None);
                };
                let Some(at) = now.find(text.as_str()) else {
                    return Ok(Some(format!("{} was changed since; it was left", path.display())));
                };
                let (before, after) = (&now[..at], &now[at + text.len()..]);
                // The newline is the user's if lines follow it now.
                let before = match *ended_line && after.is_empty() {
                    true => before.strip_suffix('\n').unwrap_or(before),
                    false => before,
                };
                let restored = format!("{before}{after}");
                if *created && restored.is_empty() {
                    std::fs::remove_file(path).map_err(PlanError::io(path, "removed"))?;
                } else {
                    file::replace(path, restored.as_bytes())?;
                }
                if let (true, Some(folder)) = (created_folder, path.parent()) {
                    // Other files may be in it by now.
                    let _ = std::fs::remove_dir(folder);
                }
                Ok(None)
            }
            Self::Replaced { path, aside, text } => {
                if file::status(aside)?.is_none() {
                    return Ok(Some(format!(
                        "{} is missing; {} was left",
                        aside.display(),
                        path.display()
                    )));
                }
                let now = file::read_text(path, MAX_FILE)?;
                if now.is_some_and(|now| now != *text) {
                    return Ok(Some(format!(
                        "{} was changed since; it was left, and the file before it is {}",
                        path.display(),
                        aside.display()
                    )));
                }
                std::fs::rename(aside, path).map_err(PlanError::io(aside, "moved"))?;
                Ok(None)
            }
        }
    }
}

/// Whether a file may be executed.
pub(super) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}
