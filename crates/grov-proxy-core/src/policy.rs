//! Policies: they add text to requests.

use crate::metrics::Metrics;
use crate::request::MessagesRequest;
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt;
use grov_wire::{Edit, Splice};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// Time for the proposals of all policies together.
const PROPOSAL_TIMEOUT: Duration = Duration::from_millis(10);

/// Adds text to requests to the Messages API.
///
/// The proxy calls [`prepare`](Self::prepare) and [`replay`](Self::replay) of every policy, then
/// [`propose`](Self::propose), and applies all edits together. If a policy panics, its edits are left out. If the edits do not
/// fit the request, it goes out as the client sent it. Both are logged and counted as faults.
///
/// Policies are not asked for requests with the header `x-grov-bypass: 1`, and for bodies that are not valid Messages
/// requests. They run on the thread that serves the connection and must not block.
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
///         let insert = |at| Edit::Insert { at, bytes: text_block("Tests first.") };
///         end.map(insert).into_iter().collect()
///     }
/// }
/// ```
#[async_trait]
pub trait RequestPolicy: Send + Sync + 'static {
    /// Returns the name for log lines.
    fn name(&self) -> &'static str;

    /// Loads what [`replay`](Self::replay) needs. Has no time limit; it should wait at most once per conversation.
    async fn prepare(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// Returns the edits that were made to this history before. They must be repeated byte for byte, or the cached prompt is
    /// lost. Must not block.
    fn replay(&self, request: &MessagesRequest) -> Vec<Edit> {
        let _ = request;
        Vec::new()
    }

    /// Returns new edits. All policies together have 10 ms; later proposals are dropped.
    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let _ = request;
        Vec::new()
    }

    /// Called when the edits did not fit and the request goes out as the client sent it.
    fn untouched(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// Called when the upstream accepted the request, edited or not.
    fn accepted(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// Called when the upstream rejected the edited request and accepted the original. The policy should not edit this
    /// conversation again: each such request is sent twice.
    fn refused(&self, request: &MessagesRequest) {
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

    /// Returns the edited body as slices, or `None` if the request goes out unchanged.
    pub(crate) async fn edit(&self, request: &MessagesRequest) -> Option<Vec<Bytes>> {
        let edited = AssertUnwindSafe(self.edited(request)).catch_unwind().await;
        edited.unwrap_or_else(|_| {
            self.metrics.fault("edit_panic");
            tracing::error!("a panic while a request was edited; it goes out untouched");
            self.notify(request, |policy, request| policy.untouched(request));
            None
        })
    }

    /// Tells the policies that the upstream accepted the request.
    pub(crate) fn accepted(&self, request: &MessagesRequest) {
        self.notify(request, |policy, request| policy.accepted(request));
    }

    /// Tells the policies that the upstream rejected the edited request and accepted the original.
    pub(crate) fn refused(&self, request: &MessagesRequest) {
        self.metrics.fault("edit_refused_upstream");
        tracing::error!("the upstream refused an edited request and took the original");
        self.notify(request, |policy, request| policy.refused(request));
    }

    async fn edited(&self, request: &MessagesRequest) -> Option<Vec<Bytes>> {
        if self.policies.is_empty() {
            return None;
        }
        let index = request.index()?;
        let planned = plan(&self.policies, request).await;
        for name in planned.panicked {
            self.metrics.fault("policy_panic");
            tracing::error!(policy = name, "a policy panicked; its part is left out");
        }
        if planned.over_budget {
            self.metrics.fault("policy_over_budget");
            tracing::warn!("the policies took longer than allowed; new text is left out");
        }
        if planned.edits.is_empty() {
            return None;
        }
        match Splice::apply(index, &planned.edits) {
            Ok(chunks) => {
                self.metrics.edited();
                Some(chunks.into_vec())
            }
            Err(error) => {
                self.metrics.fault("splice_refused");
                tracing::error!(%error, "proposed edits do not fit the request; it goes out untouched");
                self.notify(request, |policy, request| policy.untouched(request));
                None
            }
        }
    }

    /// Calls a function of every policy. Panics are caught.
    fn notify(&self, request: &MessagesRequest, what: fn(&dyn RequestPolicy, &MessagesRequest)) {
        for policy in &self.policies {
            if std::panic::catch_unwind(AssertUnwindSafe(|| what(policy.as_ref(), request))).is_err() {
                tracing::error!(policy = policy.name(), "a policy panicked");
            }
        }
    }
}

/// The answers of the policies.
#[derive(Default)]
struct Planned {
    edits: Vec<Edit>,
    /// The policies that panicked.
    panicked: Vec<&'static str>,
    /// Whether the time ran out.
    over_budget: bool,
}

/// Asks every policy in order: all replays first, then proposals until the time runs out.
async fn plan(policies: &[Arc<dyn RequestPolicy>], request: &MessagesRequest) -> Planned {
    let mut planned = Planned::default();
    for policy in policies {
        let preparing = AssertUnwindSafe(async { policy.prepare(request).await }).catch_unwind();
        if preparing.await.is_err() {
            planned.panicked.push(policy.name());
        }
    }
    for policy in policies {
        if planned.panicked.contains(&policy.name()) {
            continue;
        }
        match std::panic::catch_unwind(AssertUnwindSafe(|| policy.replay(request))) {
            Ok(edits) => planned.edits.extend(edits),
            Err(_) => planned.panicked.push(policy.name()),
        }
    }
    let deadline = tokio::time::Instant::now() + PROPOSAL_TIMEOUT;
    for policy in policies {
        if planned.panicked.contains(&policy.name()) {
            continue;
        }
        // Called inside the future: a hand-written `propose` may panic before it returns one.
        let proposal = AssertUnwindSafe(async { policy.propose(request).await }).catch_unwind();
        match tokio::time::timeout_at(deadline, proposal).await {
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
