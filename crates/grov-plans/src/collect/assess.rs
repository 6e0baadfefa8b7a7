//! Compares each plan's branch with the main branches.
//!
//! A branch that is contained in a main branch was merged, or has no work yet. They look the same, so the record of a plan keeps
//! whether the branch ever had commits of its own, and the newest one. It is renewed at each checkout and merge. A branch that
//! was set back to a main branch has lost that commit, and was not merged.

use super::PlanState;
use crate::git::{Comparison, Git, Refs, compare};
use crate::record::{Record, is_commit};
use crate::{Branch, PlanDir, PlanError};
use std::collections::{BTreeSet, HashSet};

/// Assesses plans. Returns whether the time was enough for all of them.
pub(super) fn assess(
    git: &Git,
    refs: &Refs,
    plans: Vec<PlanDir>,
) -> Result<(Vec<PlanState>, bool), PlanError> {
    let recorded: HashSet<Branch> = plans.iter().filter_map(|plan| plan.branch().cloned()).collect();
    let mut states: Vec<PlanState> = plans
        .into_iter()
        .map(|plan| {
            let branch = branch_of(&plan, refs, &recorded);
            state(plan, branch, refs)
        })
        .collect();
    let mains = refs.independent_mains(git)?;
    forget_missing_commits(git, &mut states)?;
    let apart = Apart::read(git, refs, &states, &mains)?;
    note_work(refs, &mut states, &apart);
    let is_complete = assess_all(git, &mut states, &mains, &apart)?;
    if !is_complete {
        return Ok((states, false));
    }
    match follow_renamed(git, refs, &mut states, &apart) {
        Err(PlanError::GitTimedOut { .. }) => Ok((states, false)),
        result => result.map(|()| (states, true)),
    }
}

/// Notes which branches have commits of their own. It is done for all before anything that takes long, because it cannot be
/// seen any more when they are merged.
fn note_work(refs: &Refs, states: &mut [PlanState], apart: &Apart) {
    for state in states {
        if let (Some(name), Some(tip)) = (state.branch.name(), &state.record.tip) {
            let has_moved = state.record.start.as_ref() != Some(tip);
            if apart.has(tip) && (has_moved || apart.has_own(refs, name, tip)) {
                state.record.worked = true;
                state.record.own = Some(tip.clone());
            }
        }
    }
}

/// Assesses each plan, those first that need no comparison of contents. Returns whether the time was enough.
fn assess_all(
    git: &Git,
    states: &mut [PlanState],
    mains: &BTreeSet<String>,
    apart: &Apart,
) -> Result<bool, PlanError> {
    let is_apart = |state: &PlanState| {
        let commits = [&state.record.tip, &state.record.own];
        commits.into_iter().flatten().any(|commit| apart.has(commit))
    };
    let (easy, hard): (Vec<_>, Vec<_>) = states.iter_mut().partition(|state| !is_apart(state));
    for state in easy.into_iter().chain(hard).filter(|state| !state.is_main) {
        let Some(name) = state.branch.name().map(str::to_owned) else {
            continue;
        };
        if git.is_late() {
            return Ok(false);
        }
        match assess_one(git, state, &name, mains, apart) {
            Err(PlanError::GitTimedOut { .. }) => return Ok(false),
            result => result?,
        }
    }
    Ok(true)
}

/// The branch of a plan: the recorded one, or the only one that fits its directory and has no other plan.
fn branch_of(plan: &PlanDir, refs: &Refs, recorded: &HashSet<Branch>) -> Branch {
    if let Some(branch) = plan.branch() {
        return branch.clone();
    }
    let name = plan.name();
    let known = refs
        .heads
        .keys()
        .chain(refs.remotes.keys())
        .chain(&refs.checked_out);
    let fitting: BTreeSet<Branch> = known
        .map(|known| Branch::of(Some(known)))
        .filter(|branch| branch.fits(&name) && !recorded.contains(branch))
        .collect();
    match fitting.into_iter().collect::<Vec<_>>().as_slice() {
        [only] => only.clone(),
        _ if Branch::Detached.fits(&name) => Branch::Detached,
        _ => Branch::of(Some(&name)),
    }
}

