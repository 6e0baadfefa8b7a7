//! Attributes cache misses to the client itself or to a program between client and API.

use super::{PromptCache, RenderedPrompt};
use crate::request::{MessagesRequest, Unreadable};
use time::OffsetDateTime;

/// Runs the same traffic through two caches: as the client sent it, and as it arrived. A miss was caused on the way
/// when fewer of the client's own blocks are cached in what arrived than in what was sent.
#[derive(Clone, Debug, Default)]
pub struct CacheAudit {
    sent: PromptCache,
    arrived: PromptCache,
}

/// One request, compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The client's blocks that would have been read from the cache without anybody in between.
    pub cached_as_sent: usize,
    /// The client's blocks that were read from the cache.
    pub cached_as_arrived: usize,
    /// The client's blocks that were cached in what arrived, also where a breakpoint's look-back did not reach them.
    pub within_any_reach: usize,
    /// The client's blocks that the request leaves in the cache without anybody in between.
    pub left_as_sent: usize,
    /// The client's blocks in all.
    pub blocks: usize,
}

impl Comparison {
    /// Whether a miss was caused on the way.
    pub fn caused_a_miss(&self) -> bool {
        self.cached_as_arrived < self.cached_as_sent
    }
}

impl CacheAudit {
    /// An audit whose caches begin like this one, for other minimums or a history.
    pub fn starting_with(cache: PromptCache) -> Self {
        Self {
            sent: cache.clone(),
            arrived: cache,
        }
    }

    /// Takes the next request of a run: the body that the client sent and the one that arrived, in order of time.
    /// Its response is taken to begin before the next request.
    ///
    /// # Errors
    /// One of the bodies is no Messages request.
    pub fn observe(
        &mut self,
        sent: &[u8],
        arrived: &[u8],
        now: OffsetDateTime,
    ) -> Result<Comparison, Unreadable> {
        self.take(sent, arrived, now, true)
    }

    /// The same for a request that is refused: its response never begins, so nothing of it is cached.
    ///
    /// # Errors
    /// One of the bodies is no Messages request.
    pub fn observe_refused(
        &mut self,
        sent: &[u8],
        arrived: &[u8],
        now: OffsetDateTime,
    ) -> Result<Comparison, Unreadable> {
        self.take(sent, arrived, now, false)
    }

    fn take(
        &mut self,
        sent: &[u8],
        arrived: &[u8],
        now: OffsetDateTime,
        begins: bool,
    ) -> Result<Comparison, Unreadable> {
        let sent = RenderedPrompt::of(&MessagesRequest::parse(sent)?);
        let arrived = RenderedPrompt::of(&MessagesRequest::parse(arrived)?);
        let plan_sent = self.sent.plan(&sent, now);
        let plan_arrived = self.arrived.plan(&arrived, now);
        let reach = self.arrived.longest(&arrived, now);
        if begins {
            self.sent.commit(&plan_sent, now);
            self.arrived.commit(&plan_arrived, now);
        }
        Ok(Comparison {
            cached_as_sent: plan_sent.read_blocks,
            cached_as_arrived: of_client(&sent, &arrived, plan_arrived.read_blocks),
            within_any_reach: of_client(&sent, &arrived, reach),
            left_as_sent: plan_sent.cached_blocks,
            blocks: sent.blocks.len(),
        })
    }
}

/// How many of the first `read` received blocks are the client's: those in the client's order.
fn of_client(sent: &RenderedPrompt, arrived: &RenderedPrompt, read: usize) -> usize {
    let mut own = sent.blocks.iter().map(|block| block.content).peekable();
    arrived.blocks[..read]
        .iter()
        .filter(|block| own.next_if_eq(&block.content).is_some())
        .count()
}
