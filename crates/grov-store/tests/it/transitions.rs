//! Cancelled and concurrent transitions.

use crate::support::{Home, abandon};
use grov_domain::{
    Applied, ClientSessionId, ExchangeRecord, ExchangeStore, MaintenanceStore, Move, OrchestrationStore,
    Prompt, Redacted, SessionId, SessionStatus, SessionStore, StoreError, Task, TaskId, TaskStore,
    TaskTransition,
};
use grov_store::SqliteStore;
use grov_store::contract::{empty_task, sample_exchange};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Executor};

fn client() -> ClientSessionId {
    ClientSessionId::new("a")
}

/// Five turns of a client session; the last three turn out to be another task.
async fn recorded(store: &SqliteStore) -> TaskTransition {
    let turns: Vec<ExchangeRecord> = (0..5)
        .map(|seconds| {
            let mut turn = sample_exchange("a", seconds);
            turn.prompts = vec![Prompt {
                text: format!("prompt {seconds}"),
                queued: false,
            }];
            turn
        })
        .collect();
    store.append(&Redacted::each(&turns)).await.unwrap();
    let mut old = store.client_session(&client()).await.unwrap().remove(0).state;
    let mut new = old.clone();
    old.status = SessionStatus::Completed;
    new.session_id = SessionId::new("new");
    new.original_goal = Some("another".to_owned());
    TaskTransition {
        moves: Some(Move {
            client_session_id: client(),
            exchanges: turns[2..].iter().map(|turn| turn.id.clone()).collect(),
            to: new.session_id.clone(),
            all_or_nothing: true,
        }),
        finished: vec![Task {
            project_path: old.project_path.clone(),
            client_session_id: Some(client()),
            session_id: Some(old.session_id.clone()),
            original_query: "prompt 0".to_owned(),
            files_touched: vec!["/f".to_owned()],
            created_at: old.last_update,
            ..empty_task("t")
        }],
        sessions: vec![old, new],
        proposals: Vec::new(),
        judged_under: None,
    }
}

/// All rows that a transition can change.
async fn everything(store: &SqliteStore) -> String {
    let mut text = format!("{:?}", store.stats().await.unwrap().tables);
    for summary in store.client_session(&client()).await.unwrap() {
        let id = &summary.state.session_id;
        let (steps, prompts) = (
            store.steps(id).await.unwrap(),
            store.prompts(id, None).await.unwrap(),
        );
        text += &format!("\n{summary:?}\n{steps:?}\n{prompts:?}");
    }
    text + &format!("\n{:?}", store.task(&TaskId::new("t")).await.unwrap())
}

#[tokio::test]
async fn error_anywhere_in_a_transition_changes_nothing() {
    const PLACES: [&str; 8] = [
        "INSERT ON session_states",
        "UPDATE ON step_files",
        "UPDATE ON steps",
        "UPDATE ON prompts",
        "INSERT ON exchanges",
        "UPDATE ON exchanges",
        "INSERT ON tasks",
        "INSERT ON task_files",
    ];
    let home = Home::new();
    let store = home.open().await;
    let transition = recorded(&store).await;
    let before = everything(&store).await;
    let mut other = SqliteConnectOptions::new()
        .filename(home.database())
        .connect()
        .await
        .unwrap();
    for place in PLACES {
        for way in ["ABORT", "FAIL", "ROLLBACK"] {
            let trigger =
                format!("CREATE TRIGGER broken AFTER {place} BEGIN SELECT RAISE({way}, 'broken here'); END");
            other.execute(AssertSqlSafe(trigger)).await.unwrap();
            let error = store.apply(&Redacted::of(&transition)).await.unwrap_err();
            assert!(error.to_string().contains("broken here"), "{place}: {error}");
            assert_eq!(everything(&store).await, before, "{place} {way}");
            other.execute("DROP TRIGGER broken").await.unwrap();
        }
    }
    assert_eq!(
        store.apply(&Redacted::of(&transition)).await.unwrap(),
        Applied::Done { missing: Vec::new() }
    );
    assert_ne!(everything(&store).await, before);
}

#[tokio::test]
async fn cancelled_transition_is_applied_or_not_started() {
    let done = {
        let home = Home::new();
        let store = home.open().await;
        let transition = recorded(&store).await;
        store.apply(&Redacted::of(&transition)).await.unwrap();
        everything(&store).await
    };
    for polls in 1..60 {
        let home = Home::new();
        let store = home.open().await;
        let transition = recorded(&store).await;
        let before = everything(&store).await;
        abandon(store.apply(&Redacted::of(&transition)), polls);
        let found = everything(&store).await;
        assert!(found == before || found == done, "after {polls} polls: {found}");
        // The dropped connection may still be running on its thread.
        while let Err(error) = store.apply(&Redacted::of(&transition)).await {
            assert!(matches!(error, StoreError::Busy(_)), "{error}");
        }
        assert_eq!(everything(&store).await, done);
    }
}

#[tokio::test]
async fn concurrent_and_repeated_transitions_duplicate_nothing() {
    let home = Home::new();
    let (store, other) = (home.open().await, home.open().await);
    let transition = recorded(&store).await;
    let turns: Vec<_> = (0..5).map(|seconds| sample_exchange("a", seconds)).collect();
    let applying = async {
        for _ in 0..20 {
            store.apply(&Redacted::of(&transition)).await.unwrap();
        }
    };
    let repeating = async {
        let mut new = 0;
        for _ in 0..20 {
            new += other.append(&Redacted::each(&turns)).await.unwrap();
        }
        new
    };
    let ((), new) = tokio::join!(applying, repeating);
    assert_eq!(new, 0);
    let summaries = store.client_session(&client()).await.unwrap();
    let counts: Vec<_> = summaries
        .iter()
        .map(|summary| (summary.exchanges, summary.steps, summary.prompts))
        .collect();
    assert_eq!(counts, [(2, 4, 2), (3, 6, 3)]);
}
