//! Turns a checked answer into what is stored: calls, memory items and events with their ids and states.

use super::draft::{Draft, DraftCall, DraftDecision, MemoryRequest};
use super::evidence::Quotable;
use crate::memory::{KnownItem, ProposedAt, build};
use crate::{
    CALL_LIFETIME, Decision, MemoryItem, MemoryStatus, NewEvent, Proposal, ProposeFailed, Proposed, Response,
    ToolCall, ToolCallId, ToolCallStatus, webhook,
};
use grov_redact::Redacted;
use serde_json::{Value, json};
use std::collections::HashMap;

/// What an answer is made of, besides the answer.
#[derive(Debug)]
pub(crate) struct Settling<'a> {
    pub(crate) at: ProposedAt,
    pub(crate) quotable: Quotable<'a>,
    /// Items in force and open proposals.
    pub(crate) known: Vec<KnownItem>,
    /// The items that the answer wants to change, by the id that it names.
    pub(crate) changed: HashMap<String, MemoryItem>,
    pub(crate) has_webhook: bool,
}

/// An answer with everything that is stored with it.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) response: Response,
    pub(crate) calls: Vec<Redacted<ToolCall>>,
    pub(crate) items: Vec<Redacted<MemoryItem>>,
    pub(crate) events: Vec<NewEvent>,
}

/// Gives everything in an answer its id and state.
pub(crate) fn settle(draft: Draft, mut settling: Settling<'_>) -> Settled {
    let mut settled = Settled {
        response: Response {
            decision: Decision::Noop {
                answer: String::new(),
            },
            citations: draft.citations,
            memory_proposals: Vec::new(),
        },
        calls: Vec::new(),
        items: Vec::new(),
        events: Vec::new(),
    };
    settled.response.decision = match draft.decision {
        DraftDecision::Act { calls, message } => Decision::Act {
            tool_calls: calls
                .into_iter()
                .map(|call| settling.call(call, &mut settled))
                .collect(),
            message,
        },
        DraftDecision::Ask {
            question,
            options,
            reason,
        } => Decision::Ask {
            question,
            options,
            reason,
        },
        DraftDecision::Noop { answer } => Decision::Noop { answer },
    };
    for request in draft.proposals {
        // What is known already needs no second proposal.
        if let Ok(proposed) = settling.proposed(request)
            && let Some(call) = settling.keep_item(proposed, &mut settled)
        {
            settled.calls.push(call);
        }
    }
    settled
}

impl Settling<'_> {
    /// Settles a requested call and returns it as it is stored.
    fn call(&mut self, draft: DraftCall, settled: &mut Settled) -> ToolCall {
        let mut call = ToolCall {
            id: ToolCallId::fresh(),
            project_id: self.at.project,
            thread_id: self.at.thread,
            name: draft.name,
            arguments: draft.arguments,
            status: if draft.requires_approval {
                ToolCallStatus::AwaitingApproval
            } else {
                ToolCallStatus::Approved
            },
            requires_approval: draft.requires_approval,
            risk: draft.risk,
            reason: draft.reason,
            result: None,
            error: None,
            decided_by: None,
            memory_item_id: None,
            created_at: self.at.now,
            expires_at: self.at.now.saturating_add(CALL_LIFETIME),
        };
        let mut has_own_event = false;
        match draft.memory {
            None => {}
            Some(MemoryRequest::Status { id }) => {
                call.memory_item_id = self.changed.get(&id).map(|item| item.id);
            }
            Some(request) => match self.proposed(request) {
                Ok(Proposed { item, call: waiting }) => {
                    call.memory_item_id = Some(item.id);
                    let is_waiting = waiting.is_some();
                    if !is_waiting {
                        succeed(
                            &mut call,
                            json!({"memory_item_id": item.id, "status": item.status}),
                        );
                    }
                    has_own_event = is_waiting;
                    let shown = is_waiting.then(|| call.clone());
                    let _ = self.keep_item(Proposed { item, call: shown }, settled);
                }
                Err(ProposeFailed::Known(id)) => {
                    succeed(&mut call, json!({"memory_item_id": id, "status": "known"}));
                    call.memory_item_id = None;
                }
                Err(other) => {
                    call.status = ToolCallStatus::Failed;
                    call.error = Some(other.to_string());
                }
            },
        }
        let call = Redacted::of(&call);
        if self.has_webhook && !has_own_event {
            settled.events.extend(webhook::tool_event(&call));
        }
        settled.calls.push(call.clone());
        call.into_inner()
    }

    /// Builds the item of a request.
    fn proposed(&self, request: MemoryRequest) -> Result<Proposed, ProposeFailed> {
        let proposal = match request {
            MemoryRequest::Add {
                kind,
                content,
                ttl,
                evidence,
            } => Proposal {
                kind,
                content,
                evidence: self.quotable.checked(&evidence),
                ttl,
                supersedes: None,
            },
            MemoryRequest::Words { id, content } => {
                let item = self.changed.get(&id).ok_or_else(|| unknown(&id))?;
                Proposal {
                    kind: item.kind,
                    content,
                    evidence: self.quotable.checked(&[]),
                    ttl: item.expires_at.map(|end| end - self.at.now),
                    supersedes: Some(item.id),
                }
            }
            MemoryRequest::Status { id } => return Err(unknown(&id)),
        };
        build(proposal, &self.known, self.at)
    }

    /// Stores an item with the answer and returns the call that decides it.
    fn keep_item(&mut self, proposed: Proposed, settled: &mut Settled) -> Option<Redacted<ToolCall>> {
        let item = Redacted::of(&proposed.item);
        let call = proposed.call.map(|call| Redacted::of(&call));
        if self.has_webhook && item.status == MemoryStatus::Proposed {
            settled
                .events
                .push(webhook::memory_proposed(&item, call.as_deref()));
        }
        self.known.push(KnownItem::of(proposed.item));
        settled.response.memory_proposals.push((*item).clone());
        settled.items.push(item);
        call
    }
}

fn succeed(call: &mut ToolCall, result: Value) {
    call.status = ToolCallStatus::Succeeded;
    call.requires_approval = false;
    call.result = Some(result);
}

fn unknown(id: &str) -> ProposeFailed {
    ProposeFailed::Invalid {
        path: "/id",
        message: format!("there is no memory item {id}"),
    }
}
