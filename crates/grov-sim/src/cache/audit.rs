//! Attributes cache misses to the client itself or to a program between client and API.

use super::{Level, PromptCache, RenderedPrompt};
use crate::request::{MessagesRequest, Unreadable};
use time::OffsetDateTime;

/// Runs the same traffic through two caches: as the client sent it, and as it arrived. The program in between caused a
/// miss when fewer of the client's own blocks are cached in the request that arrived than in the one that was sent.
#[derive(Clone, Debug, Default)]
pub struct CacheAudit {
    sent: PromptCache,
    arrived: PromptCache,
}

/// The comparison of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The client's blocks that would have been read from the cache without a program in between.
    pub cached_as_sent: usize,
    /// The client's blocks that were read from the cache.
    pub cached_as_arrived: usize,
    /// The client's blocks that were cached in the request that arrived, even if a breakpoint's look-back did not reach
    /// them.
    pub within_any_reach: usize,
    /// The client's blocks that the request leaves in the cache without a program in between.
    pub left_as_sent: usize,
    /// The total number of the client's blocks.
    pub blocks: usize,
}

impl Comparison {
    /// Whether the program in between caused a miss.
    pub fn caused_a_miss(&self) -> bool {
        self.cached_as_arrived < self.cached_as_sent
    }
}

impl CacheAudit {
    /// An audit that starts with copies of this cache, for other minimums or with a history.
    pub fn starting_with(cache: PromptCache) -> Self {
        Self {
            sent: cache.clone(),
            arrived: cache,
        }
    }

    /// Adds the next request: the body that the client sent and the body that arrived, in order of time. Its response
    /// is assumed to begin before the next request.
    ///
    /// # Errors
    /// One of the bodies is not a Messages request.
    pub fn observe(
        &mut self,
        sent: &[u8],
        arrived: &[u8],
        now: OffsetDateTime,
    ) -> Result<Comparison, Unreadable> {
        self.take(sent, arrived, now, true)
    }

    /// The same for a request that is refused: its response never begins, so none of it is cached.
    ///
    /// # Errors
    /// One of the bodies is not a Messages request.
    pub fn observe_refused(
        &mut self,
        sent: &[u8],
        arrived: &[u8],
        now: OffsetDateTime,
    ) -> Result<Comparison, Unreadable> {
        self.take(sent, arrived, now, false)
    }

    /// Whether a request that the client sends would read a part of the conversation from the cache without a program in
    /// between.
    ///
    /// # Errors
    /// The body is not a Messages request.
    pub fn reads_messages(&self, sent: &[u8], now: OffsetDateTime) -> Result<bool, Unreadable> {
        let sent = RenderedPrompt::of(&MessagesRequest::parse(sent)?);
        let read = self.sent.plan(&sent, now).read_blocks;
        let last = read.checked_sub(1).and_then(|last| sent.blocks.get(last));
        Ok(last.is_some_and(|block| block.level == Level::Messages))
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

/// How many of the first `read` received blocks are the client's, matched in the client's order.
fn of_client(sent: &RenderedPrompt, arrived: &RenderedPrompt, read: usize) -> usize {
    let mut own = sent.blocks.iter().map(|block| block.content).peekable();
    arrived.blocks[..read]
        .iter()
        .filter(|block| own.next_if_eq(&block.content).is_some())
        .count()
}
