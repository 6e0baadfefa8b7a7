//! The spending ledger of a call: reserved before, settled after.

use crate::Surroundings;
use grov_domain::{
    CallFilter, CallOutcome, LlmCall, LlmCallId, MicroUsd, Purpose, Reservation, StoreError, TokenUsage,
};
use grov_redact::Redactor;
use grov_tools::{ErrorKind, ToolError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use time::{OffsetDateTime, Time, UtcOffset};
use tokio::time::Instant;

/// The timeout of the ledger.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// The ledger of one call.
pub(crate) struct Spending<'a> {
    around: &'a Surroundings,
    may_exceed: bool,
    /// The reserved call, until it is settled.
    reserved: Mutex<Option<LlmCall>>,
    begun: Instant,
}

impl<'a> Spending<'a> {
    /// `may_exceed`: the user agreed to exceed the budget.
    pub(crate) fn new(around: &'a Surroundings, may_exceed: bool) -> Self {
        Self {
            around,
            may_exceed,
            reserved: Mutex::new(None),
            begun: Instant::now(),
        }
    }

    fn reserved(&self) -> std::sync::MutexGuard<'_, Option<LlmCall>> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reserved call.
    pub(crate) fn call(&self) -> Option<LlmCall> {
        self.reserved().clone()
    }

    /// Goes on with a call that was reserved before, at `at` with `cost`.
    pub(crate) fn resume(
        &self,
        provider: &str,
        model: &str,
        (id, at, cost): (LlmCallId, OffsetDateTime, MicroUsd),
    ) {
        *self.reserved() = Some(LlmCall {
            id,
            at,
            cost,
            ..self.new_call(provider, model, cost)
        });
    }

    fn new_call(&self, provider: &str, model: &str, cost: MicroUsd) -> LlmCall {
        LlmCall {
            id: LlmCallId::fresh(),
            purpose: Purpose::Tool,
            provider: provider.to_lowercase(),
            model: model.to_owned(),
            session_id: None,
            at: self.around.clock.now(),
            latency: Duration::ZERO,
            usage: TokenUsage::default(),
            cost,
            outcome: CallOutcome::Reserved,
        }
    }

    /// Reserves the most that a call costs.
    pub(crate) async fn reserve(&self, provider: &str, model: &str, cost: MicroUsd) -> Result<(), ToolError> {
        let call = self.new_call(provider, model, cost);
        let at = call.at;
        let budget = if self.may_exceed {
            MicroUsd(u64::MAX)
        } else {
            self.around.budget
        };
        let clean = Redactor::shared().clean(call.clone());
        let reserving = self.around.spending.reserve(&clean, budget, start_of_day(at));
        let reserved = match tokio::time::timeout(STORE_TIMEOUT, reserving).await {
            Ok(reserved) => reserved,
            Err(_) => Err(StoreError::Other("it did not answer in time".to_owned())),
        };
        match reserved {
            Ok(Reservation::Granted) => {
                *self.reserved() = Some(call);
                Ok(())
            }
            Ok(Reservation::Refused { spent }) => {
                let budget = self.around.budget;
                Err(ToolError::new(
                    ErrorKind::Budget,
                    format!("{spent} of today's budget of {budget} for tools is spent or reserved, and this call may cost {cost}"),
                )
                .hint("ask the user; then repeat the command with --yes, or raise tools.daily_budget_usd in Grov's configuration"))
            }
            // What costs nothing needs no ledger.
            Err(_) if cost == MicroUsd(0) => Ok(()),
            Err(error) => Err(ToolError::new(
                ErrorKind::Io,
                format!("the spending ledger cannot be written, so nothing is spent: {error}"),
            )
            .hint("run `grov doctor`")),
        }
    }

    /// Records what the call cost; `None` if that is not known, so that the reserved amount stays.
    pub(crate) async fn settle(&self, cost: Option<MicroUsd>, outcome: CallOutcome) -> Option<MicroUsd> {
        let call = self.reserved().take();
        let Some(mut call) = call else { return cost };
        call.latency = self.begun.elapsed();
        call.cost = cost.unwrap_or(call.cost);
        call.outcome = outcome;
        let settled = call.cost;
        let clean = Redactor::shared().clean(call);
        let settling = self.around.spending.settle(&clean);
        // The reservation stays in the ledger if it cannot be settled, and counts against the budget.
        let _ = tokio::time::timeout(STORE_TIMEOUT, settling).await;
        Some(settled)
    }
}

/// The amount spent and reserved for tools since midnight UTC.
///
/// # Errors
///
/// If the ledger cannot be read.
pub(crate) async fn spent_today(around: &Surroundings) -> Result<MicroUsd, StoreError> {
    // Reading must not create a database.
    if !around.home.database().exists() {
        return Ok(MicroUsd(0));
    }
    let filter = CallFilter {
        since: Some(start_of_day(around.clock.now())),
        ..CallFilter::default()
    };
    let calls = around.spending.calls(&filter).await?;
    let tools = calls.iter().filter(|call| call.purpose == Purpose::Tool);
    Ok(tools.fold(MicroUsd(0), |sum, call| sum.plus(call.cost)))
}

fn start_of_day(now: OffsetDateTime) -> OffsetDateTime {
    now.to_offset(UtcOffset::UTC).replace_time(Time::MIDNIGHT)
}
