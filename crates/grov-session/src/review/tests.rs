use super::*;
use grov_domain::{ActionType, ClientSessionId, CorrectionId, DriftEventId, ExchangeId, SessionId, StepId};
use time::Duration;

/// A saved task with this status.
fn saved(status: TaskStatus) -> Task {
    Task {
        client_session_id: Some(ClientSessionId::new("s1")),
        session_id: Some(SessionId::new("s1")),
        status,
        trigger_reason: Some(TriggerReason::Complete),
        ..Task::new("t1", "/p", "go")
    }
}

fn step(id: &str, action_type: ActionType, score: Option<u8>) -> StepRow {
    StepRow {
        id: StepId::new(id),
        session_id: SessionId::new("s1"),
        exchange_id: ExchangeId::new("x"),
        agent_id: None,
        tool: "Edit".to_owned(),
        tool_use_id: None,
        action_type,
        files: vec!["/p/a".to_owned()],
        folders: Vec::new(),
        command: None,
        effects: Vec::new(),
        reasoning: None,
        drift_score: score,
        drift_type: None,
        outcome: None,
        is_key_decision: false,
        is_validated: true,
        correction_given: None,
        correction_level: None,
        keywords: Vec::new(),
        timestamp: OffsetDateTime::UNIX_EPOCH,
    }
}

fn event(id: &str, score: u8, level: Option<CorrectionLevel>) -> DriftEvent {
    DriftEvent {
        id: DriftEventId::new(id),
        session_id: SessionId::new("s1"),
        timestamp: OffsetDateTime::UNIX_EPOCH,
        action_type: Some(ActionType::Edit),
        files: vec!["/p/theme.css".to_owned()],
        drift_score: Some(score),
        level: level.map(|level| level.as_str().to_owned()),
        reason: Some(format!("{id} is off")),
        correction_given: None,
        recovery_plan: Vec::new(),
        client_session_id: Some(ClientSessionId::new("s1")),
        step_id: Some(StepId::new(id)),
        tool_use_id: None,
        command: None,
        findings: Vec::new(),
        judged_by: None,
        outcome: None,
    }
}

fn correction(step: &str, level: CorrectionLevel, is_told: bool) -> Correction {
    let made_at = OffsetDateTime::UNIX_EPOCH + Duration::seconds(1);
    Correction {
        id: CorrectionId::new(format!("about {step}")),
        client_session_id: ClientSessionId::new("s1"),
        session_id: SessionId::new("s1"),
        step_id: Some(StepId::new(step)),
        tool_use_id: None,
        level,
        score: 4,
        reason: format!("{step} leaves the goal"),
        text: String::new(),
        recovery_plan: Vec::new(),
        made_at,
        delivered_at: is_told.then_some(made_at),
        outcome: None,
    }
}

/// Reviews records.
fn review(steps: &[StepRow], events: &[DriftEvent], corrections: &[Correction], escalation: u32) -> Review {
    Review::of(&Evidence::of_records(steps, events, corrections, escalation))
}

/// Returns tags, status and trace of a reviewed task.
fn annotate(review: &Review) -> (Vec<String>, TaskStatus, Vec<String>) {
    let task = review.annotate(saved(TaskStatus::Complete));
    (task.tags, task.status, task.reasoning_trace)
}

const EDIT: ActionType = ActionType::Edit;

#[test]
fn on_goal_work_needs_no_review() {
    let steps = [
        step("a", EDIT, Some(10)),
        step("b", EDIT, None),
        step("c", EDIT, Some(5)),
    ];
    let found = review(&steps, &[], &[correction("c", CorrectionLevel::Correct, true)], 1);
    assert_eq!(found, Review::default());
    assert_eq!(annotate(&found), (Vec::new(), TaskStatus::Complete, Vec::new()));
}

#[test]
fn one_off_goal_action_is_tagged_but_needs_no_review() {
    let steps: Vec<_> = (0..5).map(|id| step(&id.to_string(), EDIT, Some(10))).collect();
    let found = review(&steps, &[event("off", 4, None)], &[], 1);
    assert_eq!(
        annotate(&found),
        (vec!["had-drift".to_owned()], TaskStatus::Complete, Vec::new())
    );
}

#[test]
fn three_delivered_corrections_need_a_review() {
    let steps = [
        step("a", EDIT, Some(7)),
        step("b", EDIT, Some(7)),
        step("c", EDIT, Some(7)),
    ];
    let corrections = |number: usize| -> Vec<Correction> {
        let each = steps.iter().enumerate();
        each.map(|(index, step)| correction(step.id.as_str(), CorrectionLevel::Nudge, index < number))
            .collect()
    };
    assert!(!review(&steps, &[], &corrections(2), 0).needs_review);
    let found = review(&steps, &[], &corrections(3), 0);
    assert_eq!(
        annotate(&found),
        (vec!["needs-review".to_owned()], TaskStatus::Partial, Vec::new())
    );
    // About another task of the session.
    assert!(!review(&steps[..2], &[], &corrections(3), 0).needs_review);
}

