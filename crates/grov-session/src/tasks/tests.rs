use super::*;
use grov_domain::{ActionSketch, ActionType, ClientSessionId};

/// Verdicts divide the session, and only finished tasks are saved.
const DIVIDED: TaskPolicy = TaskPolicy {
    division: Division::ByVerdict,
    saves_unfinished: false,
    adds_drift_summary: false,
};

/// Prompts divide the session, and unfinished work is saved, too.
const KEPT: TaskPolicy = TaskPolicy {
    division: Division::ByPrompt,
    saves_unfinished: true,
    adds_drift_summary: true,
};

/// An open task of client session `s1`.
fn task(id: &str, parent: Option<&str>) -> SessionState {
    let client = ClientSessionId::new("s1");
    SessionState {
        parent_session_id: parent.map(SessionId::new),
        task_type: if parent.is_some() {
            TaskType::Subtask
        } else {
            TaskType::Main
        },
        working_directory: Some("/p".to_owned()),
        original_goal: Some(format!("goal of {id}")),
        ..SessionState::new(client, SessionId::new(id), "/p", OffsetDateTime::UNIX_EPOCH)
    }
}

fn analysis(action: TaskAction) -> TaskAnalysis {
    TaskAnalysis {
        action,
        task_id: None,
        goal: String::new(),
        finished: false,
        looks_finished: false,
        constraints: Vec::new(),
        reasoning: String::new(),
    }
}

