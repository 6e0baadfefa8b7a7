//! What a verdict means for the tasks of a client session. Pure.

use grov_domain::{SessionId, SessionState, SessionStatus, TaskAction, TaskAnalysis, TaskSketch, TaskType};

/// The tasks of a client session, as the verdict finds them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) tasks: &'a [SessionState],
    /// The task in work.
    pub(super) current: Option<&'a SessionId>,
}

/// Where a turn belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A task that exists.
    Existing(SessionId),
    /// A task that begins with the turn.
    New {
        task_type: TaskType,
        parent: Option<SessionId>,
    },
}

/// What is to be done about a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) target: Target,
    /// The target is finished with this turn.
    pub(super) completes: bool,
}

impl<'a> Known<'a> {
    pub(super) fn task(&self, id: &SessionId) -> Option<&'a SessionState> {
        self.tasks.iter().find(|task| &task.session_id == id)
    }

    fn current(&self) -> Option<&'a SessionState> {
        self.current.and_then(|id| self.task(id))
    }

    /// The current task for the judge.
    pub(super) fn current_sketch(&self) -> Option<TaskSketch> {
        self.current().map(sketch)
    }

    /// The other tasks for the judge: open ones, and the one completed last, newest first.
    pub(super) fn other_sketches(&self) -> Vec<TaskSketch> {
        let mut others: Vec<&SessionState> = self
            .tasks
            .iter()
            .filter(|task| Some(&task.session_id) != self.current)
            .collect();
        others.sort_by_key(|task| std::cmp::Reverse(task.last_update));
        let newest_completed = others
            .iter()
            .find(|task| task.status == SessionStatus::Completed)
            .map(|task| task.session_id.clone());
        others
            .into_iter()
            .filter(|task| {
                task.status != SessionStatus::Completed || Some(&task.session_id) == newest_completed.as_ref()
            })
            .map(sketch)
            .collect()
    }

    /// What the analysis of a turn means here.
    pub(super) fn plan(&self, analysis: &TaskAnalysis) -> Plan {
        let named = analysis.task_id.as_ref().and_then(|id| self.task(id));
        match analysis.action {
            TaskAction::NewTask => self.begin(TaskType::Main, analysis.finished),
            TaskAction::Subtask => self.begin(TaskType::Subtask, analysis.finished),
            TaskAction::ParallelTask => self.begin(TaskType::Parallel, analysis.finished),
            TaskAction::Continue => match named.or_else(|| self.current()) {
                Some(task) => Plan {
                    target: Target::Existing(task.session_id.clone()),
                    completes: false,
                },
                // Nothing to continue: it is work all the same.
                None => self.begin(TaskType::Main, false),
            },
            TaskAction::TaskComplete | TaskAction::SubtaskComplete => {
                match named.or_else(|| self.current()) {
                    Some(task) => Plan {
                        target: Target::Existing(task.session_id.clone()),
                        completes: true,
                    },
                    None => self.begin(TaskType::Main, true),
                }
            }
        }
    }

    /// A task that begins. Without one in work there is nothing to be under or beside.
    fn begin(&self, wanted: TaskType, completes: bool) -> Plan {
        let current = self.current().map(|task| task.session_id.clone());
        let (task_type, parent) = match (wanted, current) {
            (TaskType::Main, _) | (_, None) => (TaskType::Main, None),
            (beside, Some(parent)) => (beside, Some(parent)),
        };
        Plan {
            target: Target::New { task_type, parent },
            completes,
        }
    }

    /// The task in work once `done` is finished: the nearest one it served that is still open.
    pub(super) fn after(&self, done: &SessionState) -> Option<SessionId> {
        let mut served = done.parent_session_id.as_ref();
        // As many steps as there are tasks: a store that was tampered with may hold a circle.
        for _ in 0..self.tasks.len() {
            let task = self.task(served?)?;
            if task.status != SessionStatus::Completed {
                return Some(task.session_id.clone());
            }
            served = task.parent_session_id.as_ref();
        }
        None
    }
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
mod tests {
    use super::*;
    use crate::tasks::testing::task;

