//! Events, replayed answers and tidying.

use super::Store;
use super::sample::{self, NOW, item, stored_item};
use grov_agent::{EventId, KeyId, MemoryStatus, MemoryType, NewEvent};
use std::collections::BTreeSet;
use std::time::Duration;

const LEASE: Duration = Duration::from_secs(60);

async fn written(store: &Store, count: usize) -> Vec<NewEvent> {
    let project = sample::project(&**store).await;
    let events: Vec<NewEvent> = (0..count)
        .map(|number| sample::event(project, &format!("{{\"number\":{number}}}")))
        .collect();
    let mut turn = sample::turn(project);
    turn.events.clone_from(&events);
    store.store_turn(&turn).await.unwrap();
    events
}

/// See the name.
pub async fn events_are_leased_and_delivered_once(store: Store) {
    let events = written(&store, 3).await;
    let taken = store.take_events(2, LEASE, NOW).await.unwrap();
    assert_eq!(taken.len(), 2);
    assert_eq!((taken[0].attempts, taken[0].created_at), (0, NOW));
    assert!(events.iter().any(|event| *event.body == taken[0].body));
    let rest = store.take_events(5, LEASE, NOW).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert_eq!(store.take_events(5, LEASE, NOW).await.unwrap(), []);
    store.delivered(taken[0].id).await.unwrap();
    store.delivered(rest[0].id).await.unwrap();
    let again = store.take_events(5, LEASE, NOW + LEASE).await.unwrap();
    assert_eq!(
        again.len(),
        1,
        "the lease of the one that was not delivered is over"
    );
    assert_eq!((again[0].id, again[0].attempts), (taken[1].id, 1));
}

/// See the name.
pub async fn concurrent_takers_share_the_events(store: Store) {
    let events = written(&store, 40).await;
    let takers: Vec<_> = (0..8).map(|_| store.take_events(5, LEASE, NOW)).collect();
    let mut taken: Vec<EventId> = Vec::new();
    for some in futures_util::future::join_all(takers).await {
        taken.extend(some.unwrap().into_iter().map(|event| event.id));
    }
    loop {
        let more = store.take_events(5, LEASE, NOW).await.unwrap();
        if more.is_empty() {
            break;
        }
        taken.extend(more.into_iter().map(|event| event.id));
    }
    assert_eq!(taken.len(), 40);
    let distinct: BTreeSet<EventId> = taken.into_iter().collect();
    assert_eq!(distinct, events.iter().map(|event| event.id).collect());
}

/// See the name.
pub async fn an_event_is_postponed_or_given_up(store: Store) {
    let events = written(&store, 2).await;
    store.take_events(5, LEASE, NOW).await.unwrap();
    let later = NOW + Duration::from_secs(3_600);
    store.postpone(events[0].id, Some(later)).await.unwrap();
    store.postpone(events[1].id, None).await.unwrap();
    assert_eq!(store.take_events(5, LEASE, NOW + LEASE).await.unwrap(), []);
    let due = store.take_events(5, LEASE, later).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].id, events[0].id);
}

/// See the name.
pub async fn an_answer_is_replayed_for_a_day(store: Store) {
    let owner = KeyId::fresh();
    let first = sample::replay(owner, "k");
    let mut second = first.clone();
    second.status = 409;
    store.store_replay(&first, NOW).await.unwrap();
    store.store_replay(&second, NOW).await.unwrap();
    let key = sample::text("k");
    let stored = store.replay(owner, &key, NOW).await.unwrap();
    assert_eq!(stored, Some(first.clone()), "the first one stays");
    assert_eq!(store.replay(KeyId::fresh(), &key, NOW).await.unwrap(), None);
    let day = NOW + Duration::from_secs(24 * 3_600);
    let almost = day - Duration::from_secs(1);
    assert_eq!(
        store.replay(owner, &key, almost).await.unwrap(),
        Some(first.clone())
    );
    assert_eq!(store.replay(owner, &key, day).await.unwrap(), None);
    store.tidy(almost).await.unwrap();
    assert_eq!(store.replay(owner, &key, NOW).await.unwrap(), Some(first));
    store.tidy(day).await.unwrap();
    assert_eq!(store.replay(owner, &key, NOW).await.unwrap(), None);
}

/// See the name.
pub async fn expired_metrics_are_tidied_away(store: Store) {
    let project = sample::project(&*store).await;
    let mut metric = item(project, MemoryType::Metric, MemoryStatus::Active, "42 visits.");
    metric.expires_at = Some(NOW);
    let mut fact = item(project, MemoryType::Fact, MemoryStatus::Accepted, "A fact.");
    fact.expires_at = Some(NOW);
    stored_item(&*store, &metric).await;
    stored_item(&*store, &fact).await;
    let days = |days: u64| NOW + Duration::from_secs(days * 24 * 3_600);
    store.tidy(days(29)).await.unwrap();
    assert!(store.item(project, metric.id).await.unwrap().is_some());
    store.tidy(days(30)).await.unwrap();
    assert!(store.item(project, metric.id).await.unwrap().is_none());
    assert!(store.item(project, fact.id).await.unwrap().is_some());
}
