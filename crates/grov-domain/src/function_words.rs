//! Words that say nothing about a subject.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Articles, pronouns, prepositions and auxiliary verbs of ten languages.
static FUNCTION_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("function_words/others.txt")
        .split_whitespace()
        .collect()
});

/// Whether a word in lower case is a function word of another language than English.
pub fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.contains(word)
}

/// Whether a stem, as [`words`](crate::words) returns it, is a stop word of English.
pub fn is_stop_word(word: &str) -> bool {
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

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("cach"));
        assert!(is_function_word("größer") || is_function_word("nicht"));
    }
}
