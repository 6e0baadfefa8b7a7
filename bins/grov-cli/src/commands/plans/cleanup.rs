//! `grov plans gc`

use super::Place;
use super::listing::{PlanView, views};
use crate::arguments::Common;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, note};
use crate::table::one_line;
use grov_plans::{ArchiveReason, CollectOptions, Collected, Git, PlanDir, PlanError, Switch, collect};
use grov_runtime::{Environment, Home};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// The time limit in a git hook.
const QUIET_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    /// All plans, also those that were archived.
    plans: Vec<PlanView>,
    archived: Vec<ArchivedView>,
    renamed: Vec<RenamedView>,
    /// Archived plans that were, or would be, removed.
    removed: Vec<RemovedView>,
    /// Whether all plans were compared with the branches.
    complete: bool,
}

#[derive(Serialize)]
struct ArchivedView {
    branch: String,
    /// The directory before.
    dir: String,
    /// The directory in the archive; `None` if it was not moved.
    archive_dir: Option<String>,
    reason: ArchiveReason,
    unmerged: bool,
}

#[derive(Serialize)]
struct RenamedView {
    dir: String,
    from: String,
    to: String,
}

#[derive(Serialize)]
struct RemovedView {
    branch: String,
    dir: String,
}

pub(super) fn gc(context: &Context, dry_run: bool) -> Outcome {
    let place = Place::of(context)?;
    let collected = collect(&place.git(), options(dry_run))?;
    for fault in &collected.states.faults {
        note!("warning: {fault}; {}", fault.hint());
    }
    context.answer(answer(&place, &collected, dry_run)?, text)
}

/// Cleans up in a git hook, if plans are on for the project.
pub(super) fn quiet(common: &Common) {
    let until = Instant::now() + QUIET_TIMEOUT;
    let clean_up = || -> Result<(), PlanError> {
        let Some(home) = Home::locate(common.home.as_deref(), &Environment::of_process()).ok() else {
            return Ok(());
        };
        let directory = common.project.clone().or_else(|| std::env::current_dir().ok());
        let Some(directory) = directory else { return Ok(()) };
        let switch = Switch::of(home.root());
        let place = Place::at(&directory)?;
        if switch.is_on(place.location.root())? {
            let git = Git::at(&place.tree).until(until);
            switch.renew_trees(&git, place.location.root())?;
            collect(&git, options(false))?;
        }
        Ok(())
    };
    // Nobody reads the output of a git hook, and the next one tries again.
    let _ = clean_up();
}

fn options(dry_run: bool) -> CollectOptions {
    CollectOptions {
        dry_run,
        now: OffsetDateTime::now_utc(),
    }
}

fn answer(place: &Place, collected: &Collected, dry_run: bool) -> Result<Answer, Failure> {
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    let mut states = collected.states.plans.clone();
    // Plans that were moved are read in the archive.
    for (from, to, _) in &collected.archived {
        let moved = states.iter_mut().find(|state| state.plan.path() == from);
        if let (Some(state), Some(to)) = (moved, to) {
            state.plan = PlanDir::open(&place.tree, to)?;
        }
    }
    // The plan of a renamed branch took in that of its new name.
    states.retain(|state| state.plan.path().is_dir());
    let plans = views(&states)?;
    let archived = collected
        .archived
        .iter()
        .map(|(from, to, archived)| ArchivedView {
            branch: archived.branch.clone(),
            dir: path(from),
            archive_dir: to.as_ref().map(path),
            reason: archived.reason,
            unmerged: archived.unmerged,
        });
    let renamed = collected.renamed.iter().map(|(dir, from, to)| RenamedView {
        dir: path(dir),
        from: from.to_string(),
        to: to.to_string(),
    });
    let removed = collected.removed.iter().map(|(dir, archived)| RemovedView {
        branch: archived.branch.clone(),
        dir: path(dir),
    });
    Ok(Answer {
        dry_run,
        plans,
        archived: archived.collect(),
        renamed: renamed.collect(),
        removed: removed.collect(),
        complete: collected.states.is_complete,
    })
}

fn text(answer: &Answer, style: Style) -> String {
    let would = if answer.dry_run { "would be " } else { "" };
    let mut text = String::new();
    for archived in &answer.archived {
        let why = match archived.reason {
            ArchiveReason::Merged => "merged",
            ArchiveReason::Deleted => "branch deleted",
            ArchiveReason::ByHand => "by hand",
        };
        let branch = style.bold(&one_line(&archived.branch));
        text.push_str(&format!("{branch} {would}archived: {why}\n"));
    }
    for renamed in &answer.renamed {
        let (from, to) = (one_line(&renamed.from), style.bold(&one_line(&renamed.to)));
        text.push_str(&format!(
            "the plan of {from} {would}that of {to}: the branch was renamed\n"
        ));
    }
    for removed in &answer.removed {
        let dir = one_line(&removed.dir);
        text.push_str(&format!("{dir} {would}removed: merged a month ago\n"));
    }
    if text.is_empty() {
        text.push_str("nothing to clean up\n");
    }
    text
}
