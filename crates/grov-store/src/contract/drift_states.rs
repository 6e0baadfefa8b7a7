//! Drift states, corrections and goal edits.

use super::sample::{
    at, client, correction, drift_log, drift_state, exchange, goal_edit, proven, session, state, task,
    verdict,
};
use grov_domain::{
    ClientSessionId, Consent, Correction, CorrectionOutcome, DriftState, GoalEdit, GoalEditKind, MemoryStore,
    Redacted, Retention, SessionMode, SessionState, SessionStatus, Store, Task, TaskTransition,
};
use std::sync::Arc;

async fn save(store: &Arc<dyn Store>, state: &DriftState) {
    let task = session(state.client_session_id.as_str());
    store.save_drift_state(&Redacted::of(state), &task).await.unwrap();
}

async fn kept(store: &Arc<dyn Store>, client_session: &str) -> Option<DriftState> {
    store.drift_state(&client(client_session)).await.unwrap()
}

async fn sent(store: &Arc<dyn Store>, client_session: &str) -> Vec<Correction> {
    store.corrections(&client(client_session)).await.unwrap()
}

/// The four columns about drift.
async fn shown(store: &Arc<dyn Store>, task: &str) -> (SessionMode, u32, bool, u64) {
    let state = store.session(&session(task)).await.unwrap().unwrap().state;
    (
        state.session_mode,
        state.escalation_count,
        state.waiting_for_recovery,
        state.last_checked_at,
    )
}

const NORMAL: (SessionMode, u32, bool, u64) = (SessionMode::Normal, 0, false, 0);
const DRIFTED: (SessionMode, u32, bool, u64) = (SessionMode::Drifted, 2, true, 6);

/// A drift state is loaded exactly as saved, even for an unknown session.
pub async fn drift_state_is_loaded_as_saved(store: Arc<dyn Store>) {
    assert_eq!(kept(&store, "a").await, None);
    let mut full = drift_state("a", 1);
    full.updated_at += time::Duration::nanoseconds(123_456_789);
    save(&store, &full).await;
    assert_eq!(kept(&store, "a").await.as_ref(), Some(&full));
    assert_eq!(sent(&store, "a").await, [full.correction.unwrap()]);
    let empty = DriftState::new(client("b"), at(1));
    save(&store, &empty).await;
    assert_eq!(kept(&store, "b").await, Some(empty));
    assert_eq!(sent(&store, "b").await, []);
}

/// The newer of two states counts, in any order of arrival. The corrections of both are stored.
pub async fn drift_state_is_replaced_by_a_newer_one(store: Arc<dyn Store>) {
    let (mut older, newer) = (drift_state("a", 1), drift_state("a", 2));
    older.correction = Some(correction("older", "a", 1));
    save(&store, &newer).await;
    save(&store, &older).await;
    assert_eq!(kept(&store, "a").await.as_ref(), Some(&newer));
    let mut ids: Vec<_> = sent(&store, "a").await.into_iter().map(|sent| sent.id).collect();
    ids.sort();
    assert_eq!(
        ids.iter().map(|id| id.as_str()).collect::<Vec<_>>(),
        ["c", "older"]
    );
    let same_time = DriftState {
        mode: SessionMode::Forced,
        ..newer
    };
    save(&store, &same_time).await;
    assert_eq!(kept(&store, "a").await, Some(same_time));
}

