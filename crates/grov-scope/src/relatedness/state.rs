//! What is held to be on the goal, what off it, and what is not decided yet.

use super::shown_text::ShownText;
use super::terms::TextTerms;
use super::work_profile::{FileId, Files, NumberedFile, USER, WorkProfile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};

/// So many actions wait to be explained by later ones, of each kind.
const MAX_UNDECIDED: usize = 64;
/// So many words of what is off the goal are kept in mind.
const MAX_WORDS: usize = 20_000;
/// So many actions after a doubt no other one is raised.
const REST: u64 = 12;
/// Changes that wait add up to this many.
const MAX_WAITING: usize = 3;
/// Before the first edits: half of the words of an edit are known ones, as sure as three edits would make it.
const USUAL: (f64, f64) = (1.5, 3.0);
/// Shorter texts say nothing about what is usual.
const MIN_WORDS: usize = 4;

/// An action that was seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ObservedAction {
    pub(super) files: Vec<NumberedFile>,
    pub(super) changes: bool,
    /// By an edit, not by a command.
    pub(super) is_edit: bool,
    /// What it wrote was seen, or it writes nothing.
    pub(super) has_text: bool,
    #[serde(rename = "heard")]
    pub(super) terms: TextTerms,
    /// The number of the action.
    pub(super) at: u64,
}

/// What is known of the conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RelatednessState {
    pub(super) files: Files,
    /// The goal and everything that was accepted.
    pub(super) on: WorkProfile,
    /// What the agent was shown.
    #[serde(rename = "told")]
    pub(super) shown: ShownText,
    /// Words of what went off in the present drift.
    off: HashSet<String>,
    drifting: bool,
    /// Changes of the present drift.
    odd: u32,
    /// Files looked at that nothing explains yet.
    looked: Vec<ObservedAction>,
    /// Changes that are neither believed nor held against the agent.
    waiting: Vec<ObservedAction>,
    first_edit: Option<u64>,
    /// The number of the action of broad work that was doubted last.
    doubted: Option<u64>,
    /// The number of the present action, and that of the first one of the task.
    now: u64,
    begin: u64,
    /// What edits usually reach: sum and number.
    usual: (f64, f64),
    /// Accepted edits whose text was seen, and all of them.
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
    /// The number of an action that comes next.
    pub(super) fn next(&mut self) -> u64 {
        let at = self.now;
        self.now += 1;
        at
    }

    /// The user said something: it is what the work is about from now on, and nothing is held against the agent.
    pub(super) fn reopen(&mut self, terms: &TextTerms, is_new_task: bool) {
        self.on.record(terms, &[USER]);
        self.recover();
        self.looked.clear();
        self.waiting.clear();
        if is_new_task {
            self.first_edit = None;
            self.begin = self.now;
        }
    }

    /// The drift, if there is one, is let be.
    pub(super) fn forgive(&mut self) {
        self.recover();
        self.waiting.clear();
    }

    /// Whether a change of broad work may be doubted: not so soon after another one. Then it counts as doubted.
    pub(super) fn may_doubt(&mut self, at: u64) -> bool {
        let rests = self.doubted.is_some_and(|last| at.saturating_sub(last) < REST);
        if !rests {
            self.doubted = Some(at);
        }
        !rests
    }

    /// How many actions of the task lie behind.
    pub(super) fn age(&self) -> f64 {
        let actions = self.now.saturating_sub(self.begin + 1);
        f64::from(u32::try_from(actions).unwrap_or(u32::MAX))
    }

    pub(super) fn is_drifting(&self) -> bool {
        self.drifting
    }

    /// Changes of the present drift.
    pub(super) fn odd(&self) -> u32 {
        self.odd
    }

    pub(super) fn has_edited(&self) -> bool {
        self.first_edit.is_some()
    }

    pub(super) fn is_before_first_edit(&self, at: u64) -> bool {
        self.first_edit.is_none_or(|first| at < first)
    }

    /// The share of an edit's words that the work usually knows already.
    pub(super) fn usual_talk(&self) -> f64 {
        self.usual.0 / self.usual.1
    }

    /// Changes that wait to be explained.
    pub(super) fn waiting(&self) -> f64 {
        [0.0, 1.0, 2.0, 3.0][self.waiting.len().min(MAX_WAITING)]
    }

    /// How many of the words what went off uses; nought where nothing did.
    pub(super) fn count_off<'a>(&self, words: impl Iterator<Item = &'a str>) -> usize {
        words.filter(|word| self.off.contains(*word)).count()
    }

    /// The share of accepted edits whose text was not seen, 0 to 1.
    pub(super) fn unseen(&self) -> f64 {
        if self.texts.1 > 0.0 {
            1.0 - self.texts.0 / self.texts.1
        } else {
            0.0
        }
    }

    /// The forms under which a file is known, itself included.
    pub(super) fn forms<'a>(&'a self, files: &'a [NumberedFile]) -> impl Iterator<Item = FileId> + 'a {
        files.iter().flat_map(|file| self.on.forms(&file.file))
    }

    /// Work on what was worked on before: the drift, if there was one, is over.
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

    /// A change that is tied to the work.
    pub(super) fn believe(&mut self, seen: ObservedAction) {
        self.recover();
        self.accept(seen);
    }

    /// A change that is off the goal, and what led to it.
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

    /// Looks that go on with a drift.
    pub(super) fn condemn(&mut self, seen: ObservedAction) {
        let paths = seen.files.into_iter().flat_map(|file| file.file.words);
        for word in paths.chain(seen.terms.words) {
            if self.off.len() < MAX_WORDS {
                self.off.insert(word);
            }
        }
    }

    /// A change that is neither.
    pub(super) fn wait(&mut self, seen: ObservedAction) {
        push(&mut self.waiting, seen);
    }

    /// A look that nothing explains yet.
    pub(super) fn look(&mut self, seen: ObservedAction) {
        push(&mut self.looked, seen);
    }

    /// A look at what is tied to the work.
    pub(super) fn learn(&mut self, seen: &ObservedAction) {
        self.on.add(seen);
    }

    /// A look at what is clearly tied to the work ends a drift.
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
