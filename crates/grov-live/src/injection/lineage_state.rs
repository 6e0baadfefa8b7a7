//! The decisions of a lineage, and which blocks the prompt cache already contains.

use super::cache_window::CacheWindow;
use super::late::LateTexts;
use bytes::Bytes;
use grov_domain::{HistoryKey, LedgerLineage, TaskId};
use grov_wire::{Edit, Key128, Link, RequestIndex, Skeleton};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use tokio::sync::watch;

/// The newest parts of a history that are searched for the last breakpoint.
const MAX_LINKS_SEARCHED: usize = 16;

/// The block to add at an injection point, or `None` to add nothing.
pub(super) type Decision = Option<Bytes>;

/// The state of a lineage.
#[derive(Debug, Default)]
pub(super) struct LineageState {
    /// Decisions by injection point.
    decided: HashMap<Key128, Decision>,
    /// Memories quoted at each injection point.
    quoted: HashMap<Key128, Vec<TaskId>>,
    /// Injection points whose decision is in progress.
    deciding: HashMap<Key128, watch::Receiver<Option<Decision>>>,
    /// Blocks that are not in a cached prefix yet, in order: the newest block, and earlier ones whose requests were
    /// rejected.
    uncached: Vec<UncachedBlock>,
    /// The prefix that the newest accepted request cached.
    cached: Option<CachedPrefix>,
    /// Set after loading: the stored tip of the lineage. A block after it may be uncached.
    loaded_tip: Option<Option<Key128>>,
    /// The tip and the model last sent to the store.
    last_tip: Option<(Option<Key128>, String)>,
    late: LateTexts,
    edits_disabled: bool,
}

#[derive(Clone, Copy, Debug)]
struct UncachedBlock {
    anchor: Key128,
    tail: usize,
}

/// A cached prefix, identified by the last part of the history in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedPrefix {
    anchor: Key128,
    /// Blocks of the prefix after that part.
    blocks_after: usize,
}

/// The edits that repeat earlier blocks.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub(super) edits: Vec<Edit>,
    /// Injection points whose blocks are withdrawn, because they would invalidate the cached prefix.
    pub(super) withdrawn: Vec<Key128>,
    /// Injection points whose blocks are in the prefix that this request caches, if it is accepted.
    pub(super) caches: Vec<Key128>,
    /// The prefix that this request caches, if it is accepted.
    pub(super) prefix: Option<CachedPrefix>,
    /// Whether the newest injection point is decided, so that `edits` includes its block.
    pub(super) newest_is_decided: bool,
}

/// The state of the decision for an injection point.
pub(super) enum PointState {
    Decided(Decision),
    /// Another request is deciding.
    Deciding(watch::Receiver<Option<Decision>>),
    /// The caller must decide and send the decision.
    Undecided(watch::Sender<Option<Decision>>),
}

/// Converts a key to the store's type.
pub(super) fn history_key(key: Key128) -> HistoryKey {
    HistoryKey(key.as_u128())
}

impl LineageState {
    /// Adds stored decisions. Decisions made in the meantime win.
    pub(super) fn load(&mut self, stored: LedgerLineage) {
        self.edits_disabled |= stored.edits_disabled;
        self.loaded_tip = Some(stored.tip.map(|tip| Key128::from_u128(tip.0)));
        for entry in stored.entries {
            let key = Key128::from_u128(entry.anchor.0);
            if let Entry::Vacant(open) = self.decided.entry(key) {
                open.insert(entry.block.map(Bytes::from));
                self.quote(key, entry.memories);
            }
        }
    }

    /// Returns the texts that wait for the next injection point of the turn.
    pub(super) fn late_texts(&mut self) -> &mut LateTexts {
        &mut self.late
    }

    /// Withdraws blocks that were withdrawn in the store, and disables edits if they were disabled there. Drops late texts,
    /// because a memory in them may have been forgotten.
    pub(super) fn reload(&mut self, stored: &LedgerLineage) {
        self.late.clear();
        self.edits_disabled |= stored.edits_disabled;
        for entry in stored.entries.iter().filter(|entry| entry.block.is_none()) {
            self.withdraw(Key128::from_u128(entry.anchor.0));
        }
    }

