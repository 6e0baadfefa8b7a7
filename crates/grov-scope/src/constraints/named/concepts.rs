//! What paths, texts and commands call the things that people name in their own language.

use super::stem::{is_same_word, is_unspaced_text};
use std::sync::LazyLock;

/// One thing.
#[derive(Debug)]
pub(super) struct Concept {
    /// Its names in paths, texts and commands.
    pub(super) words: Vec<&'static str>,
    /// Its names in what people type, folded.
    aliases: Vec<&'static str>,
}

static CONCEPTS: LazyLock<Vec<Concept>> = LazyLock::new(|| {
    let rows = include_str!("concepts.txt").lines();
    let rows = rows.filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split_once(':'))
        .map(|(words, aliases)| Concept {
            words: words.split_whitespace().collect(),
            aliases: aliases.split_whitespace().collect(),
        })
        .collect()
});

/// The things that a word of a language with spaces names.
pub(super) fn named_by(word: &str) -> impl Iterator<Item = &'static Concept> {
    let names = move |concept: &&Concept| {
        concept.words.iter().any(|known| is_same_word(known, word))
            || concept.aliases.iter().any(|alias| match alias.strip_suffix('*') {
                Some(stem) => word.starts_with(stem),
                None => *alias == word,
            })
    };
    CONCEPTS.iter().filter(names)
}

/// The things that a text of a language without spaces names.
pub(super) fn named_in(text: &str) -> impl Iterator<Item = &'static Concept> {
    let names = move |concept: &&Concept| {
        concept
            .aliases
            .iter()
            .any(|alias| is_unspaced_text(alias) && text.contains(alias))
    };
    CONCEPTS.iter().filter(names)
}
