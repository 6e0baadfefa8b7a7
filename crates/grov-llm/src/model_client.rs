//! Answers one question: waits for a permit, checks breaker and budget, calls the model, checks the answer, and retries
//! or asks for a repair, within a deadline.

use crate::answer::AnswerError;
use crate::breaker::{Breaker, Health, OpenReason};
use crate::model::{Completion, Model, ModelError, Stop};
use crate::queue::{Queue, QueueFull};
use crate::request::ModelRequest;
use crate::retry;
use crate::spending::{Ledger, ReserveError, Spent, max_usage};
use crate::status::{Counters, RulesReason};
use grov_domain::SessionId;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The deadline of a question, including the time in the queue and retries.
const OVERALL: Duration = Duration::from_secs(60);

/// A call is not started with less time than this.
const TOO_LITTLE_TIME: Duration = Duration::from_millis(200);

/// Calls one model, with queue, breaker, ledger, retries and one repair.
pub(crate) struct ModelClient {
    model: Box<dyn Model>,
    pub(crate) ledger: Ledger,
    breaker: Breaker,
    pub(crate) queue: Queue,
    timeout: Duration,
    counters: Arc<Counters>,
    /// Why the ledger refused the last call, and on which day.
    denied: Mutex<Option<(RulesReason, time::Date)>>,
}

