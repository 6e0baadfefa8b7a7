//! What is asked, and the terms it is looked up by.

use grov_domain::{MemoryScope, file_name, file_term, identifiers, words};
use std::collections::{HashMap, HashSet};
use time::OffsetDateTime;

/// Words of a prompt that are looked up: those behind are mostly pasted output.
const MOST_WORDS: usize = 96;
/// Words of a prompt that are read.
const READ_WORDS: usize = 4096;
/// Files that a prompt may name.
const MOST_FILES: usize = 32;

/// A question to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Whose memory.
    pub scope: MemoryScope,
    /// The prompt.
    pub text: String,
    /// Files that it is about.
    pub files: Vec<String>,
    /// When it is asked: only older memories count, and the newest of them are worth more. `None`: all count, and none
    /// for being new.
    pub before: Option<OffsetDateTime>,
    /// At most so many results.
    pub limit: usize,
}

/// What a question is looked up by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Words, each once, in the order in which they first stand.
    pub words: Vec<String>,
    /// Which of the words are identifiers of code.
    pub identifiers: HashSet<String>,
    /// Files, each once: the path as it was named, and the term of its name.
    pub files: Vec<(String, String)>,
}

impl Terms {
    /// The terms of a question.
    pub fn of(query: &Query) -> Self {
        let mut seen = HashSet::new();
        let words = words(&query.text, READ_WORDS)
            .into_iter()
            .filter(|word| !is_stop_word(word) && seen.insert(word.clone()))
            .take(MOST_WORDS)
            .collect();
        let mut files: HashMap<&str, usize> = HashMap::new();
        let mut named = Vec::new();
        for file in query.files.iter().map(|file| file.trim()).take(MOST_FILES) {
            if !file_name(file).is_empty() && files.insert(file, named.len()).is_none() {
                named.push((file.to_owned(), file_term(file)));
            }
        }
        Self {
            words,
            identifiers: identifiers(&query.text, MOST_WORDS).into_iter().collect(),
            files: named,
        }
    }

    /// All terms to look up: first the words, then the names of the files.
    pub(crate) fn all(&self) -> Vec<String> {
        let names = self.files.iter().map(|(_, term)| term);
        self.words.iter().chain(names).cloned().collect()
    }
}

/// Words that say nothing about what a prompt is about. They are stems, as [`words`] gives them.
fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "ani", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "doe", "does", "for", "from", "had", "has", "hav", "have", "he", "her",
    "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "m", "me", "my",
    "no", "not", "now", "of", "on", "or", "our", "out", "pleas", "re", "s", "she", "should", "so", "som",
    "t", "than", "that", "the", "their", "them", "then", "ther", "there", "these", "they", "thi", "this",
    "to", "too", "up", "us", "use", "ve", "very", "wa", "was", "we", "were", "what", "when", "wher", "where",
    "which", "whil", "who", "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str, files: &[&str]) -> Terms {
        Terms::of(&Query {
            scope: MemoryScope::default(),
            text: text.to_owned(),
            files: files.iter().map(ToString::to_string).collect(),
            before: None,
            limit: 10,
        })
    }

    #[test]
    fn stop_words_are_sorted_and_left_out() {
        assert!(STOP_WORDS.is_sorted());
        assert_eq!(
            terms("Why is the cache of this so slow?", &[]).words,
            ["cach", "slow"]
        );
    }

    #[test]
    fn words_and_files_come_once() {
        let terms = terms(
            "limit limits parseUrl \"limit*\" NEAR",
            &["a/b.rs", "a/b.rs", " ", "B.rs"],
        );
        assert_eq!(terms.words, ["limit", "parseurl", "pars", "url", "near"]);
        assert!(terms.identifiers.contains("parseurl"));
        assert_eq!(terms.files.len(), 2);
        assert_eq!(terms.all().len(), 7);
    }
}
