//! What paths, texts and commands call the things that people name in their own language.

use super::stem::{is_unspaced_text, key_of};
use crate::by_beginning::ByBeginning;
use std::collections::HashMap;
use std::sync::LazyLock;

/// One thing.
#[derive(Debug)]
pub(super) struct Concept {
    /// Its names in paths, texts and commands.
    pub(super) words: Vec<&'static str>,
}

/// All things, with an index of their names.
#[derive(Debug, Default)]
struct Concepts {
    all: Vec<Concept>,
    /// By the stems of the names in code.
    by_stem: HashMap<&'static str, Vec<usize>>,
    /// Whole aliases.
    by_alias: HashMap<&'static str, Vec<usize>>,
    /// Beginnings of aliases, with what they name.
    by_beginning: ByBeginning<(&'static str, usize)>,
    /// Aliases in languages without spaces.
    unspaced: Vec<(&'static str, usize)>,
}

impl Concepts {
    fn of(rows: &'static str) -> Self {
        let mut found = Self::default();
        let rows = rows.lines().filter(|row| !row.starts_with('#'));
        for (words, aliases) in rows.filter_map(|row| row.split_once(':')) {
            let number = found.all.len();
            let words: Vec<&str> = words.split_whitespace().collect();
            for word in &words {
                found.by_stem.entry(key_of(word)).or_default().push(number);
            }
            for alias in aliases.split_whitespace() {
                found.add_alias(alias, number);
            }
            found.all.push(Concept { words });
        }
        found
    }

    fn add_alias(&mut self, alias: &'static str, number: usize) {
        if is_unspaced_text(alias) {
            self.unspaced.push((alias, number));
            return;
        }
        match alias.strip_suffix('*') {
            Some(beginning) => self.by_beginning.add(beginning, (beginning, number)),
            None => self.by_alias.entry(alias).or_default().push(number),
        }
    }
}

static CONCEPTS: LazyLock<Concepts> = LazyLock::new(|| Concepts::of(include_str!("concepts.txt")));

/// The things that a word of a language with spaces names, in the order of the table.
pub(super) fn named_by(word: &str) -> impl Iterator<Item = &'static Concept> + use<> {
    let known = &*CONCEPTS;
    let plain = [known.by_stem.get(key_of(word)), known.by_alias.get(word)];
    let mut numbers: Vec<usize> = plain.into_iter().flatten().flatten().copied().collect();
    let like = known.by_beginning.like(word).iter();
    let begun = like.filter(|(beginning, _)| word.starts_with(beginning));
    numbers.extend(begun.map(|(_, number)| *number));
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().filter_map(|number| known.all.get(number))
}

/// The things that a text of a language without spaces names.
pub(super) fn named_in(text: &str) -> impl Iterator<Item = &'static Concept> + use<> {
    let known = &*CONCEPTS;
    let mut numbers: Vec<usize> = Vec::new();
    for (alias, number) in &known.unspaced {
        if !numbers.contains(number) && text.contains(alias) {
            numbers.push(*number);
        }
    }
    numbers.sort_unstable();
    numbers.into_iter().filter_map(|number| known.all.get(number))
}