/// Why the model gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// No model is configured.
    #[error("no model is set up")]
    NoModel,
    /// The judge was closed.
    #[error("the judge is closed")]
    Closed,
    /// The circuit breaker is open.
    #[error("calls to the provider are paused after failures")]
    Blocked,
    /// The queue is full.
    #[error(transparent)]
    QueueFull(#[from] QueueFull),
    /// The ledger refused the call.
    #[error("{0}")]
    ReserveError(String),
    /// The deadline has passed.
    #[error("there is no time left for another call")]
    TooLate,
    /// The provider did not answer.
    #[error(transparent)]
    Failed(#[from] ModelError),
    /// The model refused to answer.
    #[error("the model refused to answer")]
    Refused,
    /// The model's answers could not be used.
    #[error("the model's answer could not be used: {0}")]
    Unusable(#[from] AnswerError),
    /// The task that made the call has ended without a result.
    #[error("the question was lost")]
    Lost,
}

/// The result of one call.
enum Attempt {
    Usable(String),
    Unusable { text: String, problem: AnswerError },
    Refused,
    Failed(ModelError),
}

impl ModelClient {
    pub(crate) fn new(
        model: Box<dyn Model>,
        ledger: Ledger,
        concurrency: usize,
        timeout: Duration,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            model,
            ledger,
            breaker: Breaker::new("the judge's provider", "rules answer instead"),
            queue: Queue::new(concurrency),
            timeout,
            counters,
            denied: Mutex::new(None),
        }
    }

    /// Why the model would not be called now.
    pub(crate) fn blocked(&self) -> Option<RulesReason> {
        let why = self.breaker.blocked().map(|why| match why {
            OpenReason::Failures => RulesReason::ProviderDown,
            OpenReason::KeyRefused => RulesReason::KeyRefused,
            OpenReason::NotInstalled => RulesReason::ClientMissing,
            OpenReason::LoggedOut => RulesReason::LoggedOut,
        });
        why.or_else(|| {
            let denied = *self.denied.lock().unwrap_or_else(PoisonError::into_inner);
            let today = self.ledger.today();
            denied.filter(|&(_, day)| day == today).map(|(why, _)| why)
        })
    }

    /// Starts no more calls, and ends those that would outlive the judge.
    pub(crate) fn close(&self) {
        self.queue.close();
        self.model.close();
    }

    /// Whether the circuit breaker is open.
    pub(crate) fn is_provider_blocked(&self) -> bool {
        self.breaker.blocked().is_some()
    }

    /// The text of an answer to `request` that passes `check`. At most three failed calls and one repair.
    pub(crate) async fn answer(
        &self,
        session: Option<&SessionId>,
        mut request: ModelRequest,
        check: impl Fn(&str) -> Result<(), AnswerError>,
    ) -> Result<Arc<str>, NoAnswer> {
        let deadline = Instant::now() + OVERALL;
        let _turn = self.queue.acquire(deadline).await?;
        let mut repaired = false;
        let mut failures = 0;
        loop {
            match self.call(session, &request, deadline, &check).await? {
                Attempt::Usable(text) => return Ok(text.into()),
                Attempt::Refused => return Err(NoAnswer::Refused),
                Attempt::Unusable { problem, .. } if repaired => return Err(problem.into()),
                Attempt::Unusable { text, problem } => {
                    repaired = true;
                    request = request.repaired(&text, &problem.to_string());
                    self.counters.add(|counters| &mut counters.repairs);
                }
                // The next call uses another output format.
                Attempt::Failed(ModelError::FormatRefused) => {}
                Attempt::Failed(error) => {
                    failures += 1;
                    let pause = retry::pause(&error, failures, deadline - Instant::now());
                    let Some(pause) = pause else {
                        return Err(error.into());
                    };
                    self.counters.add(|counters| &mut counters.retries);
                    tokio::time::sleep(pause).await;
                }
            }
            if self.queue.is_closed() {
                return Err(NoAnswer::Closed);
            }
        }
    }

    /// One call, permitted by the breaker, reserved and settled in the ledger.
    async fn call(
        &self,
        session: Option<&SessionId>,
        request: &ModelRequest,
        deadline: Instant,
        check: &impl Fn(&str) -> Result<(), AnswerError>,
    ) -> Result<Attempt, NoAnswer> {
        let pass = self.breaker.try_acquire().ok_or(NoAnswer::Blocked)?;
        let mut wanted = max_usage(request);
        wanted.input += self.model.extra_tokens();
        let reserved = self.ledger.reserve(session, request.purpose, wanted).await;
        let reserved = self.noted(reserved)?;
        let begun = Instant::now();
        let limit = self.timeout.min(deadline.saturating_duration_since(begun));
        if limit < TOO_LITTLE_TIME.min(self.timeout) {
            let unsent = ModelError::Unreachable("no time left".to_owned());
            self.ledger
                .settle(reserved, Err(&unsent), false, Duration::ZERO)
                .await;
            return Err(NoAnswer::TooLate);
        }
        self.counters.add(|counters| &mut counters.calls);
        let answered = tokio::time::timeout(limit, self.model.complete(request)).await;
        let result = answered.unwrap_or(Err(ModelError::TimedOut(limit)));
        let attempt = attempt(&result, check);
        match health(&result, &attempt) {
            Some(health) => pass.report(health),
            None => drop(pass),
        }
        let usable = matches!(attempt, Attempt::Usable(_));
        self.ledger
            .settle(
                reserved,
                result.as_ref().map(Spent::from),
                usable,
                begun.elapsed(),
            )
            .await;
        if let Attempt::Failed(error) = &attempt {
            self.counters.add(|counters| &mut counters.failures);
            tracing::debug!(purpose = request.purpose.as_str(), %error, "a model call failed");
        }
        Ok(attempt)
    }

    /// Records the ledger's refusal for the status.
    fn noted<T>(&self, answer: Result<T, ReserveError>) -> Result<T, NoAnswer> {
        let why = match &answer {
            Ok(_) => None,
            // Other questions are still answered by the model.
            Err(error @ ReserveError::Share { .. }) => return Err(NoAnswer::ReserveError(error.to_string())),
            Err(ReserveError::Budget { .. }) => Some(RulesReason::BudgetSpent),
            Err(ReserveError::Store(_) | ReserveError::Slow(_)) => Some(RulesReason::LedgerFailed),
        };
        let mut denied = self.denied.lock().unwrap_or_else(PoisonError::into_inner);
        let before = denied.map(|(why, _)| why);
        *denied = why.map(|why| (why, self.ledger.today()));
        drop(denied);
        answer.map_err(|error| {
            if before != why {
                tracing::warn!(%error, "rules answer instead of the model");
            }
            NoAnswer::ReserveError(error.to_string())
        })
    }
}

/// The provider's health by this result; `None` if it says nothing about that. Answers that cannot be used are paid for as well: a
/// model that gives only such is no better than one that is down.
fn health(result: &Result<Completion, ModelError>, attempt: &Attempt) -> Option<Health> {
    match result {
        Ok(_) if matches!(attempt, Attempt::Unusable { .. }) => Some(Health::Failure),
        Ok(_) => Some(Health::Success),
        Err(ModelError::FormatRefused) => None,
        // The provider was not asked to the end.
        Err(ModelError::Closed) => None,
        Err(ModelError::KeyRefused(_)) => Some(Health::KeyRefused),
        Err(ModelError::NotInstalled) => Some(Health::NotInstalled),
        Err(ModelError::LoggedOut) => Some(Health::LoggedOut),
        Err(_) => Some(Health::Failure),
    }
}

fn attempt(
    result: &Result<Completion, ModelError>,
    check: &impl Fn(&str) -> Result<(), AnswerError>,
) -> Attempt {
    let completion = match result {
        Ok(completion) => completion,
        Err(error) => return Attempt::Failed(error.clone()),
    };
    let problem = match completion.stop {
        Stop::Refusal => return Attempt::Refused,
        // A truncated text may still contain the answer: small models go on after it.
        Stop::Length => check(&completion.text).err().map(|_| AnswerError::CutOff),
        Stop::End => check(&completion.text).err(),
    };
    let text = completion.text.clone();
    match problem {
        None => Attempt::Usable(text),
        Some(problem) => Attempt::Unusable { text, problem },
    }
}
