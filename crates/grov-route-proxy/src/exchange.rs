//! One routed exchange: its attempts, its log lines, its counters.

use crate::answers;
use crate::decisions::DecisionId;
use crate::plan::{Plan, Planned};
use crate::provider::Probe;
use crate::routes::Shared;
use bytes::Bytes;
use grov_proxy_core::{
    Attempt, AttemptResult, Failover, Failure as Unanswered, FailureKind, Next, ObservedExchange, Outcome,
};
use grov_route::translate::{ErrorCategory, Failure, mask_keys, redact_provider_text};
use grov_route::{BreakerState, is_about_key, is_retryable, retry_after};
use http::{Response, header, response};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A routed exchange.
pub(crate) struct RoutedExchange {
    pub(crate) shared: Arc<Shared>,
    /// The label that was chosen.
    pub(crate) label: String,
    /// The planned attempts, in the order of the route's targets.
    pub(crate) plan: Vec<Plan>,
    pub(crate) began: Instant,
    /// The index of the current attempt.
    current: AtomicUsize,
    /// Held until the last attempt has its result.
    probe: Mutex<Option<Probe>>,
    /// Whether [`ended`](Self::ended) will be called.
    is_observed: bool,
    /// Whether a provider answered with a status of success.
    was_accepted: AtomicBool,
    /// Where it is noted for pages.
    decision: DecisionId,
}

