//! Reserves the cost of a call before it, and settles it afterwards.

use super::Price;
use crate::model::{Completion, ModelError};
use crate::request::ModelRequest;
use grov_domain::{
    CallOutcome, Clock, LlmCall, LlmCallId, MicroUsd, Purpose, Reservation, SessionId, SpendingStore,
    StoreError, TokenUsage,
};
use grov_redact::Redactor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// The timeout of the ledger.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// A low average of bytes per token, so that the estimate is high: English text has four bytes per token; Chinese in
/// UTF-8, hexadecimal digits and base64 have two to three.
const BYTES_PER_TOKEN: usize = 2;

/// Tokens that a provider adds for message framing and the schema.
const FRAMING_TOKENS: u64 = 300;

/// The spending ledger of one model.
pub(crate) struct Ledger {
    store: Arc<dyn SpendingStore>,
    clock: Arc<dyn Clock>,
    budget: MicroUsd,
    provider: &'static str,
    model: String,
    price: Price,
    /// Releases of reservations that were granted too late.
    releases: Mutex<JoinSet<()>>,
}

/// A reserved call, to be settled.
#[derive(Debug)]
pub(crate) struct Reserved(LlmCall);

/// What an answered call used, as far as the provider says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// Tokens by class.
    pub(crate) usage: Option<TokenUsage>,
    /// The provider's own calculation; `None`: by list price.
    pub(crate) cost: Option<MicroUsd>,
}

impl From<&Completion> for Spent {
    fn from(completion: &Completion) -> Self {
        Self {
            usage: completion.usage,
            cost: completion.cost,
        }
    }
}

/// Why a call was not reserved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReserveError {
    /// The day's budget is used up.
    #[error("{spent} of today's budget of {budget} is spent or reserved, this call may cost {wanted}")]
    Budget {
        /// Spent and reserved.
        spent: MicroUsd,
        /// The budget.
        budget: MicroUsd,
        /// The maximum cost of the call.
        wanted: MicroUsd,
    },
    /// What is left of the day's budget is kept for other questions.
    #[error(
        "{spent} of today's budget is spent or reserved; from {share} on the rest is for other questions"
    )]
    Share {
        /// Spent and reserved.
        spent: MicroUsd,
        /// The part that questions of this purpose may use.
        share: MicroUsd,
    },
    /// The ledger failed.
    #[error("the spending ledger cannot be written: {0}")]
    Store(#[from] StoreError),
    /// The ledger did not answer.
    #[error("the spending ledger did not answer within {0:?}")]
    Slow(Duration),
}

impl Ledger {
    /// A ledger for calls to `model` of `provider`.
    pub(crate) fn new(
        store: Arc<dyn SpendingStore>,
        clock: Arc<dyn Clock>,
        budget: MicroUsd,
        provider: &'static str,
        model: String,
        price: Price,
    ) -> Self {
        Self {
            store,
            clock,
            budget,
            provider,
            model,
            price,
            releases: Mutex::default(),
        }
    }

