//! The archive of plans: `.claude/plans/.archive/<directory>-<date>`.

use crate::plan_dir::existing_folder;
use crate::{PlanDir, PlanError, file};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

const FOLDER: &str = ".archive";
/// The file in an archived plan that says why and when.
const FILE: &str = "archived.json";
const MAX_FILE: u64 = 64 * 1024;
/// How long the plan of a merged branch is kept.
const RETENTION: Duration = Duration::days(30);
/// The maximum number of plans with the same name on the same day.
const MAX_SAME: usize = 1000;

/// Why a plan was archived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveReason {
    /// The branch was merged.
    Merged,
    /// The branch was deleted.
    Deleted,
    /// The user asked for it.
    ByHand,
}

/// An archived plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archived {
    /// The branch's name.
    pub branch: String,
    /// Why it was archived.
    pub reason: ArchiveReason,
    /// Whether it is not known that the branch's work was merged: it was not, or the plan is still to be carried out. Such a
    /// plan is never removed.
    pub unmerged: bool,
    /// The newest commit of the branch.
    pub tip: Option<String>,
    /// The time, in the form of RFC 3339.
    pub at: String,
}

/// Moves a plan to the archive. Returns its new path.
pub(crate) fn archive(
    plan: &PlanDir,
    folder: &Path,
    archived: &Archived,
    now: OffsetDateTime,
) -> Result<PathBuf, PlanError> {
    let archive = folder.join(FOLDER);
    std::fs::create_dir_all(&archive).map_err(PlanError::io(&archive, "created"))?;
    let text = serde_json::to_string(archived).unwrap_or_default() + "\n";
    file::replace(&plan.path().join(FILE), text.as_bytes())?;
    let name = format!("{}-{}", plan.name(), now.date());
    for number in 1..MAX_SAME {
        let target = match number {
            1 => archive.join(&name),
            number => archive.join(format!("{name}-{number}")),
        };
        if file::status(&target)?.is_some() {
            continue;
        }
        std::fs::rename(plan.path(), &target).map_err(PlanError::io(plan.path(), "moved"))?;
        return Ok(target);
    }
    Err(PlanError::Taken {
        path: archive.join(name),
    })
}

/// The archived plans that may be removed now: those of merged branches, after a month.
pub(crate) fn expired(work_tree: &Path, now: OffsetDateTime) -> Result<Vec<(PathBuf, Archived)>, PlanError> {
    let Some((_, folder)) = existing_folder(work_tree)? else {
        return Ok(Vec::new());
    };
    let archive = folder.join(FOLDER);
    // A link would lead the removal elsewhere.
    if !file::status(&archive)?.is_some_and(|status| status.is_dir()) {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&archive).map_err(PlanError::io(&archive, "read"))?;
    let mut expired = Vec::new();
    for entry in entries {
        let entry = entry.map_err(PlanError::io(&archive, "read"))?;
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let text = file::read_text(&path.join(FILE), MAX_FILE).ok().flatten();
        let archived: Option<Archived> = text.and_then(|text| serde_json::from_str(&text).ok());
        let Some(archived) = archived.filter(|archived| !archived.unmerged) else {
            continue;
        };
        let at = OffsetDateTime::parse(&archived.at, &Rfc3339);
        if at.is_ok_and(|at| now - at > RETENTION) {
            expired.push((path, archived));
        }
    }
    expired.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(expired)
}

/// Removes an archived plan.
pub(crate) fn remove(path: &Path) -> Result<(), PlanError> {
    std::fs::remove_dir_all(path).map_err(PlanError::io(path, "removed"))
}
