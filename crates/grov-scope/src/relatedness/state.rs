//! The recorded state of a conversation: the work so far, the current drift, and undecided actions.

use super::shown_text::ShownText;
use super::terms::TextTerms;
use super::work_profile::{FileId, Files, NumberedFile, USER, WorkProfile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};

/// The maximum number of undecided actions of each kind.
const MAX_UNDECIDED: usize = 64;
/// The maximum number of recorded words of a drift.
const MAX_WORDS: usize = 20_000;
/// The number of actions after a reported doubt during which no other doubt is reported.
const REST: u64 = 12;
/// The maximum number of undecided changes that count in the evidence.
const MAX_WAITING: usize = 3;
/// The initial sum and number of edits: as if three edits had used half known words.
const USUAL: (f64, f64) = (1.5, 3.0);
/// The minimum number of words of an edit that counts for the usual share of known words.
const MIN_WORDS: usize = 4;

/// A recorded action.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ObservedAction {
    pub(super) files: Vec<NumberedFile>,
    pub(super) changes: bool,
    /// An editing tool changed the files, not a command.
    pub(super) is_edit: bool,
    /// The written text is known.
    pub(super) has_text: bool,
    #[serde(rename = "heard")]
    pub(super) terms: TextTerms,
    /// The number of the action.
    pub(super) at: u64,
}

/// The recorded state of a conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RelatednessState {
    pub(super) files: Files,
    /// The goal and all actions related to it.
    pub(super) on: WorkProfile,
    /// Texts that were shown to the agent.
    #[serde(rename = "told")]
    pub(super) shown: ShownText,
    /// The words of the unrelated actions of the current drift.
    off: HashSet<String>,
    drifting: bool,
    /// The number of changes of the current drift.
    odd: u32,
    /// Reads that are undecided.
    looked: Vec<ObservedAction>,
    /// Changes that are undecided.
    waiting: Vec<ObservedAction>,
    first_edit: Option<u64>,
    /// The number of the newest reported change under a broad request.
    doubted: Option<u64>,
    /// The number of the next action, and of the first action of the task.
    now: u64,
    begin: u64,
    /// The shares of known words in edits: their sum and number.
    usual: (f64, f64),
    /// The number of related edits with a known text, and of all related edits.
    texts: (f64, f64),
}

impl Default for RelatednessState {
    fn default() -> Self {
        Self {
            files: Files::default(),
            on: WorkProfile::default(),
            shown: ShownText::default(),
            off: HashSet::new(),
            drifting: false,
            odd: 0,
            looked: Vec::new(),
            waiting: Vec::new(),
            first_edit: None,
            doubted: None,
            now: 0,
            begin: 0,
            usual: USUAL,
            texts: (0.0, 0.0),
        }
    }
}

impl RelatednessState {
    /// Returns the number of the next action and advances it.
    pub(super) fn next(&mut self) -> u64 {
        let at = self.now;
        self.now += 1;
        at
    }

    /// Records a new request of the user: its words belong to the work, and a drift ends.
    pub(super) fn reopen(&mut self, terms: &TextTerms, is_new_task: bool) {
        self.on.record(terms, &[USER]);
        self.recover();
        self.looked.clear();
        self.waiting.clear();
        if is_new_task {
            self.begin_task();
        }
    }

    /// Whether a file was read before.
    pub(super) fn has_read(&self, id: FileId) -> bool {
        self.on.read_at(id).is_some()
            || self
                .looked
                .iter()
                .any(|seen| seen.files.iter().any(|file| file.id == id))
    }

    /// Starts a task: nothing was edited for it yet.
    pub(super) fn begin_task(&mut self) {
        self.first_edit = None;
        self.begin = self.now;
    }

    /// Ends a drift.
    pub(super) fn forgive(&mut self) {
        self.recover();
        self.waiting.clear();
    }

    /// Whether an unrelated change under a broad request is reported: not within [`REST`] actions after the last one. Records
    /// the change if so.
    pub(super) fn may_doubt(&mut self, at: u64) -> bool {
        let rests = self.doubted.is_some_and(|last| at.saturating_sub(last) < REST);
        if !rests {
            self.doubted = Some(at);
        }
        !rests
    }

    /// The number of earlier actions of the task.
    pub(super) fn age(&self) -> f64 {
        let actions = self.now.saturating_sub(self.begin + 1);
        f64::from(u32::try_from(actions).unwrap_or(u32::MAX))
    }