fn state(plan: PlanDir, branch: Branch, refs: &Refs) -> PlanState {
    let before = Record::read(&plan);
    let mut record = before.clone();
    let name = branch.name().unwrap_or_default();
    let gone = branch.name().is_some_and(|name| !refs.exists(name));
    if let Some(tip) = refs.tip(name) {
        record.tip = Some(tip.clone());
        record.start.get_or_insert_with(|| tip.clone());
    }
    PlanState {
        merged: false,
        gone,
        checked_out: refs.checked_out.contains(name),
        renamed_to: None,
        is_main: refs.main_names.contains(name),
        plan,
        branch,
        before,
        record,
    }
}

/// Forgets the newest commit of deleted branches if git has removed it.
fn forget_missing_commits(git: &Git, states: &mut [PlanState]) -> Result<(), PlanError> {
    for state in states.iter_mut() {
        let is_valid = |commit: &String| is_commit(commit);
        state.record.tip = state.record.tip.take().filter(is_valid);
        state.record.start = state.record.start.take().filter(is_valid);
        state.record.own = state.record.own.take().filter(is_valid);
    }
    let tips = states
        .iter()
        .filter(|state| state.gone)
        .filter_map(|state| state.record.tip.clone());
    let input: String = tips.map(|tip| format!("{tip}^{{commit}}\n")).collect();
    if input.is_empty() {
        return Ok(());
    }
    let listed = git.read_with(
        &["cat-file", "--batch-check=%(objectname)"],
        Some(input.as_bytes()),
    )?;
    let existing: HashSet<&str> = listed.lines().filter(|line| is_commit(line)).collect();
    for state in states.iter_mut().filter(|state| state.gone) {
        state.record.tip = state
            .record
            .tip
            .take()
            .filter(|tip| existing.contains(tip.as_str()));
    }
    Ok(())
}

/// The commits that are in no main branch.
struct Apart {
    commits: HashSet<String>,
    /// The parents of these commits.
    parents: HashSet<String>,
}

impl Apart {
    /// Of all branches, and of those that were deleted.
    fn read(
        git: &Git,
        refs: &Refs,
        states: &[PlanState],
        mains: &BTreeSet<String>,
    ) -> Result<Self, PlanError> {
        let recorded = states
            .iter()
            .flat_map(|state| [&state.record.tip, &state.record.own])
            .flatten();
        let tips: BTreeSet<&String> = recorded
            .chain(refs.heads.values())
            .chain(refs.remotes.values().flatten())
            .collect();
        let mut input: String = tips.into_iter().map(|tip| format!("{tip}\n")).collect();
        let mut apart = Self {
            commits: HashSet::new(),
            parents: HashSet::new(),
        };
        if input.is_empty() {
            return Ok(apart);
        }
        input.extend(mains.iter().map(|main| format!("^{main}\n")));
        for line in git
            .read_with(
                &["rev-list", "--ignore-missing", "--parents", "--stdin"],
                Some(input.as_bytes()),
            )?
            .lines()
        {
            let mut commits = line.split(' ').map(str::to_owned);
            apart.commits.extend(commits.next());
            apart.parents.extend(commits);
        }
        Ok(apart)
    }

    fn has(&self, commit: &str) -> bool {
        self.commits.contains(commit)
    }

    /// Whether the branch has commits that no other branch has: its newest one is that of no other and in no other's history.
    fn has_own(&self, refs: &Refs, name: &str, tip: &str) -> bool {
        self.has(tip) && !self.parents.contains(tip) && !refs.others(name).any(|other| other == tip)
    }
}

fn assess_one(
    git: &Git,
    state: &mut PlanState,
    name: &str,
    mains: &BTreeSet<String>,
    apart: &Apart,
) -> Result<(), PlanError> {
    let Some(tip) = state.record.tip.clone() else {
        return Ok(());
    };
    if apart.has(&tip) {
        let is_merged = is_merged_by_contents(git, state, &tip, mains)?;
        // Without commits of its own it only stands on a branch that was merged.
        state.merged = is_merged
            && state.record.worked
            && (state.record.own.as_ref() == Some(&tip) || own_is_merged(git, state, mains, apart)?);
        return Ok(());
    }
    let has_moved = state.record.start.as_ref() != Some(&tip);
    // A branch that stands where the plan began has no work, whatever it stands on.
    let may_have_work = has_moved || state.before.start.is_none();
    state.merged = own_is_merged(git, state, mains, apart)?
        || (may_have_work && came_by_merge(git, &tip, mains)?)
        || (has_moved && !state.record.worked && was_pushed(git, name)?);
    Ok(())
}

