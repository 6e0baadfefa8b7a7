//! Divides a session into tasks: decides which task a turn belongs to, when a task is finished, and when it is saved.
//!
//! The caller builds a [`Turn`], asks a judge the [`question`](Tasks::question) about it, and applies the
//! [`plan`](Tasks::plan) and the [`outcome`](Tasks::outcome). The hook path and the proxy path differ only in their
//! [`TaskPolicy`].

mod begin;
mod turn;

pub use begin::{intent_question, started, with_intent};
pub use turn::Turn;

use crate::capture::relative_files;
use grov_domain::{
    SessionId, SessionState, SessionStatus, TaskAction, TaskAnalysis, TaskContextQuestion, TaskSketch,
    TaskStatus, TaskType, TriggerReason, prompt_of_goal,
};
use std::path::Path;
use time::{Duration, OffsetDateTime};

/// Maximum number of constraints per task.
const MAX_CONSTRAINTS: usize = 40;

/// Task settings that differ between the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPolicy {
    /// How a session is divided into tasks.
    pub division: Division,
    /// Whether unfinished work is saved as abandoned after each turn that changed something, and replaced when it is
    /// finished.
    pub saves_unfinished: bool,
    /// Whether a drift summary is added to a saved task that had drift. Needed on a path where later scores do not update
    /// the task.
    pub adds_drift_summary: bool,
}

/// How a session is divided into tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// By the verdict on each turn, which may start a task or a subtask, or resume an older task. Needs a row per task.
    ByVerdict,
    /// By the prompts: a prompt that changes the subject ends a task. A verdict only says whether the task is finished.
    ByPrompt,
}

/// How a task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The work was finished.
    Complete,
    /// The work was left unfinished.
    Abandoned,
}

impl Ending {
    /// Returns the status of the session's task.
    pub fn session_status(self) -> SessionStatus {
        match self {
            Self::Complete => SessionStatus::Completed,
            Self::Abandoned => SessionStatus::Abandoned,
        }
    }

    /// Returns the status of the task in team memory, and the reason for saving it.
    pub fn saved_as(self) -> (TaskStatus, TriggerReason) {
        match self {
            Self::Complete => (TaskStatus::Complete, TriggerReason::Complete),
            Self::Abandoned => (TaskStatus::Abandoned, TriggerReason::Abandoned),
        }
    }
}

/// The tasks of a client session before a turn.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    /// All known tasks.
    pub known: &'a [SessionState],
    /// The active task; `None` before the first task, after a finished one, after a restart of the conversation under the
    /// same id, and after a prompt that [changed the subject](changed_subject).
    pub current: Option<&'a SessionId>,
    /// The policy.
    pub policy: TaskPolicy,
}

/// The task that a turn belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A task that exists.
    Existing(SessionId),
    /// A task that starts with the turn.
    New {
        /// Its type.
        task_type: TaskType,
        /// The task it was started from.
        parent: Option<SessionId>,
    },
}

/// The effect of a turn on the tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The task that the turn belongs to.
    pub target: Target,
    /// Whether this turn finishes the target.
    pub completes: bool,
}

/// The work of a task at the end of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Whether the turn changed something.
    pub is_changed: bool,
    /// Whether the task is worth saving although it is unfinished.
    pub is_worth_saving: bool,
    /// Whether it looks finished, though nothing proves it.
    pub looks_finished: bool,
}

/// What to do with a task at the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskOutcome {
    /// The ending with which to save it to team memory; `None` if it is not saved. A task that looks finished is saved as
    /// complete and remains active.
    pub saves: Option<Ending>,
    /// Whether it remains the active task.
    pub is_active: bool,
}