    pub(super) fn is_drifting(&self) -> bool {
        self.drifting
    }

    /// The number of changes of the current drift.
    pub(super) fn odd(&self) -> u32 {
        self.odd
    }

    pub(super) fn has_edited(&self) -> bool {
        self.first_edit.is_some()
    }

    pub(super) fn is_before_first_edit(&self, at: u64) -> bool {
        self.first_edit.is_none_or(|first| at < first)
    }

    /// The mean share of known words in edits.
    pub(super) fn usual_talk(&self) -> f64 {
        self.usual.0 / self.usual.1
    }

    /// The number of undecided changes that count.
    pub(super) fn waiting(&self) -> f64 {
        [0.0, 1.0, 2.0, 3.0][self.waiting.len().min(MAX_WAITING)]
    }

    /// How many of the words occur in the current drift.
    pub(super) fn count_off<'a>(&self, words: impl Iterator<Item = &'a str>) -> usize {
        words.filter(|word| self.off.contains(*word)).count()
    }

    /// The share of related edits without a known text, 0 to 1.
    pub(super) fn unseen(&self) -> f64 {
        if self.texts.1 > 0.0 {
            1.0 - self.texts.0 / self.texts.1
        } else {
            0.0
        }
    }

    /// The ids under which files are recorded, including alternative paths of the same file.
    pub(super) fn forms<'a>(&'a self, files: &'a [NumberedFile]) -> impl Iterator<Item = FileId> + 'a {
        files.iter().flat_map(|file| self.on.forms(&file.file))
    }

    /// Records an action on known files. It ends a drift.
    pub(super) fn go_on(&mut self, seen: ObservedAction) {
        self.recover();
        if seen.changes
            && seen.terms.words.len() >= MIN_WORDS
            && let Some(talk) = self.on.talk(&seen.terms, &BTreeSet::new())
        {
            self.usual.0 += talk;
            self.usual.1 += 1.0;
        }
        self.accept(seen);
    }

    /// Records a related change. It ends a drift.
    pub(super) fn believe(&mut self, seen: ObservedAction) {
        self.recover();
        self.accept(seen);
    }

    /// Records an unrelated change. It starts or continues a drift, and undecided actions become part of it.
    pub(super) fn flag(&mut self, seen: ObservedAction) {
        self.drifting = true;
        self.odd += 1;
        for earlier in std::mem::take(&mut self.looked) {
            self.condemn(earlier);
        }
        for earlier in std::mem::take(&mut self.waiting) {
            self.condemn(earlier);
        }
        self.condemn(seen);
    }

    /// Adds the words of an action to the drift.
    pub(super) fn condemn(&mut self, seen: ObservedAction) {
        let paths = seen.files.into_iter().flat_map(|file| file.file.words);
        for word in paths.chain(seen.terms.words) {
            if self.off.len() < MAX_WORDS {
                self.off.insert(word);
            }
        }
    }

    /// Records an undecided change.
    pub(super) fn wait(&mut self, seen: ObservedAction) {
        push(&mut self.waiting, seen);
    }

    /// Records an undecided read.
    pub(super) fn look(&mut self, seen: ObservedAction) {
        push(&mut self.looked, seen);
    }

    /// Records a related read.
    pub(super) fn learn(&mut self, seen: &ObservedAction) {
        self.on.add(seen);
    }

    /// Records a clearly related read. It ends a drift.
    pub(super) fn come_back(&mut self, seen: &ObservedAction) {
        self.recover();
        self.learn(seen);
    }

    fn recover(&mut self) {
        self.drifting = false;
        self.odd = 0;
        self.off.clear();
    }

    fn accept(&mut self, seen: ObservedAction) {
        if seen.changes {
            let undecided = [
                std::mem::take(&mut self.looked),
                std::mem::take(&mut self.waiting),
            ];
            for earlier in undecided.into_iter().flatten() {
                self.learn(&earlier);
            }
        }
        self.learn(&seen);
        if seen.is_edit {
            self.first_edit.get_or_insert(seen.at);
            self.texts.0 += if seen.has_text { 1.0 } else { 0.0 };
            self.texts.1 += 1.0;
        }
    }
}

fn push(list: &mut Vec<ObservedAction>, seen: ObservedAction) {
    if list.len() >= MAX_UNDECIDED {
        list.remove(0);
    }
    list.push(seen);
}
