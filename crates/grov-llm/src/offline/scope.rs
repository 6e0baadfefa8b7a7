//! Paths and identifiers that a text names, and words for search.

use super::lexicon::{STOP_WORDS, WORK_VERBS, WORK_VERBS_RO};
use super::text::{Word, push_new, words};

pub(super) use grov_scope::names::{MOST_ENTRIES, is_path, named, paths};

/// At most so many words for search.
const MOST_KEYWORDS: usize = 12;

/// Words that tell what a text is about, folded, in order.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(text) {
        if found.len() >= 200 {
            break;
        }
        if is_telling(&word) && !found.contains(&word.folded) {
            found.push(word.folded);
        }
    }
    found
}

fn is_telling(word: &Word<'_>) -> bool {
    (3..=60).contains(&word.folded.chars().count())
        && word.folded.chars().any(char::is_alphabetic)
        && !word.is_any(STOP_WORDS)
}

/// Words for search: names first come first served, verbs of work left out where there are others.
pub(super) fn keywords(texts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        for word in content_words(text) {
            if !WORK_VERBS.contains(&word.as_str()) && !WORK_VERBS_RO.contains(&word.as_str()) {
                push_new(&mut found, word, MOST_KEYWORDS);
            }
        }
    }
    if found.is_empty() {
        for text in texts {
            for word in content_words(text) {
                push_new(&mut found, word, MOST_KEYWORDS);
            }
        }
    }
    found
}

/// Whether two words have the same stem, roughly: equal, or equal but for a short ending.
pub(super) fn same_stem(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let common = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    common >= 4 && one.len() - common <= 3 && other.len() - common <= 3
}

/// Words of work that nearly every goal has: that two goals share one says nothing.
#[rustfmt::skip]
const GENERIC: &[&str] = &[
    "add", "adauga", "build", "change", "check", "code", "create", "creeaza", "file", "files", "find",
    "fix", "implement", "implementeaza", "make", "modifica", "please", "put", "remove", "repara", "rezolva",
    "run", "ruleaza", "schimba", "scrie", "set", "show", "sterge", "task", "update", "verifica", "write",
    "task-ul", "back", "inapoi", "work", "done", "new", "now",
];

/// The words of a text that tell what it is about, words of work left out.
pub(super) fn subject(text: &str) -> Vec<String> {
    let mut found = content_words(text);
    found.retain(|word| !GENERIC.contains(&word.as_str()));
    found.truncate(60);
    found
}

/// How many telling words of the first text are in the second.
pub(super) fn overlap(one: &str, other: &str) -> usize {
    let others = subject(other);
    subject(one)
        .iter()
        .filter(|word| others.iter().any(|known| same_stem(word, known)))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_have_a_meaning() {
        assert_eq!(
            keywords(&["Please fix the flaky login test in tests/login.rs"]),
            ["flaky", "login", "tests/login.rs"]
        );
        assert!(
            keywords(&["alpha beta gamma delta eins zwei drei vier fünf sechs sieben acht neun zehn elf"])
                .len()
                <= 12
        );
    }
}
