//! Retention and statistics.

use super::sample::{
    at, call, correction, drift, drift_log, drift_state, exchange, goal_edit, guarded, progress, prompt,
    session, state, task,
};
use grov_domain::{
    CallFilter, MemoryStore, Move, PruneReport, Redacted, Retention, SessionFilter, SessionStatus, Store,
    TaskTransition,
};
use std::sync::Arc;
use std::time::Duration;

const HOUR: i64 = 3600;

fn retention() -> Retention {
    let hours = |hours: u64| Duration::from_secs(hours * HOUR as u64);
    Retention {
        completed_sessions: hours(24),
        drift_log: hours(48),
        idle_sessions: hours(100),
        spending: hours(200),
        ledger: hours(300),
    }
}

/// Records `exchanges` exchanges that end `ages` hours before `at(0)`, and sets the status.
async fn recorded(store: &Arc<dyn Store>, name: &str, exchanges: i64, age: i64, status: SessionStatus) {
    let end = -age * HOUR;
    let batch: Vec<_> = (0..exchanges)
        .map(|number| {
            let mut record = exchange(name, end - number);
            record.prompts = vec![prompt("go on")];
            record
        })
        .collect();
    store.append(&Redacted::each(&batch)).await.unwrap();
    let mut state = store.session(&session(name)).await.unwrap().unwrap().state;
    state.status = status;
    store.save_session(&Redacted::of(&state)).await.unwrap();
}

/// Only old records of finished sessions are removed, and a dry run returns the same counts.
pub async fn prune_removes_the_rows_counted_by_a_dry_run(store: Arc<dyn Store>) {
    use SessionStatus::{Abandoned, Active, Completed};
    recorded(&store, "done-old", 3, 25, Completed).await;
    recorded(&store, "left-old", 2, 30, Abandoned).await;
    recorded(&store, "done-at-the-edge", 1, 24, Completed).await;
    recorded(&store, "done-new", 1, 1, Completed).await;
    recorded(&store, "active-old", 1, 99, Active).await;
    recorded(&store, "active-idle", 4, 101, Active).await;
    for number in 0..40 {
        recorded(&store, &format!("many-{number}"), 1, 50, Completed).await;
    }
    let expected = PruneReport {
        sessions: 43,
        exchanges: 49,
        steps: 98,
        ..PruneReport::default()
    };
    let prune = async |dry_run| store.prune(&retention(), at(0), dry_run).await.unwrap();
    assert_eq!(prune(true).await, expected);
    assert_eq!(prune(true).await, expected, "a dry run removes nothing");
    assert_eq!(prune(false).await, expected);
    assert_eq!(prune(true).await, PruneReport::default());
    assert_eq!(prune(false).await, PruneReport::default());

    let left = store.sessions(&SessionFilter::default()).await.unwrap();
    let names: Vec<_> = left
        .iter()
        .map(|summary| summary.state.session_id.as_str())
        .collect();
    assert_eq!(names, ["done-new", "done-at-the-edge", "active-old"]);
    assert_eq!(store.steps(&session("done-old")).await.unwrap(), []);
    let file = "/home/dev/projects/relay/src/limit.rs";
    assert_eq!(
        store
            .steps_reasoning_by_path(super::sample::PROJECT, file, 100)
            .await
            .unwrap()
            .len(),
        3
    );
    assert_eq!(
        store
            .append(&Redacted::each(&[exchange("done-old", 0)]))
            .await
            .unwrap(),
        1,
        "its session is created again"
    );
}

/// Finished tasks are never removed. Drift events are removed by their own age.
pub async fn prune_keeps_tasks_and_drift_log(store: Arc<dyn Store>) {
    recorded(&store, "gone", 1, 1000, SessionStatus::Completed).await;
    store
        .save_task(&Redacted::of(&task("t", -10_000 * HOUR)))
        .await
        .unwrap();
    let recent = drift("recent", "gone", -47 * HOUR);
    store.append_drift(&Redacted::of(&recent)).await.unwrap();
    store
        .append_drift(&Redacted::of(&drift("old", "gone", -49 * HOUR)))
        .await
        .unwrap();
    let report = store.prune(&retention(), at(0), false).await.unwrap();
    assert_eq!(
        report,
        PruneReport {
            sessions: 1,
            exchanges: 1,
            steps: 2,
            drift_events: 1,
            ..PruneReport::default()
        }
    );
    assert_eq!(drift_log(&store, Some(&session("gone"))).await, [recent]);
    assert_eq!(
        store.task(&task("t", 0).id).await.unwrap(),
        Some(task("t", -10_000 * HOUR))
    );

    let forever = Retention {
        completed_sessions: Duration::MAX,
        drift_log: Duration::MAX,
        idle_sessions: Duration::MAX,
        spending: Duration::MAX,
        ledger: Duration::MAX,
    };
    assert_eq!(
        store.prune(&forever, at(0), false).await.unwrap(),
        PruneReport::default()
    );
}

