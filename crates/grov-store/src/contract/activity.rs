//! What is going on: the state of sessions, their usage, and what was recorded since a point in time.

use super::sample::{PROJECT, at, client, exchange, progress, prompt, verdict};
use grov_domain::{
    Change, ChangeKind, DriftFilter, ExchangeKind, ExchangeRecord, ExchangeUsage, KnownSession, Redacted,
    Retention, SessionActivity, SideRequest, StepOutcome, StepResult, Store, TokenUsage, UsageFilter,
};
use std::collections::HashSet;
use std::sync::Arc;
use time::{Duration, Time};

async fn append(store: &Arc<dyn Store>, records: &[ExchangeRecord]) {
    store.append(&Redacted::each(records)).await.unwrap();
}

/// Sessions of both paths are known once, with their projects.
pub async fn known_sessions_are_those_of_both_paths(store: Arc<dyn Store>) {
    assert_eq!(store.known_sessions().await.unwrap(), []);
    append(&store, &[exchange("b", 1), exchange("b", 2)]).await;
    for name in ["b", "a"] {
        let first = progress(name, 0);
        assert!(store.save_hook_progress(&Redacted::of(&first)).await.unwrap());
    }
    let known = |name| KnownSession {
        client_session_id: client(name),
        project_path: PROJECT.to_owned(),
    };
    assert_eq!(store.known_sessions().await.unwrap(), [known("a"), known("b")]);
    let hooked = |project: Option<&'static str>, limit| {
        let store = store.clone();
        async move {
            let found = store.recent_hook_sessions(project, limit).await.unwrap();
            found.len()
        }
    };
    assert_eq!(hooked(None, None).await, 2);
    assert_eq!(hooked(Some(PROJECT), Some(1)).await, 1);
    assert_eq!(hooked(Some("/elsewhere"), None).await, 0);
}

/// The newest response in the main conversation and the reported end tell the state of a session.
pub async fn activity_is_that_of_the_newest_main_exchange(store: Arc<dyn Store>) {
    let activity = async || store.session_activity(&client("a")).await.unwrap();
    assert_eq!(activity().await, SessionActivity::default());
    let ended = ExchangeRecord {
        stop_reason: Some("end_turn".to_owned()),
        ..exchange("a", 5)
    };
    let title = ExchangeRecord {
        kind: ExchangeKind::Side(SideRequest::Title),
        stop_reason: Some("max_tokens".to_owned()),
        ..exchange("a", 9)
    };
    append(&store, &[ended, exchange("a", 2), title, exchange("b", 20)]).await;
    let expected = SessionActivity {
        stop_reason: Some("end_turn".to_owned()),
        responded_at: Some(at(5)),
        ended_at: None,
    };
    assert_eq!(activity().await, expected);
    for seconds in [12, 11] {
        store.record_session_end(&client("a"), at(seconds)).await.unwrap();
    }
    let expected = SessionActivity {
        ended_at: Some(at(12)),
        ..expected
    };
    assert_eq!(activity().await, expected);
}

/// Pruning removes the end of a session with the session.
pub async fn prune_removes_session_ends(store: Arc<dyn Store>) {
    append(&store, &[exchange("a", 0)]).await;
    for name in ["a", "gone"] {
        store.record_session_end(&client(name), at(0)).await.unwrap();
    }
    let ended = async |name| store.session_activity(&client(name)).await.unwrap().ended_at;
    let now = at(0) + Retention::default().drift_log + Duration::seconds(1);
    let retention = Retention {
        idle_sessions: Retention::default().idle_sessions * 2,
        ..Retention::default()
    };
    store.prune(&retention, now, false).await.unwrap();
    assert_eq!((ended("a").await, ended("gone").await), (Some(at(0)), None));
}

/// Usage is summed up by session, subagent, kind, model and day.
pub async fn usage_is_summed_up(store: Arc<dyn Store>) {
    let midnight = at(0).replace_time(Time::MIDNIGHT) + Duration::days(1);
    let seconds = (midnight - at(0)).whole_seconds();
    let other_model = ExchangeRecord {
        model: None,
        ..exchange("a", seconds - 3)
    };
    let records = [
        exchange("a", seconds - 2),
        exchange("a", seconds - 1),
        exchange("a", seconds),
        other_model,
        exchange("b", seconds),
    ];
    append(&store, &records).await;
    let one = records[0].usage;
    let usage = |name: &str, model: Option<&str>, day, tokens: TokenUsage| ExchangeUsage {
        client_session_id: client(name),
        project_path: PROJECT.to_owned(),
        agent_id: None,
        kind: ExchangeKind::Main,
        model: model.map(str::to_owned),
        day,
        tokens,
    };
    let model = Some("claude-sonnet-4-5");
    let before = midnight - Duration::days(1);
    let all = store.exchange_usage(&UsageFilter::default()).await.unwrap();
    assert_eq!(
        all,
        [
            usage("a", None, before, one),
            usage("a", model, before, one.plus(one)),
            usage("a", model, midnight, one),
            usage("b", model, midnight, one),
        ]
    );
    let filter = UsageFilter {
        client_session_id: Some(client("a")),
        since: Some(midnight),
    };
    let some = store.exchange_usage(&filter).await.unwrap();
    assert_eq!(some, [usage("a", model, midnight, one)]);
}

