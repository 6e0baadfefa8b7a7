//! Turns, threads and messages.

use super::Store;
use super::sample::{self, NOW, page, turn, turn_in};
use grov_agent::{
    AgentStoreError, KeyId, MemoryStatus, MemoryType, Message, MessageId, MessageRole, NewTurn, ThreadId,
    ThreadSummary, ToolCallFilter,
};
use grov_redact::Redacted;
use time::Duration;

fn ids(messages: &[Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}

async fn listed(store: &Store, thread: ThreadId) -> Vec<MessageId> {
    ids(&store.messages(thread, &page(500)).await.unwrap().items)
}

/// See the name.
pub async fn a_turn_is_stored_completely(store: Store) {
    let project = sample::project(&*store).await;
    let mut turn = turn(project);
    let call = sample::call(project, Some(turn.thread));
    let item = sample::item(
        project,
        MemoryType::Event,
        MemoryStatus::Active,
        "The shop opened.",
    );
    let owner = KeyId::fresh();
    turn.tool_calls.push(Redacted::of(&call));
    turn.memory_items.push(Redacted::of(&item));
    turn.events.push(sample::event(project, "{}"));
    turn.replay = Some(sample::replay(owner, "k1"));
    store.store_turn(&turn).await.unwrap();

    let thread = store.thread(turn.thread).await.unwrap().unwrap();
    assert_eq!((thread.project_id, thread.messages), (project, 2));
    assert_eq!(thread.title, "When does the shop open?");
    assert_eq!(store.threads(project, &page(5)).await.unwrap().items, [thread]);
    let messages = store.messages(turn.thread, &page(5)).await.unwrap().items;
    assert!(messages.iter().eq(turn.messages.iter().map(|message| &**message)));
    assert_eq!(store.tool_call(call.id, NOW).await.unwrap(), Some(call));
    assert_eq!(store.item(project, item.id).await.unwrap(), Some(item));
    assert_eq!(store.thread_tools(turn.thread).await.unwrap(), turn.tools.0);
    let replay = store.replay(owner, &sample::text("k1"), NOW).await.unwrap();
    assert_eq!(replay, turn.replay);
    let asked = [turn.messages[0].id, MessageId::fresh()];
    let existing = store.existing_messages(project, &asked).await.unwrap();
    assert_eq!(existing, [turn.messages[0].id]);
    let other = sample::project(&*store).await;
    assert_eq!(store.existing_messages(other, &asked).await.unwrap(), []);
}

/// See the name. The last thing that is written fails.
pub async fn a_turn_that_fails_leaves_nothing(store: Store) {
    let project = sample::project(&*store).await;
    let mut turn = turn(project);
    let item = sample::item(project, MemoryType::Fact, MemoryStatus::Proposed, "A fact.");
    let call = sample::proposal(&item);
    let event = sample::event(project, "{}");
    turn.memory_items.push(Redacted::of(&item));
    turn.tool_calls.push(Redacted::of(&call));
    turn.replay = Some(sample::replay(KeyId::fresh(), "k"));
    turn.events = vec![event.clone(), event];
    store.store_turn(&turn).await.unwrap_err();
    assert_eq!(store.thread(turn.thread).await.unwrap(), None);
    assert_eq!(listed(&store, turn.thread).await, []);
    assert_eq!(store.item(project, item.id).await.unwrap(), None);
    assert_eq!(store.tool_call(call.id, NOW).await.unwrap(), None);
    turn.events.pop();
    store.store_turn(&turn).await.unwrap();
}

/// See the name.
pub async fn an_idempotency_key_stores_one_turn(store: Store) {
    let project = sample::project(&*store).await;
    let owner = KeyId::fresh();
    let with_key = |hours: i64| {
        let mut turn = turn(project);
        turn.replay = Some(sample::replay(owner, "same"));
        turn.now = NOW + Duration::hours(hours);
        turn
    };
    store.store_turn(&with_key(0)).await.unwrap();
    let again = with_key(23);
    let refused = store.store_turn(&again).await;
    assert!(
        matches!(refused, Err(AgentStoreError::Conflict(_))),
        "{refused:?}"
    );
    assert_eq!(store.thread(again.thread).await.unwrap(), None);
    store.store_turn(&with_key(24)).await.unwrap();
    let mut other = turn(project);
    other.replay = Some(sample::replay(KeyId::fresh(), "same"));
    store.store_turn(&other).await.unwrap();
}

/// See the name.
pub async fn concurrent_turns_with_one_idempotency_key_store_one(store: Store) {
    let project = sample::project(&*store).await;
    let owner = KeyId::fresh();
    let turns: Vec<NewTurn> = (0..5)
        .map(|_| {
            let mut turn = turn(project);
            turn.replay = Some(sample::replay(owner, "same"));
            turn
        })
        .collect();
    let stored = futures_util::future::join_all(turns.iter().map(|turn| store.store_turn(turn))).await;
    assert_eq!(
        stored.iter().filter(|stored| stored.is_ok()).count(),
        1,
        "{stored:?}"
    );
    let threads = store.threads(project, &page(10)).await.unwrap().items;
    assert_eq!(threads.len(), 1);
}

/// See the name.
pub async fn concurrent_turns_of_a_thread_do_not_mix(store: Store) {
    let project = sample::project(&*store).await;
    let first = turn(project);
    store.store_turn(&first).await.unwrap();
    let turns: Vec<NewTurn> = (0..8).map(|_| turn_in(project, first.thread, false)).collect();
    for stored in futures_util::future::join_all(turns.iter().map(|turn| store.store_turn(turn))).await {
        stored.unwrap();
    }
    let order = listed(&store, first.thread).await;
    assert_eq!(order.len(), 18);
    for pair in order.chunks(2) {
        let is_turn = |turn: &NewTurn| {
            turn.messages
                .iter()
                .map(|message| message.id)
                .eq(pair.iter().copied())
        };
        assert!(is_turn(&first) || turns.iter().any(is_turn));
    }
    let thread = store.thread(first.thread).await.unwrap().unwrap();
    assert_eq!(thread.messages, 18);
}

/// See the name.
pub async fn a_turn_needs_its_thread_in_its_project(store: Store) {
    let (project, other) = (sample::project(&*store).await, sample::project(&*store).await);
    let first = turn(project);
    store.store_turn(&first).await.unwrap();
    for turn in [
        turn_in(other, first.thread, false),
        turn_in(project, ThreadId::fresh(), false),
    ] {
        let stored = store.store_turn(&turn).await;
        assert!(matches!(stored, Err(AgentStoreError::NotFound(_))), "{stored:?}");
    }
    let again = store.store_turn(&turn_in(project, first.thread, true)).await;
    assert!(matches!(again, Err(AgentStoreError::Conflict(_))), "{again:?}");
    assert_eq!(listed(&store, first.thread).await.len(), 2);
}

/// See the name.
pub async fn history_starts_behind_the_summary(store: Store) {
    let project = sample::project(&*store).await;
    let mut all = Vec::new();
    let first = turn(project);
    let thread = first.thread;
    for number in 0..4 {
        let mut next = if number == 0 {
            first.clone()
        } else {
            turn_in(project, thread, false)
        };
        if number == 3 {
            next.summary = Some(Redacted::of(&ThreadSummary {
                text: "They spoke about opening hours.".to_owned(),
                until: all[2],
            }));
        }
        store.store_turn(&next).await.unwrap();
        all.extend(next.messages.iter().map(|message| message.id));
    }
    let (summary, messages) = store.history(thread, 100).await.unwrap();
    assert_eq!(summary.unwrap().text, "They spoke about opening hours.");
    assert_eq!(ids(&messages), all[3..]);
    let (_, messages) = store.history(thread, 2).await.unwrap();
    assert_eq!(ids(&messages), all[6..]);
    let (summary, messages) = store.history(ThreadId::fresh(), 2).await.unwrap();
    assert_eq!((summary, messages), (None, Vec::new()));
}

/// See the name.
pub async fn a_deleted_thread_takes_its_messages_along_and_leaves_its_calls(store: Store) {
    let project = sample::project(&*store).await;
    let mut gone = turn(project);
    gone.tool_calls
        .push(Redacted::of(&sample::call(project, Some(gone.thread))));
    let stays = turn(project);
    store.store_turn(&gone).await.unwrap();
    store.store_turn(&stays).await.unwrap();
    assert!(store.delete_thread(gone.thread).await.unwrap());
    assert!(!store.delete_thread(gone.thread).await.unwrap());
    assert_eq!(listed(&store, gone.thread).await, []);
    let filter = ToolCallFilter::default();
    let calls = store.tool_calls(&filter, &page(5), NOW).await.unwrap().items;
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].thread_id, Some(gone.thread));
    assert_eq!(listed(&store, stays.thread).await.len(), 2);
}

/// See the name. Not every database takes them.
pub async fn nul_characters_are_replaced(store: Store) {
    let project = sample::project(&*store).await;
    let mut turn = turn(project);
    turn.messages = vec![
        sample::message(turn.thread, MessageRole::User, "a\0b"),
        sample::message(turn.thread, MessageRole::Assistant, "c\0d"),
    ];
    store.store_turn(&turn).await.unwrap();
    let messages = store.messages(turn.thread, &page(5)).await.unwrap().items;
    assert_eq!(messages[0].content, "a\u{fffd}b");
    assert_eq!(messages[1].content, "c\u{fffd}d");
    assert_eq!(messages[1].response_json, turn.messages[1].response_json);
}