impl RoutedExchange {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        label: String,
        planned: Planned,
        is_observed: bool,
        decision: DecisionId,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            label,
            plan: planned.attempts,
            began: Instant::now(),
            current: AtomicUsize::new(0),
            probe: Mutex::new(planned.probe),
            is_observed,
            was_accepted: AtomicBool::new(false),
            decision,
        }
    }

    /// The provider and model of the current attempt, for the log.
    fn answered_by(&self) -> String {
        self.current_plan().map(Plan::name).unwrap_or_default()
    }

    fn current_plan(&self) -> Option<&Plan> {
        self.plan.get(self.current.load(Ordering::Relaxed))
    }

    /// The index of the next planned attempt with another target whose provider takes requests now: what this request and others met
    /// since it was planned counts.
    fn next_target(&self, current: usize) -> Option<usize> {
        let now = Instant::now();
        let mut target = &self.plan.get(current)?.prepared;
        for (index, plan) in self.plan.iter().enumerate().skip(current + 1) {
            if Arc::ptr_eq(&plan.prepared, target) {
                continue;
            }
            target = &plan.prepared;
            match target.provider.circuit(now) {
                BreakerState::Closed => return Some(index),
                BreakerState::Open { .. } => {}
                BreakerState::HalfOpen => {
                    if let Some(probe) = target.provider.probe(now) {
                        self.hold(probe);
                        return Some(index);
                    }
                }
            }
        }
        None
    }

    /// The index of the next planned attempt with another key for the same target.
    fn next_key(&self, current: usize) -> Option<usize> {
        let target = &self.plan.get(current)?.prepared;
        let next = self.plan.get(current + 1)?;
        Arc::ptr_eq(&next.prepared, target).then_some(current + 1)
    }

    fn answered(&self, index: usize, plan: &Plan, head: &response::Parts, elapsed: Duration) -> Next {
        let status = head.status.as_u16();
        let pause = head.headers.get(header::RETRY_AFTER);
        let pause = pause.and_then(|value| retry_after(value.to_str().ok()?, SystemTime::now()));
        let provider = &plan.prepared.provider;
        provider.answered(plan.key, status, pause, self.is_observed, Instant::now());
        let was_accepted = self
            .was_accepted
            .swap(head.status.is_success(), Ordering::Relaxed);
        if head.status.is_success() {
            if !self.is_observed {
                let (label, by, ms) = (&self.label, self.answered_by(), self.began.elapsed().as_millis());
                tracing::info!(
                    "LOCAL_OK {label} → {by} ({ms}ms until it began; x-grov-bypass: not observed)"
                );
                self.note_end("began; not observed");
            }
            return Next::Stop;
        }
        let other_key = is_about_key(status).then(|| self.next_key(index)).flatten();
        let next = other_key.or_else(|| is_retryable(status).then(|| self.next_target(index)).flatten());
        let what = if was_accepted {
            format!("accepted, but the answer is an error (status {status})")
        } else {
            format!("status {status}")
        };
        self.log_error(ErrorCategory::Http(status), &what, elapsed, next);
        self.go_on(next)
    }

    fn failed(&self, index: usize, plan: &Plan, failure: &Unanswered, elapsed: Duration) -> Next {
        let is_of_provider = failure.kind != FailureKind::Request;
        let next = is_of_provider.then(|| self.next_target(index)).flatten();
        let Failure {
            category, message, ..
        } = self.translated(failure);
        // An answer that was accepted before may have turned out to be unusable.
        self.was_accepted.store(false, Ordering::Relaxed);
        if is_of_provider {
            let fault = self.unnamed(failure).message;
            // A reader of the state needs no category.
            let fault = fault.split_once("] ").map_or(fault.as_str(), |(_, text)| text);
            plan.prepared.provider.failed(fault, Instant::now());
        }
        self.log_error(category, &message, elapsed, next);
        self.go_on(next)
    }

    /// Returns the failure as the client and the log see it.
    fn translated(&self, failure: &Unanswered) -> Failure {
        let provider = self
            .current_plan()
            .map_or("", |plan| &plan.prepared.target.provider);
        self.unnamed(failure).of_provider(provider)
    }

    /// Returns the failure without the provider's name.
    fn unnamed(&self, failure: &Unanswered) -> Failure {
        let detail = self.masked(&failure.detail);
        let detail = detail.as_ref();
        let endpoint = self.current_plan().map(|plan| &plan.prepared.target.endpoint);
        let at = endpoint.map_or_else(String::new, |endpoint| format!(" at {endpoint}"));
        match failure.kind {
            FailureKind::Unreachable => Failure::transport(&format!("connection error{at}: {detail}")),
            FailureKind::TimedOut => Failure::transport(&format!("timed out{at}: {detail}")),
            FailureKind::Request => Failure::bad_request(detail),
            FailureKind::Response => Failure::unreadable(detail),
        }
    }

    /// Why an answer whose status was a success is of no use; `None` if it is of use, or the fault is not the provider's.
    fn fault_of(&self, exchange: &ObservedExchange) -> Option<String> {
        match exchange.outcome {
            Outcome::Complete => is_empty(exchange).then(|| EMPTY.to_owned()),
            Outcome::ClientGone => None,
            // The request's own fault, such as a prompt that is too long.
            Outcome::UpstreamError if (400..429).contains(&exchange.status) => None,
            Outcome::Truncated | Outcome::UpstreamError => {
                let error = self.error_of(exchange);
                (!is_about_request(category_of(&error))).then(|| fault_in_words(&error))
            }
        }
    }

    /// The error of an answer, without secrets.
    fn error_of(&self, exchange: &ObservedExchange) -> String {
        let error = exchange.turn.error.as_ref().map(|error| error.message.as_str());
        let detail = self.masked(error.unwrap_or("the response was not complete"));
        redact_provider_text(&detail)
    }

    /// Holds the probe of another provider, and gives up the one before.
    fn hold(&self, probe: Probe) {
        let mut held = self.probe.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(probe);
    }

    fn release_probe(&self) {
        self.probe.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// A text of the current provider without its keys.
    fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.current_plan() {
            Some(plan) => mask_keys(text, &plan.prepared.provider.keys),
            None => Cow::Borrowed(text),
        }
    }

    /// Notes for pages how it ended.
    fn note_end(&self, result: &str) {
        let ms = self.began.elapsed().as_millis();
        self.shared
            .decisions
            .ended(self.decision, result, self.answered_by(), ms);
    }

    fn go_on(&self, next: Option<usize>) -> Next {
        match next {
            Some(next) => {
                self.shared.counters.retried.increment();
                Next::TryAt(next)
            }
            None => Next::Stop,
        }
    }

    fn log_error(&self, category: ErrorCategory, detail: &str, elapsed: Duration, next: Option<usize>) {
        let Self { label, .. } = self;
        let (by, ms) = (self.answered_by(), elapsed.as_millis());
        let what = format!("{by}: {detail} after {ms} ms");
        self.shared.decisions.failed(self.decision, what);
        if next.is_none() {
            self.note_end("failed");
        }
        match next.and_then(|next| self.plan.get(next)).map(Plan::name) {
            Some(next) => {
                tracing::warn!("[LOCAL_ERR:{category}] {label} → {by} ({ms}ms): {detail}; next is {next}")
            }
            None => tracing::warn!("[LOCAL_ERR:{category}] {label} → {by} ({ms}ms): {detail}"),
        }
    }

    /// Logs and counts the exchange after its response ended.
    pub(crate) fn ended(&self, exchange: &ObservedExchange) {
        let Self { label, shared, .. } = self;
        let counters = &shared.counters;
        let usage = &exchange.turn.usage;
        let (by, ms) = (self.answered_by(), self.began.elapsed().as_millis());
        for (counter, tokens) in [
            (&counters.input_tokens, usage.input),
            (&counters.cached_tokens, usage.cache_read),
            (&counters.output_tokens, usage.output),
        ] {
            counter.add(usize::try_from(tokens).unwrap_or(usize::MAX));
        }
        if let Some(plan) = self.current_plan() {
            shared.usage.report(&plan.prepared.target, exchange);
        }
        let fault = self.fault_of(exchange);
        if self.was_accepted.load(Ordering::Relaxed)
            && exchange.outcome != Outcome::ClientGone
            && let Some(plan) = self.current_plan()
        {
            plan.prepared.provider.ended(fault.as_deref(), Instant::now());
        }
        self.release_probe();
        if exchange.outcome == Outcome::Complete && fault.is_some() {
            counters.failed.increment();
            self.shared
                .decisions
                .failed(self.decision, format!("{by}: {EMPTY} after {ms} ms"));
            self.note_end("failed");
            tracing::warn!("[LOCAL_ERR:PARSE] {label} → {by} ({ms}ms): {EMPTY}");
            return;
        }
        if exchange.outcome == Outcome::Complete {
            counters.completed.increment();
            self.note_end("complete");
            let (input, output) = (
                usage.input + usage.cache_read + usage.cache_creation,
                usage.output,
            );
            tracing::info!("LOCAL_OK {label} → {by} ({ms}ms, in={input} out={output})");
            if let Some(plan) = self.current_plan() {
                let body = exchange.request.body();
                shared.calibrator.add(body, input, &plan.prepared.provider);
            }
            return;
        }
        counters.failed.increment();
        self.note_end("failed");
        // An error status of the provider was logged when it arrived. One that was made of an unreadable answer was not.
        if self.was_accepted.load(Ordering::Relaxed) {
            let detail = self.error_of(exchange);
            let category = match exchange.status {
                200 => "STREAM",
                _ => category_of(&detail),
            };
            tracing::warn!(
                "[LOCAL_ERR:{category}] {label} → {by} ({ms}ms): {:?}: {detail}",
                exchange.outcome
            );
        }
    }
}

