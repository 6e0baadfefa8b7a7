//! The seam through which something may be added to a request.

use crate::request::MessagesRequest;
use async_trait::async_trait;
use futures_util::FutureExt;
use grov_wire::Edit;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// How long all policies together may look for new text before the request goes out without it.
pub(crate) const NEW_TEXT_BUDGET: Duration = Duration::from_millis(10);

/// Decides what is added to a request to the Messages API.
///
/// A policy that panics, or proposes edits that do not fit the request, changes nothing: the request goes out as
/// the client sent it, and the fault is logged and counted. Policies are not asked for requests that carry
/// `x-grov-bypass: 1`, nor for bodies that are no valid Messages request.
#[async_trait]
pub trait RequestPolicy: Send + Sync + 'static {
    /// Name for log and metrics.
    fn name(&self) -> &'static str;

    /// Brings into memory what [`Self::replay`] needs. It is exempt from the time budget for new text, for what was
    /// added to a history before has to be there again; it should wait for something once per conversation at most.
    async fn prepare(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// What was added to this history before and has to be there again, byte for byte. From memory only: it is
    /// exempt from the time budget, so it must not wait for anything.
    fn replay(&self, request: &MessagesRequest) -> Vec<Edit> {
        let _ = request;
        Vec::new()
    }

    /// What is to be added for the first time. All policies together have 10 ms; what comes later is dropped.
    async fn propose(&self, request: &MessagesRequest) -> Vec<Edit> {
        let _ = request;
        Vec::new()
    }

    /// The edits of all policies did not fit together: the request goes out as the client sent it.
    fn untouched(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// The upstream took the request as it was edited, or untouched: its answer has begun.
    fn accepted(&self, request: &MessagesRequest) {
        let _ = request;
    }

    /// The upstream refused the edited request and took the original.
    fn refused(&self, request: &MessagesRequest) {
        let _ = request;
    }
}

/// Tells every policy something about its request; one that panics hears no more of it.
pub(crate) fn tell(
    policies: &[Arc<dyn RequestPolicy>],
    request: &MessagesRequest,
    what: fn(&dyn RequestPolicy, &MessagesRequest),
) {
    for policy in policies {
        if std::panic::catch_unwind(AssertUnwindSafe(|| what(policy.as_ref(), request))).is_err() {
            tracing::error!(policy = policy.name(), "a policy panicked");
        }
    }
}

/// What came of asking the policies.
#[derive(Default)]
pub(crate) struct Planned {
    pub(crate) edits: Vec<Edit>,
    /// Policies that panicked.
    pub(crate) panicked: Vec<&'static str>,
    /// The time budget was spent.
    pub(crate) over_budget: bool,
}

/// Asks every policy in order: all replays first, then new text within the budget.
pub(crate) async fn plan(policies: &[Arc<dyn RequestPolicy>], request: &MessagesRequest) -> Planned {
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
    let deadline = tokio::time::Instant::now() + NEW_TEXT_BUDGET;
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