    /// Records the memories quoted at an injection point.
    pub(super) fn quote(&mut self, anchor: Key128, memories: Vec<TaskId>) {
        if !memories.is_empty() {
            self.quoted.insert(anchor, memories);
        }
    }

    /// Returns the memories quoted in this history.
    pub(super) fn quoted_in(&self, skeleton: &Skeleton) -> HashSet<TaskId> {
        let quoted = skeleton
            .links()
            .iter()
            .filter_map(|link| self.quoted.get(&link.key));
        quoted.flatten().cloned().collect()
    }

    /// Returns whether the tip or the model changed since the last call.
    pub(super) fn has_moved(&mut self, tip: Option<Key128>, model: &str) -> bool {
        let stays = self
            .last_tip
            .as_ref()
            .is_some_and(|(last_tip, of_model)| *last_tip == tip && of_model == model);
        if !stays {
            self.last_tip = Some((tip, model.to_owned()));
        }
        !stays
    }

    /// Stops all edits of this lineage.
    pub(super) fn disable_edits(&mut self) {
        self.edits_disabled = true;
    }

    pub(super) fn edits_disabled(&self) -> bool {
        self.edits_disabled
    }

    /// Returns the edits that repeat the blocks of this history. Withdraws blocks that would invalidate the cached
    /// prefix.
    pub(super) fn replay(&mut self, index: &RequestIndex, skeleton: &Skeleton) -> Replay {
        let mut replay = Replay::default();
        if self.edits_disabled {
            return replay;
        }
        (replay.caches, replay.withdrawn) = self.newly_cached(index, skeleton);
        replay.prefix = prefix_of(index, skeleton);
        for anchor in &replay.withdrawn {
            self.withdraw(*anchor);
        }
        let newest = skeleton.newest_user_link();
        for link in skeleton.links() {
            let is_newest = newest.is_some_and(|newest| newest.key == link.key);
            if !is_newest && self.deciding.remove(&link.key).is_some() {
                // The history has moved past the injection point, and this request goes out without its text.
                self.decided.entry(link.key).or_insert(None);
            }
            if let Some(Some(block)) = self.decided.get(&link.key) {
                let edit = Edit::insert(link.insertion_point(), block.clone());
                // A text before a tool result is inserted after the result, like the text for the result itself. The same
                // block twice there would be a duplicate.
                if replay.edits.last() != Some(&edit) {
                    replay.edits.push(edit);
                }
            }
        }
        replay.newest_is_decided = newest.is_some_and(|link| self.decided.contains_key(&link.key));
        if let Some(link) = newest.filter(|link| matches!(self.decided.get(&link.key), Some(Some(_)))) {
            // The user went back to this point, so what followed is no longer part of the history.
            self.mark_sent(index, link);
        }
        replay
    }

    /// Returns the uncached blocks that this request caches, and those of them to withdraw, because the look-back would
    /// no longer reach the prefix before them. Withdrawing costs nothing, because they were never cached.
    fn newly_cached(&mut self, index: &RequestIndex, skeleton: &Skeleton) -> (Vec<Key128>, Vec<Key128>) {
        if let Some(loaded_tip) = self.loaded_tip.take()
            && self.uncached.is_empty()
        {
            self.uncached
                .extend(self.uncached_since(loaded_tip, index, skeleton));
        }
        // Blocks that are no longer in the history, because the user went back, are dropped.
        self.uncached
            .retain(|block| skeleton.find(block.anchor).is_some());
        let window = |anchor: Key128| skeleton.find(anchor).map(|link| CacheWindow::of(index, link));
        let cached = self
            .cached
            .and_then(|prefix| Some(window(prefix.anchor)?.block_after(prefix.blocks_after)));
        let mut in_front: Vec<Key128> = Vec::new();
        let mut first = None;
        for block in &self.uncached {
            if let Some(window) = window(block.anchor).filter(CacheWindow::is_block_cached) {
                in_front.push(block.anchor);
                // After a restart it is unknown whether that request was accepted. Most are.
                first = first.or_else(|| Some((window, cached.or(window.cached_end(block.tail))?)));
            }
        }
        let excess_blocks = first.map_or(0, |(window, cached)| window.excess_blocks(cached, in_front.len()));
        let pushed_out = in_front.split_off(in_front.len().saturating_sub(excess_blocks));
        (in_front, pushed_out)
    }