    fn analysis(action: TaskAction) -> TaskAnalysis {
        TaskAnalysis {
            action,
            task_id: None,
            goal: String::new(),
            finished: false,
            constraints: Vec::new(),
            reasoning: String::new(),
        }
    }

    #[test]
    fn without_a_task_everything_begins_one() {
        let known = Known {
            tasks: &[],
            current: None,
        };
        for action in TaskAction::ALL {
            let plan = known.plan(&analysis(action));
            let target = Target::New {
                task_type: TaskType::Main,
                parent: None,
            };
            assert_eq!(
                (plan.target, plan.completes),
                (target, action.completes()),
                "{action:?}"
            );
        }
    }

    #[test]
    fn subtasks_and_parallel_tasks_hang_on_the_current_one() {
        let tasks = [task("one", None)];
        let one = SessionId::new("one");
        let known = Known {
            tasks: &tasks,
            current: Some(&one),
        };
        for (action, task_type) in [
            (TaskAction::Subtask, TaskType::Subtask),
            (TaskAction::ParallelTask, TaskType::Parallel),
        ] {
            let target = Target::New {
                task_type,
                parent: Some(one.clone()),
            };
            assert_eq!(known.plan(&analysis(action)).target, target);
        }
        let target = Target::New {
            task_type: TaskType::Main,
            parent: None,
        };
        assert_eq!(known.plan(&analysis(TaskAction::NewTask)).target, target);
    }

    #[test]
    fn a_named_task_comes_before_the_current_one_and_an_unknown_one_is_ignored() {
        let tasks = [task("one", None), task("two", None)];
        let two = SessionId::new("two");
        let known = Known {
            tasks: &tasks,
            current: Some(&two),
        };
        let mut verdict = analysis(TaskAction::Continue);
        verdict.task_id = Some(SessionId::new("one"));
        assert_eq!(
            known.plan(&verdict).target,
            Target::Existing(SessionId::new("one"))
        );
        verdict.task_id = Some(SessionId::new("nine"));
        assert_eq!(known.plan(&verdict).target, Target::Existing(two));
    }

    #[test]
    fn after_a_subtask_its_nearest_open_parent_goes_on() {
        let mut tasks = [
            task("one", None),
            task("two", Some("one")),
            task("three", Some("two")),
        ];
        tasks[1].status = SessionStatus::Completed;
        let known = Known {
            tasks: &tasks,
            current: None,
        };
        assert_eq!(known.after(&tasks[2]), Some(SessionId::new("one")));
        assert_eq!(known.after(&tasks[0]), None);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let mut tasks = [task("one", Some("two")), task("two", Some("one"))];
        tasks[0].status = SessionStatus::Completed;
        tasks[1].status = SessionStatus::Completed;
        let known = Known {
            tasks: &tasks,
            current: None,
        };
        assert_eq!(known.after(&tasks[0]), None);
    }

    #[test]
    fn the_judge_sees_open_tasks_and_the_one_completed_last() {
        let mut tasks = [
            task("old", None),
            task("newer", None),
            task("open", None),
            task("now", None),
        ];
        for (at, task) in (0..).zip(&mut tasks) {
            task.last_update += time::Duration::seconds(at);
        }
        tasks[0].status = SessionStatus::Completed;
        tasks[1].status = SessionStatus::Completed;
        let now = SessionId::new("now");
        let known = Known {
            tasks: &tasks,
            current: Some(&now),
        };
        let others: Vec<_> = known.other_sketches().into_iter().map(|task| task.id).collect();
        assert_eq!(others, [SessionId::new("open"), SessionId::new("newer")]);
        assert_eq!(known.current_sketch().map(|task| task.id), Some(now));
    }
}