/// A record contains the state. Recording it again, late or unchanged, reverts nothing.
pub async fn drift_state_is_recorded_with_its_exchange(store: Arc<dyn Store>) {
    let with_state = |seconds, state: DriftState| {
        let mut record = exchange("a", seconds);
        record.drift = Some(state);
        record
    };
    let calm = DriftState {
        mode: SessionMode::Normal,
        escalation: 1,
        correction: None,
        judged_at_prompt: 9,
        ..drift_state("a", 3)
    };
    let (drifted, calmed) = (with_state(2, drift_state("a", 2)), with_state(3, calm.clone()));
    store.append(&[Redacted::of(&drifted)]).await.unwrap();
    assert_eq!(kept(&store, "a").await, drifted.drift);
    assert_eq!(shown(&store, "a").await, DRIFTED);
    store.append(&Redacted::each(&[calmed, drifted])).await.unwrap();
    assert_eq!(kept(&store, "a").await.as_ref(), Some(&calm));
    assert_eq!(shown(&store, "a").await, (SessionMode::Normal, 1, false, 9));
    let late = with_state(1, drift_state("a", 1));
    assert_eq!(store.append(&Redacted::each(&[late])).await.unwrap(), 1);
    assert_eq!(kept(&store, "a").await.as_ref(), Some(&calm));
    assert_eq!(shown(&store, "a").await, (SessionMode::Normal, 1, false, 9));
    assert_eq!(sent(&store, "a").await.len(), 1);

    // Two of one batch, the older one last.
    let (newer, older) = (with_state(5, drift_state("a", 5)), with_state(4, calm));
    store
        .append(&Redacted::each(&[newer.clone(), older]))
        .await
        .unwrap();
    assert_eq!(kept(&store, "a").await, newer.drift);
    assert_eq!(shown(&store, "a").await, DRIFTED);
}

/// The active task shows the drift state. Saving the task with older values does not change it. Other tasks begin as
/// normal, and finished ones end as normal.
pub async fn task_shows_the_drift_state_of_its_session(store: Arc<dyn Store>) {
    store.append(&Redacted::each(&[exchange("a", 1)])).await.unwrap();
    assert_eq!(shown(&store, "a").await, NORMAL);
    let stale = store.session(&session("a")).await.unwrap().unwrap().state;
    save(&store, &drift_state("a", 2)).await;
    assert_eq!(shown(&store, "a").await, DRIFTED);
    let before = store.session(&session("a")).await.unwrap().unwrap();
    store.save_session(&Redacted::of(&stale)).await.unwrap();
    assert_eq!(store.session(&session("a")).await.unwrap().unwrap(), before);
    let next = SessionState {
        session_mode: SessionMode::Normal,
        escalation_count: 0,
        waiting_for_recovery: false,
        last_checked_at: 0,
        ..state("a", "a2", 3)
    };
    let transition = |sessions| TaskTransition {
        sessions,
        ..TaskTransition::default()
    };
    store
        .apply(&Redacted::of(&transition(vec![stale.clone(), next])))
        .await
        .unwrap();
    assert_eq!(shown(&store, "a").await, DRIFTED);
    assert_eq!(shown(&store, "a2").await, NORMAL);
    store.append(&Redacted::each(&[exchange("a", 4)])).await.unwrap();
    assert_eq!(
        shown(&store, "a").await,
        DRIFTED,
        "recording says nothing about it"
    );

    let over = SessionState {
        status: SessionStatus::Completed,
        ..stale
    };
    store.apply(&Redacted::of(&transition(vec![over]))).await.unwrap();
    let (mode, escalation, waiting, _) = shown(&store, "a").await;
    assert_eq!((mode, escalation, waiting), (SessionMode::Normal, 0, false));

    // A recovery plan that was not delivered, or is finished, is not waited for.
    let mut state = drift_state("a", 9);
    for (seconds, delivered, outcome, waits) in [
        (9, true, None, true),
        (10, false, None, false),
        (11, true, Some(CorrectionOutcome::Ignored), false),
    ] {
        let sent = state.correction.as_mut().unwrap();
        sent.delivered_at = delivered.then(|| at(8));
        sent.outcome = outcome;
        state.updated_at = at(seconds);
        store
            .save_drift_state(&Redacted::of(&state), &session("a2"))
            .await
            .unwrap();
        assert_eq!(shown(&store, "a2").await.2, waits, "{seconds}");
    }
    assert_eq!(
        store
            .save_drift_state(&Redacted::of(&state), &session("never seen"))
            .await
            .ok(),
        Some(())
    );
    assert_eq!(store.session(&session("never seen")).await.unwrap(), None);
}

