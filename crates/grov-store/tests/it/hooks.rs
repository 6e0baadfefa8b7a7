//! Hooks: concurrent short processes, each with its own connection.

use crate::support::Home;
use grov_domain::{
    ClientSessionId, Correction, CorrectionId, CorrectionLevel, DriftStore, ExchangeStore, HistoryKey,
    HookProgress, HookSession, HookStore, LedgerEntry, LedgerStore, Lineage, MemoryStore, NewLineage,
    Redacted, SessionId, Task, TaskId, TaskStore,
};
use grov_store::contract::{empty_task, sample_exchange};
use grov_store::{OpenOptions, SqliteStore};
use proptest::prelude::*;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

fn client() -> ClientSessionId {
    ClientSessionId::new("c")
}

fn begun() -> HookSession {
    let at = OffsetDateTime::UNIX_EPOCH;
    HookSession::new(client(), "/p".to_owned(), "/p".to_owned(), at)
}

async fn follow(store: &SqliteStore, session: &HookSession) -> bool {
    let progress = HookProgress {
        session: session.clone(),
        steps: Vec::new(),
        ended: Vec::new(),
        allowed: Vec::new(),
        check: None,
    };
    match store.save_hook_progress(&Redacted::of(&progress)).await {
        // On a slow machine a writer may time out. It reads again, as after a concurrent write.
        Err(error) if error.is_transient() => false,
        other => other.unwrap(),
    }
}

#[tokio::test]
async fn one_of_two_hooks_with_the_same_revision_writes() {
    let home = Home::new();
    let (first, second) = (home.open().await, home.open().await);
    assert!(follow(&first, &begun()).await);
    assert!(!follow(&second, &begun()).await, "it has begun already");
    let read = second.hook_session(&client()).await.unwrap().unwrap();
    let same = first.hook_session(&client()).await.unwrap().unwrap();
    assert_eq!(read, same);
    let later = HookSession { read_to: 7, ..same };
    assert!(follow(&first, &later).await);
    assert!(!follow(&second, &HookSession { read_to: 9, ..read }).await);
    let kept = second.hook_session(&client()).await.unwrap().unwrap();
    assert_eq!((kept.read_to, kept.revision), (7, 2));
}

#[tokio::test]
async fn progress_of_concurrent_hooks_is_not_lost() {
    const HOOKS: u64 = 8;
    const ROUNDS: u64 = 10;
    let home = Home::new();
    home.open().await;
    let mut hooks = tokio::task::JoinSet::new();
    for _ in 0..HOOKS {
        let store = home.open().await;
        hooks.spawn(async move {
            for _ in 0..ROUNDS {
                loop {
                    let found = store.hook_session(&client()).await.unwrap();
                    let mut session = found.unwrap_or_else(begun);
                    session.actions += 1;
                    if follow(&store, &session).await {
                        break;
                    }
                }
            }
        });
    }
    hooks.join_all().await;
    let kept = home.open().await.hook_session(&client()).await.unwrap().unwrap();
    assert_eq!((kept.actions, kept.revision), (HOOKS * ROUNDS, HOOKS * ROUNDS));
}

