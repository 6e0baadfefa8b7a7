//! The tasks of a session: which one a turn belongs to, when it is done, and when it is saved.
//!
//! A path hands in the [`Tasks`] it knows and the verdict on a [`Turn`]; it gets back a [`Plan`] and an [`TaskOutcome`], and
//! stores what they say. Paths differ in their [`TaskPolicy`] alone.

mod begin;
mod turn;

pub use begin::{begun, intent_question, with_intent};
pub use turn::Turn;

use crate::capture::relative_files;
use grov_domain::{
    SessionId, SessionState, SessionStatus, TaskAction, TaskAnalysis, TaskContextQuestion, TaskSketch,
    TaskStatus, TaskType, TriggerReason, prompt_of_goal,
};
use std::path::Path;
use time::{Duration, OffsetDateTime};

/// Constraints kept per task.
const MAX_CONSTRAINTS: usize = 40;

/// What paths decide differently about tasks, each for a reason of how sessions reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPolicy {
    /// What divides a session into tasks.
    pub division: Division,
    /// Save unfinished work after each turn, as abandoned, and finished work over it. For a path that does not look for
    /// abandoned work later.
    pub saves_unfinished: bool,
    /// Sum up the drift scores in a saved task that had drift. For a path on which later scores do not mark it anew.
    pub sums_up_drift: bool,
}

/// What divides a session into tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// The verdict on each turn: it may open a task, resume an older one, and nest one in another. Needs a row per task.
    ByVerdict,
    /// The prompts: a task ends where a prompt turns to something else. A verdict only says whether the task is finished.
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
    /// The status of the task while in work.
    pub fn session_status(self) -> SessionStatus {
        match self {
            Self::Complete => SessionStatus::Completed,
            Self::Abandoned => SessionStatus::Abandoned,
        }
    }

    /// The status of the task in team memory, and why it is saved.
    pub fn saved_as(self) -> (TaskStatus, TriggerReason) {
        match self {
            Self::Complete => (TaskStatus::Complete, TriggerReason::Complete),
            Self::Abandoned => (TaskStatus::Abandoned, TriggerReason::Abandoned),
        }
    }
}

/// The tasks of a client session, as a turn finds them.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    /// All that are known.
    pub known: &'a [SessionState],
    /// The task in work. None before the first, after a finished one, and where the conversation left its tasks: it began
    /// anew under the same id, or a prompt [turned](has_turned) to something else.
    pub current: Option<&'a SessionId>,
    /// How they are divided and saved.
    pub policy: TaskPolicy,
}

/// The task that a turn belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A task that exists.
    Existing(SessionId),
    /// A task that begins with the turn.
    New {
        /// Its place among the tasks.
        task_type: TaskType,
        /// The task it was started from.
        parent: Option<SessionId>,
    },
}

/// What a turn means for the tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The task that the turn belongs to.
    pub target: Target,
    /// The target is finished with this turn.
    pub completes: bool,
}

/// The work of a task at the end of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The turn changed something.
    pub is_changed: bool,
    /// The task holds something that is worth saving although it is unfinished.
    pub is_worth_saving: bool,
}

/// What becomes of a task at the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskOutcome {
    /// Save it to team memory, as ended in this way.
    pub saves: Option<Ending>,
    /// It is the task in work.
    pub is_in_work: bool,
}

impl<'a> Tasks<'a> {
    /// The task of that id.
    pub fn task(&self, id: &SessionId) -> Option<&'a SessionState> {
        self.known.iter().find(|task| &task.session_id == id)
    }

    fn active_task(&self) -> Option<&'a SessionState> {
        self.current.and_then(|id| self.task(id))
    }

    /// Asks which task a turn belongs to, and whether that is done. `root` is the top of the working tree.
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
        }
    }

    /// The other tasks for the judge: open ones, and the one completed last, newest first.
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

    /// What the verdict on a turn means here. `None`: the turn broke off, and there is no verdict.
    pub fn plan(&self, analysis: Option<&TaskAnalysis>) -> Plan {
        let Some(analysis) = analysis else {
            return self.goes_on(None, false);
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
            Some(task_type) => self.begin(task_type, is_finished),
            None => self.goes_on(analysis.task_id.as_ref(), is_finished),
        }
    }

    /// The named task goes on, or else the one in work. Without either it is work all the same.
    fn goes_on(&self, named: Option<&SessionId>, completes: bool) -> Plan {
        let named = match self.policy.division {
            Division::ByVerdict => named.and_then(|id| self.task(id)),
            Division::ByPrompt => None,
        };
        match named.or_else(|| self.active_task()) {
            Some(task) => Plan {
                target: Target::Existing(task.session_id.clone()),
                completes,
            },
            None => self.begin(TaskType::Main, completes),
        }
    }

    /// A task that begins. Without one in work there is nothing to be under or beside.
    fn begin(&self, wanted: TaskType, completes: bool) -> Plan {
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

    /// What becomes of the task that a turn was put into. `before` is its status before the turn. What is finished stays
    /// finished, and is saved anew only if there is something new to it.
    pub fn outcome(&self, plan: &Plan, before: SessionStatus, work: Work) -> TaskOutcome {
        let was_completed = before == SessionStatus::Completed;
        let is_over = was_completed || plan.completes;
        let saves = if is_over {
            let is_news = !was_completed || work.is_changed;
            is_news.then_some(Ending::Complete)
        } else {
            let was_saved = matches!(plan.target, Target::Existing(_));
            let saves = self.policy.saves_unfinished && (was_saved || work.is_worth_saving);
            saves.then_some(Ending::Abandoned)
        };
        TaskOutcome {
            saves,
            is_in_work: !is_over,
        }
    }

    /// The task in work once `done` is finished: the nearest one it served that is still open.
    pub fn after(&self, done: &SessionState) -> Option<SessionId> {
        let mut served = done.parent_session_id.as_ref();
        // As many steps as there are tasks: a store that was tampered with may hold a circle.
        for _ in 0..self.known.len() {
            let task = self.task(served?)?;
            if task.status != SessionStatus::Completed {
                return Some(task.session_id.clone());
            }
            served = task.parent_session_id.as_ref();
        }
        None
    }

    /// The task that is to be saved as abandoned, if it is: it is open, and the session is quiet since before `limit`. A task
    /// is in work while one that serves it is.
    pub fn abandoned(&self, id: &SessionId, limit: OffsetDateTime) -> Option<&'a SessionState> {
        let is_quiet = self.known.iter().all(|task| task.last_update <= limit);
        let task = self.task(id).filter(|_| is_quiet)?;
        (task.status == SessionStatus::Active).then_some(task)
    }

    /// The time of the next verdict: now, but after every earlier verdict, for the clock may have been set back.
    pub fn next_verdict_at(&self, now: OffsetDateTime) -> OffsetDateTime {
        let newest = self.known.iter().filter_map(|task| task.judged_at).max();
        newest.map_or(now, |newest| {
            now.max(newest.saturating_add(Duration::MILLISECOND))
        })
    }
}

/// A task with a turn put into it by a verdict: constraints that the turn added, and resumed if it was abandoned.
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

/// Whether the newest prompt turned to something else than a task of that goal: `goal`, which is held to now, was taken from
/// this prompt in its own words.
pub fn has_turned(from: &str, goal: &str, prompts: &[String]) -> bool {
    let Some((newest, earlier)) = prompts.split_last() else {
        return false;
    };
    !earlier.is_empty()
        && !from.is_empty()
        && from != goal
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
