//! What is asked, and the terms it is looked up by.

use grov_domain::{MemoryScope, file_name, file_term, identifiers, path_term, words};
use std::collections::HashSet;
use time::OffsetDateTime;

/// Words of a prompt that are looked up; a longer one repeats itself.
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
    /// Files that it is about, as far as they are known apart from the text.
    pub files: Vec<String>,
    /// Only memories that are older count, and age is measured from here. `None`: all, and age from the newest of them.
    pub before: Option<OffsetDateTime>,
    /// At most so many results.
    pub limit: usize,
}

/// What a question is looked up by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Words, each once, and how often.
    pub words: Vec<(String, u32)>,
    /// Which of the words are identifiers written in code.
    pub identifiers: HashSet<String>,
    /// Terms of the files: name and path.
    pub files: Vec<(String, String)>,
}

impl Terms {
    /// The terms of a question.
    pub fn of(query: &Query) -> Self {
        let mut terms = Self {
            identifiers: identifiers(&query.text, MOST_WORDS).into_iter().collect(),
            ..Self::default()
        };
        let mut places = std::collections::HashMap::new();
        for word in words(&query.text, READ_WORDS) {
            if is_stop_word(&word) {
                continue;
            }
            let place = *places.entry(word.clone()).or_insert(terms.words.len());
            match terms.words.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => terms.words.push((word, 1)),
            }
        }
        terms.words.truncate(MOST_WORDS);
        let mut seen = HashSet::new();
        for file in query.files.iter().take(MOST_FILES) {
            if !file_name(file).is_empty() && seen.insert(file) {
                terms.files.push((file_term(file), path_term(file)));
            }
        }
        terms
    }
}

/// Words that say nothing about what a prompt is about. They are stems, as [`words`] gives them.
fn is_stop_word(word: &str) -> bool {
    const STOP_WORDS: &[&str] = &[
        "a", "about", "all", "also", "am", "an", "and", "ani", "are", "as", "at", "be", "been", "but", "by",
        "can", "could", "did", "do", "doe", "does", "for", "from", "had", "has", "hav", "have", "he", "her",
        "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "m", "me",
        "my", "no", "not", "now", "of", "on", "or", "our", "out", "pleas", "re", "s", "she", "should", "so",
        "som", "t", "than", "that", "the", "their", "them", "then", "ther", "there", "these", "they", "thi",
        "this", "to", "too", "up", "us", "use", "ve", "very", "wa", "was", "we", "were", "what", "when",
        "wher", "where", "which", "whil", "who", "why", "will", "with", "would", "you", "your",
    ];
    STOP_WORDS.binary_search(&word).is_ok()
}