    fn releases(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.releases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until late reservations are released, with a timeout.
    pub(crate) async fn close(&self) {
        let mut releases = std::mem::take(&mut *self.releases());
        let all = async { while releases.join_next().await.is_some() {} };
        if tokio::time::timeout(STORE_TIMEOUT, all).await.is_err() {
            tracing::warn!(
                "releasing reservations in the spending ledger timed out; they may count against today's budget"
            );
        }
    }

    /// Today in UTC; budgets are per day.
    pub(crate) fn today(&self) -> time::Date {
        self.clock.now().date()
    }

    /// The part of the day's budget that calls of a purpose may use: screening memories leaves half of it to questions that
    /// cannot wait.
    fn budget_for(&self, purpose: Purpose) -> MicroUsd {
        match purpose {
            Purpose::ScreenMemories => MicroUsd(self.budget.0 / 2),
            _ => self.budget,
        }
    }

    /// Reserves the cost of a call that uses at most `usage`.
    pub(crate) async fn reserve(
        &self,
        session: Option<&SessionId>,
        purpose: Purpose,
        usage: TokenUsage,
    ) -> Result<Reserved, ReserveError> {
        let at = self.clock.now();
        let call = LlmCall {
            id: LlmCallId::fresh(),
            purpose,
            provider: self.provider.to_owned(),
            model: self.model.clone(),
            session_id: session.cloned(),
            at,
            latency: Duration::ZERO,
            usage,
            cost: self.price.cost(&usage),
            outcome: CallOutcome::Reserved,
        };
        let since = at.date().midnight().assume_utc();
        let budget = self.budget_for(purpose);
        let mut reserving = Box::pin({
            let (store, call) = (Arc::clone(&self.store), call.clone());
            let call = Redactor::shared().clean(call);
            async move { store.reserve(&call, budget, since).await }
        });
        let Ok(answer) = tokio::time::timeout(STORE_TIMEOUT, &mut reserving).await else {
            let mut releases = self.releases();
            while releases.try_join_next().is_some() {}
            releases.spawn(release(Arc::clone(&self.store), call, reserving));
            return Err(ReserveError::Slow(STORE_TIMEOUT));
        };
        match answer? {
            Reservation::Granted => Ok(Reserved(call)),
            Reservation::Refused { spent } if spent.plus(call.cost) <= self.budget => {
                Err(ReserveError::Share { spent, share: budget })
            }
            Reservation::Refused { spent } => Err(ReserveError::Budget {
                spent,
                budget,
                wanted: call.cost,
            }),
        }
    }

    /// Replaces the reserved cost by the actual one. The reservation stays if the cost is unknown: an answer without a token
    /// count, or a failed call that the provider may have processed.
    pub(crate) async fn settle(
        &self,
        reserved: Reserved,
        result: Result<Spent, &ModelError>,
        usable: bool,
        latency: Duration,
    ) {
        let Reserved(mut call) = reserved;
        call.latency = latency;
        let spent = match result {
            Ok(spent) => spent,
            Err(error) if error.may_have_cost() => Spent::default(),
            Err(_) => Spent {
                usage: Some(TokenUsage::default()),
                cost: None,
            },
        };
        if let Some(usage) = spent.usage {
            call.usage = usage;
            call.cost = self.price.cost(&usage);
        }
        if let Some(cost) = spent.cost {
            call.cost = cost;
        }
        call.outcome = match (result, usable) {
            (Ok(_), true) => CallOutcome::Answered,
            (Ok(_), false) => CallOutcome::Unusable,
            (Err(_), _) => CallOutcome::Failed,
        };
        match tokio::time::timeout(STORE_TIMEOUT, self.store.settle(&Redactor::shared().clean(call))).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(
                %error,
                "cannot settle a model call in the spending ledger; it counts at its maximum cost"
            ),
            Err(_) => tracing::warn!(
                "settling a model call in the spending ledger timed out; it counts at its maximum cost"
            ),
        }
    }
}

/// Releases the reservation of `call`, which was not made, once the ledger has answered.
async fn release(
    store: Arc<dyn SpendingStore>,
    mut call: LlmCall,
    reserving: impl Future<Output = Result<Reservation, StoreError>>,
) {
    // A reservation that reported an error may have been written anyway.
    if let Ok(Reservation::Refused { .. }) = reserving.await {
        return;
    }
    call.usage = TokenUsage::default();
    call.cost = MicroUsd::default();
    call.outcome = CallOutcome::Failed;
    if let Err(error) = store.settle(&Redactor::shared().clean(call)).await {
        tracing::warn!(
            %error,
            "cannot release the reservation of a model call that was not made; it counts against today's budget"
        );
    }
}

/// An upper estimate of the tokens in `bytes` bytes.
pub(crate) fn max_tokens_of(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

/// The maximum number of tokens that `request` may use.
pub(crate) fn max_usage(request: &ModelRequest) -> TokenUsage {
    let bytes = request.system.len() + request.user.len() + request.schema.to_string().len();
    TokenUsage {
        input: max_tokens_of(bytes) + FRAMING_TOKENS,
        output: u64::from(request.max_tokens),
        ..TokenUsage::default()
    }
}

#[cfg(test)]
mod tests;
