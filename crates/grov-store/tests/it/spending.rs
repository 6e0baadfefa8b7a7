//! A budget shared by several connections.

use crate::support::Home;
use grov_domain::{
    CallFilter, CallOutcome, LlmCall, LlmCallId, MicroUsd, Purpose, Redacted, Reservation, SpendingStore,
    TokenUsage,
};
use std::time::Duration;
use time::OffsetDateTime;

#[test]
fn stores_over_one_file_never_exceed_the_budget_together() {
    const STORES: usize = 6;
    const CALLS: usize = 40;
    let home = Home::new();
    let since = OffsetDateTime::UNIX_EPOCH;
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    runtime().block_on(async { home.open().await.close().await.unwrap() });
    let granted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..STORES)
            .map(|store| {
                let home = &home;
                scope.spawn(move || {
                    runtime().block_on(async {
                        let ledger = home.open().await;
                        let mut granted = 0;
                        for number in 0..CALLS {
                            let call = LlmCall {
                                id: LlmCallId::new(format!("{store}-{number}")),
                                purpose: Purpose::ExtractIntent,
                                provider: "anthropic".to_owned(),
                                model: "m".to_owned(),
                                session_id: None,
                                at: since + Duration::from_secs(1),
                                latency: Duration::ZERO,
                                usage: TokenUsage::default(),
                                cost: MicroUsd(7),
                                outcome: CallOutcome::Reserved,
                            };
                            // Later calls of the same judge.
                            let answer = loop {
                                match ledger.reserve(&Redacted::of(&call), MicroUsd(1000), since).await {
                                    Err(error) if error.is_transient() => {}
                                    other => break other.unwrap(),
                                }
                            };
                            granted += usize::from(answer == Reservation::Granted);
                        }
                        granted
                    })
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(granted, 142, "142 times 7 is 994");
    runtime().block_on(async {
        let ledger = home.open().await;
        assert_eq!(ledger.spent_since(since).await.unwrap(), MicroUsd(994));
        assert_eq!(ledger.calls(&CallFilter::default()).await.unwrap().len(), 142);
    });
}
