//! Vocabulary of the rules, folded: lower case, without diacritics.

use super::text::Word;
use grov_scope::phrases::{Languages, PhraseList};

/// The languages whose orders and lead-ins count in every text: technical prompts mix them in.
const LANGUAGES: Languages = Languages::ENGLISH.with(Languages::ROMANIAN);

/// The length in words of the longest phrase at `at` that may precede an imperative: "please", "can you".
pub(crate) fn lead_in_at(words: &[Word<'_>], at: usize) -> Option<usize> {
    LANGUAGES
        .tables()
        .filter_map(|table| table.leads.at(words, at))
        .max()
}

/// Whether a folded word requests work as an imperative.
pub(crate) fn is_work_verb(word: &str) -> bool {
    LANGUAGES.tables().any(|table| table.orders.contains(word))
}

/// Whether a folded word has no meaning of its own.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// Words after which the verb before them is a noun: "test fails", "build is broken".
#[rustfmt::skip]
pub(crate) static AFTER_A_NOUN: PhraseList = PhraseList::of(&[
    "are", "breaks", "broke", "does", "doesn't", "failed", "fails", "has", "have", "is", "isn't", "results", "says",
    "seem", "seems", "takes", "time", "was", "were", "worked", "works",
]);

/// A sentence of these words only is an acknowledgement.
#[rustfmt::skip]
pub(crate) static ACKNOWLEDGING: PhraseList = PhraseList::of(&[
    "a", "acum", "again", "ajutor", "all", "alright", "am", "amazing", "appreciate", "appreciated", "arata", "asa",
    "awesome", "beautiful", "bine", "brilliant", "bun", "buna", "ce", "cheers", "claude", "confirmed", "cool",
    "correct", "da", "done", "e", "este", "everything", "exact", "exactly", "excelent", "excellent", "fain", "fine",
    "foarte", "for", "frumos", "functioneaza", "gata", "good", "got", "great", "happy", "help", "i", "in", "inteles",
    "is", "it", "it's", "job", "just", "k", "kk", "lgtm", "look", "looks", "lot", "love", "lovely", "me", "merci",
    "merge", "mersi", "minunat", "misto", "much", "mult", "multam", "multumesc", "needed", "nice",
    "nicely", "now", "ok", "okay", "pass", "pentru", "perfect", "really", "regula", "right", "so", "super", "tare",
    "tests", "thank", "thanks", "that", "that's", "the", "this", "thx", "to", "tot", "totul", "treaba", "ty", "very",
    "voiam", "wanted", "well", "what", "with", "wonderful", "work", "works", "yeah", "yep", "yes", "you", "your",
]);

/// An acknowledgement contains at least one of these.
#[rustfmt::skip]
pub(crate) static SATISFIED: PhraseList = PhraseList::of(&[
    "alright", "amazing", "appreciate", "appreciated", "awesome", "beautiful", "bine", "brilliant", "bun", "cheers",
    "confirmed", "cool", "correct", "done", "exactly", "excelent", "excellent", "fain", "fine", "frumos",
    "functioneaza", "gata", "good", "great", "happy", "k", "kk", "lgtm", "looks", "love", "lovely", "merci", "merge",
    "mersi", "minunat", "misto", "multam", "multumesc", "nice", "ok", "okay", "perfect", "regula", "right", "super",
    "tare", "thank", "thanks", "thx", "ty", "wonderful", "works",
]);

/// Stop words, English and Romanian.
#[rustfmt::skip]
static STOP_WORDS: PhraseList = PhraseList::of(&[
    "a", "about", "above", "aceasta", "acest", "acum", "after", "again", "ai", "al", "ale", "all", "also",
    "am", "an", "and", "any", "apoi", "ar", "are", "as", "asta", "astfel", "at", "atunci", "au", "avem",
    "aveti", "be", "because", "been", "before", "being", "below", "between", "both", "buna", "but", "by",
    "ca", "can", "care", "cat", "ce", "cei", "cel", "cele", "claude", "could", "cu", "cum", "da", "daca",
    "dar", "de", "deci", "did", "din", "do", "doar", "does", "doesn't", "doing", "don't", "down", "dupa",
    "e", "e.g", "ea", "each", "ei", "el", "else", "este", "etc", "eu", "fara", "few", "fi", "fie", "first",
    "foarte", "for", "from", "further", "get", "give", "go", "going", "had", "hai", "has", "have",
    "having", "he", "hello", "help", "her", "here", "hey", "hi", "him", "his", "how", "i", "i'd", "i'm",
    "i.e", "iar", "if", "il", "imi", "in", "inainte", "inca", "instead", "into", "intr", "intre", "is",
    "isn't", "it", "it's", "its", "just", "kindly", "know", "la", "le", "let", "let's", "like", "look",
    "lui", "ma", "mai", "make", "may", "maybe", "me", "mea", "meu", "might", "more", "most", "mult",
    "must", "my", "ne", "need", "needs", "never", "new", "next", "no", "noi", "nor", "not", "now", "nu",
    "numai", "o", "of", "off", "ok", "okay", "on", "once", "one", "only", "or", "ori", "other", "our",
    "out", "over", "own", "pe", "pentru", "per", "please", "poate", "poti", "prin", "put", "rog", "sa",
    "salut", "same", "sau", "se", "see", "she", "should", "si", "so", "some", "something", "still", "such",
    "sunt", "sure", "ta", "take", "tau", "te", "than", "thank", "thanks", "that", "that's", "the", "their",
    "them", "then", "there", "these", "they", "thing", "things", "this", "those", "through", "to", "toate",
    "too", "tot", "trebuie", "try", "tu", "un", "una", "unde", "under", "unei", "until", "unui", "up",
    "us", "use", "using", "va", "very", "via", "vreau", "want", "wants", "was", "way", "we", "well",
    "were", "what", "when", "where", "which", "while", "who", "whole", "why", "will", "with", "without",
    "work", "would", "you", "your",
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searched_tables_are_sorted() {
        for table in [&ACKNOWLEDGING, &AFTER_A_NOUN, &SATISFIED, &STOP_WORDS] {
            assert!(table.entries().is_sorted_by(|one, other| one < other));
        }
    }
}