#[test]
fn without_an_active_task_every_verdict_starts_one() {
    let known = Tasks {
        known: &[],
        current: None,
        policy: DIVIDED,
    };
    for action in TaskAction::ALL {
        let plan = known.plan(Some(&analysis(action)));
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
fn subtasks_and_parallel_tasks_have_the_active_task_as_parent() {
    let tasks = [task("one", None)];
    let one = SessionId::new("one");
    let known = Tasks {
        known: &tasks,
        current: Some(&one),
        policy: DIVIDED,
    };
    for (action, task_type) in [
        (TaskAction::Subtask, TaskType::Subtask),
        (TaskAction::ParallelTask, TaskType::Parallel),
    ] {
        let target = Target::New {
            task_type,
            parent: Some(one.clone()),
        };
        assert_eq!(known.plan(Some(&analysis(action))).target, target);
    }
    let target = Target::New {
        task_type: TaskType::Main,
        parent: None,
    };
    assert_eq!(known.plan(Some(&analysis(TaskAction::NewTask))).target, target);
}

#[test]
fn a_named_task_takes_precedence_and_an_unknown_one_is_ignored() {
    let tasks = [task("one", None), task("two", None)];
    let two = SessionId::new("two");
    let known = Tasks {
        known: &tasks,
        current: Some(&two),
        policy: DIVIDED,
    };
    let mut verdict = analysis(TaskAction::Continue);
    verdict.task_id = Some(SessionId::new("one"));
    assert_eq!(
        known.plan(Some(&verdict)).target,
        Target::Existing(SessionId::new("one"))
    );
    verdict.task_id = Some(SessionId::new("nine"));
    assert_eq!(known.plan(Some(&verdict)).target, Target::Existing(two));
}

#[test]
fn after_a_subtask_its_nearest_open_ancestor_is_active() {
    let mut tasks = [
        task("one", None),
        task("two", Some("one")),
        task("three", Some("two")),
    ];
    tasks[1].status = SessionStatus::Completed;
    let known = Tasks {
        known: &tasks,
        current: None,
        policy: DIVIDED,
    };
    assert_eq!(known.after(&tasks[2]), Some(SessionId::new("one")));
    assert_eq!(known.after(&tasks[0]), None);
}

#[test]
fn a_cycle_of_parents_terminates() {
    let mut tasks = [task("one", Some("two")), task("two", Some("one"))];
    tasks[0].status = SessionStatus::Completed;
    tasks[1].status = SessionStatus::Completed;
    let known = Tasks {
        known: &tasks,
        current: None,
        policy: DIVIDED,
    };
    assert_eq!(known.after(&tasks[0]), None);
}

#[test]
fn the_judge_receives_open_tasks_and_the_last_completed_one() {
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
    let known = Tasks {
        known: &tasks,
        current: Some(&now),
        policy: DIVIDED,
    };
    let question = known.question(&Turn::default(), "", None, None);
    let others: Vec<_> = question.others.into_iter().map(|task| task.id).collect();
    assert_eq!(others, [SessionId::new("open"), SessionId::new("newer")]);
    assert_eq!(question.current.map(|task| task.id), Some(now));
}

/// A turn in the table below.
#[derive(Clone, Copy)]
struct Case {
    /// The verdict; `None` if the turn was interrupted.
    verdict: Option<TaskAction>,
    finished: bool,
    edits: bool,
    turned: bool,
}

const fn case(verdict: Option<TaskAction>, finished: bool, edits: bool, turned: bool) -> Case {
    Case {
        verdict,
        finished,
        edits,
        turned,
    }
}

/// Plays turns as an adapter does. Returns the status of each task, and what was saved after each turn.
fn played(turns: &[Case], policy: TaskPolicy) -> (Vec<&'static str>, Vec<Option<Ending>>) {
    let mut known: Vec<SessionState> = Vec::new();
    let mut current: Option<SessionId> = None;
    let mut saved = Vec::new();
    for (number, case) in turns.iter().enumerate() {
        let mut turn = Turn::default();
        turn.prompts.push(format!("prompt {number}"));
        if case.edits {
            turn.push_action(None, edit());
        }
        let at = OffsetDateTime::UNIX_EPOCH + Duration::seconds(i64::try_from(number).unwrap());
        let left = case.turned && policy.division == Division::ByPrompt;
        let tasks = Tasks {
            known: &known,
            current: current.as_ref().filter(|_| !left),
            policy,
        };
        let analysis = case.verdict.map(|action| TaskAnalysis {
            finished: case.finished,
            ..analysis(action)
        });
        let plan = tasks.plan(analysis.as_ref());
        let state = match &plan.target {
            Target::Existing(id) => tasks.task(id).unwrap().clone(),
            Target::New { parent, .. } => {
                task(&format!("task {number}"), parent.as_ref().map(SessionId::as_str))
            }
        };
        let work = Work {
            is_changed: turn.has_changed(),
            is_worth_saving: turn.has_changed(),
            looks_finished: false,
        };
        let outcome = tasks.outcome(&plan, state.status, work);
        let mut state = with_turn(state, analysis.as_ref(), tasks.next_verdict_at(at), at);
        if let Some(ending) = outcome.saves {
            state.status = ending.session_status();
        }
        saved.push(outcome.saves);
        let id = state.session_id.clone();
        let active = tasks.after(&state);
        current = match (outcome.is_active, policy.division) {
            // The next turn belongs to the same record.
            (true, _) | (false, Division::ByPrompt) => Some(id.clone()),
            (false, Division::ByVerdict) => active,
        };
        known.retain(|task| task.session_id != id);
        known.push(state);
        known.sort_by_key(|task| task.session_id.to_string());
    }
    (known.iter().map(|task| task.status.as_str()).collect(), saved)
}

fn edit() -> ActionSketch {
    ActionSketch {
        files: vec!["a.rs".to_owned()],
        ..ActionSketch::empty(ActionType::Edit)
    }
}

/// Plays the same sessions under every policy. Decisions differ only where the policies do.
#[test]
fn decisions_depend_on_the_policy_alone() {
    use TaskAction::{Continue, NewTask, Subtask, SubtaskComplete, TaskComplete};
    let complete = Some(Ending::Complete);
    let open = Some(Ending::Abandoned);
    let both = [DIVIDED, KEPT];
    let asked = case(Some(Continue), false, false, false);
    let done = case(Some(TaskComplete), false, true, false);

    // Started and finished in one turn, by either verdict.
    for turn in [done, case(Some(NewTask), true, true, false)] {
        for policy in both {
            assert_eq!(played(&[turn], policy), (vec!["completed"], vec![complete]));
        }
    }
    // A finished task is saved again only after a change, which reopens it where unfinished work is saved.
    for (policy, changed, status) in [(DIVIDED, complete, "completed"), (KEPT, open, "abandoned")] {
        let resumed = TaskPolicy {
            division: Division::ByPrompt,
            ..policy
        };
        let edited = case(Some(Continue), false, true, false);
        let broken_off = case(None, false, true, false);
        let found = played(&[done, asked, edited, broken_off], resumed);
        assert_eq!(found, (vec![status], vec![complete, None, changed, changed]));
    }
    // The policy decides about unfinished work. Reads alone are not saved.
    let edits = case(Some(Continue), false, true, false);
    for division in [Division::ByVerdict, Division::ByPrompt] {
        for (saves_unfinished, statuses, saved) in [
            (false, "completed", vec![None, None, None, complete]),
            (true, "completed", vec![None, open, None, complete]),
        ] {
            let policy = TaskPolicy {
                division,
                saves_unfinished,
                adds_drift_summary: false,
            };
            let found = played(&[asked, edits, asked, done], policy);
            assert_eq!(found, (vec![statuses], saved), "{policy:?}");
        }
    }
    // A verdict or a change of subject divides the session.
    let sub = case(Some(Subtask), false, true, false);
    let sub_done = case(Some(SubtaskComplete), false, true, false);
    let turned = case(Some(NewTask), false, true, true);
    assert_eq!(
        played(&[edits, sub, sub_done, done], DIVIDED),
        (
            vec!["completed", "completed"],
            vec![None, None, complete, complete]
        )
    );
    assert_eq!(
        played(&[edits, sub, sub_done, done], KEPT),
        (vec!["completed"], vec![open, open, complete, complete])
    );
    for (policy, saved) in [(DIVIDED, None), (KEPT, open)] {
        let (tasks, all) = played(&[done, turned], policy);
        assert_eq!((tasks.len(), all), (2, vec![complete, saved]));
    }
}

#[test]
fn an_interrupted_turn_stays_in_the_active_task() {
    let tasks = [task("one", None)];
    let one = SessionId::new("one");
    for policy in [DIVIDED, KEPT] {
        let known = Tasks {
            known: &tasks,
            current: Some(&one),
            policy,
        };
        let plan = known.plan(None);
        assert_eq!(
            (plan.target, plan.completes),
            (Target::Existing(one.clone()), false)
        );
    }
}

#[test]
fn a_prompt_changes_the_subject_if_the_goal_is_taken_from_it() {
    let prompts = ["Add a greeting", "Translate the readme into French"].map(str::to_owned);
    let turned = |from, goal, prompts: &[String]| changed_subject(from, goal, prompts);
    assert!(turned(
        "Add a greeting",
        "Translate the readme into French.",
        &prompts
    ));
    assert!(
        !turned("Add a greeting", "Add a greeting", &prompts),
        "the same goal"
    );
    assert!(
        !turned("Add a greeting", "A French readme", &prompts),
        "a model's words"
    );
    assert!(
        !turned("", "Translate the readme into French", &prompts),
        "nothing before"
    );
    assert!(
        !turned("x", "Translate the readme into French", &prompts[1..]),
        "one prompt"
    );
    assert!(!turned("x", "y", &[]));
}

#[test]
fn a_task_is_abandoned_once_all_tasks_of_its_session_are_inactive() {
    let at = |seconds| OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds);
    let mut tasks = [task("one", None), task("two", Some("one"))];
    tasks[1].last_update = at(9);
    let abandoned = |tasks: &[SessionState], limit| {
        let known = Tasks {
            known: tasks,
            current: None,
            policy: DIVIDED,
        };
        known.abandoned(&SessionId::new("one"), at(limit)).is_some()
    };
    assert!(!abandoned(&tasks, 8) && abandoned(&tasks, 9));
    tasks[0].status = SessionStatus::Completed;
    assert!(!abandoned(&tasks, 9));
}

#[test]
fn a_verdict_resumes_an_abandoned_task_and_adds_its_constraints_once() {
    let mut left = task("one", None);
    left.status = SessionStatus::Abandoned;
    left.constraints = vec!["leave main.rs".to_owned()];
    let mut verdict = analysis(TaskAction::Continue);
    verdict.constraints = vec!["leave main.rs".to_owned(), "no new files".to_owned()];
    let later = OffsetDateTime::UNIX_EPOCH + Duration::HOUR;
    let state = with_turn(left, Some(&verdict), later, later);
    assert_eq!(state.status, SessionStatus::Active);
    assert_eq!(state.constraints, ["leave main.rs", "no new files"]);
    assert_eq!((state.judged_at, state.last_update), (Some(later), later));
    let known = Tasks {
        known: &[state],
        current: None,
        policy: DIVIDED,
    };
    assert!(
        known.next_verdict_at(OffsetDateTime::UNIX_EPOCH) > later,
        "the clock was set back"
    );
}
