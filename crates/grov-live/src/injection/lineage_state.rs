//! The decisions of a lineage, and which blocks the prompt cache already contains.

use super::cache_window::CacheWindow;
use super::history::{Beginning, History};
use super::late::LateTexts;
use super::trim::repeated;
use bytes::Bytes;
use grov_domain::{HistoryKey, LedgerLineage, LineageCuts, TaskId};
use grov_wire::{BlockKind, Edit, Key128, Link, RequestIndex, Skeleton};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use tokio::sync::watch;

/// The newest parts of a history that are searched for the last breakpoint.
const MAX_LINKS_SEARCHED: usize = 16;

/// Histories of answered requests that are remembered.
const MAX_ANSWERED: usize = 64;

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
    /// Beginnings that are left out, by the first part that is kept.
    cuts: HashMap<Key128, Cut>,
    /// The cut of a request that nothing cached yet, because its first request is not accepted.
    uncached_cut: Option<Key128>,
    /// The histories of the newest main requests that were answered, oldest first.
    answered: VecDeque<Key128>,
    /// The new content of tool results, by the id of the call.
    trims: HashMap<String, Bytes>,
    /// The tip and the model last sent to the store.
    last_tip: Option<(Option<Key128>, String)>,
    /// Whether a request of this history came through Grov before it was loaded.
    is_known: bool,
    late: LateTexts,
    edits_disabled: bool,
}

