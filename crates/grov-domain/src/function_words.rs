//! Words that say nothing about a subject.

use crate::word_list::has_word;

/// Articles, pronouns, prepositions and auxiliary verbs of ten languages, sorted.
static FUNCTION_WORDS: &str = include_str!("function_words/others.txt");

/// Whether a word in lower case is a function word of another language than English.
pub fn is_function_word(word: &str) -> bool {
    has_word(FUNCTION_WORDS, word)
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
    fn function_words_are_sorted() {
        assert!(crate::word_list::is_in_order(FUNCTION_WORDS));
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("cach"));
        assert!(is_function_word("größer") || is_function_word("nicht"));
    }
}
