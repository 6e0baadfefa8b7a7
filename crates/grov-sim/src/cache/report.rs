//! Finds cache misses: compares the tokens that each request read with those that an earlier request of its
//! conversation had cached for it.

use super::{Plan, RenderedBlock, RenderedPrompt};
use crate::request::{MessagesRequest, Role, is_type};
use std::collections::HashMap;
use time::OffsetDateTime;

/// Why a prefix was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakReason {
    /// A block differs, was added or was removed.
    Changed {
        /// Its index in the rendered prompt.
        index: usize,
        /// The earlier block.
        before: String,
        /// The current block.
        after: String,
    },
    /// The blocks are the same, but a parameter of the request differs.
    Parameters,
    /// Nothing changed, but more than [`LOOK_BACK`](super::LOOK_BACK) blocks were added since.
    LookBack,
}

/// A prefix that an earlier request had cached and this one should have read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPrefix {
    /// Tokens that should have been read and were not.
    pub missed_tokens: u64,
    /// The cause.
    pub reason: BreakReason,
}

/// The cache's view of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheObservation {
    /// The session, and the subagent if there is one.
    pub conversation: String,
    /// Tokens that an earlier request of the conversation had cached for this one; 0 if it continues no earlier
    /// request.
    pub expected_read: u64,
    /// Tokens read.
    pub actual_read: u64,
    /// Tokens written.
    pub written: u64,
    /// Tokens neither read nor written.
    pub uncached: u64,
    /// Set when less was read than expected.
    pub broken: Option<BrokenPrefix>,
}

/// All answered requests, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheReport {
    /// The requests.
    pub requests: Vec<CacheObservation>,
}

impl CacheReport {
    /// The requests with a miss.
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

/// The cached state after one answered request.
#[derive(Clone, Debug)]
struct Cached {
    model: String,
    opening: Option<String>,
    content: Vec<String>,
    blocks: Vec<RenderedBlock>,
    tokens: u64,
    dies: OffsetDateTime,
}

/// The cached prefixes of conversations, until they expire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversations {
    cached: HashMap<String, Vec<Cached>>,
}

impl Conversations {
    /// Compares a planned request with the conversation's earlier ones.
    pub(crate) fn observe(
        &self,
        conversation: &str,
        request: &MessagesRequest,
        prompt: &RenderedPrompt,
        plan: &Plan,
        now: OffsetDateTime,
    ) -> CacheObservation {
        let (opening, content) = (opening(request), assistant_content(request));
        let past = self
            .cached
            .get(conversation)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let continued = past.iter().rev().find(|cached| {
            // A request whose breakpoint is on an earlier block than its predecessor's, as after a compaction, cannot
            // read all of it.
            cached.blocks.len() <= plan.cached_blocks
                && now < cached.dies
                && cached.model == prompt.model
                && cached.opening == opening
                && content.starts_with(&cached.content)
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

    /// Records the prefix that an answered request has cached.
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
            content: assistant_content(request),
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

/// The first text of the user. A compaction changes it, so that the conversation counts as a new one.
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

/// The assistant's texts and calls. Only these decide whether a history continues another one, because proxies add text
/// to user messages.
fn assistant_content(request: &MessagesRequest) -> Vec<String> {
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