/// Corrections are returned in order of creation; the last save of an id counts.
pub async fn correction_is_replaced(store: Arc<dyn Store>) {
    let (late, mut early) = (correction("1", "a", 9), correction("2", "a", 1));
    let other = correction("1", "b", 5);
    for one in [&late, &early, &other] {
        store.save_correction(&Redacted::of(one)).await.unwrap();
    }
    assert_eq!(sent(&store, "a").await, [early.clone(), late.clone()]);
    assert_eq!(sent(&store, "b").await, [other]);
    for outcome in [
        CorrectionOutcome::Followed,
        CorrectionOutcome::Ignored,
        CorrectionOutcome::Overtaken,
    ] {
        early.delivered_at = Some(at(2));
        early.outcome = Some(outcome);
        store.save_correction(&Redacted::of(&early)).await.unwrap();
        assert_eq!(sent(&store, "a").await, [early.clone(), late.clone()]);
    }
    // A correction that was removed from the request.
    early.delivered_at = None;
    early.outcome = None;
    early.step_id = None;
    early.tool_use_id = None;
    early.recovery_plan.clear();
    store.save_correction(&Redacted::of(&early)).await.unwrap();
    assert_eq!(sent(&store, "a").await, [early, late]);
    assert_eq!(sent(&store, "c").await, []);
}

/// A late state does not revert the outcome of its correction.
pub async fn saving_a_state_only_adds_the_outcome_of_its_correction(store: Arc<dyn Store>) {
    let mut state = drift_state("a", 5);
    let mut with_outcome = state.correction.clone().unwrap();
    with_outcome.delivered_at = Some(at(6));
    with_outcome.outcome = Some(CorrectionOutcome::Followed);
    store.save_correction(&Redacted::of(&with_outcome)).await.unwrap();
    save(&store, &state).await;
    assert_eq!(sent(&store, "a").await, [with_outcome]);
    // It adds missing values.
    let waiting = correction("new", "a", 9);
    store.save_correction(&Redacted::of(&waiting)).await.unwrap();
    let correction = Correction {
        delivered_at: Some(at(10)),
        outcome: Some(CorrectionOutcome::Ignored),
        ..waiting
    };
    state.correction = Some(correction.clone());
    state.updated_at = at(10);
    save(&store, &state).await;
    assert_eq!(sent(&store, "a").await[1], correction);
}

/// Edits are returned oldest first, per session.
pub async fn goal_edits_come_in_order(store: Arc<dyn Store>) {
    let edits = async |name: &str| store.goal_edits(&ClientSessionId::new(name)).await.unwrap();
    assert_eq!(edits("a").await, []);
    let kinds = [
        GoalEditKind::Set,
        GoalEditKind::Allow,
        GoalEditKind::Forbid,
        GoalEditKind::Constraint,
    ];
    let made: Vec<GoalEdit> = (1..)
        .zip(kinds)
        .map(|(seconds, kind)| GoalEdit {
            kind,
            ..goal_edit(
                &format!("e{}", 9 - seconds),
                "a",
                &format!("text {seconds}"),
                seconds,
            )
        })
        .collect();
    for edit in made.iter().rev() {
        store.edit_goal(&Redacted::of(edit)).await.unwrap();
    }
    let other = goal_edit("e1", "b", "src/**", 0);
    store.edit_goal(&Redacted::of(&other)).await.unwrap();
    assert_eq!(edits("a").await, made);
    assert_eq!(edits("b").await, [other]);
    let at_once = [
        goal_edit("x1", "c", "first", 1),
        goal_edit("x2", "c", "second", 1),
    ];
    for edit in &at_once {
        store.edit_goal(&Redacted::of(edit)).await.unwrap();
    }
    assert_eq!(edits("c").await, at_once);
}

/// An edit bumps the revision once.
pub async fn repeated_goal_edit_does_not_bump_the_revision(store: Arc<dyn Store>) {
    let revision = async || store.revision().await.unwrap();
    let before = revision().await;
    let edit = goal_edit("e", "a", "src/**", 1);
    store.edit_goal(&Redacted::of(&edit)).await.unwrap();
    let after = revision().await;
    assert_ne!(after, before);
    store.edit_goal(&Redacted::of(&edit)).await.unwrap();
    assert_eq!(revision().await, after);
    assert_eq!(store.goal_edits(&client("a")).await.unwrap(), [edit]);
    save(&store, &drift_state("a", 1)).await;
    assert_eq!(
        revision().await,
        after,
        "a drift state does not bump the revision"
    );
}

