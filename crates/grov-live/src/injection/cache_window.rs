//! How far a block stands from the breakpoints of the prompt cache.
//!
//! For each breakpoint the API looks for a cached prefix at the last 20 blocks, the breakpoint's own included. A block
//! more between two breakpoints can push the older one out of sight; then all that was cached is billed again.

use grov_wire::{Content, Link, RequestIndex, Role};

/// Blocks at which a cached prefix is looked for, the breakpoint's own included.
const LOOK_BACK: usize = 20;

/// Where things stand in a request: blocks of all messages, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CacheWindow {
    /// The block that something is, or would be, added behind.
    anchor: usize,
    /// The last breakpoint in the messages.
    breakpoint: Option<usize>,
    /// The last block of the user message before the newest one: where the breakpoint before this one was, if the client
    /// sets it where it usually does.
    last_turn: Option<usize>,
}

impl CacheWindow {
    /// The reach of a part of this request's history.
    pub(super) fn of(index: &RequestIndex, link: &Link) -> Self {
        let mut reach = Self {
            anchor: 0,
            breakpoint: None,
            last_turn: None,
        };
        let mut blocks = 0_usize;
        let mut user_ends: [Option<usize>; 2] = [None, None];
        for message in index.messages() {
            if message.number() == link.message {
                reach.anchor = blocks + link.block.unwrap_or(0);
            }
            match message.content() {
                Content::Blocks(content) => {
                    for block in content {
                        if block.has_cache_control() {
                            reach.breakpoint = Some(blocks + block.number());
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
        reach.last_turn = user_ends[0];
        if index.field("cache_control").is_some() {
            reach.breakpoint = blocks.checked_sub(1);
        }
        reach
    }

    /// Whether a block may be added without pushing the cached prefix before it out of sight. Between the breakpoints there
    /// may be one of ours already: what was said in the turn before.
    pub(super) fn allows_new(&self) -> bool {
        let Some(breakpoint) = self.breakpoint else {
            return true;
        };
        let before = match self.last_turn {
            _ if breakpoint <= self.anchor => breakpoint,
            Some(last_turn) => last_turn,
            None => return true,
        };
        let already = usize::from(breakpoint > self.anchor);
        self.anchor.max(breakpoint).saturating_sub(before) + already < LOOK_BACK - 1
    }

    /// For a block that was just added: by how many blocks the breakpoint stands before its anchor. `None`: the block is
    /// part of the prefix that this request caches, or there is no breakpoint.
    pub(super) fn uncached_tail(&self) -> Option<usize> {
        self.breakpoint
            .and_then(|breakpoint| self.anchor.checked_sub(breakpoint))
    }

    /// For a later request: whether the added block would stand in a cached prefix from now on.
    pub(super) fn is_in_front(&self) -> bool {
        self.breakpoint.is_some_and(|breakpoint| breakpoint > self.anchor)
    }

    /// By how many blocks the last breakpoint stands behind the part; `None`: it does not.
    pub(super) fn breakpoint_behind(&self) -> Option<usize> {
        self.breakpoint?.checked_sub(self.anchor)
    }

    /// The block so many behind the part.
    pub(super) fn block_behind(&self, blocks: usize) -> usize {
        self.anchor + blocks
    }

    /// The last block of the prefix that was cached by the request that added something here, if that was taken: `tail` as
    /// it was then.
    pub(super) fn cached_then(&self, tail: usize) -> Option<usize> {
        self.anchor.checked_sub(tail)
    }

    /// Where a prefix is cached up to this block, and `added` blocks of ours stand between it and the last breakpoint: how
    /// many of them have to go for it to be in sight. None where it is out of sight anyway.
    pub(super) fn too_many(&self, cached: usize, added: usize) -> usize {
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
    use bytes::Bytes;
    use serde_json::{Value, json};

    fn index(messages: Value) -> RequestIndex {
        let body = json!({"model": "m", "messages": messages}).to_string();
        RequestIndex::parse(&Bytes::from(body)).unwrap()
    }

    fn newest(index: &RequestIndex) -> CacheWindow {
        let skeleton = index.skeleton();
        CacheWindow::of(index, skeleton.newest_user_link().unwrap())
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn marked(words: &str) -> Value {
        json!({"type": "text", "text": words, "cache_control": {"type": "ephemeral"}})
    }

    #[test]
    fn a_prompt_with_the_breakpoint_on_it_takes_a_block() {
        let index = index(
            json!([{"role": "user", "content": [text("<system-reminder>x</system-reminder>"), marked("do it")]}]),
        );
        let reach = newest(&index);
        assert_eq!((reach.anchor, reach.breakpoint), (1, Some(1)));
        assert!(reach.allows_new());
        assert_eq!(reach.uncached_tail(), Some(0));
    }

    /// A turn of `wide` blocks between two breakpoints.
    fn later(wide: usize) -> (RequestIndex, CacheWindow) {
        let answer: Vec<Value> = (0..wide - 1).map(|number| text(&number.to_string())).collect();
        let index = index(json!([
            {"role": "user", "content": "do it"},
            {"role": "assistant", "content": answer},
            {"role": "user", "content": [marked("and now that")]},
        ]));
        let skeleton = index.skeleton();
        let reach = CacheWindow::of(&index, &skeleton.links()[0]);
        (index, reach)
    }

    #[test]
    fn only_at_the_very_edge_a_block_pushes_the_cached_prefix_out_of_sight() {
        let too_many = |wide: usize, added: usize| {
            let reach = later(wide).1;
            reach.too_many(reach.cached_then(0).unwrap(), added)
        };
        assert_eq!([too_many(18, 1), too_many(19, 1)], [0, 1]);
        assert_eq!(too_many(20, 1), 0, "out of sight anyway");
        assert_eq!([too_many(17, 2), too_many(18, 2), too_many(19, 2)], [0, 1, 2]);
        assert!(later(19).1.is_in_front());
        assert!(!newest(&later(19).0).is_in_front(), "still behind the breakpoint");
    }

    #[test]
    fn a_block_in_front_of_the_breakpoint_needs_room() {
        let request = |wide: usize| {
            let answer: Vec<Value> = (0..wide - 2).map(|number| text(&number.to_string())).collect();
            index(json!([
                {"role": "user", "content": "do it"},
                {"role": "assistant", "content": answer},
                {"role": "user", "content": [text("and now that"), marked("<system-reminder>x</system-reminder>")]},
            ]))
        };
        // One less than would do: what was said in the turn before may stand between the breakpoints as well.
        assert!(newest(&request(17)).allows_new());
        assert!(!newest(&request(18)).allows_new());
        assert_eq!(newest(&request(17)).uncached_tail(), None);
    }
}
