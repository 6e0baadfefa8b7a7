//! The query and its search terms.

use grov_domain::{MemoryScope, file_name, file_term, identifiers, words};
use std::collections::{HashMap, HashSet};
use time::OffsetDateTime;

/// Maximum number of words to search for; later ones are mostly pasted output.
const MAX_WORDS: usize = 96;
/// Maximum number of words read from a prompt.
const MAX_READ_WORDS: usize = 4096;
/// Maximum number of files of a query.
const MAX_FILES: usize = 32;

/// A search in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The project or projects to search.
    pub scope: MemoryScope,
    /// The prompt.
    pub text: String,
    /// Files that the prompt is about.
    pub files: Vec<String>,
    /// The time of the query: only older memories are found, and recent ones rank higher. `None`: all memories, regardless of
    /// age.
    pub before: Option<OffsetDateTime>,
    /// The maximum number of results.
    pub limit: usize,
}

/// The search terms of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Distinct words, in order of first occurrence.
    pub words: Vec<String>,
    /// Those of the words that are code identifiers.
    pub identifiers: HashSet<String>,
    /// Distinct files: the path as given, and the term of the file name.
    pub files: Vec<(String, String)>,
}

impl Terms {
    /// The terms of a query.
    pub fn of(query: &Query) -> Self {
        let mut seen = HashSet::new();
        let words = words(&query.text, MAX_READ_WORDS)
            .into_iter()
            .filter(|word| !is_stop_word(word) && seen.insert(word.clone()))
            .take(MAX_WORDS)
            .collect();
        let mut files: HashMap<&str, usize> = HashMap::new();
        let mut named = Vec::new();
        for file in query.files.iter().map(|file| file.trim()).take(MAX_FILES) {
            if !file_name(file).is_empty() && files.insert(file, named.len()).is_none() {
                named.push((file.to_owned(), file_term(file)));
            }
        }
        Self {
            words,
            identifiers: identifiers(&query.text, MAX_WORDS).into_iter().collect(),
            files: named,
        }
    }

    /// All terms: the words, then the file names.
    pub(crate) fn all(&self) -> Vec<String> {
        let names = self.files.iter().map(|(_, term)| term);
        self.words.iter().chain(names).cloned().collect()
    }
}

/// Whether a stem, as [`words`] returns it, is a stop word.
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