/// Assembled here, so that scanners do not report this file.
fn leaky(text: &str) -> String {
    format!(
        "{text} ghp_{} <private>my own words</private> {text}",
        "a1B2c3D4e5F6".repeat(3)
    )
}

fn leaky_correction(id: &str) -> Correction {
    let mut leaks = correction(id, "a", 1);
    leaks.reason = leaky("reason");
    leaks.text = leaky("text");
    leaks.recovery_plan[0].file = Some(leaky("/src"));
    leaks.recovery_plan[0].action = leaky("action");
    leaks
}

/// Secrets and private text in verdicts, states, corrections and edits are redacted.
pub async fn secrets_in_drift_records_are_redacted(store: Arc<dyn Store>) {
    let leaky_verdict = |score| {
        let mut leaks = verdict(score);
        leaks.correction = Some(leaky("correction"));
        leaks.findings[0].file = Some(leaky("/src"));
        leaks.findings[0].reason = leaky("because");
        leaks.recovery_plan = leaky_correction("x").recovery_plan;
        leaks
    };
    let mut record = exchange("a", 1);
    record.steps[0].verdict = Some(leaky_verdict(1));
    record.steps[0].action.files = vec![leaky("/src")];
    record.steps[1].verdict = Some(leaky_verdict(7));
    record.drift = Some(DriftState {
        correction: Some(leaky_correction("recorded")),
        ..drift_state("a", 1)
    });
    let later = exchange("a", 2);
    store
        .append(&Redacted::each(&[record.clone(), later.clone()]))
        .await
        .unwrap();
    let verdicts = [
        (later.steps[0].id.clone(), leaky_verdict(6)),
        (later.steps[1].id.clone(), leaky_verdict(2)),
    ];
    assert_eq!(
        store.judge_steps(&client("a"), &proven(&verdicts)).await.unwrap(),
        2
    );
    let saved = DriftState {
        correction: Some(leaky_correction("saved")),
        consent: Consent {
            files: vec![leaky("/let-pass")],
            facts: Vec::new(),
            orders: vec![leaky("consented")],
        },
        ..drift_state("b", 1)
    };
    save(&store, &saved).await;
    store
        .save_correction(&Redacted::of(&leaky_correction("direct")))
        .await
        .unwrap();
    store
        .edit_goal(&Redacted::of(&goal_edit("e", "a", &leaky("edit"), 1)))
        .await
        .unwrap();
    let mut event = super::sample::drift("d", "a", 1);
    event.command = Some(leaky("command"));
    event.findings = leaky_verdict(1).findings;
    store.append_drift(&Redacted::of(&event)).await.unwrap();

    let kept_step = grov_domain::DriftEventId::new(record.steps[1].id.as_str());
    let everything = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        store.steps(&session("a")).await.unwrap(),
        drift_log(&store, None).await,
        store.drift_event(&kept_step).await.unwrap(),
        kept(&store, "a").await,
        kept(&store, "b").await,
        sent(&store, "a").await,
        store.goal_edits(&client("a")).await.unwrap(),
    );
    for words in [
        "reason",
        "text",
        "action",
        "correction",
        "because",
        "command",
        "edit",
        "/src",
        "/let-pass",
        "consented",
    ] {
        assert!(
            everything.contains(&format!("\"{words} ")),
            "{words}: {everything}"
        );
    }
    assert!(!everything.contains("a1B2c3"), "{everything}");
    assert!(!everything.contains("my own words"), "{everything}");
    assert_eq!(drift_log(&store, None).await.len(), 3);
}