/// Whether the branch had commits of its own, and the newest one is in a main branch.
fn own_is_merged(
    git: &Git,
    state: &mut PlanState,
    mains: &BTreeSet<String>,
    apart: &Apart,
) -> Result<bool, PlanError> {
    let Some(own) = state.record.own.clone().filter(|_| state.record.worked) else {
        return Ok(false);
    };
    if apart.has(&own) {
        return is_merged_by_contents(git, state, &own, mains);
    }
    // A commit that git has removed is in none.
    for main in mains {
        if git
            .try_read(&["merge-base", "--is-ancestor", &own, main])?
            .is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Compares a commit that is in no main branch with their contents, unless the same was compared before.
fn is_merged_by_contents(
    git: &Git,
    state: &mut PlanState,
    commit: &str,
    mains: &BTreeSet<String>,
) -> Result<bool, PlanError> {
    let compared = compared(commit, mains);
    let before = state.before.unmerged_at.clone().unwrap_or_default();
    if before == compared {
        return Ok(false);
    }
    let mut seen: Vec<&str> = before.split(' ').filter(|commit| is_commit(commit)).collect();
    // Another state of the branch must be compared with all commits.
    if seen.is_empty() || seen.remove(0) != commit {
        seen.clear();
    }
    match compare(git, commit, mains, &seen)? {
        Comparison::Merged => Ok(true),
        Comparison::Unmerged => {
            state.record.unmerged_at = Some(compared);
            Ok(false)
        }
    }
}

/// What was compared, so that it need not be compared again.
fn compared(tip: &str, mains: &BTreeSet<String>) -> String {
    let mains: Vec<&str> = mains.iter().map(String::as_str).collect();
    format!("{tip} {}", mains.join(" "))
}

/// Whether the commit came into a main branch by a merge, and was made on none of them.
fn came_by_merge(git: &Git, tip: &str, mains: &BTreeSet<String>) -> Result<bool, PlanError> {
    let mut came_by_merge = false;
    for main in mains {
        if git
            .try_read(&["merge-base", "--is-ancestor", tip, main])?
            .is_none()
        {
            continue;
        }
        let range = format!("{tip}..{main}");
        let listed = git.read(&["rev-list", "--first-parent", "--parents", &range])?;
        // The oldest commit of the main line that the commit does not have.
        let oldest = listed.lines().last();
        let parent = oldest.and_then(|line| line.split(' ').nth(1));
        if parent.is_none_or(|parent| parent == tip) {
            return Ok(false);
        }
        came_by_merge = true;
    }
    Ok(came_by_merge)
}

/// Whether the branch was pushed under its own name, which nobody does before it has work.
fn was_pushed(git: &Git, name: &str) -> Result<bool, PlanError> {
    let upstream = git.try_read(&["config", "--get", &format!("branch.{name}.merge")])?;
    Ok(upstream.as_deref() == Some(&format!("refs/heads/{name}")))
}

/// Finds the new names of renamed branches: the only branch without a plan that has the newest commit of a deleted one. A new
/// name may have got a plan directory from a prompt, but no plan.
fn follow_renamed(git: &Git, refs: &Refs, states: &mut [PlanState], apart: &Apart) -> Result<(), PlanError> {
    let taken = states.iter().filter(|state| !state.plan.has_only_lists());
    let mut taken: BTreeSet<String> = taken
        .filter_map(|state| state.branch.name().map(str::to_owned))
        .collect();
    taken.extend(refs.main_names.iter().cloned());
    for state in states.iter_mut() {
        if !state.gone || state.merged || state.is_main {
            continue;
        }
        let Some(tip) = &state.record.tip else { continue };
        let mut same: Vec<String> = refs
            .heads
            .iter()
            .filter(|(name, commit)| *commit == tip && !taken.contains(*name))
            .map(|(name, _)| name.clone())
            .collect();
        if same.is_empty() && apart.has(tip) {
            let format = "--format=%(refname:lstrip=2)";
            let listed = git.read(&["for-each-ref", format, "--contains", tip, "refs/heads"])?;
            let names = listed.lines().map(str::to_owned);
            same = names.filter(|name| !taken.contains(name)).collect();
        }
        if let [only] = same.as_slice() {
            state.renamed_to = Some(Branch::of(Some(only)));
            taken.insert(only.clone());
        }
    }
    Ok(())
}