/// Spending is removed by its own age, independent of sessions.
pub async fn prune_keeps_recent_spending(store: Arc<dyn Store>) {
    store
        .settle(&Redacted::of(&call("old", -201 * HOUR)))
        .await
        .unwrap();
    store
        .settle(&Redacted::of(&call("recent", -199 * HOUR)))
        .await
        .unwrap();
    recorded(&store, "a", 1, 1000, SessionStatus::Completed).await;
    let expected = PruneReport {
        sessions: 1,
        exchanges: 1,
        steps: 2,
        llm_calls: 1,
        ..PruneReport::default()
    };
    let prune = async |dry_run| store.prune(&retention(), at(0), dry_run).await.unwrap();
    assert_eq!(prune(true).await, expected);
    assert_eq!(store.calls(&CallFilter::default()).await.unwrap().len(), 2);
    assert_eq!(prune(false).await, expected);
    assert_eq!(prune(true).await, PruneReport::default());
    assert_eq!(
        store.calls(&CallFilter::default()).await.unwrap(),
        [call("recent", -199 * HOUR)]
    );
}

/// Moved records are removed with their new task, not with the one under which they were recorded.
pub async fn prune_removes_moved_rows_with_their_task(store: Arc<dyn Store>) {
    let (first, second) = (exchange("a", -101 * HOUR), exchange("a", -101 * HOUR + 1));
    store
        .append(&Redacted::each(&[first.clone(), second]))
        .await
        .unwrap();
    let mut from = store.session(&session("a")).await.unwrap().unwrap().state;
    from.status = SessionStatus::Completed;
    let mut to = state("a", "a2", -101 * HOUR);
    to.status = SessionStatus::Active;
    let transition = TaskTransition {
        sessions: vec![from, to.clone()],
        moves: Some(Move {
            client_session_id: to.client_session_id.clone(),
            exchanges: vec![first.id.clone()],
            to: to.session_id.clone(),
            all_or_nothing: true,
        }),
        ..TaskTransition::default()
    };
    store.apply(&Redacted::of(&transition)).await.unwrap();
    let kept = Retention {
        idle_sessions: Duration::from_secs(200 * HOUR as u64),
        ..retention()
    };
    let expected = PruneReport {
        sessions: 1,
        exchanges: 1,
        steps: 2,
        ..PruneReport::default()
    };
    let prune = async |kept, dry_run| store.prune(&kept, at(0), dry_run).await.unwrap();
    assert_eq!(prune(kept, true).await, expected);
    assert_eq!(prune(kept, false).await, expected);
    assert_eq!(store.steps(&session("a2")).await.unwrap().len(), 2);
    let stats = store.stats().await.unwrap();
    let exchanges = stats.tables.iter().find(|stats| stats.table == "exchanges");
    assert_eq!(exchanges.unwrap().rows, 1);
    assert_eq!(prune(retention(), true).await, expected);
    assert_eq!(prune(retention(), false).await, expected);
    assert_eq!(store.sessions(&SessionFilter::default()).await.unwrap(), []);
}

/// Statistics contain the backend and the number of rows of each table.
pub async fn stats_count_rows(store: Arc<dyn Store>) {
    let rows = async |table: &str| {
        let stats = store.stats().await.unwrap();
        let found = stats.tables.iter().find(|stats| stats.table == table);
        found
            .unwrap_or_else(|| panic!("no table {table} in {stats:?}"))
            .rows
    };
    assert_eq!(rows("steps").await, 0);
    store
        .append(&Redacted::each(&[exchange("a", 1), exchange("b", 2)]))
        .await
        .unwrap();
    store
        .save_session(&Redacted::of(&state("c", "c", 1)))
        .await
        .unwrap();
    store.save_task(&Redacted::of(&task("t", 1))).await.unwrap();
    store
        .append_drift(&Redacted::of(&drift("d", "a", 1)))
        .await
        .unwrap();
    store
        .save_drift_state(&Redacted::of(&drift_state("a", 1)), &session("a"))
        .await
        .unwrap();
    store
        .save_correction(&Redacted::of(&correction("other", "a", 1)))
        .await
        .unwrap();
    store
        .edit_goal(&Redacted::of(&goal_edit("e", "a", "src/**", 1)))
        .await
        .unwrap();
    store.settle(&Redacted::of(&call("l", 1))).await.unwrap();
    store
        .save_hook_progress(&Redacted::of(&progress("h", 1)))
        .await
        .unwrap();
    store
        .save_guard_record(&Redacted::of(&guarded("h", "t", 1)))
        .await
        .unwrap();
    let forgotten = [task("never saved", 1).id, task("nor this", 1).id];
    MemoryStore::forget(store.as_ref(), &forgotten).await.unwrap();
    let counts = [
        ("session_states", 3),
        ("exchanges", 2),
        ("prompts", 0),
        ("steps", 4),
        ("tasks", 1),
        ("drift_log", 1),
        ("drift_states", 1),
        ("corrections", 2),
        ("goal_edits", 1),
        ("file_reasoning", 0),
        ("hook_sessions", 1),
        ("hook_courses", 1),
        ("hook_steps", 2),
        ("hook_checks", 1),
        ("hook_guards", 1),
        ("llm_calls", 1),
        ("memory_scopes", 1),
        ("memory_documents", 1),
        ("task_embeddings", 0),
        ("ledger_lineages", 0),
        ("ledger_entries", 0),
        ("ledger_memories", 0),
        ("ledger_tips", 0),
        ("switched_off", 0),
        ("forgotten", 2),
    ];
    for (table, count) in counts {
        assert_eq!(rows(table).await, count, "{table}");
    }
    let stats = store.stats().await.unwrap();
    assert!(!stats.backend.is_empty() && !stats.location.is_empty());
    assert!(stats.bytes > 0 && stats.schema_version > 0);
    assert_eq!(stats.spooled, 0);
}
