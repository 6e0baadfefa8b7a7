//! A model of the API's prompt cache: which tokens of a prompt are read, written and billed.
//!
//! Pure: bodies and times in, numbers out. The rules, as the API's documentation states them:
//!
//! - The prompt is rendered as tools, then system, then messages. The cache matches prefixes of that; a change at one
//!   block loses everything after it. The model and its effort are part of every prefix; `tool_choice`, `thinking`
//!   and whether there are images are part of every prefix that reaches into the messages.
//! - Entries are written where the request has a breakpoint (`cache_control`, four at most; one at the top level of the
//!   body counts for the last block), and only if the prefix has at least the model's minimum of tokens.
//! - For each breakpoint, the last one first, entries are looked up at up to 20 blocks, starting at the breakpoint's
//!   own. The first entry that is found is read.
//! - An entry lives five minutes or an hour, as its breakpoint says, counted from its last use. It can be read once
//!   the response of the request that writes it has begun.
//!
//! Estimates where the API publishes no figures: a block's tokens are a quarter of its bytes, an image has 1,600. A hit
//! refreshes the entries of all shorter prefixes of the same request.

mod audit;
mod render;
mod report;

pub use audit::{CacheAudit, Comparison};
pub use render::{Level, RenderedBlock, RenderedPrompt};
pub(crate) use report::Conversations;
pub use report::{BreakReason, BrokenPrefix, CacheObservation, CacheReport};

use std::collections::HashMap;
use std::time::Duration;
use time::OffsetDateTime;

/// The number of blocks at which an entry is looked up per breakpoint, including the breakpoint's own.
pub const LOOK_BACK: usize = 20;

/// Minimum cacheable prefix in tokens, by model name prefix; the longest matching prefix counts. Sources disagree for
/// some models; these are the higher figures.
pub const MINIMUM_PREFIX: [(&str, u64); 12] = [
    ("", 1024),
    ("claude-3-5-haiku", 2048),
    ("claude-3-haiku", 2048),
    ("claude-fable-5", 2048),
    ("claude-haiku-4-5", 4096),
    ("claude-mythos-5", 2048),
    ("claude-opus-4-5", 4096),
    ("claude-opus-4-6", 4096),
    ("claude-opus-4-7", 4096),
    ("claude-opus-4-8", 4096),
    ("claude-opus-5", 2048),
    ("claude-sonnet-4-6", 2048),
];

/// How long an entry lives after its last use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ttl {
    /// Five minutes.
    FiveMinutes,
    /// An hour.
    Hour,
}

impl Ttl {
    /// As a duration.
    pub fn duration(self) -> Duration {
        match self {
            Self::FiveMinutes => Duration::from_secs(5 * 60),
            Self::Hour => Duration::from_secs(60 * 60),
        }
    }
}

/// The input of one request by the class it is billed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// Neither read nor written.
    pub input: u64,
    /// Read from the cache.
    pub read: u64,
    /// Written for five minutes.
    pub creation_5m: u64,
    /// Written for an hour.
    pub creation_1h: u64,
}

impl CacheUsage {
    /// Written, whatever the lifetime.
    pub fn creation(&self) -> u64 {
        self.creation_5m + self.creation_1h
    }
}

/// The cache's effect on one request. Applied by [`PromptCache::commit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Tokens by class.
    pub usage: CacheUsage,
    /// Number of leading blocks that are read.
    pub read_blocks: usize,
    /// Number of leading blocks that are cached afterwards, up to the last breakpoint with a sufficiently long prefix.
    pub cached_blocks: usize,
    writes: Vec<(u128, Ttl)>,
    refreshes: Vec<u128>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    ttl: Ttl,
    used: OffsetDateTime,
}

impl Entry {
    fn alive(&self, now: OffsetDateTime) -> bool {
        now < self.used + self.ttl.duration()
    }
}

/// The cache of one organisation.
#[derive(Clone, Debug)]
pub struct PromptCache {
    entries: HashMap<u128, Entry>,
    minimums: Vec<(String, u64)>,
}

