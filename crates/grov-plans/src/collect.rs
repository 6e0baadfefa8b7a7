//! Compares plans with the branches of the repository, and archives those that are done.

mod assess;

use crate::archive::{self, ArchiveReason, Archived};
use crate::git::{Git, Refs};
use crate::plan_dir::existing_folder;
use crate::plan_file::timestamp;
use crate::record::Record;
use crate::{Branch, PlanDir, PlanError, Status};
use assess::assess;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// A plan and its branch.
#[derive(Clone, Debug)]
pub struct PlanState {
    /// The plan directory.
    pub plan: PlanDir,
    /// The branch; if none is recorded and none fits, the directory's name.
    pub branch: Branch,
    /// Whether the branch had work, and all of it is in a main branch.
    pub merged: bool,
    /// Whether the branch exists neither here nor at a remote.
    pub gone: bool,
    /// Whether it is checked out in a working tree.
    pub checked_out: bool,
    /// The name that the branch has now, if it was renamed.
    pub renamed_to: Option<Branch>,
    is_main: bool,
    before: Record,
    record: Record,
}

impl PlanState {
    /// The status of the plan and the text after it; `None` if there is no plan yet.
    ///
    /// # Errors
    /// As [`PlanDir::status`].
    pub fn status(&self) -> Result<Option<(Status, Option<String>)>, PlanError> {
        self.plan.status()
    }

    /// Why the plan should be archived; `None` if it should not.
    fn reason(&self) -> Option<ArchiveReason> {
        let is_of_a_branch = self.branch.name().is_some() && !self.is_main;
        match is_of_a_branch && self.renamed_to.is_none() && !self.checked_out {
            true if self.merged => Some(ArchiveReason::Merged),
            true if self.gone => Some(ArchiveReason::Deleted),
            _ => None,
        }
    }

    fn archived(&self, reason: ArchiveReason, now: OffsetDateTime) -> Archived {
        Archived {
            branch: self.branch.to_string(),
            reason,
            unmerged: !self.merged,
            tip: self.record.tip.clone(),
            at: timestamp(now),
        }
    }
}

/// The plans of a working tree.
#[derive(Debug, Default)]
pub struct States {
    /// The plans, sorted by directory.
    pub plans: Vec<PlanState>,
    /// Entries that could not be read.
    pub faults: Vec<PlanError>,
    /// Whether all plans were compared within the time limit. The others count as unmerged.
    pub is_complete: bool,
}

/// The plans of a working tree, compared with its branches. Changes nothing.
///
/// # Errors
/// The folder of plans cannot be read, or git fails.
pub fn states(git: &Git) -> Result<States, PlanError> {
    let (plans, faults) = PlanDir::all(git.tree())?;
    if plans.is_empty() {
        return Ok(States {
            faults,
            is_complete: true,
            ..States::default()
        });
    }
    let refs = Refs::read(git)?;
    let (plans, is_complete) = assess(git, &refs, plans)?;
    Ok(States {
        plans,
        faults,
        is_complete,
    })
}

/// How to collect.
#[derive(Clone, Copy, Debug)]
pub struct CollectOptions {
    /// Change nothing.
    pub dry_run: bool,
    /// The time.
    pub now: OffsetDateTime,
}

/// What was, or would be, done.
#[derive(Debug, Default)]
pub struct Collected {
    /// The plans as they were before.
    pub states: States,
    /// Archived plans: the old directory, the new one (`None` if it was not moved), and why.
    pub archived: Vec<(PathBuf, Option<PathBuf>, Archived)>,
    /// Plans of renamed branches: the directory, the old and the new name.
    pub renamed: Vec<(PathBuf, Branch, Branch)>,
    /// Archived plans that were removed, because their branches were merged a month ago.
    pub removed: Vec<(PathBuf, Archived)>,
}

/// Archives the plans of merged and deleted branches, follows renamed branches, and removes archived plans of merged branches
/// after a month. A plan whose branch is checked out stays.
///
/// # Errors
/// As [`states`]; [`PlanError::Busy`]; a plan cannot be moved.
pub fn collect(git: &Git, options: CollectOptions) -> Result<Collected, PlanError> {
    let Some((_, folder)) = existing_folder(git.tree())? else {
        return Ok(Collected {
            states: States {
                is_complete: true,
                ..States::default()
            },
            ..Collected::default()
        });
    };
    let _lock = match options.dry_run {
        true => None,
        false => Some(lock(&folder)?),
    };
    let mut collected = Collected {
        states: states(git)?,
        ..Collected::default()
    };
    let renamed: Vec<&Branch> = collected
        .states
        .plans
        .iter()
        .filter_map(|state| state.renamed_to.as_ref())
        .collect();
    for state in &collected.states.plans {
        if renamed.contains(&&state.branch) {
            // Its prompts go to the plan of the branch before it was renamed.
            continue;
        }
        if !options.dry_run {
            state.plan.record_branch(&state.branch)?;
            state.record.write(&state.plan, &state.before)?;
        }
        let from = state.plan.path().to_owned();
        if let Some(renamed) = &state.renamed_to {
            if !options.dry_run {
                let of_the_name = collected
                    .states
                    .plans
                    .iter()
                    .find(|other| other.branch == *renamed);
                if let Some(newer) = of_the_name {
                    state.plan.absorb(&newer.plan)?;
                }
                state.plan.rename_branch(renamed)?;
            }
            collected
                .renamed
                .push((from, state.branch.clone(), renamed.clone()));
        } else if let Some(reason) = state.reason()
            // A deleted branch may have been renamed, which is looked for last.
            && (reason == ArchiveReason::Merged || collected.states.is_complete)
        {
            let archived = state.archived(reason, options.now);
            let to = match options.dry_run {
                true => None,
                false => Some(archive::archive(&state.plan, &folder, &archived, options.now)?),
            };
            collected.archived.push((from, to, archived));
        }
    }
    for (path, archived) in archive::expired(git.tree(), options.now)? {
        if !options.dry_run {
            archive::remove(&path)?;
        }
        collected.removed.push((path, archived));
    }
    Ok(collected)
}

/// Archives the plan of a branch because the user asked for it. Returns its new path. It is removed after a month only if its
/// branch was merged by now.
///
/// # Errors
/// As [`collect`]; the branch has no plan.
pub fn archive_by_hand(
    git: &Git,
    branch: &Branch,
    now: OffsetDateTime,
) -> Result<(PathBuf, Archived), PlanError> {
    let no_plan = || PlanError::NoPlan {
        branch: branch.to_string(),
    };
    let plan = PlanDir::find(git.tree(), branch)?.ok_or_else(no_plan)?;
    let (_, folder) = existing_folder(git.tree())?.ok_or_else(no_plan)?;
    let _lock = lock(&folder)?;
    let states = states(git)?.plans;
    let state = states.iter().find(|state| state.plan.path() == plan.path());
    let archived = Archived {
        branch: branch.to_string(),
        reason: ArchiveReason::ByHand,
        unmerged: state.is_none_or(|state| !state.merged),
        tip: state.and_then(|state| state.record.tip.clone()),
        at: timestamp(now),
    };
    let path = archive::archive(&plan, &folder, &archived, now)?;
    Ok((path, archived))
}

/// Locks the folder of plans until the file is dropped.
fn lock(folder: &Path) -> Result<File, PlanError> {
    let file = File::open(folder).map_err(PlanError::io(folder, "read"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(PlanError::Busy),
        Err(TryLockError::Error(error)) => Err(PlanError::io(folder, "written")(error)),
    }
}

#[cfg(test)]
mod tests;
