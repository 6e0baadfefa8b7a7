//! The words of all known languages with their meanings.
//!
//! A line of a table is a concept and its entries. `_` joins the words of an entry, `~` stands for up to [`GAP`] words, `*` for
//! any ending or beginning. Letters are without accents. Entries of scripts without spaces are found inside of sentences.

use super::concept::{Concept, Meaning};
use super::is_unspaced;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The tables, one per language.
pub(in crate::suspicion) const TABLES: &[&str] = &[
    include_str!("tables/en.txt"),
    include_str!("tables/de.txt"),
    include_str!("tables/fr.txt"),
    include_str!("tables/es.txt"),
    include_str!("tables/it.txt"),
    include_str!("tables/pt.txt"),
    include_str!("tables/pl.txt"),
    include_str!("tables/nl.txt"),
    include_str!("tables/ro.txt"),
    include_str!("tables/ru.txt"),
    include_str!("tables/zh.txt"),
    include_str!("tables/ja.txt"),
    include_str!("tables/other.txt"),
];

/// The most words of a gap.
const GAP: usize = 4;

/// The parsed tables.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::of(TABLES));

/// A word of an expression.
#[derive(Clone, Copy, Debug)]
enum Part {
    Word(&'static str),
    Gap,
}

/// Several words with one meaning.
struct Expression {
    parts: Vec<Part>,
    concept: Concept,
}

/// Meanings by word, beginning, ending, and expression.
#[derive(Default)]
pub(super) struct Lexicon {
    words: HashMap<&'static str, Meaning>,
    /// Beginnings of words by their first two letters.
    beginnings: HashMap<&'static str, Vec<(&'static str, Meaning)>>,
    ends: Vec<(&'static str, Meaning)>,
    /// Expressions by the first two letters of their first word.
    expressions: HashMap<&'static str, Vec<Expression>>,
    /// Pieces of scripts without spaces by their first letter, the longest first.
    pieces: HashMap<char, Vec<(&'static str, Meaning)>>,
}

/// The first two letters.
fn head(word: &str) -> &str {
    let end = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
    &word[..end]
}

/// Whether a word is one of an expression: the same, or with another ending or beginning.
fn is_form(word: &str, form: &str) -> bool {
    match (form.strip_suffix('*'), form.strip_prefix('*')) {
        (Some(beginning), _) => word.starts_with(beginning),
        (_, Some(end)) => word.ends_with(end),
        _ => word == form,
    }
}

impl Lexicon {
    fn of(tables: &[&'static str]) -> Self {
        let mut lexicon = Self::default();
        for line in tables.iter().flat_map(|table| table.lines()) {
            let mut entries = line.split(' ').filter(|entry| !entry.is_empty());
            let Some(concept) = entries.next().and_then(Concept::named) else {
                continue;
            };
            for entry in entries {
                lexicon.add(entry, concept);
            }
        }
        for pieces in lexicon.pieces.values_mut() {
            pieces.sort_by_key(|(piece, _)| std::cmp::Reverse(piece.len()));
        }
        lexicon
    }

    fn add(&mut self, entry: &'static str, concept: Concept) {
        let meaning = Meaning::of(&[concept]);
        if let Some(end) = entry
            .strip_prefix('*')
            .filter(|end| !end.contains('_') || end.starts_with('_'))
        {
            self.ends.push((end.trim_end_matches('*'), meaning));
        } else if let Some(first) = entry.chars().next().filter(|first| is_unspaced(*first)) {
            let pieces = self.pieces.entry(first).or_default();
            match pieces.iter_mut().find(|(piece, _)| *piece == entry) {
                Some((_, known)) => known.add(meaning),
                None => pieces.push((entry, meaning)),
            }
        } else if entry.contains('_') {
            let parts: Vec<Part> = entry
                .split(['_', '-'])
                .filter(|part| !part.is_empty())
                .map(|part| if part == "~" { Part::Gap } else { Part::Word(part) })
                .collect();
            let first = entry.split(['_', '-', '*']).next().unwrap_or(entry);
            self.expressions
                .entry(head(first))
                .or_default()
                .push(Expression { parts, concept });
        } else if let Some(beginning) = entry.strip_suffix('*') {
            let known = self.beginnings.entry(head(beginning)).or_default();
            known.push((beginning, meaning));
        } else {
            self.words.entry(entry).or_default().add(meaning);
        }
    }

    /// What a word of a script with spaces means.
    pub(super) fn meaning(&self, word: &str) -> Meaning {
        let mut meaning = self.words.get(word).copied().unwrap_or_default();
        for (beginning, other) in self.beginnings.get(head(word)).into_iter().flatten() {
            if word.starts_with(beginning) {
                meaning.add(*other);
            }
        }
        for (end, other) in &self.ends {
            if word.ends_with(end) {
                meaning.add(*other);
            }
        }
        meaning
    }

    /// Whether the whole word is an entry.
    pub(super) fn is_entry(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// The length of the longest piece at the start of a text without spaces, and what it and the shorter ones mean.
    pub(super) fn piece(&self, text: &str) -> Option<(usize, Meaning)> {
        let pieces = self.pieces.get(&text.chars().next()?)?;
        let mut found: Option<(usize, Meaning)> = None;
        for (piece, meaning) in pieces.iter().filter(|(piece, _)| text.starts_with(piece)) {
            found
                .get_or_insert((piece.len(), Meaning::default()))
                .1
                .add(*meaning);
        }
        found
    }

    /// Calls `add` for each expression at the start of these words with its length in words.
    pub(super) fn expressions(&self, words: &[&str], mut add: impl FnMut(usize, Concept)) {
        let Some(first) = words.first() else { return };
        for expression in self.expressions.get(head(first)).into_iter().flatten() {
            if let Some(length) = matched(&expression.parts, words) {
                add(length, expression.concept);
            }
        }
    }
}

/// The number of words that these parts match.
fn matched(parts: &[Part], words: &[&str]) -> Option<usize> {
    match parts {
        [] => Some(0),
        [Part::Word(form), rest @ ..] => {
            let (first, after) = words.split_first()?;
            is_form(first, form)
                .then(|| matched(rest, after))?
                .map(|length| length + 1)
        }
        [Part::Gap, rest @ ..] => (0..=GAP.min(words.len()))
            .find_map(|skipped| matched(rest, &words[skipped..]).map(|length| length + skipped)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_names_a_concept() {
        let lines = TABLES.iter().flat_map(|table| table.lines());
        for line in lines.filter(|line| !line.starts_with('#')) {
            let name = line.split(' ').next().unwrap_or_default();
            assert!(Concept::named(name).is_some(), "{line}");
        }
    }

    #[test]
    fn words_are_found_by_beginning_and_in_expressions() {
        let remove = Meaning::of(&[Concept::Remove]);
        assert!(LEXICON.meaning("deaktiviere").has(remove));
        assert!(!LEXICON.meaning("tisch").has(remove));
        let mut found = Vec::new();
        LEXICON.expressions(&["turn", "it", "all", "off"], |length, concept| {
            found.push((length, concept));
        });
        assert_eq!(found, [(4, Concept::Remove)]);
        assert!(
            LEXICON
                .piece("关闭防火墙")
                .is_some_and(|(length, meaning)| length == 6 && meaning.has(remove))
        );
    }
}