/// How an earlier action ended is stored with it, in whichever task it is.
pub async fn failures_mark_earlier_actions(store: Arc<dyn Store>) {
    let first = exchange("a", 1);
    let failed = first.steps[0].action.tool_use_id.clone().unwrap();
    let second = ExchangeRecord {
        failures: vec![StepResult {
            tool_use_id: failed,
            outcome: StepOutcome::Denied,
        }],
        ..exchange("a", 2)
    };
    append(&store, &[first, exchange("b", 1), second]).await;
    let steps = store.client_steps(&client("a")).await.unwrap();
    let outcomes: Vec<Option<StepOutcome>> = steps.iter().map(|step| step.outcome).collect();
    assert_eq!(outcomes, [Some(StepOutcome::Denied), None, None, None]);
}

/// How an action ended is stored in the drift log, too, where those off the goal are, and they are found as steps.
pub async fn failures_mark_actions_off_the_goal(store: Arc<dyn Store>) {
    let mut first = exchange("a", 1);
    let step = &mut first.steps[0];
    step.verdict = Some(verdict(3));
    let (id, failed) = (step.id.clone(), step.action.tool_use_id.clone().unwrap());
    let second = ExchangeRecord {
        failures: vec![StepResult {
            tool_use_id: failed,
            outcome: StepOutcome::Denied,
        }],
        ..exchange("a", 2)
    };
    append(&store, &[first, second]).await;
    let events = store.drift_events(&DriftFilter::default()).await.unwrap();
    let outcomes: Vec<Option<StepOutcome>> = events.iter().map(|event| event.outcome).collect();
    assert_eq!(outcomes, [Some(StepOutcome::Denied)]);
    let steps = store.off_goal_steps(&client("a")).await.unwrap();
    assert_eq!(steps.len(), 1);
    assert_eq!((&steps[0].id, steps[0].outcome), (&id, Some(StepOutcome::Denied)));
    assert!(store.off_goal_steps(&client("b")).await.unwrap().is_empty());
}

fn names(changes: &[Change], seen: &mut HashSet<String>) -> Vec<&'static str> {
    let new = changes.iter().filter(|change| seen.insert(change.key.clone()));
    new.map(|change| match change.kind {
        ChangeKind::Prompt { .. } => "prompt",
        ChangeKind::Action(_) => "action",
        ChangeKind::Finding { .. } => "finding",
        ChangeKind::Injection { .. } => "injection",
        ChangeKind::Memories { .. } => "memories",
        ChangeKind::Usage { .. } => "usage",
    })
    .collect()
}

/// What is recorded after a cursor is returned, and again at most with the same key.
pub async fn changes_are_returned_since_a_cursor(store: Arc<dyn Store>) {
    append(&store, &[exchange("a", -900)]).await;
    let mut seen = HashSet::new();
    let cursor = store.change_cursor(at(0)).await.unwrap();
    let (past, cursor) = store.changes(&cursor).await.unwrap();
    names(&past, &mut seen);
    let typed = ExchangeRecord {
        prompts: vec![prompt("and now this")],
        ..exchange("a", 3)
    };
    append(&store, &[typed]).await;
    let (changes, cursor) = store.changes(&cursor).await.unwrap();
    assert_eq!(
        names(&changes, &mut seen),
        ["prompt", "action", "action", "usage"]
    );
    let (changes, cursor) = store.changes(&cursor).await.unwrap();
    assert_eq!(names(&changes, &mut seen), [""; 0]);
    append(&store, &[exchange("b", 4)]).await;
    let (changes, _) = store.changes(&cursor).await.unwrap();
    assert_eq!(names(&changes, &mut seen), ["action", "action", "usage"]);

    let later = store.change_cursor(at(4)).await.unwrap();
    let (changes, _) = store.changes(&later).await.unwrap();
    let since: Vec<_> = changes.iter().filter(|change| change.at >= at(4)).collect();
    assert_eq!(since.len(), 3, "{since:?}");
    let from_the_start = store.change_cursor(at(-10_000)).await.unwrap();
    let (changes, _) = store.changes(&from_the_start).await.unwrap();
    assert_eq!(changes.len(), 10);
}
