//! One question, asked until it is answered, given up or too late: turn, breaker, budget, call, check, retry, repair.

use crate::answer::AnswerError;
use crate::breaker::{Breaker, Health, Why};
use crate::model::{Completion, Model, ModelError, Stop};
use crate::queue::{Queue, TurnedAway};
use crate::request::ModelRequest;
use crate::retry;
use crate::spending::{Ledger, NotAllowed};
use crate::status::{Counters, WhyRules};
use grov_domain::SessionId;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a question may take in all, waiting for its turn and for retries included.
const OVERALL: Duration = Duration::from_secs(60);

/// A call that has less time than this is not begun.
const TOO_LITTLE_TIME: Duration = Duration::from_millis(200);

/// Asks one model.
pub(crate) struct Asker {
    model: Box<dyn Model>,
    pub(crate) ledger: Ledger,
    breaker: Breaker,
    pub(crate) queue: Queue,
    timeout: Duration,
    counters: Arc<Counters>,
    /// Why the ledger allowed no call, and on which day.
    denied: Mutex<Option<(WhyRules, time::Date)>>,
}

/// Why a question has no answer from the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    /// There is no model to ask.
    #[error("no model is set up")]
    NoModel,
    /// The judge was closed.
    #[error("the judge is closed")]
    Closed,
    /// The provider is left alone for a while.
    #[error("the provider is left alone for a while")]
    Blocked,
    /// Too many questions wait.
    #[error(transparent)]
    TurnedAway(#[from] TurnedAway),
    /// The ledger does not allow the call.
    #[error("{0}")]
    NotAllowed(String),
    /// There is no time left.
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
    /// The task that asked is gone.
    #[error("the question was lost")]
    Lost,
}

/// What one call came to.
enum Attempt {
    Usable(String),
    Unusable { text: String, problem: AnswerError },
    Refused,
    Failed(ModelError),
}

impl Asker {
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

    /// Why a question would not go to the model at present.
    pub(crate) fn blocked(&self) -> Option<WhyRules> {
        let why = self.breaker.blocked().map(|why| match why {
            Why::Failures => WhyRules::ProviderDown,
            Why::KeyRefused => WhyRules::KeyRefused,
        });
        why.or_else(|| {
            let denied = *self.denied.lock().unwrap_or_else(PoisonError::into_inner);
            let today = self.ledger.today();
            denied.filter(|&(_, day)| day == today).map(|(why, _)| why)
        })
    }

    /// Whether the provider is left alone at present.
    pub(crate) fn is_provider_blocked(&self) -> bool {
        self.breaker.blocked().is_some()
    }

    /// The text of an answer to `request` in which `check` finds no fault. At most three calls that fail, and one repair.
    pub(crate) async fn answer(
        &self,
        session: Option<&SessionId>,
        mut request: ModelRequest,
        check: impl Fn(&str) -> Result<(), AnswerError>,
    ) -> Result<Arc<str>, Unanswered> {
        let deadline = Instant::now() + OVERALL;
        let _turn = self.queue.turn(deadline).await?;
        let mut repaired = false;
        let mut failures = 0;
        loop {
            match self.call(session, &request, deadline, &check).await? {
                Attempt::Usable(text) => return Ok(text.into()),
                Attempt::Refused => return Err(Unanswered::Refused),
                Attempt::Unusable { problem, .. } if repaired => return Err(problem.into()),
                Attempt::Unusable { text, problem } => {
                    repaired = true;
                    request = request.repaired(&text, &problem.to_string());
                    Counters::add(&self.counters.repairs);
                }
                // The next call asks for the format in another way; there are only so many ways.
                Attempt::Failed(ModelError::FormatRefused) => {}
                Attempt::Failed(error) => {
                    failures += 1;
                    let pause = retry::pause(&error, failures, deadline - Instant::now());
                    let Some(pause) = pause else {
                        return Err(error.into());
                    };
                    Counters::add(&self.counters.retries);
                    tokio::time::sleep(pause).await;
                }
            }
            if self.queue.is_closed() {
                return Err(Unanswered::Closed);
            }
        }
    }

    /// One call, allowed by the breaker and the ledger, and settled.
    async fn call(
        &self,
        session: Option<&SessionId>,
        request: &ModelRequest,
        deadline: Instant,
        check: &impl Fn(&str) -> Result<(), AnswerError>,
    ) -> Result<Attempt, Unanswered> {
        let pass = self.breaker.admit().ok_or(Unanswered::Blocked)?;
        let reserved = self.ledger.reserve(session, request).await;
        let reserved = self.noted(reserved)?;
        let begun = Instant::now();
        let limit = self.timeout.min(deadline.saturating_duration_since(begun));
        let result = if limit < TOO_LITTLE_TIME.min(self.timeout) {
            None
        } else {
            Counters::add(&self.counters.calls);
            let answered = tokio::time::timeout(limit, self.model.complete(request)).await;
            Some(answered.unwrap_or(Err(ModelError::TimedOut(limit))))
        };
        let Some(result) = result else {
            let unsent = ModelError::Unreachable {
                reason: "no time left".to_owned(),
            };
            self.ledger
                .settle(reserved, Err(&unsent), false, Duration::ZERO)
                .await;
            return Err(Unanswered::TooLate);
        };
        let health = health(&result);
        match health {
            Some(health) => pass.report(health),
            None => drop(pass),
        }
        let attempt = attempt(&result, check);
        let usable = matches!(attempt, Attempt::Usable(_));
        self.ledger
            .settle(
                reserved,
                result.as_ref().map(|completion| completion.usage),
                usable,
                begun.elapsed(),
            )
            .await;
        if let Attempt::Failed(error) = &attempt {
            Counters::add(&self.counters.failures);
            tracing::debug!(purpose = request.purpose.as_str(), %error, "a model call failed");
        }
        Ok(attempt)
    }

    /// Remembers for the status what the ledger said.
    fn noted<T>(&self, answer: Result<T, NotAllowed>) -> Result<T, Unanswered> {
        let why = match &answer {
            Ok(_) => None,
            Err(NotAllowed::Budget { .. }) => Some(WhyRules::BudgetSpent),
            Err(NotAllowed::Store(_) | NotAllowed::Slow(_)) => Some(WhyRules::LedgerFailed),
        };
        let mut denied = self.denied.lock().unwrap_or_else(PoisonError::into_inner);
        let before = denied.map(|(why, _)| why);
        *denied = why.map(|why| (why, self.ledger.today()));
        drop(denied);
        answer.map_err(|error| {
            if before != why {
                tracing::warn!(%error, "rules answer instead of the model");
            }
            Unanswered::NotAllowed(error.to_string())
        })
    }
}

/// What a result says of the provider; nothing, where only the form of the request was refused.
fn health(result: &Result<Completion, ModelError>) -> Option<Health> {
    match result {
        Ok(_) => Some(Health::Works),
        Err(ModelError::FormatRefused) => None,
        Err(ModelError::KeyRefused { .. }) => Some(Health::RefusesKey),
        Err(_) => Some(Health::Fails),
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
        // What was cut off can be whole by chance: a small model that goes on after its answer.
        Stop::Length => check(&completion.text).err().map(|_| AnswerError::CutOff),
        Stop::End => check(&completion.text).err(),
    };
    let text = completion.text.clone();
    match problem {
        None => Attempt::Usable(text),
        Some(problem) => Attempt::Unusable { text, problem },
    }
}