/// Forgetting a memory erases the findings, corrections and edits of its task and bumps the revision; other tasks are
/// not changed.
pub async fn forgetting_a_memory_erases_its_drift_records(store: Arc<dyn Store>) {
    for name in ["c", "other"] {
        let mut record = exchange(name, 1);
        record.steps[0].verdict = Some(verdict(2));
        record.steps[1].verdict = Some(verdict(6));
        record.drift = Some(drift_state(name, 1));
        store.append(&Redacted::each(&[record])).await.unwrap();
        let over = SessionState {
            status: SessionStatus::Completed,
            ..state(name, name, 1)
        };
        store.save_session(&Redacted::of(&over)).await.unwrap();
        store
            .edit_goal(&Redacted::of(&goal_edit("e", name, "src/**", 2)))
            .await
            .unwrap();
        let saved = Task {
            client_session_id: Some(client(name)),
            session_id: Some(session(name)),
            ..task(name, 3)
        };
        store.save_task(&Redacted::of(&saved)).await.unwrap();
    }
    let later = goal_edit("later", "c", "docs/**", 4);
    store.edit_goal(&Redacted::of(&later)).await.unwrap();
    let revision = store.revision().await.unwrap();
    let untouched = async || {
        format!(
            "{:?} {:?} {:?} {:?} {:?}",
            drift_log(&store, Some(&session("other"))).await,
            store.steps(&session("other")).await.unwrap(),
            kept(&store, "other").await,
            sent(&store, "other").await,
            store.goal_edits(&client("other")).await.unwrap()
        )
    };
    let before = untouched().await;
    let ids = [task("c", 3).id];
    MemoryStore::forget(store.as_ref(), &ids).await.unwrap();

    assert_eq!(untouched().await, before);
    let event = drift_log(&store, Some(&session("c"))).await.remove(0);
    assert_eq!((event.command, event.reason), (None, None));
    assert!(event.findings.is_empty());
    assert_eq!(event.drift_score, Some(2));
    let row = store.steps(&session("c")).await.unwrap().remove(0);
    assert_eq!((row.drift_score, row.correction_given), (Some(6), None));
    let found = grov_domain::DriftEventId::new(row.id.as_str());
    let found = store.drift_event(&found).await.unwrap().unwrap();
    assert!(found.findings.is_empty());
    let expected = DriftState {
        correction: None,
        consent: Consent::default(),
        ..drift_state("c", 1)
    };
    assert_eq!(kept(&store, "c").await, Some(expected.clone()));
    // A process that has read the texts cannot restore them.
    save(&store, &drift_state("c", 9)).await;
    let still = DriftState {
        updated_at: at(9),
        ..expected
    };
    assert_eq!(kept(&store, "c").await, Some(still));
    let sent = sent(&store, "c").await;
    assert_eq!((sent[0].reason.as_str(), sent[0].text.as_str()), ("", ""));
    assert!(sent[0].recovery_plan.is_empty() && sent[0].delivered_at.is_some());
    assert_eq!(store.goal_edits(&client("c")).await.unwrap(), [later]);
    assert_ne!(store.revision().await.unwrap(), revision);
}

/// While a session is active, what the user allows, forbids and requires is kept when finished tasks are forgotten;
/// reworded goals are not.
pub async fn forgetting_a_memory_keeps_the_limits_of_an_active_session(store: Arc<dyn Store>) {
    store
        .append(&Redacted::each(&[exchange("live", 1), exchange("over", 1)]))
        .await
        .unwrap();
    let kinds = [
        GoalEditKind::Set,
        GoalEditKind::Allow,
        GoalEditKind::Forbid,
        GoalEditKind::Constraint,
    ];
    for name in ["live", "over"] {
        for (id, kind) in ["1", "2", "3", "4"].into_iter().zip(kinds) {
            let edit = GoalEdit {
                kind,
                ..goal_edit(id, name, "src/**", 2)
            };
            store.edit_goal(&Redacted::of(&edit)).await.unwrap();
        }
        let over = SessionState {
            status: SessionStatus::Completed,
            ..state(name, name, 3)
        };
        store.save_session(&Redacted::of(&over)).await.unwrap();
        let saved = Task {
            client_session_id: Some(client(name)),
            session_id: Some(session(name)),
            ..task(name, 3)
        };
        store.save_task(&Redacted::of(&saved)).await.unwrap();
    }
    store
        .save_session(&Redacted::of(&state("live", "live2", 4)))
        .await
        .unwrap();
    let ids = [task("live", 3).id, task("over", 3).id];
    MemoryStore::forget(store.as_ref(), &ids).await.unwrap();
    let left = async |name: &str| {
        let edits = store.goal_edits(&client(name)).await.unwrap();
        edits.into_iter().map(|edit| edit.kind).collect::<Vec<_>>()
    };
    assert_eq!(left("live").await, kinds[1..]);
    assert_eq!(left("over").await, []);
}