impl<'a> Tasks<'a> {
    /// Returns the known task with this id.
    pub fn task(&self, id: &SessionId) -> Option<&'a SessionState> {
        self.known.iter().find(|task| &task.session_id == id)
    }

    fn active_task(&self) -> Option<&'a SessionState> {
        self.current.and_then(|id| self.task(id))
    }

    /// Builds the question to a judge which task a turn belongs to, and whether the task is finished. `answer` is the
    /// agent's last text, and `root` the top of the working tree.
    pub fn question(
        &self,
        turn: &Turn,
        answer: &str,
        stop_reason: Option<&str>,
        root: Option<&Path>,
    ) -> TaskContextQuestion {
        TaskContextQuestion {
            current: self.active_task().map(sketch),
            others: match self.policy.division {
                Division::ByVerdict => self.others(),
                // The verdict cannot resume them.
                Division::ByPrompt => Vec::new(),
            },
            prompts: turn.prompts.clone(),
            actions: turn
                .actions()
                .map(|action| relative_files(action.clone(), root))
                .collect(),
            answer: answer.to_owned(),
            stop_reason: stop_reason.map(str::to_owned),
            // A record per prompt can be reopened. A task with subtasks ends only with evidence.
            unchecked_finishes: self.policy.division == Division::ByPrompt,
            is_remembered_complete: false,
        }
    }

    /// Returns the other open tasks and the last completed one, newest first.
    fn others(&self) -> Vec<TaskSketch> {
        let is_other = |task: &&SessionState| Some(&task.session_id) != self.current;
        let mut others: Vec<&SessionState> = self.known.iter().filter(is_other).collect();
        others.sort_by_key(|task| std::cmp::Reverse(task.last_update));
        let mut completed = 0;
        others.retain(|task| {
            let is_completed = task.status == SessionStatus::Completed;
            completed += usize::from(is_completed);
            !is_completed || completed == 1
        });
        others.into_iter().map(sketch).collect()
    }

    /// Returns the plan for a verdict on a turn; `None` if the turn was interrupted and has no verdict.
    pub fn plan(&self, analysis: Option<&TaskAnalysis>) -> Plan {
        let Some(analysis) = analysis else {
            return self.continue_task(None, false);
        };
        let completes = analysis.action.completes();
        let begins = match (self.policy.division, analysis.action) {
            (Division::ByPrompt, _) => None,
            (_, TaskAction::NewTask) => Some(TaskType::Main),
            (_, TaskAction::Subtask) => Some(TaskType::Subtask),
            (_, TaskAction::ParallelTask) => Some(TaskType::Parallel),
            (_, TaskAction::Continue | TaskAction::TaskComplete | TaskAction::SubtaskComplete) => None,
        };
        let is_finished = completes || analysis.action.starts() && analysis.finished;
        match begins {
            Some(task_type) => self.start(task_type, is_finished),
            None => self.continue_task(analysis.task_id.as_ref(), is_finished),
        }
    }

    /// Continues the named task, or else the active one, or else starts a task.
    fn continue_task(&self, named: Option<&SessionId>, completes: bool) -> Plan {
        let named = match self.policy.division {
            Division::ByVerdict => named.and_then(|id| self.task(id)),
            Division::ByPrompt => None,
        };
        match named.or_else(|| self.active_task()) {
            Some(task) => Plan {
                target: Target::Existing(task.session_id.clone()),
                completes,
            },
            None => self.start(TaskType::Main, completes),
        }
    }

    /// Starts a task. Without an active task it is a main task.
    fn start(&self, wanted: TaskType, completes: bool) -> Plan {
        let current = self.active_task().map(|task| task.session_id.clone());
        let (task_type, parent) = match (wanted, current) {
            (TaskType::Main, _) | (_, None) => (TaskType::Main, None),
            (beside, Some(parent)) => (beside, Some(parent)),
        };
        Plan {
            target: Target::New { task_type, parent },
            completes,
        }
    }

    /// Returns what to do with the task of a turn. `before` is its status before the turn. A finished task is saved again only
    /// if something changed. Where prompts divide the session and unfinished work is saved, this reopens it unless the turn
    /// finishes it again: without a verdict on whether the turn belongs to it, more work may be other work.
    pub fn outcome(&self, plan: &Plan, before: SessionStatus, work: Work) -> TaskOutcome {
        let was_completed = before == SessionStatus::Completed;
        let may_reopen = self.policy.saves_unfinished && self.policy.division == Division::ByPrompt;
        let is_reopened = was_completed && work.is_changed && may_reopen;
        let is_over = was_completed && !is_reopened || plan.completes;
        let saves = if is_over {
            let is_new = !was_completed || work.is_changed;
            is_new.then_some(Ending::Complete)
        } else {
            let was_saved = matches!(plan.target, Target::Existing(_));
            // A question about saved work changes nothing in its record.
            let is_new = if was_saved {
                work.is_changed
            } else {
                work.is_worth_saving
            };
            let ending = if work.looks_finished {
                Ending::Complete
            } else {
                Ending::Abandoned
            };
            (self.policy.saves_unfinished && is_new).then_some(ending)
        };
        TaskOutcome {
            saves,
            is_active: !is_over,
        }
    }

    /// Returns the active task after `done` was finished: its nearest open ancestor.
    pub fn after(&self, done: &SessionState) -> Option<SessionId> {
        let mut parent = done.parent_session_id.as_ref();
        // Bounded, because parents in a damaged store may form a cycle.
        for _ in 0..self.known.len() {
            let task = self.task(parent?)?;
            if task.status != SessionStatus::Completed {
                return Some(task.session_id.clone());
            }
            parent = task.parent_session_id.as_ref();
        }
        None
    }

    /// Returns the task `id` if it is abandoned: it is open, and no task of the session was updated after `limit`.
    pub fn abandoned(&self, id: &SessionId, limit: OffsetDateTime) -> Option<&'a SessionState> {
        let is_quiet = self.known.iter().all(|task| task.last_update <= limit);
        let task = self.task(id).filter(|_| is_quiet)?;
        (task.status == SessionStatus::Active).then_some(task)
    }

    /// Returns the time to record for the next verdict: `now`, or a millisecond after the latest verdict if the clock was set
    /// back.
    pub fn next_verdict_at(&self, now: OffsetDateTime) -> OffsetDateTime {
        let newest = self.known.iter().filter_map(|task| task.judged_at).max();
        newest.map_or(now, |newest| {
            now.max(newest.saturating_add(Duration::MILLISECOND))
        })
    }
}

