//! Keywords and subject words of a text.

use super::lexicon::{is_stop_word, is_work_verb};
use super::text::Word;
use grov_scope::words::each_word;

pub(crate) use grov_scope::names::{MAX_ENTRIES, is_path, named};

/// The most keywords.
const MAX_KEYWORDS: usize = 12;

/// The content words of a text, folded, in order; a word may occur more than once.
pub(crate) fn content_words(text: &str) -> impl Iterator<Item = String> {
    each_word(text).filter(is_content_word).map(|word| word.folded)
}

fn is_content_word(word: &Word<'_>) -> bool {
    (3..=60).contains(&word.folded.chars().count())
        && word.folded.chars().any(char::is_alphabetic)
        && !is_stop_word(&word.folded)
}

/// Keyword candidates of a text.
#[derive(Debug, Default)]
pub(crate) struct Keywords {
    /// Without work verbs.
    names: Vec<String>,
    /// With work verbs.
    all: Vec<String>,
}

impl Keywords {
    /// The candidates of one text, up to the limit for all texts, so that several can be combined.
    pub(crate) fn of(text: &str) -> Self {
        let mut found = Self::default();
        for word in content_words(text) {
            if found.names.len() >= MAX_KEYWORDS {
                break;
            }
            if !is_work_verb(&word) {
                push_keyword(&mut found.names, &word);
            }
            push_keyword(&mut found.all, &word);
        }
        found
    }

    /// Combines candidates, in order. Work verbs are used only if there is nothing else.
    pub(crate) fn of_all<'w>(texts: impl Iterator<Item = &'w Self> + Clone) -> Vec<String> {
        let mut found = Vec::new();
        for word in texts.clone().flat_map(|text| &text.names) {
            push_keyword(&mut found, word);
        }
        if found.is_empty() {
            for word in texts.flat_map(|text| &text.all) {
                push_keyword(&mut found, word);
            }
        }
        found
    }
}

fn push_keyword(keywords: &mut Vec<String>, word: &str) {
    if keywords.len() < MAX_KEYWORDS && !keywords.iter().any(|known| known == word) {
        keywords.push(word.to_owned());
    }
}

/// Whether two words are equal except for a short ending.
pub(crate) fn same_stem(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let common = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    common >= 4 && one.len() - common <= 3 && other.len() - common <= 3
}

/// The most subject words of a text.
const MAX_SUBJECT_WORDS: usize = 60;

/// Words that most goals contain.
#[rustfmt::skip]
const GENERIC: &[&str] = &[
    "add", "adauga", "build", "change", "check", "code", "create", "creeaza", "file", "files", "find",
    "fix", "implement", "implementeaza", "make", "modifica", "please", "put", "remove", "repara", "rezolva",
    "run", "ruleaza", "schimba", "scrie", "set", "show", "sterge", "task", "update", "verifica", "write",
    "task-ul", "back", "inapoi", "work", "done", "new", "now",
];

/// The distinct content words of a text without generic ones.
pub(crate) fn subject(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in content_words(text) {
        if found.len() >= MAX_SUBJECT_WORDS {
            break;
        }
        if !GENERIC.contains(&word.as_str()) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// How many subject words of the first text are in the second.
pub(crate) fn overlap(one: &str, other: &str) -> usize {
    let others = subject(other);
    subject(one)
        .iter()
        .filter(|word| others.iter().any(|known| same_stem(word, known)))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keywords(text: &str) -> Vec<String> {
        Keywords::of_all(std::iter::once(&Keywords::of(text)))
    }

    #[test]
    fn keywords_have_a_meaning() {
        assert_eq!(
            keywords("Please fix the flaky login test in tests/login.rs"),
            ["flaky", "login", "tests/login.rs"]
        );
        assert!(
            keywords("alpha beta gamma delta eins zwei drei vier fünf sechs sieben acht neun zehn elf").len()
                <= 12
        );
    }
}
