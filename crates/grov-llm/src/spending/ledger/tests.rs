use super::*;
use async_trait::async_trait;
use grov_domain::{CallFilter, Purpose, Redacted, SystemClock};
use std::sync::Mutex;
use time::OffsetDateTime;

/// A ledger that takes `takes` to write a reservation.
struct Slow {
    takes: Duration,
    refuses: bool,
    calls: Mutex<Vec<LlmCall>>,
}

#[async_trait]
impl SpendingStore for Slow {
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        _: MicroUsd,
        _: OffsetDateTime,
    ) -> Result<Reservation, StoreError> {
        tokio::time::sleep(self.takes).await;
        if self.refuses {
            return Ok(Reservation::Refused { spent: MicroUsd(7) });
        }
        self.calls.lock().unwrap().push((**call).clone());
        Ok(Reservation::Granted)
    }

    async fn settle(&self, call: &Redacted<LlmCall>) -> Result<(), StoreError> {
        let mut calls = self.calls.lock().unwrap();
        calls.retain(|known| known.id != call.id);
        calls.push((**call).clone());
        Ok(())
    }

    async fn calls(&self, _: &CallFilter) -> Result<Vec<LlmCall>, StoreError> {
        Ok(self.calls.lock().unwrap().clone())
    }

    async fn spent_since(&self, _: OffsetDateTime) -> Result<MicroUsd, StoreError> {
        Ok(MicroUsd(0))
    }
}

fn request(user: String) -> ModelRequest {
    ModelRequest {
        purpose: Purpose::ExtractIntent,
        system: String::new(),
        user,
        schema: serde_json::Value::Null,
        max_tokens: 100,
    }
}

/// The calls in a ledger that answered after the timeout and was then closed.
async fn left_by(refuses: bool) -> Vec<(CallOutcome, MicroUsd)> {
    let store = Arc::new(Slow {
        takes: STORE_TIMEOUT + STORE_TIMEOUT / 2,
        refuses,
        calls: Mutex::default(),
    });
    let model = crate::DEFAULT_ANTHROPIC_MODEL.to_owned();
    let price = Price::of(&model, false);
    let ledger = Ledger::new(
        Arc::clone(&store) as _,
        Arc::new(SystemClock),
        MicroUsd(u64::MAX),
        "anthropic",
        model,
        price,
    );
    let given_up = ledger
        .reserve(None, Purpose::ExtractIntent, TokenUsage::default())
        .await;
    assert!(matches!(given_up, Err(ReserveError::Slow(_))), "{given_up:?}");
    ledger.close().await;
    let calls = store.calls.lock().unwrap();
    calls.iter().map(|call| (call.outcome, call.cost)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_reservation_granted_too_late_is_released() {
    assert_eq!(left_by(false).await, [(CallOutcome::Failed, MicroUsd(0))]);
    assert_eq!(left_by(true).await, []);
}

#[test]
fn digits_and_chinese_are_not_underestimated() {
    // A Chinese character has three bytes and about one and a half tokens; two digits are one token.
    let texts = ["漢字".repeat(3_000), "0f".repeat(9_000)];
    for text in texts {
        assert!(max_usage(&request(text)).input >= 9_000);
    }
}

#[tokio::test]
async fn screening_memories_leaves_half_of_the_budget_to_other_questions() {
    let store = Arc::new(Slow {
        takes: Duration::ZERO,
        refuses: true,
        calls: Mutex::default(),
    });
    let model = crate::DEFAULT_ANTHROPIC_MODEL.to_owned();
    let price = Price::of(&model, false);
    let ledger = Ledger::new(
        store,
        Arc::new(SystemClock),
        MicroUsd(10),
        "anthropic",
        model,
        price,
    );
    assert_eq!(ledger.budget_for(Purpose::ScreenMemories), MicroUsd(5));
    assert_eq!(ledger.budget_for(Purpose::CheckDrift), MicroUsd(10));
    // Of 10, 7 are spent: other questions may go on, so that the judge is not reported as out of budget.
    let screening = ledger.reserve(None, Purpose::ScreenMemories, TokenUsage::default());
    assert!(matches!(
        screening.await,
        Err(ReserveError::Share {
            spent: MicroUsd(7),
            share: MicroUsd(5)
        })
    ));
    let other = ledger.reserve(None, Purpose::CheckDrift, TokenUsage::default());
    assert!(matches!(
        other.await,
        Err(ReserveError::Share { .. } | ReserveError::Budget { .. })
    ));
}
