//! The spending ledger.

use super::sample::{at, call, session};
use grov_domain::{CallFilter, CallOutcome, LlmCall, MicroUsd, Purpose, Redacted, Reservation, Store};
use std::sync::Arc;
use std::time::Duration;

const BUDGET: MicroUsd = MicroUsd(5000);

fn reservation(id: &str, seconds: i64, cost: u64) -> LlmCall {
    LlmCall {
        latency: Duration::ZERO,
        cost: MicroUsd(cost),
        outcome: CallOutcome::Reserved,
        ..call(id, seconds)
    }
}

async fn all(store: &Arc<dyn Store>) -> Vec<LlmCall> {
    store.calls(&CallFilter::default()).await.unwrap()
}

/// A call is loaded as reserved, and then as settled, for every purpose and outcome.
pub async fn call_is_loaded_as_settled(store: Arc<dyn Store>) {
    let outcomes = [
        CallOutcome::Answered,
        CallOutcome::Unusable,
        CallOutcome::Failed,
        CallOutcome::Reserved,
    ];
    let mut settled = Vec::new();
    for (seconds, purpose) in (0..).zip(Purpose::ALL) {
        let reserved = LlmCall {
            purpose,
            ..reservation(&format!("c{seconds}"), seconds, 500)
        };
        let granted = store
            .reserve(&Redacted::of(&reserved), BUDGET, at(0))
            .await
            .unwrap();
        assert_eq!(granted, Reservation::Granted);
        assert_eq!(all(&store).await.last(), Some(&reserved));
        let end = LlmCall {
            purpose,
            session_id: None,
            outcome: outcomes[seconds as usize % 4],
            cost: MicroUsd(100),
            ..call(&format!("c{seconds}"), seconds)
        };
        store.settle(&Redacted::of(&end)).await.unwrap();
        store.settle(&Redacted::of(&end)).await.unwrap();
        settled.push(end);
        assert_eq!(all(&store).await, settled);
    }
    // External tools are counted apart.
    let spent = MicroUsd(100 * (settled.len() as u64 - 1));
    assert_eq!(store.spent_since(at(0)).await.unwrap(), spent);
    let unreserved = call("unreserved", 100);
    store.settle(&Redacted::of(&unreserved)).await.unwrap();
    assert_eq!(all(&store).await.last(), Some(&unreserved));
}

/// Calls are returned oldest first; a limit selects the newest.
pub async fn calls_are_listed_oldest_first(store: Arc<dyn Store>) {
    for seconds in [3, 1, 4, 2] {
        let about = (seconds != 4).then(|| session(&format!("s{}", seconds % 2)));
        store
            .settle(&Redacted::of(&LlmCall {
                session_id: about,
                ..call(&format!("c{seconds}"), seconds)
            }))
            .await
            .unwrap();
    }
    let ids = async |filter: CallFilter| -> Vec<String> {
        let calls = store.calls(&filter).await.unwrap();
        calls.iter().map(|call| call.id.to_string()).collect()
    };
    let any = CallFilter::default();
    assert_eq!(ids(any.clone()).await, ["c1", "c2", "c3", "c4"]);
    let newest = CallFilter {
        limit: Some(2),
        ..any.clone()
    };
    assert_eq!(ids(newest).await, ["c3", "c4"]);
    let since = CallFilter {
        since: Some(at(2)),
        ..any.clone()
    };
    assert_eq!(ids(since).await, ["c2", "c3", "c4"]);
    let about = CallFilter {
        session_id: Some(session("s1")),
        ..any.clone()
    };
    assert_eq!(ids(about.clone()).await, ["c1", "c3"]);
    let all_at_once = CallFilter {
        since: Some(at(1)),
        limit: Some(1),
        ..about
    };
    assert_eq!(ids(all_at_once).await, ["c3"]);
    assert_eq!(store.spent_since(at(3)).await.unwrap(), MicroUsd(2400));
    assert_eq!(store.spent_since(at(5)).await.unwrap(), MicroUsd(0));
}

