//! Turns a proposal into an item and the call that decides it: the policy of governed memory.

use super::contradiction::{KnownItem, is_repeated};
use crate::subject::Subject;
use crate::tool::{MAX_CONTENT_CHARS, TTL_SECONDS};
use crate::tool_call::PROPOSE_ADD;
use crate::{
    AgentStore, AgentStoreError, CALL_LIFETIME, Evidence, METRIC_LIFETIME, MemoryFilter, MemoryItem,
    MemoryItemId, MemoryStatus, MemoryType, Page, ProjectId, Risk, ThreadId, ToolCall, ToolCallId,
    ToolCallStatus, webhook,
};
use grov_redact::Redacted;
use serde_json::json;
use time::{Duration, OffsetDateTime};

/// How many items are compared with a proposal, the newest.
const MAX_COMPARED: usize = 2_000;

/// The most pieces of evidence of an item.
const MAX_EVIDENCE: usize = 16;

/// Something that shall be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What it is.
    pub kind: MemoryType,
    /// The words.
    pub content: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// How long it lives, from a second to ten years; `None` for 7 days for a metric and for ever for everything else. An event lives
    /// for ever.
    pub ttl: Option<Duration>,
    /// The item that it replaces once it is accepted.
    pub supersedes: Option<MemoryItemId>,
}

/// A proposal as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    /// The item: an event is active and a metric accepted at once, everything else waits as `proposed`.
    pub item: MemoryItem,
    /// The call whose approval or rejection decides the item, if it waits.
    pub call: Option<ToolCall>,
}

/// Why nothing was proposed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeFailed {
    /// The proposal does not hold: what, and where in it.
    #[error("{message}")]
    Invalid {
        /// A JSON pointer into the proposal.
        path: &'static str,
        /// What does not hold.
        message: String,
    },
    /// An item in force or an open proposal says the same.
    #[error("the item {0} already says this; nothing was proposed")]
    Known(MemoryItemId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] AgentStoreError),
}

/// Where and when something is proposed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProposedAt {
    pub(crate) project: ProjectId,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) now: OffsetDateTime,
}

