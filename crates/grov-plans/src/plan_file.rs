//! A plan's file: its status line and its Validation section. Everything else in it belongs to the user.

mod edit;

use crate::plan_dir::{canonical, is_of_git};
use crate::{PlanError, file};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The maximum length of a plan in bytes.
const MAX_PLAN: u64 = 4 * 1024 * 1024;
/// How often an edit is repeated if the file changed meanwhile.
const MAX_ATTEMPTS: usize = 3;
/// The maximum length of a question or a verdict in characters.
const MAX_LINE: usize = 400;

/// The status of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is being written. A plan without a status is a draft.
    Draft,
    /// It was validated, and nobody approved it yet.
    Validating,
    /// Somebody approved it.
    Approved,
}

impl Status {
    /// The word in the plan.
    pub fn word(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Validating => "validating",
            Self::Approved => "approved",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationKind {
    /// The plan itself. A draft becomes [`Status::Validating`].
    Plan,
    /// The implementation, or one step of it.
    Implementation {
        /// The step.
        step: Option<u32>,
    },
}

/// A verdict to write into a plan. Texts are put on one line and shortened; the caller has redacted them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation<'a> {
    /// What was checked.
    pub kind: ValidationKind,
    /// The verdict, such as `needs_simplification`.
    pub verdict: &'a str,
    /// Questions to the user.
    pub questions: &'a [String],
    /// Who judged, such as the model.
    pub by: &'a str,
    /// The time.
    pub at: OffsetDateTime,
}

/// A plan's file, which need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanFile {
    /// With symbolic links resolved, if the file exists.
    path: PathBuf,
}

impl PlanFile {
    /// The plan at a path.
    ///
    /// # Errors
    /// It is a directory or another special file, outside of the working tree, among git's own files, or a symbolic link to
    /// anything but a Markdown file.
    pub fn at(work_tree: &Path, path: &Path) -> Result<Self, PlanError> {
        let Some(status) = file::status(path)? else {
            return Ok(Self {
                path: path.to_owned(),
            });
        };
        let (root, real) = (canonical(work_tree)?, canonical(path)?);
        let Ok(inside) = real.strip_prefix(root) else {
            return Err(PlanError::Outside {
                path: path.to_owned(),
            });
        };
        let wrong = |wanted| {
            Err(PlanError::WrongKind {
                path: path.to_owned(),
                wanted,
            })
        };
        if !real.is_file() {
            return wrong("regular file");
        }
        if is_of_git(inside) {
            return wrong("file of the working tree");
        }
        // A repository may contain a link to a file with keys, and a plan is sent to a model and written to.
        if status.is_symlink() && real.extension().is_none_or(|ending| ending != "md") {
            return wrong("Markdown file");
        }
        Ok(Self { path: real })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text; `None` if the file does not exist.
    ///
    /// # Errors
    /// It is longer than 4 MiB, not UTF-8, or cannot be read.
    pub fn text(&self) -> Result<Option<String>, PlanError> {
        file::read_text(&self.path, MAX_PLAN)
    }

    /// The status and the text after it; `None` if the file does not exist.
    ///
    /// # Errors
    /// As [`PlanFile::text`].
    pub fn status(&self) -> Result<Option<(Status, Option<String>)>, PlanError> {
        Ok(self.text()?.map(|text| edit::status(&text)))
    }

    /// Sets the status, with who set it and when. Returns whether the file changed.
    ///
    /// # Errors
    /// As [`PlanFile::text`]; the file does not exist, cannot be written, or changes all the time.
    pub fn set_status(&self, status: Status, by: &str, at: OffsetDateTime) -> Result<bool, PlanError> {
        let note = format!("{}, {}", one_line(by), timestamp(at));
        self.edit(|text| edit::with_status(text, status, &note))
    }

    /// Writes a verdict into the Validation section, which is added if there is none. Lines of the user in it are kept.
    ///
    /// # Errors
    /// As [`PlanFile::set_status`].
    pub fn write_validation(&self, validation: &Validation<'_>) -> Result<(), PlanError> {
        let at = format!("{} by {}", timestamp(validation.at), one_line(validation.by));
        let verdict = one_line(validation.verdict);
        let questions: Vec<String> = validation
            .questions
            .iter()
            .map(|question| one_line(question))
            .collect();
        let entries = match validation.kind {
            ValidationKind::Plan => [
                edit::Entry::new("Last validated", at.clone()),
                edit::Entry::new("Verdict", verdict),
                edit::Entry::list("Open questions", questions),
            ],
            ValidationKind::Implementation { step } => {
                let step = step.map(|step| format!(", step {step}")).unwrap_or_default();
                [
                    edit::Entry::new("Last reviewed", at.clone() + &step),
                    edit::Entry::new("Review verdict", verdict),
                    edit::Entry::list("Review questions", questions),
                ]
            }
        };
        let is_draft = |text: &str| edit::status(text).0 == Status::Draft;
        self.edit(|text| {
            let edited = edit::with_validation(text, &entries);
            if validation.kind == ValidationKind::Plan && is_draft(text) {
                let note = format!("{}, {}", one_line(validation.by), timestamp(validation.at));
                edit::with_status(&edited, Status::Validating, &note)
            } else {
                edited
            }
        })?;
        Ok(())
    }

    /// Replaces the text by an edited one, unless somebody else writes to the file meanwhile.
    fn edit(&self, edited: impl Fn(&str) -> String) -> Result<bool, PlanError> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(text) = self.text()? else {
                return Err(PlanError::NoPlanText {
                    path: self.path.clone(),
                });
            };
            let new = edited(&text);
            if new == text {
                return Ok(false);
            }
            if self.text()?.as_deref() == Some(&text) {
                file::replace(&self.path, new.as_bytes())?;
                return Ok(true);
            }
        }
        Err(PlanError::Changed {
            path: self.path.clone(),
        })
    }
}

/// A time to the second, in the form of RFC 3339.
pub(crate) fn timestamp(at: OffsetDateTime) -> String {
    let seconds = at.replace_nanosecond(0).unwrap_or(at);
    seconds.format(&Rfc3339).unwrap_or_else(|_| at.to_string())
}

/// The text on one line, without control characters, shortened.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").chars().take(MAX_LINE).collect()
}

#[cfg(test)]
mod tests;
