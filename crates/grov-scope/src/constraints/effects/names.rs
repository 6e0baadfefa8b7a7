//! How people name the effects of commands, in eleven languages, by a table.

use crate::by_beginning::ByBeginning;
use crate::constraints::named::is_unspaced_text;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// A phrase that names an effect, or a verb.
#[derive(Debug)]
pub(super) struct Phrase {
    /// Words joined by `_`; a `*` at the end of one stands for any ending.
    text: &'static str,
    /// The classes of verbs that it needs, or that it is of.
    pub(super) classes: Arc<[&'static str]>,
    /// The effect that it names; none for a verb.
    pub(super) effect: Option<&'static str>,
}

impl Phrase {
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.text.split('_')
    }

    /// The number of its words, if the given words begin with it.
    fn begins(&self, words: &[&str]) -> Option<usize> {
        let mut rest = words.iter();
        let is_said = self
            .words()
            .all(|pattern| rest.next().is_some_and(|word| is_word(pattern, word)));
        is_said.then(|| words.len() - rest.len())
    }
}

#[derive(Debug, Default)]
struct Names {
    phrases: Vec<Phrase>,
    /// Phrases by the beginning of their first word.
    spaced: ByBeginning<usize>,
    unspaced: Vec<usize>,
    /// What belongs to an effect besides.
    parts: HashMap<&'static str, Vec<&'static str>>,
    /// What is not meant where an effect is named: the tests, by "the e2e tests".
    instead: HashMap<&'static str, Vec<&'static str>>,
}

impl Names {
    fn of(text: &'static str) -> Self {
        let mut found = Self::default();
        let mut effect = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(rest) = line.strip_prefix("effect ") {
                let (left, instead) = rest.split_once(" < ").unwrap_or((rest, ""));
                let (name, parts) = left.split_once(" > ").unwrap_or((left, ""));
                effect = name;
                found.parts.insert(effect, parts.split_whitespace().collect());
                found.instead.insert(effect, instead.split_whitespace().collect());
                continue;
            }
            let Some((classes, words)) = line.split_once(" : ") else {
                continue;
            };
            let (classes, effect) = match classes.strip_prefix("verb ") {
                Some(class) => (Arc::from([class]), None),
                None => (classes.split_whitespace().collect::<Arc<_>>(), Some(effect)),
            };
            for word in words.split_whitespace() {
                found.add(word, &classes, effect);
            }
        }
        found
    }

    /// The phrases that may begin with a word.
    fn like(&self, word: &str) -> impl Iterator<Item = &Phrase> {
        let numbers = self.spaced.like(word).iter();
        numbers.filter_map(|number| self.phrases.get(*number))
    }

    fn add(&mut self, phrase: &'static str, classes: &Arc<[&'static str]>, effect: Option<&'static str>) {
        let number = self.phrases.len();
        if !phrase.is_ascii() && is_unspaced_text(phrase) {
            self.unspaced.push(number);
        } else {
            let first = phrase.split('_').next().unwrap_or_default();
            self.spaced.add(first, number);
        }
        self.phrases.push(Phrase {
            text: phrase,
            classes: Arc::clone(classes),
            effect,
        });
    }
}

static NAMES: LazyLock<Names> = LazyLock::new(|| Names::of(include_str!("names.txt")));

/// An effect with everything that belongs to it.
pub(super) fn with_parts(effect: &'static str) -> Vec<&'static str> {
    let mut found = vec![effect];
    let mut at = 0;
    while let Some(effect) = found.get(at).copied() {
        let parts = NAMES.parts.get(effect).into_iter().flatten();
        let new: Vec<&'static str> = parts.copied().filter(|part| !found.contains(part)).collect();
        found.extend(new);
        at += 1;
    }
    found
}

/// A phrase and the words that say it; none in a text without spaces.
pub(super) type Said = (&'static Phrase, Range<usize>);

/// The phrases in words, or in a text without spaces. Of names one within another, the longer counts: "e2e tests" are no tests.
/// Names that are not meant are apart: the tests, where the end-to-end tests are named.
pub(super) fn said_in(words: &[&str], unspaced: Option<&str>) -> (Vec<Said>, Vec<Said>) {
    let known = &*NAMES;
    let mut found: Vec<Said> = Vec::new();
    for at in 0..words.len() {
        for phrase in known.like(words[at]) {
            if let Some(length) = phrase.begins(&words[at..]) {
                found.push((phrase, at..at + length));
            }
        }
    }
    if let Some(text) = unspaced {
        let phrases = known
            .unspaced
            .iter()
            .filter_map(|number| known.phrases.get(*number));
        let said = phrases.filter(|phrase| phrase.words().next().is_some_and(|word| text.contains(word)));
        found.extend(said.map(|phrase| (phrase, 0..0)));
    }
    let instead = found
        .iter()
        .filter_map(|(phrase, _)| known.instead.get(phrase.effect?));
    let instead: Vec<&str> = instead.flatten().copied().collect();
    let named: Vec<Range<usize>> = found
        .iter()
        .filter(|(phrase, _)| phrase.effect.is_some())
        .map(|(_, range)| range.clone())
        .collect();
    let is_within = |range: &Range<usize>| {
        named
            .iter()
            .any(|other| other.len() > range.len() && other.start <= range.start && range.end <= other.end)
    };
    found.into_iter().partition(|(phrase, range)| {
        phrase
            .effect
            .is_none_or(|effect| !instead.contains(&effect) && (range.is_empty() || !is_within(range)))
    })
}

/// Whether a word is that of a pattern, which may end with a `*`.
fn is_word(pattern: &str, word: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == pattern,
    }
}

/// All effects.
#[cfg(test)]
pub(super) fn all() -> Vec<&'static str> {
    NAMES.parts.keys().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fold;

    #[test]
    fn phrases_are_folded_and_have_a_class_that_verbs_have() {
        const ALWAYS: &[&str] = &[
            "alone", "install", "none", "only", "push", "state", "touch", "use", "with",
        ];
        let verbs: Vec<&str> = NAMES
            .phrases
            .iter()
            .filter(|phrase| phrase.effect.is_none())
            .flat_map(|phrase| phrase.classes.iter().copied())
            .collect();
        for phrase in &NAMES.phrases {
            let text = phrase.words().collect::<Vec<_>>().join(" ");
            assert!(phrase.text.find('*').is_none_or(|at| at >= 2), "{phrase:?}");
            assert_eq!(text, fold(&text), "{phrase:?}");
            for class in phrase.classes.iter() {
                assert!(verbs.contains(class) || ALWAYS.contains(class), "{phrase:?}");
            }
        }
    }

    #[test]
    fn the_parts_of_effects_are_effects() {
        let known = all();
        for (effect, parts) in NAMES.parts.iter().chain(&NAMES.instead) {
            for part in parts {
                assert!(known.contains(part), "{effect}: {part}");
            }
        }
    }

    #[test]
    fn the_longer_name_counts() {
        let said = |text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            let (said, _) = said_in(&words, None);
            said.iter()
                .filter_map(|(phrase, _)| phrase.effect)
                .collect::<Vec<_>>()
        };
        assert!(said("the e2e tests").contains(&"e2e"));
        assert!(!said("the e2e tests").contains(&"tests"));
        assert!(said("the tests").contains(&"tests"));
    }
}
