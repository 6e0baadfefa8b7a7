//! Distances between blocks and the breakpoints of the prompt cache.
//!
//! For each breakpoint, the API looks for a cached prefix that ends at one of the last 20 blocks, including the
//! breakpoint's own. An added block between two breakpoints can move the older one out of this look-back. Then the
//! whole prompt is billed again.

use super::history::History;
use grov_wire::{Content, Link, Role};

/// The length of the API's look-back in blocks, including the breakpoint's own.
const LOOK_BACK: usize = 20;

/// Positions in a request, as block numbers counted over all messages that are sent, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CacheWindow {
    /// The block after which a text is added.
    anchor: usize,
    /// The last breakpoint in the messages.
    breakpoint: Option<usize>,
    /// The last block of the second newest user message. The previous breakpoint was there, if the client sets it as
    /// usual.
    previous_turn_end: Option<usize>,
}

impl CacheWindow {
    /// Returns the positions around a part of this request's history.
    pub(super) fn of(history: &History<'_>, link: &Link) -> Self {
        let mut window = Self {
            anchor: 0,
            breakpoint: None,
            previous_turn_end: None,
        };
        let beginning = history.beginning();
        let mut blocks = beginning.blocks();
        let mut user_ends: [Option<usize>; 2] = [None, beginning.user_end()];
        for message in history.messages() {
            if message.number() == link.message {
                window.anchor = blocks + link.block.unwrap_or(0);
            }
            match message.content() {
                Content::Blocks(content) => {
                    for block in content {
                        if block.has_cache_control() {
                            window.breakpoint = Some(blocks + block.number());
                        }
                    }
                    blocks += message.blocks().len();
                }
                Content::Text(_) | Content::Other => blocks += 1,
            }
            if message.role() == Role::User {
                user_ends = [user_ends[1], blocks.checked_sub(1)];
            }
        }
        window.previous_turn_end = user_ends[0];
        if history.index().field("cache_control").is_some() {
            window.breakpoint = blocks.checked_sub(1);
        }
        window
    }

    /// Returns whether a block can be added without moving the cached prefix out of the look-back. Allows for one block
    /// that the previous turn added between the breakpoints.
    pub(super) fn has_room(&self) -> bool {
        let Some(breakpoint) = self.breakpoint else {
            return true;
        };
        let before = match self.previous_turn_end {
            _ if breakpoint <= self.anchor => breakpoint,
            Some(previous_turn_end) => previous_turn_end,
            None => return true,
        };
        let already = usize::from(breakpoint > self.anchor);
        self.anchor.max(breakpoint).saturating_sub(before) + already < LOOK_BACK - 1
    }

    /// Returns the number of blocks from the breakpoint to the anchor of a new block, or `None` if the block is in the
    /// prefix that this request caches, or there is no breakpoint.
    pub(super) fn uncached_tail(&self) -> Option<usize> {
        self.breakpoint
            .and_then(|breakpoint| self.anchor.checked_sub(breakpoint))
    }

    /// Returns whether the block after the anchor is in the prefix that this request caches.
    pub(super) fn is_block_cached(&self) -> bool {
        self.breakpoint.is_some_and(|breakpoint| breakpoint > self.anchor)
    }

    /// Returns the number of blocks from the anchor to the last breakpoint, or `None` if the breakpoint is before the
    /// anchor.
    pub(super) fn blocks_to_breakpoint(&self) -> Option<usize> {
        self.breakpoint?.checked_sub(self.anchor)
    }

    /// Returns the number of the block this many blocks after the anchor.
    pub(super) fn block_after(&self, blocks: usize) -> usize {
        self.anchor + blocks
    }

    /// Returns the last block of the prefix that was cached by the request that added the block here. `tail` is the
    /// [`CacheWindow::uncached_tail`] of that request.
    pub(super) fn cached_end(&self, tail: usize) -> Option<usize> {
        self.anchor.checked_sub(tail)
    }