/// External tools and all other calls have separate budgets.
pub async fn tools_have_a_budget_of_their_own(store: Arc<dyn Store>) {
    let reserve = async |id: &str, purpose, cost| {
        let call = LlmCall {
            purpose,
            ..reservation(id, 10, cost)
        };
        let reserved = store.reserve(&Redacted::of(&call), BUDGET, at(0)).await;
        reserved.unwrap()
    };
    assert_eq!(
        reserve("judge", Purpose::CheckDrift, 4000).await,
        Reservation::Granted
    );
    assert_eq!(reserve("tool", Purpose::Tool, 5000).await, Reservation::Granted);
    let spent = MicroUsd(5000);
    assert_eq!(
        reserve("more", Purpose::Tool, 1).await,
        Reservation::Refused { spent }
    );
    assert_eq!(
        reserve("last", Purpose::Embedding, 1000).await,
        Reservation::Granted
    );
    assert_eq!(store.spent_since(at(0)).await.unwrap(), MicroUsd(5000));
}

/// Spent and reserved amounts count alike. A refused reservation is not stored.
pub async fn reservation_stays_within_the_budget(store: Arc<dyn Store>) {
    let reserve = async |call: &LlmCall| store.reserve(&Redacted::of(call), BUDGET, at(10)).await.unwrap();
    store
        .settle(&Redacted::of(&reservation("yesterday", 9, 100_000)))
        .await
        .unwrap();
    assert_eq!(reserve(&reservation("a", 10, 3000)).await, Reservation::Granted);
    let spent = MicroUsd(3000);
    assert_eq!(
        reserve(&reservation("b", 11, 2001)).await,
        Reservation::Refused { spent }
    );
    assert_eq!(
        reserve(&reservation("huge", 11, u64::MAX)).await,
        Reservation::Refused { spent }
    );
    assert_eq!(all(&store).await.len(), 2);
    assert_eq!(
        reserve(&reservation("c", 11, 2000)).await,
        Reservation::Granted,
        "to the last cent"
    );
    assert_eq!(store.spent_since(at(10)).await.unwrap(), BUDGET);
    store
        .settle(&Redacted::of(&reservation("a", 10, 1000)))
        .await
        .unwrap();
    assert_eq!(
        reserve(&reservation("b", 12, 2000)).await,
        Reservation::Granted,
        "what was not used is free again"
    );
    // A call can cost more than reserved: then nothing more is granted, not even a free call.
    store
        .settle(&Redacted::of(&reservation("a", 10, 9000)))
        .await
        .unwrap();
    assert_eq!(
        reserve(&reservation("free", 13, 0)).await,
        Reservation::Refused {
            spent: MicroUsd(13_000)
        }
    );
}

/// A repeated reservation counts once, and does not revert a settled call.
pub async fn repeated_reservation_changes_nothing(store: Arc<dyn Store>) {
    let reserved = reservation("a", 1, 3000);
    for _ in 0..3 {
        assert_eq!(
            store
                .reserve(&Redacted::of(&reserved), BUDGET, at(0))
                .await
                .unwrap(),
            Reservation::Granted
        );
    }
    assert_eq!(all(&store).await, std::slice::from_ref(&reserved));
    let end = call("a", 1);
    store.settle(&Redacted::of(&end)).await.unwrap();
    store
        .reserve(&Redacted::of(&reserved), BUDGET, at(0))
        .await
        .unwrap();
    assert_eq!(all(&store).await, [end]);
}

/// The ledger works with any prices and counts.
pub async fn huge_costs_do_not_overflow_the_ledger(store: Arc<dyn Store>) {
    for seconds in 0..20 {
        let mut absurd = reservation(&format!("c{seconds}"), seconds, u64::MAX);
        absurd.usage.input = u64::MAX;
        absurd.latency = Duration::MAX;
        store.settle(&Redacted::of(&absurd)).await.unwrap();
    }
    assert_eq!(all(&store).await.len(), 20);
    assert!(store.spent_since(at(0)).await.unwrap() > MicroUsd(1_000_000));
    assert!(matches!(
        store
            .reserve(&Redacted::of(&reservation("d", 20, 1)), BUDGET, at(0))
            .await
            .unwrap(),
        Reservation::Refused { .. }
    ));
}

/// Concurrent reservations stay within the budget.
pub async fn concurrent_reservations_stay_within_the_budget(store: Arc<dyn Store>) {
    let reserve = async |number: i64| {
        let call = reservation(&format!("c{number}"), number, 300);
        store.reserve(&Redacted::of(&call), BUDGET, at(0)).await.unwrap() == Reservation::Granted
    };
    let granted = futures_util::future::join_all((0..50).map(reserve)).await;
    assert_eq!(granted.into_iter().filter(|granted| *granted).count(), 16);
    assert_eq!(store.spent_since(at(0)).await.unwrap(), MicroUsd(4800));
}
