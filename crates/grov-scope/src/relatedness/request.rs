//! The user's request, prepared for comparison.

use super::broad_request::is_broad;
use super::file_role::FileRole;
use super::terms::{TextTerms, words};
use super::tracked_file::TrackedFile;
use crate::phrases::Votes;
use crate::words::fold;
use grov_domain::GoalContract;
use std::collections::BTreeSet;

/// The number of characters of the goal and of each instruction that are read.
const MAX_LETTERS: usize = 8_000;
/// The number of newest instructions that are read.
const MAX_INSTRUCTIONS: usize = 20;
/// The number of texts, the goal and the newest instructions first, in which roles of files are found.
const MAX_ROLE_TEXTS: usize = 6;
/// The number of new words that make an instruction a new task; fewer mean "go on".
const NEW_TASK: usize = 4;

/// The goal and the instructions.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    texts: Vec<String>,
    /// The texts, folded, to search for names of files.
    folded: String,
    words: BTreeSet<String>,
    is_foreign: bool,
    is_broad: bool,
    /// The roles of files that it names.
    roles: Vec<FileRole>,
    /// The keywords of the contract, which count as words of the work but not of the request.
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
            roles: texts
                .iter()
                .take(MAX_ROLE_TEXTS)
                .flat_map(|text| FileRole::named_in(text))
                .collect(),
            folded: texts.iter().map(|text| fold(text)).collect::<Vec<_>>().join("\n"),
            words: texts.iter().flat_map(|text| words(text)).collect(),
            is_foreign: is_foreign(&texts),
            keywords: contract.keywords.join("\n"),
            texts,
        }
    }

    /// Whether the request concerns the whole project.
    pub(super) fn is_broad(&self) -> bool {
        self.is_broad
    }

    /// Whether it names files of this role.
    pub(super) fn names_role(&self, role: FileRole) -> bool {
        self.roles.contains(&role)
    }

    /// Whether a file's name, without extension, is a word of the request: "the public endpoints" and `public.py`.
    pub(super) fn says_stem(&self, stem: &str) -> bool {
        let words = words(stem);
        !words.is_empty() && words.iter().all(|word| self.words.contains(word))
    }

    /// The number of its words.
    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no request.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether the request can hardly be compared with code: it has no words or is not in English.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign || self.words.is_empty()
    }

    /// The terms of the request and the keywords.
    pub(super) fn terms(&self) -> TextTerms {
        let texts = self.texts.iter().chain([&self.keywords]);
        TextTerms::of(texts.map(|text| (text.as_str(), MAX_LETTERS)))
    }

    /// Whether the request contains a text.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.folded.contains(&fold(text))
    }

    /// Whether the user named the file.
    pub(super) fn names(&self, file: &TrackedFile) -> bool {
        file.is_named_in(&self.folded)
    }

    /// How many of the words the request contains.
    pub(super) fn count<'a>(&self, words: impl Iterator<Item = &'a str>) -> usize {
        words.filter(|word| self.words.contains(*word)).count()
    }

    /// Whether a newer request has the same texts.
    pub(super) fn says_the_same(&self, newer: &Self) -> bool {
        self.texts == newer.texts
    }

    /// Whether a newer request starts a new task instead of continuing this one.
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

/// Whether texts are not in English, judged by their commonest words and by their letters.
fn is_foreign(texts: &[String]) -> bool {
    let mut votes = Votes::default();
    let (mut latin, mut others) = (0, 0);
    for text in texts {
        votes.add(&Votes::of(&crate::words::words(text)));
        for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
            if letter.is_ascii() {
                latin += 1;
            } else {
                others += 1;
            }
        }
    }
    !votes.languages().may_be_english() || others > latin
}