/// A beginning that is left out.
#[derive(Clone, Debug)]
struct Cut {
    /// The block that stands for it.
    block: Bytes,
    /// Whether a request was sent without it. Before, only a main request may be the first.
    is_applied: bool,
    /// Whether the size of the context after it is known.
    is_measured: bool,
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
    /// How the history begins as it is sent.
    pub(super) beginning: Beginning,
    /// The cut that this request makes for the first time.
    pub(super) started_cut: Option<Key128>,
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
        self.is_known |= stored.tip.is_some();
        self.loaded_tip = Some(stored.tip.map(|tip| Key128::from_u128(tip.0)));
        for entry in stored.entries {
            let key = Key128::from_u128(entry.anchor.0);
            if let Entry::Vacant(open) = self.decided.entry(key) {
                open.insert(entry.block.map(Bytes::from));
                self.quote(key, entry.memories);
            }
        }
    }

    /// Adds stored cuts and trims.
    pub(super) fn load_cuts(&mut self, stored: LineageCuts) {
        for cut in stored.cuts {
            let known = self.cuts.entry(Key128::from_u128(cut.anchor.0)).or_insert(Cut {
                block: Bytes::from(cut.block),
                is_applied: false,
                is_measured: cut.is_measured,
            });
            known.is_applied |= cut.applied_at.is_some();
        }
        for trim in stored.trims {
            let content = Bytes::from(trim.content);
            self.trims.entry(trim.tool_use_id).or_insert(content);
        }
    }

    /// Adds a stored cut, which the next main request with this part applies. It replaces those that were never applied, whose
    /// keys are returned.
    pub(super) fn add_cut(&mut self, key: Key128, block: Bytes) -> Vec<Key128> {
        let replaced = self.cuts.extract_if(|_, cut| !cut.is_applied);
        let replaced = replaced.map(|(key, _)| key).collect();
        self.cuts.entry(key).or_insert(Cut {
            block,
            is_applied: false,
            is_measured: false,
        });
        replaced
    }

    /// Takes over the texts of stored cuts, which another process may have changed. Drops cuts that were deleted before they
    /// were applied.
    pub(super) fn reload_cuts(&mut self, stored: LineageCuts) {
        let mut blocks: HashMap<Key128, String> = stored
            .cuts
            .into_iter()
            .map(|cut| (Key128::from_u128(cut.anchor.0), cut.block))
            .collect();
        self.cuts.retain(|key, cut| match blocks.remove(key) {
            Some(block) => {
                cut.block = Bytes::from(block);
                true
            }
            None => cut.is_applied,
        });
    }

    /// Returns whether the response to a request with this cut is the first that tells the size of the context.
    pub(super) fn is_to_be_measured(&mut self, key: Key128) -> bool {
        let cut = self.cuts.get_mut(&key);
        cut.is_some_and(|cut| !std::mem::replace(&mut cut.is_measured, true))
    }

    /// Returns whether a request of this history came through Grov before this process started, or since.
    pub(super) fn is_known(&self) -> bool {
        self.is_known || self.last_tip.is_some()
    }

    /// Adds stored trims.
    pub(super) fn add_trims(&mut self, trims: impl IntoIterator<Item = (String, Bytes)>) {
        self.trims.extend(trims);
    }

    /// Removes trims.
    pub(super) fn remove_trims(&mut self, calls: &[String]) {
        self.trims.retain(|id, _| !calls.contains(id));
    }

    /// Records the history of a main request that was answered.
    pub(super) fn note_response(&mut self, tip: Key128) {
        if self.answered.len() >= MAX_ANSWERED {
            self.answered.pop_front();
        }
        self.answered.push_back(tip);
    }

    /// Returns the history of the main request that was answered `responses` responses before the newest one.
    pub(super) fn tip_before(&self, responses: u64) -> Option<Key128> {
        let responses = usize::try_from(responses).ok()?;
        self.answered.iter().rev().nth(responses).copied()
    }

    /// Returns whether a cut of this history waits for a main request.
    pub(super) fn has_pending_cut(&self, skeleton: &Skeleton) -> bool {
        let mut pending = self.cuts.iter().filter(|(_, cut)| !cut.is_applied);
        pending.any(|(key, _)| skeleton.find(*key).is_some())
    }

    /// Returns whether the content of this tool call's result is replaced.
    pub(super) fn is_trimmed(&self, tool_use_id: &str) -> bool {
        self.trims.contains_key(tool_use_id)
    }

    /// Returns how this history begins as it is sent: at the latest cut in it. `may_start` allows cuts that are not applied yet.
    pub(super) fn beginning(&self, index: &RequestIndex, skeleton: &Skeleton, may_start: bool) -> Beginning {
        if self.cuts.is_empty() || self.edits_disabled {
            return Beginning::default();
        }
        let links = skeleton.links().iter().rev();
        let mut cuts = links.filter_map(|link| {
            let cut = self.cuts.get(&link.key)?;
            let is_allowed = cut.is_applied || may_start;
            is_allowed.then(|| Beginning::cut_before(index, skeleton, link))?
        });
        cuts.next().unwrap_or_default()
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
    pub(super) fn quoted_in(&self, history: &History<'_>) -> HashSet<TaskId> {
        let quoted = history
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
    /// prefix. `may_start_cut` allows this request to make a cut for the first time.
    pub(super) fn replay(
        &mut self,
        index: &RequestIndex,
        skeleton: &Skeleton,
        may_start_cut: bool,
    ) -> Replay {
        let mut replay = Replay::default();
        if self.edits_disabled {
            return replay;
        }
        let beginning = self.beginning(index, skeleton, may_start_cut);
        let history = History::new(index, skeleton, beginning);
        replay.beginning = beginning;
        self.replay_cut(beginning, &mut replay);
        self.replay_trims(&history, &mut replay);
        (replay.caches, replay.withdrawn) = self.newly_cached(&history);
        replay.prefix = prefix_of(&history);
        for anchor in &replay.withdrawn {
            self.withdraw(*anchor);
        }
        let newest = history.newest_user_link();
        for link in history.links() {
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
            self.mark_sent(&history, link);
        }
        replay
    }

    /// Adds the cut of this history to its replay.
    fn replay_cut(&mut self, beginning: Beginning, replay: &mut Replay) {
        let Some(key) = beginning.key() else { return };
        let Some(cut) = self.cuts.get_mut(&key) else {
            return;
        };
        replay.edits.extend(beginning.edit(cut.block.clone()));
        if !cut.is_applied {
            cut.is_applied = true;
            replay.started_cut = Some(key);
            self.uncached_cut = Some(key);
        }
    }

    /// Adds the trimmed results of this history to its replay.
    fn replay_trims(&self, history: &History<'_>, replay: &mut Replay) {
        if self.trims.is_empty() {
            return;
        }
        // The user may have gone back to before the call that superseded a result. Then nothing repeats its content.
        let repeated = repeated(history, |id| self.trims.contains_key(id));
        for block in history.messages().flat_map(|message| message.blocks()) {
            if block.kind() != BlockKind::ToolResult {
                continue;
            }
            let id = block.tool_use_id().filter(|id| repeated.contains(id.as_ref()));
            let trimmed = id.and_then(|id| self.trims.get(id.as_ref()));
            if let (Some(content), Some(at)) = (trimmed, block.result_place()) {
                replay.edits.push(Edit::ReplaceResult {
                    at,
                    bytes: content.clone(),
                });
            }
        }
    }

    /// Returns the uncached blocks that this request caches, and those of them to withdraw, because the look-back would
    /// no longer reach the prefix before them. Withdrawing costs nothing, because they were never cached.
    fn newly_cached(&mut self, history: &History<'_>) -> (Vec<Key128>, Vec<Key128>) {
        if let Some(loaded_tip) = self.loaded_tip.take()
            && self.uncached.is_empty()
        {
            self.uncached.extend(self.uncached_since(loaded_tip, history));
        }
        // Blocks that are no longer in the history, because the user went back, are dropped.
        self.uncached.retain(|block| history.find(block.anchor).is_some());
        let window = |anchor: Key128| history.find(anchor).map(|link| CacheWindow::of(history, link));
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
        if self.uncached_cut.is_some() && self.uncached_cut == history.beginning().key() {
            // Nothing after the cut is cached, so no block can invalidate it.
            return (in_front, Vec::new());
        }
        let excess_blocks = first.map_or(0, |(window, cached)| window.excess_blocks(cached, in_front.len()));
        let pushed_out = in_front.split_off(in_front.len().saturating_sub(excess_blocks));
        (in_front, pushed_out)
    }

    /// Records an accepted request: the prefix up to its breakpoint is cached, including the blocks at `anchors`.
    pub(super) fn mark_cached(
        &mut self,
        anchors: &[Key128],
        prefix: Option<CachedPrefix>,
        beginning: Beginning,
    ) {
        self.remove_uncached(anchors);
        if self.uncached_cut == beginning.key() {
            self.uncached_cut = None;
        }
        self.cached = prefix.or(self.cached);
    }

    fn remove_uncached(&mut self, anchors: &[Key128]) {
        self.uncached.retain(|block| !anchors.contains(&block.anchor));
    }

    /// Returns the newest block added before this lineage was loaded, if no answer followed it.
    fn uncached_since(&self, loaded_tip: Option<Key128>, history: &History<'_>) -> Option<UncachedBlock> {
        let links = history.links();
        let since = match loaded_tip {
            Some(tip) => links.iter().position(|link| link.key == tip)? + 1,
            None => 0,
        };
        let newest = links[since..]
            .iter()
            .rfind(|link| self.decided.contains_key(&link.key))?;
        let is_block = matches!(self.decided.get(&newest.key), Some(Some(_)));
        // The client sets its breakpoint on the last block. A block before that was cached by its first request.
        let message = history.index().message(newest.message)?;
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
    pub(super) fn mark_sent(&mut self, history: &History<'_>, link: &Link) {
        self.remove_uncached(&[link.key]);
        if let Some(tail) = CacheWindow::of(history, link).uncached_tail() {
            self.uncached.push(UncachedBlock {
                anchor: link.key,
                tail,
            });
        }
    }
}

/// Returns the prefix up to the last breakpoint.
fn prefix_of(history: &History<'_>) -> Option<CachedPrefix> {
    // The client sets the breakpoint on one of the newest parts.
    let newest = history.links().iter().rev().take(MAX_LINKS_SEARCHED);
    let mut prefixes = newest.filter_map(|link| {
        let blocks_after = CacheWindow::of(history, link).blocks_to_breakpoint()?;
        Some(CachedPrefix {
            anchor: link.key,
            blocks_after,
        })
    });
    prefixes.next()
}
