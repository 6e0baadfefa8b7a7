//! What the user asked for, as far as relatedness compares it.

use super::broad_request::is_broad;
use super::terms::{TextTerms, foreign_letters, words};
use super::tracked_file::TrackedFile;
use crate::words::fold;
use grov_domain::GoalContract;
use std::collections::BTreeSet;

/// Of the goal and of each instruction so many letters are looked at.
const MAX_LETTERS: usize = 8_000;
/// Of the instructions the newest ones are looked at.
const MAX_INSTRUCTIONS: usize = 20;
/// So many words that were not said before make an instruction a task of its own; fewer mean "go on".
const NEW_TASK: usize = 4;

/// The goal and the instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    texts: Vec<String>,
    /// The same, folded: names of files are looked for in it.
    folded: String,
    words: BTreeSet<String>,
    foreign: usize,
    is_broad: bool,
    /// Words for search, of which nothing is compared but that they are said.
    keywords: String,
}

impl Request {
    pub(super) fn new(contract: &GoalContract) -> Self {
        let newest_first = contract.instructions.iter().rev().take(MAX_INSTRUCTIONS);
        let mut texts = Vec::new();
        for text in std::iter::once(&contract.goal).chain(newest_first) {
            let text: String = text.trim().chars().take(MAX_LETTERS).collect();
            if !text.is_empty() && !texts.contains(&text) {
                texts.push(text);
            }
        }
        let is_broad = [contract.goal.as_str(), contract.newest_instruction()]
            .into_iter()
            .any(is_broad);
        Self {
            is_broad,
            folded: texts.iter().map(|text| fold(text)).collect::<Vec<_>>().join("\n"),
            words: texts.iter().flat_map(|text| words(text)).collect(),
            foreign: texts.iter().map(|text| foreign_letters(text)).sum(),
            keywords: contract.keywords.join("\n"),
            texts,
        }
    }

    /// Whether work all over the project was asked for.
    pub(super) fn is_broad(&self) -> bool {
        self.is_broad
    }

    /// Whether nothing was asked for, so that nothing can be compared with it.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether what was asked for can hardly be compared with code: no words, or written in another script for the most part.
    pub(super) fn is_wordless(&self) -> bool {
        let latin: usize = self
            .words
            .iter()
            .filter(|word| word.is_ascii())
            .map(String::len)
            .sum();
        self.words.is_empty() || self.foreign > latin
    }

    /// Everything that was said, as it is terms.
    pub(super) fn terms(&self) -> TextTerms {
        let texts = self.texts.iter().chain([&self.keywords]);
        TextTerms::of(texts.map(|text| (text.as_str(), MAX_LETTERS)))
    }

    /// Whether these words stand in what the user said.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.folded.contains(&fold(text))
    }

    /// Whether the user named the file.
    pub(super) fn names(&self, file: &TrackedFile) -> bool {
        file.is_named_in(&self.folded)
    }

    /// How many of these words the user said.
    pub(super) fn count<'a>(&self, words: impl Iterator<Item = &'a str>) -> usize {
        words.filter(|word| self.words.contains(*word)).count()
    }

    /// Whether the user said nothing else in a newer state.
    pub(super) fn says_the_same(&self, newer: &Self) -> bool {
        self.texts == newer.texts
    }

    /// Whether a newer state asks for something else, and not merely to go on.
    pub(super) fn is_new_task(&self, newer: &Self) -> bool {
        let is_new = |text: &&String| !self.texts.contains(text);
        let said: BTreeSet<String> = newer
            .texts
            .iter()
            .filter(is_new)
            .flat_map(|text| words(text))
            .collect();
        said.difference(&self.words).count() >= NEW_TASK
    }
}