#[test]
fn mostly_off_goal_changes_need_a_review_regardless_of_reads() {
    let reads: Vec<_> = (0..50)
        .map(|id| step(&format!("r{id}"), ActionType::Read, Some(10)))
        .collect();
    let low = [event("off", 4, None), event("too", 4, None)];
    let found = review(&reads, &low, &[], 0);
    assert_eq!(
        annotate(&found),
        (
            vec!["had-drift".to_owned(), "needs-review".to_owned()],
            TaskStatus::Partial,
            Vec::new()
        )
    );
    assert!(
        !review(&reads, &low[..1], &[], 0).needs_review,
        "one score is no mean"
    );
    let steps = [step("a", EDIT, Some(8)), step("b", EDIT, Some(8))];
    assert!(!review(&steps, &low, &[], 0).needs_review, "a mean of 6");
    let steps = [step("a", EDIT, Some(8)), step("b", EDIT, Some(7))];
    assert!(review(&steps, &low, &[], 0).needs_review);
}

#[test]
fn a_halt_adds_a_warning() {
    let steps = [step("a", EDIT, Some(10)), step("b", EDIT, Some(10))];
    let events = [
        event("off", 1, Some(CorrectionLevel::Halt)),
        event("kept", 2, Some(CorrectionLevel::Forced)),
    ];
    let corrections = [
        correction("off", CorrectionLevel::Halt, true),
        correction("elsewhere", CorrectionLevel::Halt, true),
    ];
    let (tags, status, trace) = annotate(&review(&steps, &events, &corrections, 0));
    assert_eq!(tags, ["had-drift", "needs-review"]);
    assert_eq!(status, TaskStatus::Partial);
    assert_eq!(
        trace,
        [
            "Warning (halt): kept is off",
            "Warning (halt): off leaves the goal",
        ]
    );
}

#[test]
fn further_halts_are_counted() {
    let events: Vec<_> = (0..9)
        .map(|id| event(&id.to_string(), 1, Some(CorrectionLevel::Halt)))
        .collect();
    let (.., trace) = annotate(&review(&[], &events, &[], 0));
    assert_eq!(trace.len(), 4);
    assert!(trace[3].ends_with("6 more times"), "{trace:?}");
}

#[test]
fn a_high_escalation_needs_a_review() {
    assert!(!review(&[], &[], &[], 1).needs_review);
    assert!(review(&[], &[], &[], 2).needs_review);
}

#[test]
fn an_abandoned_task_stays_abandoned_and_tags_are_not_duplicated() {
    let found = Review {
        had_drift: true,
        needs_review: true,
        halts: Vec::new(),
    };
    let once = found.annotate(saved(TaskStatus::Abandoned));
    assert_eq!(once.status, TaskStatus::Abandoned);
    assert_eq!(found.annotate(once.clone()), once);
}

#[test]
fn later_verdicts_add_and_remove_the_marks_of_a_saved_task() {
    let mut task = saved(TaskStatus::Complete);
    task.tags.push("auth".to_owned());
    task.reasoning_trace.push("Chose a token bucket.".to_owned());
    let convicted = Review {
        had_drift: true,
        needs_review: true,
        halts: vec!["it left the goal".to_owned()],
    };
    let annotate = convicted.reannotate(task.clone());
    assert_eq!(annotate.tags, ["auth", "had-drift", "needs-review"]);
    assert_eq!(annotate.status, TaskStatus::Partial);
    assert_eq!(annotate.reasoning_trace.len(), 2);
    assert_eq!(convicted.reannotate(annotate.clone()), annotate, "once");
    assert_eq!(Review::default().reannotate(annotate), task);
    let mut abandoned = convicted.annotate(saved(TaskStatus::Abandoned));
    abandoned.trigger_reason = Some(TriggerReason::Abandoned);
    assert_eq!(
        Review::default().reannotate(abandoned).status,
        TaskStatus::Abandoned
    );
}

#[test]
fn steps_after_the_verdict_do_not_belong_to_a_complete_task() {
    let at = |seconds| OffsetDateTime::UNIX_EPOCH + Duration::seconds(seconds);
    let mut task = saved(TaskStatus::Complete);
    task.created_at = at(9);
    assert_eq!(saved_until(&task, Some(at(5))), at(5));
    assert_eq!(saved_until(&task, None), at(9));
    task.trigger_reason = Some(TriggerReason::Abandoned);
    assert_eq!(
        saved_until(&task, Some(at(5))),
        at(9),
        "nobody judged the last of it"
    );
}
