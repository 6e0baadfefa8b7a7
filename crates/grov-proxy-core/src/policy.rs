//! Policies, which add text to requests.

use crate::metrics::Metrics;
use crate::request::MessagesRequest;
use crate::sent_edits::SentEdits;
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt;
use grov_wire::{Edit, Splice};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time limit for the proposals of all policies together.
const PROPOSAL_TIMEOUT: Duration = Duration::from_millis(10);

/// Adds text to requests to the Messages API.
///
/// For each `POST /v1/messages`, the proxy calls [`prepare`](Self::prepare) of every policy, then [`replay`](Self::replay), then
/// [`propose`](Self::propose), and applies all edits together with [`Splice::apply`]. If a policy panics, its edits are omitted
/// and the fault `policy_panic` is counted. If the edits do not fit the request, the request is forwarded unchanged and the
/// fault `splice_refused` is counted.
///
/// Policies are not called for requests with the header `x-grov-bypass: 1`, or for bodies that are not valid Messages requests.
///
/// # Blocking and cancellation
/// Policies run on the thread that serves the connection and must not block it. If the client disconnects, the futures of
/// `prepare` and `propose` are dropped at their next `await`. The future of `propose` is also dropped when its time is up.
///
/// # Example
///
/// ```
/// use async_trait::async_trait;
/// use grov_proxy_core::{MessagesRequest, RequestPolicy};
/// use grov_wire::{Edit, text_block};
///
/// /// Appends a rule to the newest user message.
/// struct HouseRule;
///
/// #[async_trait]
/// impl RequestPolicy for HouseRule {
///     fn name(&self) -> &'static str {
///         "house-rule"
///     }
///
///     async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
///         let message = request.index().and_then(|index| index.newest_user_message());
///         let end = message.and_then(|message| message.insertion_point_at_end());
///         let insert = |at| Edit::insert(at, text_block("Tests first."));
///         end.map(insert).into_iter().collect()
///     }
/// }
/// ```
#[async_trait]
pub trait RequestPolicy: Send + Sync + 'static {
    /// Returns the name for log lines.
    fn name(&self) -> &'static str;

    /// Loads the state that [`replay`](Self::replay) needs. It has no time limit and delays the request, so it should wait at most
    /// once per conversation.
    async fn prepare(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// Returns the edits that were made to earlier requests of this conversation. They must be the same bytes at the same places;
    /// otherwise the upstream's prompt cache misses.
    fn replay(&self, request: &MessagesRequest) -> Vec<Edit> {
        let _ = request;
        Vec::new()
    }

    /// Returns new edits. All policies together have 10 ms; later proposals are dropped and the fault `policy_over_budget` is
    /// counted.
    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let _ = request;
        Vec::new()
    }

    /// Called when the edits were discarded, because they do not fit or editing panicked, and the request is forwarded unchanged.
    fn edits_discarded(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// Called when the upstream accepted the request, edited or not.
    fn accepted(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// Called when the upstream rejected the edited request with 400, 413 or 422, or the codec could not translate it, and the upstream
    /// accepted the original. The policy should not edit this conversation again, because each such request is sent twice.
    fn edits_rejected(&self, request: &MessagesRequest) {
        let _ = request;
    }
}

/// The policies of a proxy.
pub(crate) struct Policies {
    policies: Vec<Arc<dyn RequestPolicy>>,
    metrics: Arc<Metrics>,
}

impl Policies {
    pub(crate) fn new(policies: Vec<Arc<dyn RequestPolicy>>, metrics: Arc<Metrics>) -> Self {
        Self { policies, metrics }
    }

    /// Returns the edited body as slices, or `None` if the request is forwarded unchanged.
    pub(crate) async fn edit(&self, request: &MessagesRequest) -> Option<Vec<Bytes>> {
        let edited = AssertUnwindSafe(self.edited(request)).catch_unwind().await;
        edited.unwrap_or_else(|_| {
            self.metrics.fault("edit_panic");
            tracing::error!("panic while editing a request; it is forwarded unchanged");
            self.notify(request, |policy, request| policy.edits_discarded(request));
            None
        })
    }

    /// Notifies the policies that the upstream accepted the request.
    pub(crate) fn accepted(&self, request: &MessagesRequest) {
        self.notify(request, |policy, request| policy.accepted(request));
    }

    /// Notifies the policies that the upstream rejected the edited request and accepted the original.
    pub(crate) fn edits_rejected(&self, request: &MessagesRequest) {
        self.metrics.fault("edit_refused_upstream");
        if let Some(edits) = request.extensions().get_mut::<SentEdits>() {
            edits.refused = true;
        }
        tracing::error!("the upstream rejected an edited request and accepted the original");
        self.notify(request, |policy, request| policy.edits_rejected(request));
    }

    async fn edited(&self, request: &MessagesRequest) -> Option<Vec<Bytes>> {
        if self.policies.is_empty() {
            return None;
        }
        let index = request.index()?;
        let planned = plan(&self.policies, request).await;
        for (policy, took) in self.policies.iter().zip(&planned.took) {
            self.metrics.policy(policy.name(), *took);
        }
        for name in planned.panicked {
            self.metrics.fault("policy_panic");
            tracing::error!(policy = name, "a policy panicked; its edits are omitted");
        }
        if planned.over_budget {
            self.metrics.fault("policy_over_budget");
            tracing::warn!("the policies exceeded their time limit; new text is omitted");
        }
        if planned.edits.is_empty() {
            return None;
        }
        match Splice::apply(index, &planned.edits) {
            Ok(chunks) => {
                self.metrics.edited.inc();
                let pieces = chunks.into_vec();
                request
                    .extensions()
                    .insert(SentEdits::of(request.body(), &pieces));
                Some(pieces)
            }
            Err(error) => {
                self.metrics.fault("splice_refused");
                tracing::error!(%error, "the edits do not fit the request; it is forwarded unchanged");
                self.notify(request, |policy, request| policy.edits_discarded(request));
                None
            }
        }
    }

    /// Calls a function of every policy and catches panics.
    fn notify(&self, request: &MessagesRequest, what: fn(&dyn RequestPolicy, &MessagesRequest)) {
        for policy in &self.policies {
            if std::panic::catch_unwind(AssertUnwindSafe(|| what(policy.as_ref(), request))).is_err() {
                tracing::error!(policy = policy.name(), "a policy panicked");
            }
        }
    }
}

/// The edits of all policies.
#[derive(Default)]
struct Planned {
    edits: Vec<Edit>,
    /// The policies that panicked.
    panicked: Vec<&'static str>,
    /// Whether the time ran out.
    over_budget: bool,
    /// The time that each policy took.
    took: Vec<Duration>,
}

/// Calls every policy in order: all replays first, then proposals until the time is up.
async fn plan(policies: &[Arc<dyn RequestPolicy>], request: &MessagesRequest) -> Planned {
    let mut planned = Planned {
        took: vec![Duration::ZERO; policies.len()],
        ..Planned::default()
    };
    for (policy, took) in policies.iter().zip(&mut planned.took) {
        let begun = Instant::now();
        let preparing = AssertUnwindSafe(async { policy.prepare(request).await }).catch_unwind();
        if preparing.await.is_err() {
            planned.panicked.push(policy.name());
        }
        *took += begun.elapsed();
    }
    for (policy, took) in policies.iter().zip(&mut planned.took) {
        let begun = Instant::now();
        if planned.panicked.contains(&policy.name()) {
            continue;
        }
        match std::panic::catch_unwind(AssertUnwindSafe(|| policy.replay(request))) {
            Ok(edits) => planned.edits.extend(edits),
            Err(_) => planned.panicked.push(policy.name()),
        }
        *took += begun.elapsed();
    }
    let deadline = tokio::time::Instant::now() + PROPOSAL_TIMEOUT;
    for (policy, took) in policies.iter().zip(&mut planned.took) {
        let begun = Instant::now();
        if planned.panicked.contains(&policy.name()) {
            continue;
        }
        // Called inside the future: `propose` itself may panic.
        let proposal = AssertUnwindSafe(async { policy.propose(request).await }).catch_unwind();
        let proposed = tokio::time::timeout_at(deadline, proposal).await;
        *took += begun.elapsed();
        match proposed {
            Ok(Ok(edits)) => planned.edits.extend(edits),
            Ok(Err(_)) => planned.panicked.push(policy.name()),
            Err(_) => {
                planned.over_budget = true;
                break;
            }
        }
    }
    planned
}