impl Default for PromptCache {
    fn default() -> Self {
        let minimums = MINIMUM_PREFIX
            .iter()
            .map(|(model, tokens)| ((*model).to_owned(), *tokens))
            .collect();
        Self {
            entries: HashMap::new(),
            minimums,
        }
    }
}

impl PromptCache {
    /// Sets the minimum cacheable prefix for models whose names start with `model`.
    #[must_use]
    pub fn with_minimum(mut self, model: &str, tokens: u64) -> Self {
        self.minimums.retain(|(name, _)| name != model);
        self.minimums.push((model.to_owned(), tokens));
        self
    }

    /// The minimum cacheable prefix of a model, in tokens.
    pub fn minimum(&self, model: &str) -> u64 {
        self.minimums
            .iter()
            .filter(|(name, _)| model.starts_with(name.as_str()))
            .max_by_key(|(name, _)| name.len())
            .map_or(0, |(_, tokens)| *tokens)
    }

    /// Plans the cache's effect on a prompt that arrives now.
    pub fn plan(&self, prompt: &RenderedPrompt, now: OffsetDateTime) -> Plan {
        let minimum = self.minimum(&prompt.model);
        let long_enough = |at: &usize| prompt.tokens_through(*at) >= minimum;
        let breakpoints: Vec<(usize, Ttl)> = prompt.breakpoints().filter(|(at, _)| long_enough(at)).collect();
        let read_blocks = breakpoints
            .iter()
            .rev()
            .flat_map(|(at, _)| (0..LOOK_BACK).map_while(|back| at.checked_sub(back)))
            .find(|at| self.has(prompt.blocks[*at].prefix, now))
            .map_or(0, |at| at + 1);
        let cached_blocks = breakpoints.last().map_or(0, |(at, _)| at + 1).max(read_blocks);
        let hour_blocks = breakpoints
            .iter()
            .filter(|(_, ttl)| *ttl == Ttl::Hour)
            .map(|(at, _)| at + 1)
            .max()
            .unwrap_or(0)
            .max(read_blocks);
        let tokens = |blocks: usize| {
            blocks
                .checked_sub(1)
                .map_or(0, |last| prompt.tokens_through(last))
        };
        let usage = CacheUsage {
            input: prompt.tokens() - tokens(cached_blocks),
            read: tokens(read_blocks),
            creation_1h: tokens(hour_blocks) - tokens(read_blocks),
            creation_5m: tokens(cached_blocks) - tokens(hour_blocks),
        };
        Plan {
            usage,
            read_blocks,
            cached_blocks,
            writes: breakpoints
                .iter()
                .map(|(at, ttl)| (prompt.blocks[*at].prefix, *ttl))
                .collect(),
            refreshes: prompt.blocks[..read_blocks]
                .iter()
                .map(|block| block.prefix)
                .collect(),
        }
    }

    /// Makes a plan's entries readable, as of the time when the response began.
    pub fn commit(&mut self, plan: &Plan, now: OffsetDateTime) {
        for prefix in &plan.refreshes {
            if let Some(entry) = self.entries.get_mut(prefix).filter(|entry| entry.alive(now)) {
                entry.used = now;
            }
        }
        for (prefix, ttl) in &plan.writes {
            let living = self.entries.get(prefix).filter(|entry| entry.alive(now));
            let ttl = living.map_or(*ttl, |entry| entry.ttl.max(*ttl));
            self.entries.insert(*prefix, Entry { ttl, used: now });
        }
    }

    /// Removes expired entries.
    pub fn sweep(&mut self, now: OffsetDateTime) {
        self.entries.retain(|_, entry| entry.alive(now));
    }

    /// Number of entries, including expired ones that have not been removed yet.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of leading blocks that are cached, wherever the breakpoints are.
    fn longest(&self, prompt: &RenderedPrompt, now: OffsetDateTime) -> usize {
        let last = prompt
            .blocks
            .iter()
            .rposition(|block| self.has(block.prefix, now));
        last.map_or(0, |last| last + 1)
    }

    fn has(&self, prefix: u128, now: OffsetDateTime) -> bool {
        self.entries.get(&prefix).is_some_and(|entry| entry.alive(now))
    }
}

#[cfg(test)]
mod tests;
