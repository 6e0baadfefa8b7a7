//! One lineage in memory: what was decided for its places, and what has to be said again.

use super::cache_window::CacheWindow;
use bytes::Bytes;
use grov_domain::{HistoryKey, LedgerLineage, TaskId};
use grov_wire::{Edit, Key128, Link, RequestIndex, Skeleton};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use tokio::sync::watch;

/// Parts of a history in which the last breakpoint is looked for.
const LOOKED_AT: usize = 16;

/// A decision: the block that is added, or nothing.
pub(super) type Decision = Option<Bytes>;

/// What is known of a lineage.
#[derive(Debug, Default)]
pub(super) struct LineageState {
    /// Decisions by place.
    decided: HashMap<Key128, Decision>,
    /// What is quoted at a place.
    quoted: HashMap<Key128, Vec<TaskId>>,
    /// Injection points whose decision is in progress.
    deciding: HashMap<Key128, watch::Receiver<Option<Decision>>>,
    /// Blocks that stand in no cached prefix yet, in their order: the one that was added last, and those before it whose
    /// requests were turned away.
    fresh: Vec<UncachedBlock>,
    /// How far the prefix reaches that the newest request that was taken has cached.
    cached: Option<CachedPrefix>,
    /// Just loaded, and where it stood before: a block behind that may be fresh.
    stood_at: Option<Option<Key128>>,
    /// Where it stood, and the model asked there, when that was last noted.
    noted: Option<(Option<Key128>, String)>,
    /// Edited no more.
    edits_disabled: bool,
}

#[derive(Clone, Copy, Debug)]
struct UncachedBlock {
    anchor: Key128,
    tail: usize,
}

/// A cached prefix, by the last part of the history in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedPrefix {
    anchor: Key128,
    /// Blocks of the prefix behind that part.
    behind: usize,
}

/// What is to be added to a request, and what came to light on the way.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// The blocks.
    pub(super) edits: Vec<Edit>,
    /// Injection points whose blocks were removed, because they would cost the cached prefix.
    pub(super) withdrawn: Vec<Key128>,
    /// Injection points whose blocks are in the prefix that this request caches, if it is accepted.
    pub(super) caches: Vec<Key128>,
    /// That prefix.
    pub(super) prefix: Option<CachedPrefix>,
    /// The newest place is among those decided.
    pub(super) newest_is_decided: bool,
}

/// How a decision about a place can be had.
pub(super) enum Place {
    /// It was made.
    Decided(Decision),
    /// Somebody is at it.
    Deciding(watch::Receiver<Option<Decision>>),
    /// The caller makes it, and tells here.
    Open(watch::Sender<Option<Decision>>),
}

/// A key as a store keeps it.
pub(super) fn history_key(key: Key128) -> HistoryKey {
    HistoryKey(key.as_u128())
}

impl LineageState {
    /// The state that was kept. Decisions that were made here meanwhile stand.
    pub(super) fn load(&mut self, kept: LedgerLineage) {
        self.edits_disabled |= kept.edits_disabled;
        self.stood_at = Some(kept.tip.map(|tip| Key128::from_u128(tip.0)));
        for entry in kept.entries {
            let key = Key128::from_u128(entry.anchor.0);
            if let Entry::Vacant(open) = self.decided.entry(key) {
                open.insert(entry.block.map(Bytes::from));
                self.quote(key, entry.memories);
            }
        }
    }

    /// Takes out what the store holds no more.
    pub(super) fn reload(&mut self, kept: &LedgerLineage) {
        self.edits_disabled |= kept.edits_disabled;
        for entry in kept.entries.iter().filter(|entry| entry.block.is_none()) {
            self.take_back(Key128::from_u128(entry.anchor.0));
        }
    }

    /// Notes what is quoted at a place.
    pub(super) fn quote(&mut self, anchor: Key128, memories: Vec<TaskId>) {
        if !memories.is_empty() {
            self.quoted.insert(anchor, memories);
        }
    }

    /// What is quoted in this history already.
    pub(super) fn quoted_in(&self, skeleton: &Skeleton) -> HashSet<TaskId> {
        let places = skeleton
            .links()
            .iter()
            .filter_map(|link| self.quoted.get(&link.key));
        places.flatten().cloned().collect()
    }

    /// Whether it stands elsewhere than when that was last noted.
    pub(super) fn has_moved(&mut self, tip: Option<Key128>, model: &str) -> bool {
        let stays = self
            .noted
            .as_ref()
            .is_some_and(|(noted, of_model)| *noted == tip && of_model == model);
        if !stays {
            self.noted = Some((tip, model.to_owned()));
        }
        !stays
    }

    /// Nothing is added to this lineage any more.
    pub(super) fn bar(&mut self) {
        self.edits_disabled = true;
    }

    pub(super) fn is_barred(&self) -> bool {
        self.edits_disabled
    }

    /// Everything that was added to this history.
    pub(super) fn replay(&mut self, index: &RequestIndex, skeleton: &Skeleton) -> Replay {
        let mut replay = Replay::default();
        if self.edits_disabled {
            return replay;
        }
        (replay.caches, replay.withdrawn) = self.fresh_in_front(index, skeleton);
        replay.prefix = prefix_of(index, skeleton);
        for anchor in &replay.withdrawn {
            self.take_back(*anchor);
        }
        let newest = skeleton.newest_user_link();
        for link in skeleton.links() {
            let is_newest = newest.is_some_and(|newest| newest.key == link.key);
            if !is_newest && self.deciding.remove(&link.key).is_some() {
                // The history grew meanwhile and goes out without it.
                self.decided.entry(link.key).or_insert(None);
            }
            if let Some(Some(block)) = self.decided.get(&link.key) {
                let edit = Edit::Insert {
                    at: link.insertion_point(),
                    bytes: block.clone(),
                };
                // The same words twice behind one block would be none of ours, but for a text in front of a tool result.
                if replay.edits.last() != Some(&edit) {
                    replay.edits.push(edit);
                }
            }
        }
        replay.newest_is_decided = newest.is_some_and(|link| self.decided.contains_key(&link.key));
        if let Some(link) = newest.filter(|link| matches!(self.decided.get(&link.key), Some(Some(_)))) {
            // The user went back to this place: what followed it then is no more.
            self.sent(index, link);
        }
        replay
    }