/// Updates a task after a turn: adds the constraints of the verdict and sets the times. An abandoned task becomes active.
#[must_use]
pub fn with_turn(
    mut task: SessionState,
    analysis: Option<&TaskAnalysis>,
    judged_at: OffsetDateTime,
    ended_at: OffsetDateTime,
) -> SessionState {
    for constraint in analysis.iter().flat_map(|analysis| &analysis.constraints) {
        if task.constraints.len() < MAX_CONSTRAINTS && !task.constraints.contains(constraint) {
            task.constraints.push(constraint.clone());
        }
    }
    if task.status == SessionStatus::Abandoned {
        task.status = SessionStatus::Active;
    }
    task.judged_at = Some(judged_at);
    task.last_update = task.last_update.max(ended_at);
    task
}

/// Whether the newest prompt changed the subject: the current goal, `goal`, differs from the goal `from` of the task and
/// is quoted from this prompt.
pub fn changed_subject(from: &str, goal: &str, prompts: &[String]) -> bool {
    let Some((newest, earlier)) = prompts.split_last() else {
        return false;
    };
    !earlier.is_empty()
        && !from.is_empty()
        && !from.contains(goal)
        && prompt_of_goal(goal, prompts) == earlier.len()
        && newest.contains(goal.trim_end_matches(['.', '…']))
}

fn sketch(task: &SessionState) -> TaskSketch {
    TaskSketch {
        id: task.session_id.clone(),
        goal: task.original_goal.clone().unwrap_or_default(),
        task_type: task.task_type,
        parent: task.parent_session_id.clone(),
        completed: task.status == SessionStatus::Completed,
    }
}

#[cfg(test)]
mod tests;
