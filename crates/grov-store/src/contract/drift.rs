//! Actions judged off goal, when recorded or later.

use super::sample::{
    PROJECT, at, bash, client, correction, drift, drift_log, edit, exchange, proven, session, state, task,
    verdict,
};
use grov_domain::{
    ActionType, AgentId, CandidateOrder, Correction, DriftEvent, DriftEventId, DriftFilter, DriftState,
    ExchangeRecord, Finding, JudgedBy, MAX_RELATED_CANDIDATES, MemoryQuestion, MemoryScope, Move, Project,
    Redacted, RelatedSteps, Retention, Rule, SessionStatus, SessionSummary, StepId, StepRow, StepVerdict,
    Store, Task, TaskId, TaskStatus, TaskTransition, TriggerReason,
};
use std::sync::Arc;

const FILE: &str = "/home/dev/projects/relay/src/limit.rs";

async fn summary(store: &Arc<dyn Store>, task: &str) -> SessionSummary {
    store
        .session(&session(task))
        .await
        .unwrap()
        .expect("the session is stored")
}

async fn steps(store: &Arc<dyn Store>, task: &str) -> Vec<StepId> {
    let rows = store.steps(&session(task)).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

async fn log(store: &Arc<dyn Store>, task: &str) -> Vec<DriftEvent> {
    drift_log(store, Some(&session(task))).await
}

async fn logged(store: &Arc<dyn Store>, task: &str) -> Vec<StepId> {
    let events = log(store, task).await;
    events
        .into_iter()
        .map(|event| event.step_id.expect("it was a step"))
        .collect()
}

/// An exchange with two actions that were already judged.
fn judged(client_session: &str, seconds: i64, scores: [Option<u8>; 2]) -> ExchangeRecord {
    let mut record = exchange(client_session, seconds);
    for (step, score) in record.steps.iter_mut().zip(scores) {
        step.verdict = score.map(verdict);
    }
    record
}

/// The drift event of the first action of an exchange.
fn event_of(record: &ExchangeRecord, score: u8) -> DriftEvent {
    let step = &record.steps[0];
    DriftEvent {
        id: DriftEventId::new(step.id.as_str()),
        session_id: record.session_id.clone(),
        timestamp: step.timestamp,
        action_type: Some(ActionType::Edit),
        files: vec![FILE.to_owned()],
        drift_score: Some(score),
        level: Some("intervene".to_owned()),
        reason: Some("theme.css has nothing to do with the limit".to_owned()),
        correction_given: Some("Go back to the limit.".to_owned()),
        recovery_plan: vec![
            "src/limit.rs: check the frame".to_owned(),
            "run the tests".to_owned(),
        ],
        client_session_id: Some(record.client_session_id.clone()),
        step_id: Some(step.id.clone()),
        tool_use_id: step.action.tool_use_id.clone(),
        command: None,
        findings: verdict(score).findings,
        judged_by: Some(JudgedBy::Rules),
        outcome: None,
    }
}

/// An action judged below 5 is in the drift log with all findings, and not among the steps.
pub async fn step_off_goal_is_only_in_the_log(store: Arc<dyn Store>) {
    let record = judged("a", 1, [Some(4), Some(5)]);
    store.append(&[Redacted::of(&record)]).await.unwrap();
    assert_eq!(steps(&store, "a").await, [record.steps[1].id.clone()]);
    assert_eq!(log(&store, "a").await, [event_of(&record, 4)]);
    let verdict = record.steps[0].verdict.clone().unwrap();
    let found = store.off_goal_findings(&record.client_session_id).await.unwrap();
    assert_eq!(found, [verdict.findings]);
    assert_eq!(store.steps_reasoning_by_path(PROJECT, FILE, 9).await.unwrap(), []);
    let summary = summary(&store, "a").await;
    assert_eq!((summary.steps, summary.exchanges), (1, 1));
    assert_eq!(summary.last_action.unwrap().id, record.steps[1].id);
    assert_eq!(store.project_status(PROJECT).await.unwrap().steps, 1);

    let command = judged("b", 1, [None, Some(1)]);
    store.append(&[Redacted::of(&command)]).await.unwrap();
    let event = log(&store, "b").await.remove(0);
    assert_eq!(event.command, command.steps[1].action.command);
    assert_eq!(event.action_type, Some(ActionType::Bash));
}

/// Recording an action off goal again, alone or in a batch, leaves one event and no step.
pub async fn step_off_goal_is_recorded_once(store: Arc<dyn Store>) {
    let record = judged("a", 1, [Some(2), None]);
    assert_eq!(
        store
            .append(&Redacted::each(&[record.clone(), record.clone()]))
            .await
            .unwrap(),
        1
    );
    let before = summary(&store, "a").await;
    assert_eq!(store.append(&[Redacted::of(&record)]).await.unwrap(), 0);
    assert_eq!(summary(&store, "a").await, before);
    assert_eq!(log(&store, "a").await, [event_of(&record, 2)]);

    // A later exchange reports it again, without a verdict.
    let mut next = exchange("a", 2);
    let mut again = record.steps[0].clone();
    again.verdict = None;
    next.steps.insert(0, again);
    store.append(&Redacted::each(&[next])).await.unwrap();
    assert_eq!(log(&store, "a").await.len(), 1);
    assert_eq!(summary(&store, "a").await.steps, 3);
    assert_eq!(steps(&store, "a").await.len(), 3);

    // It was recorded as a step. A later exchange, alone or in the same batch, reports it as off goal.
    for (name, together) in [("b", false), ("c", true)] {
        let (first, mut next) = (exchange(name, 1), exchange(name, 2));
        let mut again = first.steps[0].clone();
        again.verdict = Some(verdict(3));
        next.steps.insert(0, again);
        if together {
            store
                .append(&Redacted::each(&[first.clone(), next]))
                .await
                .unwrap();
        } else {
            store.append(&[Redacted::of(&first)]).await.unwrap();
            store.append(&Redacted::each(&[next])).await.unwrap();
        }
        assert_eq!(logged(&store, name).await, [first.steps[0].id.clone()]);
        assert_eq!(steps(&store, name).await.len(), 3, "{name}");
        assert_eq!(summary(&store, name).await.steps, 3, "{name}");
    }
}

/// An action judged 5 or more is a step with its findings.
pub async fn judged_step_keeps_its_verdict(store: Arc<dyn Store>) {
    let record = judged("a", 1, [Some(7), Some(10)]);
    store
        .append(&Redacted::each(&[record, exchange("b", 1)]))
        .await
        .unwrap();
    let rows = store.steps(&session("a")).await.unwrap();
    let columns = |row: &StepRow| {
        (
            row.drift_score,
            row.drift_type.clone(),
            row.correction_level.clone(),
        )
    };
    assert_eq!(
        columns(&rows[0]),
        (Some(7), Some("minor".to_owned()), Some("intervene".to_owned()))
    );
    assert_eq!(rows[0].correction_given.as_deref(), Some("Go back to the limit."));
    assert_eq!(columns(&rows[1]), (Some(10), Some("none".to_owned()), None));
    assert_eq!(rows[1].correction_given, None);
    let unjudged = store.steps(&session("b")).await.unwrap().remove(0);
    assert_eq!(columns(&unjudged), (None, None, None));
    assert!(rows.iter().all(|row| row.is_validated) && unjudged.is_validated);
    assert_eq!(drift_log(&store, None).await, []);
}

/// A later verdict has the same effect as an immediate one. Verdicts on unknown actions are ignored.
pub async fn later_verdict_moves_a_step(store: Arc<dyn Store>) {
    let (first, second) = (exchange("a", 1), exchange("a", 2));
    store
        .append(&Redacted::each(&[first.clone(), second.clone()]))
        .await
        .unwrap();
    let [off, on] = [&second.steps[0].id, &second.steps[1].id].map(Clone::clone);
    let unknown = StepId::new("not recorded");
    let judge = async |verdicts: &[(&StepId, u8)]| {
        let verdicts: Vec<_> = verdicts
            .iter()
            .map(|(id, score)| ((*id).clone(), verdict(*score)))
            .collect();
        store.judge_steps(&client("a"), &proven(&verdicts)).await.unwrap()
    };
    assert_eq!(judge(&[]).await, 0);
    assert_eq!(judge(&[(&unknown, 1)]).await, 0);
    assert_eq!(judge(&[(&unknown, 1), (&on, 8), (&off, 3), (&off, 3)]).await, 2);
    assert_eq!(log(&store, "a").await, [event_of(&second, 3)]);
    let rows = store.steps(&session("a")).await.unwrap();
    let scores: Vec<_> = rows.iter().map(|row| (&row.id, row.drift_score)).collect();
    assert_eq!(
        scores,
        [
            (&first.steps[0].id, None),
            (&first.steps[1].id, None),
            (&on, Some(8))
        ]
    );
    assert_eq!(summary(&store, "a").await.steps, 3);
    let touching = store.steps_reasoning_by_path(PROJECT, FILE, 9).await.unwrap();
    assert_eq!(touching.len(), 1);

    assert_eq!(judge(&[(&off, 4), (&on, 4)]).await, 1, "what has moved stays");
    let kept = summary(&store, "a").await;
    assert_eq!(kept.steps, 2);
    assert_eq!(kept.last_action.unwrap().id, first.steps[1].id);
    assert_eq!(logged(&store, "a").await, [off, on]);
    assert_eq!(store.append(&Redacted::each(&[second])).await.unwrap(), 0);
    assert_eq!(steps(&store, "a").await.len(), 2);
}

/// A verdict on a saved task annotates the memory, removes the annotation if it is withdrawn, and updates the index.
/// Actions after the end of the task, and of other sessions, do not count.
pub async fn later_verdict_marks_a_saved_task(store: Arc<dyn Store>) {
    let [first, second] = [
        judged("a", 1, [Some(9), Some(9)]),
        judged("a", 2, [Some(9), None]),
    ];
    store
        .append(&Redacted::each(&[first.clone(), second.clone()]))
        .await
        .unwrap();
    let saved = Task {
        status: TaskStatus::Complete,
        trigger_reason: Some(TriggerReason::Complete),
        tags: vec!["limits".to_owned()],
        client_session_id: Some(client("a")),
        session_id: Some(session("a")),
        ..task("memory", 5)
    };
    store.save_task(&Redacted::of(&saved)).await.unwrap();
    let others = Task {
        client_session_id: Some(client("b")),
        session_id: Some(session("b")),
        ..task("other", 5)
    };
    store.save_task(&Redacted::of(&others)).await.unwrap();
    store
        .append(&Redacted::each(&[judged("a", 9, [Some(1), Some(1)])]))
        .await
        .unwrap();
    let read = async |id: &str| store.task(&TaskId::new(id)).await.unwrap().unwrap();
    let marks = async || {
        let task = read("memory").await;
        (task.tags, task.status)
    };
    let tagged = |tags: &[&str]| -> Vec<String> {
        let own = std::iter::once(&"limits").chain(tags);
        own.map(|tag| (*tag).to_owned()).collect()
    };
    let judge = async |steps: &[(&StepId, u8)]| {
        let verdicts: Vec<_> = steps
            .iter()
            .map(|(id, score)| {
                let plain = StepVerdict {
                    level: None,
                    correction: None,
                    ..verdict(*score)
                };
                ((*id).clone(), plain)
            })
            .collect();
        store.judge_steps(&client("a"), &proven(&verdicts)).await.unwrap()
    };
    let found = async |word: &str| {
        let scope = MemoryScope {
            project_path: PROJECT.to_owned(),
            project_remote: None,
        };
        let question = MemoryQuestion {
            scope: &scope,
            terms: &[word.to_owned()],
            before: None,
            order: CandidateOrder::Newest { known: &[] },
            limit: 0,
            budget: 1000,
        };
        let answer = store.candidates(&question).await.unwrap();
        answer.statistics.terms[0].frequency
    };
    assert_eq!(marks().await, (tagged(&[]), TaskStatus::Complete));
    assert_eq!(judge(&[(&second.steps[0].id, 4)]).await, 1);
    assert_eq!(marks().await, (tagged(&["had-drift"]), TaskStatus::Complete));
    assert_eq!(found("drift").await, 1);
    let all = [(&first.steps[0].id, 3), (&first.steps[1].id, 2)];
    assert_eq!(judge(&all).await, 2);
    let both = tagged(&["had-drift", "needs-review"]);
    assert_eq!(marks().await, (both.clone(), TaskStatus::Partial));
    assert_eq!(found("drift").await, 1);
    assert_eq!(found("review").await, 1);
    store
        .save_task(&Redacted::of(&read("memory").await))
        .await
        .unwrap();
    assert_eq!(marks().await, (both, TaskStatus::Partial));
    let acquitted = [
        (&first.steps[0].id, 9),
        (&first.steps[1].id, 9),
        (&second.steps[0].id, 9),
    ];
    assert_eq!(judge(&acquitted).await, 3);
    assert_eq!(read("memory").await, saved);
    assert_eq!(found("drift").await, 0);
    assert_eq!(read("other").await, others);
}

/// A correction that was sent because of an action is kept, whatever later verdicts say.
pub async fn later_verdict_keeps_the_correction(store: Arc<dyn Store>) {
    let record = judged("a", 1, [Some(6), Some(6)]);
    store.append(&[Redacted::of(&record)]).await.unwrap();
    let by_model = |score| StepVerdict {
        by: JudgedBy::Model,
        findings: Vec::new(),
        level: None,
        correction: None,
        recovery_plan: Vec::new(),
        ..verdict(score)
    };
    let verdicts = [
        (record.steps[0].id.clone(), by_model(9)),
        (record.steps[1].id.clone(), by_model(2)),
    ];
    assert_eq!(
        store.judge_steps(&client("a"), &proven(&verdicts)).await.unwrap(),
        2
    );
    let row = store.steps(&session("a")).await.unwrap().remove(0);
    assert_eq!(
        (row.drift_score, row.drift_type.as_deref()),
        (Some(9), Some("none"))
    );
    assert_eq!(row.correction_level.as_deref(), Some("intervene"));
    assert_eq!(row.correction_given.as_deref(), Some("Go back to the limit."));
    let event = log(&store, "a").await.remove(0);
    assert_eq!(
        (event.drift_score, event.judged_by),
        (Some(2), Some(JudgedBy::Model))
    );
    assert_eq!(event.level.as_deref(), Some("intervene"));
    assert_eq!(event.correction_given.as_deref(), Some("Go back to the limit."));
    assert_eq!((event.reason, event.findings), (None, Vec::<Finding>::new()));
}

/// A verdict on goal moves an action back to the steps with all its data. The correction that was sent because of it is
/// kept.
pub async fn allowed_action_moves_back_to_the_steps(store: Arc<dyn Store>) {
    let (at_once, later) = (judged("a", 1, [Some(3), Some(1)]), exchange("a", 2));
    let as_steps = {
        let (mut first, mut second) = (exchange("b", 1), exchange("b", 2));
        for (copy, of) in [(&mut first, &at_once), (&mut second, &later)] {
            copy.agent_id = Some(AgentId::new("agent"));
            copy.steps.clone_from(&of.steps);
            copy.steps.iter_mut().for_each(|step| step.verdict = None);
        }
        store.append(&Redacted::each(&[first, second])).await.unwrap();
        store.steps(&session("b")).await.unwrap()
    };
    for record in [&at_once, &later] {
        let by_agent = ExchangeRecord {
            agent_id: Some(AgentId::new("agent")),
            ..record.clone()
        };
        store.append(&Redacted::each(&[by_agent])).await.unwrap();
    }
    let ids: Vec<StepId> = as_steps.iter().map(|row| row.id.clone()).collect();
    let judge = async |score| {
        let verdicts: Vec<_> = ids.iter().map(|id| (id.clone(), verdict(score))).collect();
        store.judge_steps(&client("a"), &proven(&verdicts)).await.unwrap()
    };
    assert_eq!(judge(2).await, 2, "two were in the log at once");
    assert_eq!(summary(&store, "a").await.steps, 0);
    let elsewhere = [(ids[0].clone(), verdict(9))];
    assert_eq!(
        store
            .judge_steps(&client("c"), &proven(&elsewhere))
            .await
            .unwrap(),
        0
    );
    assert_eq!(judge(9).await, 4);
    assert_eq!(drift_log(&store, Some(&session("a"))).await, []);
    let expected: Vec<StepRow> = (0..)
        .zip(as_steps)
        .map(|(place, row)| StepRow {
            session_id: session("a"),
            exchange_id: if place < 2 {
                at_once.id.clone()
            } else {
                later.id.clone()
            },
            drift_score: Some(9),
            drift_type: Some("none".to_owned()),
            correction_level: Some("intervene".to_owned()),
            correction_given: Some("Go back to the limit.".to_owned()),
            ..row
        })
        .collect();
    assert_eq!(store.steps(&session("a")).await.unwrap(), expected);
    let kept = summary(&store, "a").await;
    assert_eq!(kept.steps, 4);
    assert_eq!(kept.last_action.as_ref(), expected.last());
    let touching = store.steps_reasoning_by_path(PROJECT, FILE, 9).await.unwrap();
    assert_eq!(
        touching
            .iter()
            .filter(|row| row.session_id == session("a"))
            .count(),
        2
    );
    assert_eq!(judge(9).await, 4, "they are steps like any other");
    assert_eq!(judge(4).await, 4);
    assert_eq!(summary(&store, "a").await.steps, 0);
}

/// A finding of a hard rule is a fact: no later verdict moves the action back to the steps.
pub async fn hard_finding_is_not_withdrawn(store: Arc<dyn Store>) {
    let of_rule = |rule, score| {
        let mut verdict = verdict(score);
        verdict.findings[0].rule = rule;
        verdict
    };
    let mut record = exchange("a", 1);
    record.steps[0].verdict = Some(of_rule(Rule::Danger, 2));
    record.steps[1].verdict = Some(of_rule(Rule::Tangent, 2));
    store.append(&[Redacted::of(&record)]).await.unwrap();
    let [hard, soft] = [&record.steps[0].id, &record.steps[1].id].map(Clone::clone);
    let judge = async |id: &StepId, verdict| {
        let verdicts = [(id.clone(), verdict)];
        store.judge_steps(&client("a"), &proven(&verdicts)).await.unwrap()
    };
    assert_eq!(judge(&hard, of_rule(Rule::Judge, 10)).await, 0);
    assert_eq!(judge(&soft, of_rule(Rule::Constraint, 6)).await, 0);
    assert_eq!(logged(&store, "a").await, [hard.clone(), soft.clone()]);
    assert_eq!(judge(&soft, of_rule(Rule::Judge, 5)).await, 1);
    assert_eq!(logged(&store, "a").await, std::slice::from_ref(&hard));
    assert_eq!(steps(&store, "a").await, std::slice::from_ref(&soft));
    // Unless the rules withdraw the finding, because the user had allowed the action.
    let mut allowed = verdict(10);
    allowed.by = JudgedBy::Rules;
    allowed.findings.clear();
    assert_eq!(judge(&hard, allowed).await, 1);
    assert!(logged(&store, "a").await.is_empty());
    assert_eq!(steps(&store, "a").await, [hard, soft]);
}

/// Actions judged together can belong to several tasks of their session, but not to other sessions.
pub async fn later_verdicts_find_steps_in_all_tasks(store: Arc<dyn Store>) {
    let records = [exchange("a", 1), exchange("a", 2), exchange("b", 1)];
    store.append(&Redacted::each(&records)).await.unwrap();
    move_to(&store, &records[1], "a2").await;
    let verdicts: Vec<_> = records
        .iter()
        .map(|record| (record.steps[0].id.clone(), verdict(1)))
        .collect();
    assert_eq!(
        store.judge_steps(&client("a"), &proven(&verdicts)).await.unwrap(),
        2
    );
    for (task, record) in ["a", "a2"].into_iter().zip(&records) {
        assert_eq!(logged(&store, task).await, [record.steps[0].id.clone()]);
        assert_eq!(steps(&store, task).await, [record.steps[1].id.clone()]);
        assert_eq!(summary(&store, task).await.steps, 1);
    }
    assert_eq!(steps(&store, "b").await.len(), 2);
}

/// Moves an exchange of client session `a` to the task `to`.
async fn move_to(store: &Arc<dyn Store>, record: &ExchangeRecord, to: &str) {
    let transition = TaskTransition {
        sessions: vec![state("a", to, 2)],
        moves: Some(Move {
            client_session_id: client("a"),
            exchanges: vec![record.id.clone()],
            to: session(to),
            all_or_nothing: true,
        }),
        ..TaskTransition::default()
    };
    store.apply(&Redacted::of(&transition)).await.unwrap();
}

/// Drift events move to another task with their exchange, and back.
pub async fn drift_log_moves_with_its_exchange(store: Arc<dyn Store>) {
    let (stays, moves) = (judged("a", 1, [Some(1), None]), judged("a", 2, [Some(2), None]));
    store
        .append(&Redacted::each(&[stays.clone(), moves.clone()]))
        .await
        .unwrap();
    let later = [(moves.steps[1].id.clone(), verdict(3))];
    store.judge_steps(&client("a"), &proven(&later)).await.unwrap();
    move_to(&store, &moves, "a2").await;
    let both = [moves.steps[0].id.clone(), moves.steps[1].id.clone()];
    assert_eq!(logged(&store, "a").await, [stays.steps[0].id.clone()]);
    assert_eq!(logged(&store, "a2").await, both);
    assert_eq!(
        (
            summary(&store, "a").await.steps,
            summary(&store, "a2").await.steps
        ),
        (1, 0)
    );
    assert_eq!(store.append(&[Redacted::of(&moves)]).await.unwrap(), 0);
    assert_eq!(logged(&store, "a2").await, both);

    move_to(&store, &moves, "a").await;
    assert_eq!(logged(&store, "a").await.len(), 3);
    assert_eq!(logged(&store, "a2").await, []);
}

/// Corrections move to another task with the exchange that caused them, and stay there when they are saved again.
pub async fn correction_moves_with_its_exchange(store: Arc<dyn Store>) {
    let (first, second) = (judged("a", 1, [Some(1), None]), judged("a", 2, [Some(2), None]));
    store
        .append(&Redacted::each(&[first.clone(), second.clone()]))
        .await
        .unwrap();
    let about = |id: &str, step: &StepId| Correction {
        step_id: Some(step.clone()),
        ..correction(id, "a", 3)
    };
    let made = [
        about("1", &first.steps[0].id),
        about("2", &second.steps[0].id),
        about("3", &second.steps[1].id),
    ];
    for correction in &made {
        store.save_correction(&Redacted::of(correction)).await.unwrap();
    }
    move_to(&store, &second, "a2").await;
    let tasks = async || {
        let corrections = store.corrections(&client("a")).await.unwrap();
        let tasks = corrections.into_iter().map(|correction| correction.session_id);
        tasks.collect::<Vec<_>>()
    };
    let moved = [session("a"), session("a2"), session("a2")];
    assert_eq!(tasks().await, moved);
    store.save_correction(&Redacted::of(&made[1])).await.unwrap();
    let state = DriftState {
        correction: Some(made[2].clone()),
        ..DriftState::new(client("a"), at(9))
    };
    store
        .save_drift_state(&Redacted::of(&state), &session("a"))
        .await
        .unwrap();
    assert_eq!(tasks().await, moved);
}

/// The log is filtered by task, client session and project, even after the sessions were removed. A limit keeps the
/// newest events.
pub async fn log_is_filtered(store: Arc<dyn Store>) {
    let mut elsewhere = judged("b", 4, [Some(1), None]);
    elsewhere.project.path = Some("/elsewhere".to_owned());
    let mut homeless = judged("c", 5, [Some(1), None]);
    homeless.project = Project::default();
    let (first, second) = (judged("a", 1, [Some(1), None]), judged("a", 2, [Some(2), None]));
    store
        .append(&Redacted::each(&[first, second.clone(), elsewhere, homeless]))
        .await
        .unwrap();
    move_to(&store, &second, "a2").await;
    // From now on the project of the third session is known.
    store.append(&Redacted::each(&[exchange("c", 6)])).await.unwrap();
    store
        .append_drift(&Redacted::of(&drift("d", "a", 3)))
        .await
        .unwrap();

    let all = DriftFilter::default();
    let filters = [
        (all.clone(), vec![1, 2, 3, 4, 5]),
        (
            DriftFilter {
                session_id: Some(session("a")),
                ..all.clone()
            },
            vec![1, 3],
        ),
        (
            DriftFilter {
                client_session_id: Some(client("a")),
                ..all.clone()
            },
            vec![1, 2],
        ),
        (
            DriftFilter {
                project_path: Some(PROJECT.to_owned()),
                ..all.clone()
            },
            vec![1, 2, 3, 5],
        ),
        (
            DriftFilter {
                project_path: Some(PROJECT.to_owned()),
                limit: Some(2),
                ..all.clone()
            },
            vec![3, 5],
        ),
        (
            DriftFilter {
                session_id: Some(session("b")),
                client_session_id: Some(client("a")),
                ..all
            },
            vec![],
        ),
    ];
    let check = async || {
        for (filter, seconds) in &filters {
            let events = store.drift_events(filter).await.unwrap();
            let found: Vec<_> = events.iter().map(|event| event.timestamp).collect();
            let expected: Vec<_> = seconds.iter().map(|seconds| at(*seconds)).collect();
            assert_eq!(found, expected, "{filter:?}");
        }
    };
    check().await;
    for mut summary in store.sessions(&Default::default()).await.unwrap() {
        summary.state.status = SessionStatus::Completed;
        store.save_session(&Redacted::of(&summary.state)).await.unwrap();
    }
    let day_after = at(0) + time::Duration::hours(30);
    let report = store
        .prune(&Retention::default(), day_after, false)
        .await
        .unwrap();
    assert_eq!((report.sessions, report.drift_events), (4, 0));
    check().await;
}

/// The findings of a step are returned under its id, in the form of an event.
pub async fn judged_step_is_found_like_an_event(store: Arc<dyn Store>) {
    let record = judged("a", 1, [Some(7), None]);
    let off = judged("a", 2, [Some(4), None]);
    store
        .append(&Redacted::each(&[record.clone(), off.clone()]))
        .await
        .unwrap();
    let find = async |id: &str| store.drift_event(&DriftEventId::new(id)).await.unwrap();
    assert_eq!(find(off.steps[0].id.as_str()).await, Some(event_of(&off, 4)));
    let expected = DriftEvent {
        recovery_plan: Vec::new(),
        ..event_of(&record, 7)
    };
    assert_eq!(find(record.steps[0].id.as_str()).await, Some(expected));
    assert_eq!(find(record.steps[1].id.as_str()).await, None, "never judged");
    assert_eq!(find("nothing").await, None);
    store
        .append_drift(&Redacted::of(&drift("d", "a", 3)))
        .await
        .unwrap();
    assert_eq!(find("d").await, Some(drift("d", "a", 3)));
}

fn question(limit: u32) -> RelatedSteps {
    let of = |text: &str| vec![text.to_owned()];
    RelatedSteps {
        client_session_id: client("a"),
        files: of("/p/a/wanted.rs"),
        folders: of("/p/a"),
        keywords: of("Limit"),
        limit,
    }
}

/// An exchange with one edit of `file` and the keyword `keyword`.
fn editing(client_session: &str, seconds: i64, file: &str, keyword: &str, decides: bool) -> ExchangeRecord {
    let mut record = exchange(client_session, seconds);
    let mut step = edit(&record.id, 0, seconds, file);
    step.keywords = vec![keyword.to_owned()];
    step.is_key_decision = decides;
    record.steps = vec![step];
    record
}

async fn related(store: &Arc<dyn Store>, limit: u32) -> Vec<i64> {
    let rows = store.related_steps(&question(limit)).await.unwrap();
    rows.iter()
        .map(|row| (row.timestamp - at(0)).whole_seconds())
        .collect()
}

/// Same files come first, then same folders, same keywords, and decisions; newest first, without duplicates and actions
/// off goal.
pub async fn related_steps_match_four_criteria(store: Arc<dyn Store>) {
    let mut searched = exchange("a", 4);
    searched.steps = vec![bash(&searched.id, 0, 4)];
    searched.steps[0].action.folders = vec!["/p/a".to_owned()];
    let mut off_goal = editing("a", 9, "/p/a/wanted.rs", "limit", true);
    off_goal.steps[0].verdict = Some(verdict(4));
    let mut minor = editing("a", 8, "/p/x/decided.rs", "", true);
    minor.steps[0].verdict = Some(verdict(5));
    let records = [
        editing("a", 1, "/p/a/wanted.rs", "limit", true),
        editing("a", 2, "/p/a/wanted.rs", "", false),
        editing("a", 3, "/p/a/neighbour.rs", "limit", false),
        searched,
        editing("a", 5, "/p/a/deeper/other.rs", "LIMIT", false),
        editing("a", 6, "/p/b/other.rs", "limits", false),
        editing("a", 7, "/p/ab/decided.rs", "", true),
        minor,
        off_goal,
    ];
    store.append(&Redacted::each(&records)).await.unwrap();
    assert_eq!(related(&store, 100).await, [2, 1, 4, 3, 5, 8, 7]);
    let later = [(records[6].steps[0].id.clone(), verdict(1))];
    store.judge_steps(&client("a"), &proven(&later)).await.unwrap();
    assert_eq!(related(&store, 100).await, [2, 1, 4, 3, 5, 8]);
    let nothing = RelatedSteps {
        files: Vec::new(),
        folders: Vec::new(),
        keywords: Vec::new(),
        ..question(9)
    };
    let decisions = store.related_steps(&nothing).await.unwrap();
    assert_eq!(decisions.len(), 2, "decisions need no words");
}

/// No criterion returns more than half of the limit, and all together at most the limit.
pub async fn related_steps_stay_within_their_limits(store: Arc<dyn Store>) {
    let same_file = (0..20).map(|seconds| editing("a", seconds, "/p/a/wanted.rs", "", false));
    let with_word = (20..40).map(|seconds| editing("a", seconds, "/p/x.rs", "limit", false));
    let decisions = (40..60).map(|seconds| editing("a", seconds, "/p/x.rs", "", true));
    let records: Vec<_> = same_file.chain(with_word).chain(decisions).collect();
    store.append(&Redacted::each(&records)).await.unwrap();
    assert_eq!(related(&store, 4).await, [19, 18, 39, 38]);
    assert_eq!(related(&store, 7).await, [19, 18, 17, 39, 38, 37, 59]);
    assert_eq!(related(&store, 1).await, [19]);
    assert!(related(&store, 0).await.is_empty());
}

/// Only the newest steps of a very long session are searched.
pub async fn related_steps_are_among_the_newest(store: Arc<dyn Store>) {
    store
        .append(&Redacted::each(&[editing("a", 1, "/p/a/wanted.rs", "", false)]))
        .await
        .unwrap();
    let newer = |seconds: i64, count: u32| {
        let mut record = exchange("a", seconds);
        record.steps = (0..count)
            .map(|index| bash(&record.id, index as usize, seconds))
            .collect();
        record
    };
    store
        .append(&Redacted::each(&[newer(2, MAX_RELATED_CANDIDATES - 1)]))
        .await
        .unwrap();
    assert_eq!(related(&store, 9).await, [1]);
    store.append(&Redacted::each(&[newer(3, 1)])).await.unwrap();
    assert!(related(&store, 9).await.is_empty());
}

/// All tasks of the client session are searched, but no other session.
pub async fn related_steps_are_of_their_session(store: Arc<dyn Store>) {
    let records = [
        editing("a", 1, "/p/a/wanted.rs", "", false),
        editing("a", 2, "/p/a/wanted.rs", "", false),
        editing("b", 3, "/p/a/wanted.rs", "limit", true),
    ];
    store.append(&Redacted::each(&records)).await.unwrap();
    move_to(&store, &records[0], "a2").await;
    assert_eq!(related(&store, 10).await, [2, 1]);
    let rows = store.related_steps(&question(10)).await.unwrap();
    assert_eq!(rows[1], store.steps(&session("a2")).await.unwrap()[0]);
}