    /// Returns how many of the `added` blocks between a prefix cached up to block `cached` and the last breakpoint must
    /// go, so that the look-back reaches the prefix. Returns 0 if it does not reach the prefix anyway.
    pub(super) fn excess_blocks(&self, cached: usize, added: usize) -> usize {
        let distance = self.breakpoint.and_then(|at| at.checked_sub(cached));
        match distance {
            Some(distance) if distance < LOOK_BACK => (distance + added).saturating_sub(LOOK_BACK - 1),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::injection::history::Beginning;
    use bytes::Bytes;
    use grov_wire::RequestIndex;
    use serde_json::{Value, json};

    fn index(messages: Value) -> RequestIndex {
        let body = json!({"model": "m", "messages": messages}).to_string();
        RequestIndex::parse(&Bytes::from(body)).unwrap()
    }

    fn newest(index: &RequestIndex) -> CacheWindow {
        let skeleton = index.skeleton();
        let history = History::new(index, &skeleton, Beginning::default());
        CacheWindow::of(&history, skeleton.newest_user_link().unwrap())
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn marked(words: &str) -> Value {
        json!({"type": "text", "text": words, "cache_control": {"type": "ephemeral"}})
    }

    #[test]
    fn a_block_fits_after_a_prompt_with_the_breakpoint() {
        let index = index(
            json!([{"role": "user", "content": [text("<system-reminder>x</system-reminder>"), marked("do it")]}]),
        );
        let window = newest(&index);
        assert_eq!((window.anchor, window.breakpoint), (1, Some(1)));
        assert!(window.has_room());
        assert_eq!(window.uncached_tail(), Some(0));
    }

    /// A request with a turn of `wide` blocks between two breakpoints.
    fn later(wide: usize) -> (RequestIndex, CacheWindow) {
        let answer: Vec<Value> = (0..wide - 1).map(|number| text(&number.to_string())).collect();
        let index = index(json!([
            {"role": "user", "content": "do it"},
            {"role": "assistant", "content": answer},
            {"role": "user", "content": [marked("and now that")]},
        ]));
        let skeleton = index.skeleton();
        let history = History::new(&index, &skeleton, Beginning::default());
        let window = CacheWindow::of(&history, &skeleton.links()[0]);
        (index, window)
    }

    #[test]
    fn only_at_the_edge_of_the_look_back_a_block_must_go() {
        let excess_blocks = |wide: usize, added: usize| {
            let window = later(wide).1;
            window.excess_blocks(window.cached_end(0).unwrap(), added)
        };
        assert_eq!([excess_blocks(18, 1), excess_blocks(19, 1)], [0, 1]);
        assert_eq!(excess_blocks(20, 1), 0, "out of sight anyway");
        assert_eq!(
            [excess_blocks(17, 2), excess_blocks(18, 2), excess_blocks(19, 2)],
            [0, 1, 2]
        );
        assert!(later(19).1.is_block_cached());
        assert!(
            !newest(&later(19).0).is_block_cached(),
            "still after the breakpoint"
        );
    }

    #[test]
    fn after_a_cut_the_blocks_are_counted_as_they_are_sent() {
        let index = index(json!([
            {"role": "user", "content": [text("<system-reminder>x</system-reminder>"), text("do it")]},
            {"role": "system", "content": "agents"},
            {"role": "assistant", "content": [text("1"), text("2"), text("3")]},
            {"role": "user", "content": "go on"},
            {"role": "assistant", "content": [text("4")]},
            {"role": "user", "content": [marked("and now that")]},
        ]));
        let skeleton = index.skeleton();
        let of = |beginning| {
            let history = History::new(&index, &skeleton, beginning);
            CacheWindow::of(&history, history.newest_user_link().unwrap())
        };
        let whole = of(Beginning::default());
        assert_eq!(
            (whole.anchor, whole.breakpoint, whole.previous_turn_end),
            (8, Some(8), Some(6))
        );
        let fourth = skeleton.links().iter().find(|link| link.message == 4).unwrap();
        // The reminder, the summary, the system message, the answer.
        let cut = of(Beginning::cut_before(&index, &skeleton, fourth).unwrap());
        assert_eq!(
            (cut.anchor, cut.breakpoint, cut.previous_turn_end),
            (4, Some(4), Some(1))
        );
    }

    #[test]
    fn a_block_before_the_breakpoint_needs_room() {
        let request = |wide: usize| {
            let answer: Vec<Value> = (0..wide - 2).map(|number| text(&number.to_string())).collect();
            index(json!([
                {"role": "user", "content": "do it"},
                {"role": "assistant", "content": answer},
                {"role": "user", "content": [text("and now that"), marked("<system-reminder>x</system-reminder>")]},
            ]))
        };
        // One less than the limit, because the previous turn may have added a block between the breakpoints.
        assert!(newest(&request(17)).has_room());
        assert!(!newest(&request(18)).has_room());
        assert_eq!(newest(&request(17)).uncached_tail(), None);
    }
}
