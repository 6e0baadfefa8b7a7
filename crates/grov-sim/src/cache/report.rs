//! Did anybody break the cache? Compares what each request read with what an earlier one of its conversation had
//! cached for it.

use super::{Plan, RenderedBlock, RenderedPrompt};
use crate::request::{MessagesRequest, Role, is_type};
use std::collections::HashMap;
use time::OffsetDateTime;

/// Why a prefix was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakReason {
    /// A block differs, was added or is gone.
    Changed {
        /// Its index in the rendered prompt.
        index: usize,
        /// What was there.
        before: String,
        /// What is there now.
        after: String,
    },
    /// The blocks are the same, a parameter of the request is not.
    Parameters,
    /// Nothing changed, but more than [`LOOK_BACK`](super::LOOK_BACK) blocks were added since.
    LookBack,
}

/// A prefix that an earlier request had cached and this one should have read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPrefix {
    /// Tokens that should have been read and were not.
    pub missed_tokens: u64,
    /// Why.
    pub reason: BreakReason,
}

/// One request as the cache saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheObservation {
    /// Session, and subagent if it was one.
    pub conversation: String,
    /// Tokens that an earlier request of the conversation had cached for this one; 0 when it continues none.
    pub expected_read: u64,
    /// Tokens read.
    pub actual_read: u64,
    /// Tokens written.
    pub written: u64,
    /// Neither.
    pub uncached: u64,
    /// Set when less was read than expected.
    pub broken: Option<BrokenPrefix>,
}

/// All requests that were answered, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheReport {
    /// The requests.
    pub requests: Vec<CacheObservation>,
}

impl CacheReport {
    /// The requests that missed what they should have read.
    pub fn broken(&self) -> impl Iterator<Item = &CacheObservation> {
        self.requests.iter().filter(|request| request.broken.is_some())
    }

    /// Tokens read by all requests.
    pub fn read(&self) -> u64 {
        self.requests.iter().map(|request| request.actual_read).sum()
    }

    /// Tokens written by all requests.
    pub fn written(&self) -> u64 {
        self.requests.iter().map(|request| request.written).sum()
    }
}

/// What one answered request left in the cache.
#[derive(Clone, Debug)]
struct Cached {
    model: String,
    opening: Option<String>,
    said: Vec<String>,
    blocks: Vec<RenderedBlock>,
    tokens: u64,
    dies: OffsetDateTime,
}

/// Keeps what the conversations have cached, as long as it lives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversations {
    cached: HashMap<String, Vec<Cached>>,
}

impl Conversations {
    /// Compares a planned request with the conversation's past.
    pub(crate) fn observe(
        &self,
        conversation: &str,
        request: &MessagesRequest,
        prompt: &RenderedPrompt,
        plan: &Plan,
        now: OffsetDateTime,
    ) -> CacheObservation {
        let (opening, said) = (opening(request), said(request));
        let past = self
            .cached
            .get(conversation)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let continued = past.iter().rev().find(|cached| {
            // A request that marks an earlier block than its predecessor, as a compaction does, cannot read all of it.
            cached.blocks.len() <= plan.cached_blocks
                && now < cached.dies
                && cached.model == prompt.model
                && cached.opening == opening
                && said.starts_with(&cached.said)
        });
        let expected_read = continued.map_or(0, |cached| cached.tokens);
        let actual_read = plan.usage.read;
        let broken = continued
            .filter(|_| actual_read < expected_read)
            .map(|cached| BrokenPrefix {
                missed_tokens: expected_read - actual_read,
                reason: reason(cached, prompt),
            });
        CacheObservation {
            conversation: conversation.to_owned(),
            expected_read,
            actual_read,
            written: plan.usage.creation(),
            uncached: plan.usage.input,
            broken,
        }
    }

    /// Remembers what an answered request has cached.
    pub(crate) fn remember(
        &mut self,
        conversation: &str,
        request: &MessagesRequest,
        prompt: &RenderedPrompt,
        plan: &Plan,
        now: OffsetDateTime,
    ) {
        let past = self.cached.entry(conversation.to_owned()).or_default();
        past.retain(|cached| now < cached.dies);
        let Some(last) = plan.cached_blocks.checked_sub(1) else {
            return;
        };
        let ttl = prompt.blocks[..=last]
            .iter()
            .rev()
            .find_map(|block| block.breakpoint);
        let Some(ttl) = ttl else { return };
        past.push(Cached {
            model: prompt.model.clone(),
            opening: opening(request),
            said: said(request),
            blocks: prompt.blocks[..=last].to_vec(),
            tokens: prompt.tokens_through(last),
            dies: now + ttl.duration(),
        });
    }
}

fn reason(cached: &Cached, prompt: &RenderedPrompt) -> BreakReason {
    let label =
        |block: Option<&RenderedBlock>| block.map_or("nothing".to_owned(), |block| block.label.clone());
    let differs = (0..cached.blocks.len())
        .find(|at| prompt.blocks.get(*at).map(|block| block.content) != Some(cached.blocks[*at].content));
    match differs {
        Some(index) => BreakReason::Changed {
            index,
            before: label(cached.blocks.get(index)),
            after: label(prompt.blocks.get(index)),
        },
        None => {
            let last = cached.blocks.len() - 1;
            match prompt.blocks[last].prefix == cached.blocks[last].prefix {
                true => BreakReason::LookBack,
                false => BreakReason::Parameters,
            }
        }
    }
}

/// The first text of the user; another one after a compaction, so that the conversation counts as a new one.
fn opening(request: &MessagesRequest) -> Option<String> {
    let first = request
        .messages
        .iter()
        .find(|message| message.role == Role::User)?;
    first
        .texts()
        .find(|text| !text.starts_with("<system-reminder>"))
        .map(|text| text.trim().to_owned())
}

/// What the assistant said and called. Only that tells whether a history continues another one: user messages are
/// where text is added.
fn said(request: &MessagesRequest) -> Vec<String> {
    let parts = request
        .messages
        .iter()
        .filter(|message| message.role == Role::Assistant);
    parts
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match is_type(block, "tool_use") {
            true => block.get_str("id"),
            false => block.get_str("text").map(str::trim),
        })
        .map(str::to_owned)
        .collect()
}