/// A process that has read forgotten texts cannot restore them; newer texts are stored.
pub async fn forgotten_correction_is_not_restored(store: Arc<dyn Store>) {
    let mut record = exchange("c", 1);
    record.steps[1].verdict = Some(verdict(2));
    record.drift = Some(drift_state("c", 1));
    store.append(&[Redacted::of(&record)]).await.unwrap();
    let saved = Task {
        client_session_id: Some(client("c")),
        session_id: Some(session("c")),
        ..task("c", 3)
    };
    store.save_task(&Redacted::of(&saved)).await.unwrap();
    let revision = store.revision().await.unwrap();
    MemoryStore::forget(store.as_ref(), std::slice::from_ref(&saved.id))
        .await
        .unwrap();
    assert_ne!(store.revision().await.unwrap(), revision);

    save(&store, &drift_state("c", 5)).await;
    let mut unknown = exchange("c", 6);
    unknown.steps.clear();
    unknown.drift = Some(DriftState {
        correction: Some(correction("never stored", "c", 5)),
        ..drift_state("c", 6)
    });
    store.append(&Redacted::each(&[unknown])).await.unwrap();
    for id in ["c", "never stored"] {
        store
            .save_correction(&Redacted::of(&correction(id, "c", 4)))
            .await
            .unwrap();
    }
    let verdicts: Vec<_> = record
        .steps
        .iter()
        .map(|step| (step.id.clone(), verdict(6)))
        .collect();
    assert_eq!(
        store.judge_steps(&client("c"), &proven(&verdicts)).await.unwrap(),
        0
    );
    let state = kept(&store, "c").await.unwrap();
    assert_eq!((state.correction, state.updated_at), (None, at(6)));
    let words: Vec<String> = sent(&store, "c")
        .await
        .into_iter()
        .map(|sent| sent.text)
        .collect();
    assert_eq!(words, [""]);
    let steps = store.steps(&session("c")).await.unwrap();
    assert!(steps.iter().all(|row| row.correction_given.is_none()));

    let later = Correction {
        made_at: time::OffsetDateTime::now_utc().replace_nanosecond(0).unwrap() + time::Duration::HOUR,
        ..correction("later", "c", 0)
    };
    store.save_correction(&Redacted::of(&later)).await.unwrap();
    assert_eq!(sent(&store, "c").await[1], later);
}

/// States, corrections and edits are kept as long as a task of their session, and at least as long as the drift log.
pub async fn prune_removes_drift_records_after_their_sessions(store: Arc<dyn Store>) {
    const HOUR: i64 = 3600;
    let hours = |hours: u64| std::time::Duration::from_secs(hours * HOUR as u64);
    let retention = Retention {
        completed_sessions: hours(24),
        drift_log: hours(48),
        idle_sessions: hours(100),
        spending: hours(200),
        ledger: hours(300),
    };
    let watched = async |name: &str, age: i64, with_session: bool| {
        let seconds = -age * HOUR;
        if with_session {
            store
                .append(&Redacted::each(&[exchange(name, seconds)]))
                .await
                .unwrap();
        }
        save(&store, &drift_state(name, seconds)).await;
        store
            .edit_goal(&Redacted::of(&goal_edit("e", name, "src/**", seconds)))
            .await
            .unwrap();
    };
    watched("gone", 49, false).await;
    watched("recent", 47, false).await;
    watched("in-work", 99, true).await;
    watched("idle", 101, true).await;
    let prune = async |dry_run| store.prune(&retention, at(0), dry_run).await.unwrap();
    prune(true).await;
    assert!(kept(&store, "gone").await.is_some(), "a dry run removes nothing");
    prune(false).await;
    for (name, stays) in [
        ("gone", false),
        ("recent", true),
        ("in-work", true),
        ("idle", false),
    ] {
        let left = (
            kept(&store, name).await.is_some(),
            sent(&store, name).await.len(),
            store.goal_edits(&client(name)).await.unwrap().len(),
        );
        assert_eq!(left, (stays, usize::from(stays), usize::from(stays)), "{name}");
    }
}