    /// Records an accepted request: the prefix up to its breakpoint is cached, including the blocks at `anchors`.
    pub(super) fn mark_cached(&mut self, anchors: &[Key128], prefix: Option<CachedPrefix>) {
        self.remove_uncached(anchors);
        self.cached = prefix.or(self.cached);
    }

    fn remove_uncached(&mut self, anchors: &[Key128]) {
        self.uncached.retain(|block| !anchors.contains(&block.anchor));
    }

    /// Returns the newest block added before this lineage was loaded, if no answer followed it.
    fn uncached_since(
        &self,
        loaded_tip: Option<Key128>,
        index: &RequestIndex,
        skeleton: &Skeleton,
    ) -> Option<UncachedBlock> {
        let links = skeleton.links();
        let since = match loaded_tip {
            Some(tip) => links.iter().position(|link| link.key == tip)? + 1,
            None => 0,
        };
        let newest = links[since..]
            .iter()
            .rfind(|link| self.decided.contains_key(&link.key))?;
        let is_block = matches!(self.decided.get(&newest.key), Some(Some(_)));
        // The client sets its breakpoint on the last block. A block before that was cached by its first request.
        let message = index.messages().nth(newest.message)?;
        let is_last = newest
            .block
            .is_none_or(|block| block + 1 == message.blocks().len());
        (is_block && is_last).then_some(UncachedBlock {
            anchor: newest.key,
            tail: 0,
        })
    }

    /// Withdraws the block at this point. Nothing is added there from now on.
    pub(super) fn withdraw(&mut self, anchor: Key128) {
        self.decided.insert(anchor, None);
        self.quoted.remove(&anchor);
        self.remove_uncached(&[anchor]);
    }

    /// Returns the state of the decision for an injection point. A caller that gets [`PointState::Undecided`] must send
    /// a decision.
    pub(super) fn point_state(&mut self, anchor: Key128) -> PointState {
        if let Some(decision) = self.decided.get(&anchor) {
            return PointState::Decided(decision.clone());
        }
        if let Some(deciding) = self.deciding.get(&anchor) {
            return PointState::Deciding(deciding.clone());
        }
        let (sender, receiver) = watch::channel(None);
        self.deciding.insert(anchor, receiver);
        PointState::Undecided(sender)
    }

    /// Records a decision, unless there is one. Returns the decision in force.
    pub(super) fn decide(&mut self, anchor: Key128, decision: Decision) -> Decision {
        self.deciding.remove(&anchor);
        self.decided.entry(anchor).or_insert(decision).clone()
    }

    /// Records that the block at this point goes out for the first time.
    pub(super) fn mark_sent(&mut self, index: &RequestIndex, link: &Link) {
        self.remove_uncached(&[link.key]);
        if let Some(tail) = CacheWindow::of(index, link).uncached_tail() {
            self.uncached.push(UncachedBlock {
                anchor: link.key,
                tail,
            });
        }
    }
}

/// Returns the prefix up to the last breakpoint.
fn prefix_of(index: &RequestIndex, skeleton: &Skeleton) -> Option<CachedPrefix> {
    // The client sets the breakpoint on one of the newest parts.
    let newest = skeleton.links().iter().rev().take(MAX_LINKS_SEARCHED);
    let mut prefixes = newest.filter_map(|link| {
        let blocks_after = CacheWindow::of(index, link).blocks_to_breakpoint()?;
        Some(CachedPrefix {
            anchor: link.key,
            blocks_after,
        })
    });
    prefixes.next()
}