    /// The blocks that are about to stand in a cached prefix, and those of them that would push the prefix before them out of
    /// sight. These are taken back: they were never cached, so nothing is lost without them.
    fn fresh_in_front(&mut self, index: &RequestIndex, skeleton: &Skeleton) -> (Vec<Key128>, Vec<Key128>) {
        if let Some(stood_at) = self.stood_at.take()
            && self.fresh.is_empty()
        {
            self.fresh.extend(self.fresh_since(stood_at, index, skeleton));
        }
        // Where the user went back, what was added behind is no more.
        self.fresh.retain(|fresh| skeleton.find(fresh.anchor).is_some());
        let reach = |anchor: Key128| skeleton.find(anchor).map(|link| CacheWindow::of(index, link));
        let cached = self
            .cached
            .and_then(|prefix| Some(reach(prefix.anchor)?.block_behind(prefix.behind)));
        let mut in_front: Vec<Key128> = Vec::new();
        let mut first = None;
        for fresh in &self.fresh {
            if let Some(reach) = reach(fresh.anchor).filter(CacheWindow::is_in_front) {
                in_front.push(fresh.anchor);
                // After a restart nobody knows whether that request was taken; most are.
                first = first.or_else(|| Some((reach, cached.or(reach.cached_then(fresh.tail))?)));
            }
        }
        let too_many = first.map_or(0, |(reach, cached)| reach.too_many(cached, in_front.len()));
        let pushed_out = in_front.split_off(in_front.len().saturating_sub(too_many));
        (in_front, pushed_out)
    }

    /// A request was taken: the prefix up to its breakpoint is cached, and the blocks at these places stand in it.
    pub(super) fn cached(&mut self, anchors: &[Key128], prefix: Option<CachedPrefix>) {
        self.forget_fresh(anchors);
        self.cached = prefix.or(self.cached);
    }

    fn forget_fresh(&mut self, anchors: &[Key128]) {
        self.fresh.retain(|fresh| !anchors.contains(&fresh.anchor));
    }

    /// The block that was added last before this lineage was loaded, if no answer followed it yet.
    fn fresh_since(
        &self,
        stood_at: Option<Key128>,
        index: &RequestIndex,
        skeleton: &Skeleton,
    ) -> Option<UncachedBlock> {
        let links = skeleton.links();
        let since = match stood_at {
            Some(tip) => links.iter().position(|link| link.key == tip)? + 1,
            None => 0,
        };
        let newest = links[since..]
            .iter()
            .rfind(|link| self.decided.contains_key(&link.key))?;
        let is_block = matches!(self.decided.get(&newest.key), Some(Some(_)));
        // The client sets its breakpoint on the last block: what stands before that was cached at once.
        let message = index.messages().nth(newest.message)?;
        let is_last = newest
            .block
            .is_none_or(|block| block + 1 == message.blocks().len());
        (is_block && is_last).then_some(UncachedBlock {
            anchor: newest.key,
            tail: 0,
        })
    }

    /// From now on nothing is added at this place.
    pub(super) fn take_back(&mut self, anchor: Key128) {
        self.decided.insert(anchor, None);
        self.quoted.remove(&anchor);
        self.forget_fresh(&[anchor]);
    }

    /// Who decides about a place. Whoever gets it open has to tell, whatever comes of it.
    pub(super) fn place(&mut self, anchor: Key128) -> Place {
        if let Some(decision) = self.decided.get(&anchor) {
            return Place::Decided(decision.clone());
        }
        if let Some(deciding) = self.deciding.get(&anchor) {
            return Place::Deciding(deciding.clone());
        }
        let (sender, told) = watch::channel(None);
        self.deciding.insert(anchor, told);
        Place::Open(sender)
    }

    /// Makes a decision known, unless one was made meanwhile. Returns what holds.
    pub(super) fn decide(&mut self, anchor: Key128, decision: Decision) -> Decision {
        self.deciding.remove(&anchor);
        self.decided.entry(anchor).or_insert(decision).clone()
    }

    /// The block behind this part goes out for the first time.
    pub(super) fn sent(&mut self, index: &RequestIndex, link: &Link) {
        self.forget_fresh(&[link.key]);
        if let Some(tail) = CacheWindow::of(index, link).uncached_tail() {
            self.fresh.push(UncachedBlock {
                anchor: link.key,
                tail,
            });
        }
    }
}

/// The prefix up to the last breakpoint.
fn prefix_of(index: &RequestIndex, skeleton: &Skeleton) -> Option<CachedPrefix> {
    // The client sets the breakpoint on the newest parts: further back nobody looks.
    let newest = skeleton.links().iter().rev().take(LOOKED_AT);
    let mut prefixes = newest.filter_map(|link| {
        let behind = CacheWindow::of(index, link).breakpoint_behind()?;
        Some(CachedPrefix {
            anchor: link.key,
            behind,
        })
    });
    prefixes.next()
}