/// What is wrong with an answer without any content.
const EMPTY: &str = "the answer is empty";

/// Whether the model said nothing, although the request left it room to.
fn is_empty(exchange: &ObservedExchange) -> bool {
    let reason = exchange.turn.stop_reason.as_deref();
    exchange.turn.is_empty() && !matches!(reason, Some("max_tokens" | "stop_sequence" | "refusal"))
}

/// Whether an error inside an answer is the request's fault: a status of a refusal that no other key or attempt would change.
fn is_about_request(category: &str) -> bool {
    let status = category
        .strip_prefix("HTTP_")
        .and_then(|status| status.parse().ok());
    status.is_some_and(|status| {
        (400..500).contains(&status) && status != 404 && !is_about_key(status) && !is_retryable(status)
    })
}

/// A fault without the provider's own words, which may repeat the request: any user of the machine can read the state.
fn fault_in_words(error: &str) -> String {
    let category = if error.starts_with('[') {
        category_of(error)
    } else {
        ""
    };
    match (category, category.strip_prefix("HTTP_")) {
        (_, Some(status)) => format!("the answer reports status {status}"),
        ("", _) => "the answer broke off".to_owned(),
        _ => format!("the answer broke off ({category})"),
    }
}

/// The category at the beginning of the message of a failure.
fn category_of(message: &str) -> &str {
    let category = message.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    category.map_or("PARSE", |(category, _)| category)
}

impl Failover for RoutedExchange {
    fn attempted(&self, attempt: &Attempt<'_>) -> Next {
        let index = attempt.target;
        self.current.store(index, Ordering::Relaxed);
        let Some(plan) = self.plan.get(index) else {
            return Next::Stop;
        };
        let next = match &attempt.result {
            AttemptResult::Answered(head) => self.answered(index, plan, head, attempt.elapsed),
            AttemptResult::Failed(failure) => self.failed(index, plan, failure, attempt.elapsed),
            AttemptResult::Abandoned => {
                let (label, by) = (&self.label, self.answered_by());
                tracing::info!("LOCAL_GONE {label} → {by}: the client disconnected before the response");
                self.note_end("the client disconnected");
                Next::Stop
            }
        };
        // The end of an accepted request decides, if it is seen.
        let is_open = self.is_observed && self.was_accepted.load(Ordering::Relaxed);
        if next == Next::Stop && !is_open {
            self.release_probe();
        }
        next
    }

    fn exhausted(&self, failure: &Unanswered) -> Option<Response<Bytes>> {
        self.shared.counters.failed.increment();
        Some(answers::failure(&self.translated(failure)))
    }
}