/// Stored progress survives any end of the process.
#[tokio::test]
async fn followed_session_is_visible_to_the_next_process() {
    let home = Home::new();
    let brief = async || {
        SqliteStore::open(&home.database(), &OpenOptions::brief())
            .await
            .unwrap()
    };
    for revision in 0..20 {
        let store = brief().await;
        let found = store.hook_session(&client()).await.unwrap();
        let session = found.unwrap_or_else(begun);
        assert_eq!(session.revision, revision);
        assert!(follow(&store, &session).await);
        if revision % 2 == 0 {
            store.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn tool_call_of_a_correction_is_stored() {
    let home = Home::new();
    let store = home.open().await;
    let record = sample_exchange("c", 1);
    store.append(&[Redacted::of(&record)]).await.unwrap();
    let made_at = OffsetDateTime::UNIX_EPOCH;
    let correction = Correction {
        id: CorrectionId::new("k"),
        client_session_id: client(),
        session_id: SessionId::new("c"),
        step_id: None,
        tool_use_id: Some("toolu_1".to_owned()),
        level: CorrectionLevel::Correct,
        score: 5,
        reason: String::new(),
        text: "Go back.".to_owned(),
        recovery_plan: Vec::new(),
        made_at,
        delivered_at: None,
        outcome: None,
    };
    store.save_correction(&Redacted::of(&correction)).await.unwrap();
    assert_eq!(store.corrections(&client()).await.unwrap(), [correction]);
}

const MEMORIES: u8 = 3;

fn memory(number: u8) -> TaskId {
    TaskId::new(format!("memory-{number}"))
}

fn task(number: u8) -> Task {
    Task {
        original_query: format!("query {number}"),
        ..empty_task(memory(number).as_str())
    }
}

fn lineage() -> Lineage {
    Lineage {
        session: client(),
        agent: None,
    }
}

async fn arrive(store: &SqliteStore) {
    let new = NewLineage {
        lineage: lineage(),
        project_path: "/p".to_owned(),
        model: "m".to_owned(),
        history: Vec::new(),
        at: OffsetDateTime::UNIX_EPOCH,
    };
    store.adopt(&new).await.unwrap();
}

/// Decides to quote these memories. Returns whether the decision was stored.
async fn quote(store: &SqliteStore, place: u128, memories: Vec<TaskId>) -> bool {
    let entry = LedgerEntry {
        anchor: HistoryKey(place),
        block: Some(r#"{"type":"text","text":"quoted"}"#.to_owned()),
        memories,
        decided_at: OffsetDateTime::UNIX_EPOCH,
    };
    let until = Instant::now() + Duration::from_secs(60);
    store.decide(&lineage(), &entry.redacted(), until).await.unwrap()
}

#[derive(Clone, Debug)]
enum Event {
    Quote(Vec<u8>),
    Forget(u8),
    Save(u8),
}

fn event() -> impl Strategy<Value = Event> {
    let number = 0..MEMORIES;
    prop_oneof![
        3 => prop::collection::vec(number.clone(), 0..3).prop_map(Event::Quote),
        1 => number.clone().prop_map(Event::Forget),
        1 => number.prop_map(Event::Save),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// After a memory was forgotten, no text that quotes it is stored until it is imported again, even if it was read
    /// before. Text that quotes other memories, even unknown ones, is stored.
    #[test]
    fn no_text_quotes_a_forgotten_memory(events in prop::collection::vec(event(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let home = Home::new();
            let (deciding, forgetting) = (home.open().await, home.open().await);
            arrive(&deciding).await;
            let mut forgotten = [false; MEMORIES as usize];
            for (place, event) in (1..).zip(events) {
                match event {
                    Event::Quote(numbers) => {
                        let quotes_forgotten = numbers.iter().any(|number| forgotten[usize::from(*number)]);
                        let memories = numbers.iter().map(|number| memory(*number)).collect();
                        assert_eq!(quote(&deciding, place, memories).await, !quotes_forgotten);
                    }
                    Event::Forget(number) => {
                        forgetting.forget(&[memory(number)]).await.unwrap();
                        forgotten[usize::from(number)] = true;
                    }
                    Event::Save(number) => {
                        forgetting.save_task(&Redacted::of(&task(number))).await.unwrap();
                        forgotten[usize::from(number)] = false;
                    }
                }
                for (number, forgotten) in (0..).zip(forgotten) {
                    let uses = deciding.uses(&[memory(number)]).await.unwrap();
                    assert!(!forgotten || uses.is_empty(), "{number}: {uses:?}");
                }
            }
        });
    }
}

/// Decisions that run while a memory is forgotten.
#[tokio::test]
async fn concurrent_decision_cannot_quote_a_forgotten_memory() {
    let home = Home::new();
    let (deciding, forgetting) = (home.open().await, home.open().await);
    arrive(&deciding).await;
    let mut decisions = tokio::task::JoinSet::new();
    let forgotten = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&forgotten);
    decisions.spawn(async move {
        let mut refused = 0;
        for place in 0.. {
            let after = seen.load(std::sync::atomic::Ordering::SeqCst);
            let kept = quote(&deciding, place, vec![memory(0)]).await;
            assert!(!(after && kept), "kept at {place} after it was forgotten");
            refused += usize::from(!kept);
            if refused == 3 {
                break;
            }
        }
        assert_eq!(deciding.uses(&[memory(0)]).await.unwrap(), []);
        // Only text that quotes a forgotten memory is refused.
        assert!(quote(&deciding, u128::MAX, vec![memory(1)]).await);
    });
    forgetting.save_task(&Redacted::of(&task(0))).await.unwrap();
    // The file may be busy during decisions, so forgetting is repeated.
    while let Err(error) = forgetting.forget(&[memory(0)]).await {
        assert!(error.is_transient(), "{error}");
    }
    forgotten.store(true, std::sync::atomic::Ordering::SeqCst);
    decisions.join_all().await;
}
