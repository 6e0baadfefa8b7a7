//! One prompt, read by itself: what intents are put together from.

use super::clean::clean;
use super::constraints;
use super::goal::{Goal, Sentence};
use super::scope::{self, SearchWords};
use super::text::{Entry, add_new};
use std::sync::OnceLock;

/// A prompt, read. What only the newest prompts are asked is read when it is asked.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The text without what nobody typed.
    text: String,
    sentences: Vec<Sentence>,
    /// Paths and identifiers it names.
    pub(crate) named: Vec<Entry>,
    /// What it forbids or demands.
    pub(crate) constraints: Vec<Entry>,
    goal: OnceLock<Goal>,
    goal_words: OnceLock<SearchWords>,
    text_words: OnceLock<SearchWords>,
}

impl Reading {
    /// Reads a prompt.
    pub(crate) fn of(prompt: &str) -> Self {
        let cleaned = clean(prompt);
        let mut named = Vec::new();
        scope::named(&cleaned.whole, &mut named);
        let sentences = Sentence::read(cleaned.sentences());
        let limits: Vec<Entry> = sentences
            .iter()
            .flat_map(Sentence::constraints)
            .cloned()
            .map(Entry::new)
            .collect();
        let mut distinct = Vec::new();
        for limit in &limits {
            add_new(&mut distinct, limit, constraints::MOST);
        }
        Self {
            constraints: distinct.into_iter().cloned().collect(),
            named: named.into_iter().map(Entry::new).collect(),
            sentences,
            text: cleaned.into_best(),
            goal: OnceLock::new(),
            goal_words: OnceLock::new(),
            text_words: OnceLock::new(),
        }
    }

    /// What it wants.
    pub(crate) fn goal(&self) -> &Goal {
        self.goal.get_or_init(|| Goal::of(&self.sentences))
    }

    /// Words for search in its goal.
    pub(crate) fn goal_words(&self) -> &SearchWords {
        self.goal_words.get_or_init(|| SearchWords::of(&self.goal().text))
    }

    /// Words for search in all of it.
    pub(crate) fn text_words(&self) -> &SearchWords {
        self.text_words.get_or_init(|| SearchWords::of(&self.text))
    }
}

impl AsRef<Goal> for Reading {
    fn as_ref(&self) -> &Goal {
        self.goal()
    }
}