/// Proposes an item from outside of a chat and stores it as `id`, with the call that decides it and the event for the webhook.
///
/// # Errors
///
/// Returns why nothing was stored.
pub async fn propose(
    store: &dyn AgentStore,
    project: ProjectId,
    id: MemoryItemId,
    proposal: Proposal,
    has_webhook: bool,
    now: OffsetDateTime,
) -> Result<Proposed, ProposeFailed> {
    if store.project(project).await?.is_none() {
        return Err(AgentStoreError::NotFound("project").into());
    }
    if let Some(id) = proposal.supersedes {
        let replaced = store.item(project, id).await?;
        let replaced = replaced.ok_or(AgentStoreError::NotFound("memory item"))?;
        replaced
            .must_be_replaceable(now)
            .map_err(|message| ProposeFailed::Invalid {
                path: "/supersedes",
                message,
            })?;
        must_replace(proposal.kind, replaced.kind)?;
    }
    let known = known_items(store, project).await?;
    let at = ProposedAt {
        project,
        thread: None,
        now: whole_micros(now),
    };
    let built = build(proposal, &known, at);
    if let Err(ProposeFailed::Known(known)) = &built
        && *known == id
    {
        // The same request, which another task has answered meanwhile.
        return stored(store, project, id).await;
    }
    let Proposed { mut item, mut call } = built?;
    item.id = id;
    if let Some(call) = &mut call {
        call.memory_item_id = Some(id);
    }
    let (item, call) = (Redacted::of(&item), call.map(|call| Redacted::of(&call)));
    let events = match item.status {
        MemoryStatus::Proposed if has_webhook => vec![webhook::memory_proposed(&item, call.as_deref())],
        _ => Vec::new(),
    };
    match store.add_item(&item, call.as_ref(), &events).await {
        Ok(()) => Ok(Proposed {
            item: item.into_inner(),
            call: call.map(Redacted::into_inner),
        }),
        Err(AgentStoreError::Conflict(message)) => match stored(store, project, id).await {
            Ok(proposed) => Ok(proposed),
            Err(_) => Err(AgentStoreError::Conflict(message).into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// Returns what is stored as `id`: its call is that of who stored it.
async fn stored(
    store: &dyn AgentStore,
    project: ProjectId,
    id: MemoryItemId,
) -> Result<Proposed, ProposeFailed> {
    let item = store.item(project, id).await?;
    let item = item.ok_or(AgentStoreError::NotFound("memory item"))?;
    Ok(Proposed { item, call: None })
}

/// Returns the items with which a proposal is compared: those in force and the open proposals, the newest 2,000.
pub(crate) async fn known_items(
    store: &dyn AgentStore,
    project: ProjectId,
) -> Result<Vec<KnownItem>, AgentStoreError> {
    let filter = MemoryFilter {
        types: Vec::new(),
        statuses: vec![
            MemoryStatus::Proposed,
            MemoryStatus::Accepted,
            MemoryStatus::Active,
            MemoryStatus::Blocked,
        ],
    };
    let mut items = Vec::new();
    let mut page = Page {
        limit: 200,
        after: None,
    };
    loop {
        let listed = store.items(project, &filter, &page).await?;
        items.extend(listed.items.into_iter().map(KnownItem::of));
        page.after = listed.next;
        if page.after.is_none() || items.len() >= MAX_COMPARED {
            return Ok(items);
        }
    }
}

/// Returns a time without what is shorter than a microsecond, which no store keeps: what is answered is what is stored.
pub(crate) fn whole_micros(time: OffsetDateTime) -> OffsetDateTime {
    time.replace_nanosecond(time.microsecond() * 1_000)
        .unwrap_or(time)
}

/// Builds the item of a proposal, and the call that decides it if it waits for a person. Secrets in it are masked first.
pub(crate) fn build(
    proposal: Proposal,
    known: &[KnownItem],
    at: ProposedAt,
) -> Result<Proposed, ProposeFailed> {
    let invalid = |path, message: String| Err(ProposeFailed::Invalid { path, message });
    let Proposal {
        kind,
        content,
        mut evidence,
        ttl,
        supersedes,
    } = proposal;
    let content = Redacted::of(&content).trim().to_owned();
    if content.is_empty() {
        return invalid(
            "/content",
            "the content is empty; say what shall be remembered".to_owned(),
        );
    }
    if content.chars().count() > MAX_CONTENT_CHARS {
        return invalid(
            "/content",
            format!("the content has more than {MAX_CONTENT_CHARS} characters; shorten it"),
        );
    }
    if let Some(ttl) = ttl
        && !TTL_SECONDS.contains(&ttl.whole_seconds())
    {
        let (least, most) = (TTL_SECONDS.start(), TTL_SECONDS.end());
        return invalid(
            "/ttl_seconds",
            format!("the lifetime is from {least} to {most} seconds"),
        );
    }
    if let Some(id) = supersedes
        && let Some(replaced) = known.iter().find(|known| known.item.id == id)
    {
        must_replace(kind, replaced.item.kind)?;
    }
    let subject = Subject::of(&content);
    let repeated = known.iter().find(|known| {
        let is_open = known.item.status == MemoryStatus::Proposed || known.item.is_in_force(at.now);
        is_open && is_repeated(kind, &subject, known, at.now)
    });
    if let Some(known) = repeated {
        return Err(ProposeFailed::Known(known.item.id));
    }
    evidence.truncate(MAX_EVIDENCE);
    let item = MemoryItem {
        id: MemoryItemId::fresh(),
        project_id: at.project,
        kind,
        status: first_status(kind),
        contradicts: contradicted(kind, &subject, supersedes, known, at.now),
        content,
        evidence,
        supersedes,
        superseded_by: None,
        reason: None,
        expires_at: lifetime(kind, ttl).map(|ttl| at.now.saturating_add(ttl)),
        created_at: at.now,
        updated_at: at.now,
        decided_by: None,
    };
    let item = Redacted::of(&item).into_inner();
    let call = (item.status == MemoryStatus::Proposed).then(|| add_call(&item, at));
    Ok(Proposed { item, call })
}

/// What nobody approves does not replace what somebody approved.
fn must_replace(kind: MemoryType, replaced: MemoryType) -> Result<(), ProposeFailed> {
    if kind.may_replace(replaced) {
        return Ok(());
    }
    Err(ProposeFailed::Invalid {
        path: "/supersedes",
        message: format!(
            "an item of type {kind} is accepted without a person, so it cannot replace one of type {replaced}; propose an item \
             of that type"
        ),
    })
}

/// An event is in force and a metric accepted without a person; everything else waits for one.
fn first_status(kind: MemoryType) -> MemoryStatus {
    match kind {
        MemoryType::Event => MemoryStatus::Active,
        MemoryType::Metric => MemoryStatus::Accepted,
        _ => MemoryStatus::Proposed,
    }
}

fn lifetime(kind: MemoryType, ttl: Option<Duration>) -> Option<Duration> {
    match kind {
        MemoryType::Event => None,
        MemoryType::Metric => Some(ttl.unwrap_or(METRIC_LIFETIME)),
        _ => ttl,
    }
}

/// Returns the items in force that the words contradict. What happened and what was measured contradicts nothing, and nothing
/// contradicts it.
fn contradicted(
    kind: MemoryType,
    content: &Subject,
    supersedes: Option<MemoryItemId>,
    known: &[KnownItem],
    now: OffsetDateTime,
) -> Vec<MemoryItemId> {
    if kind.is_accepted_at_once() {
        return Vec::new();
    }
    known
        .iter()
        .filter(|known| known.item.is_in_force(now) && !known.item.kind.is_accepted_at_once())
        .filter(|known| Some(known.item.id) != supersedes && known.contradicts(content))
        .map(|known| known.item.id)
        .collect()
}

fn add_call(item: &MemoryItem, at: ProposedAt) -> ToolCall {
    ToolCall {
        id: ToolCallId::fresh(),
        project_id: at.project,
        thread_id: at.thread,
        name: PROPOSE_ADD.to_owned(),
        arguments: json!({"type": item.kind, "content": item.content}),
        status: ToolCallStatus::AwaitingApproval,
        requires_approval: true,
        risk: Risk::Low,
        reason: String::new(),
        result: None,
        error: None,
        decided_by: None,
        memory_item_id: Some(item.id),
        created_at: at.now,
        expires_at: at.now.saturating_add(CALL_LIFETIME),
    }
}

#[cfg(test)]
mod tests;
