//! The words of a question.

use grov_domain::{identifiers, is_common_word, is_function_word, is_stop_word, unstemmed_words, words};
use icu_normalizer::DecomposingNormalizerBorrowed;
use std::collections::HashSet;

/// Maximum number of words to search for; what is behind them is pasted text.
const MAX_WORDS: usize = 24;
/// Maximum number of words read from a question.
const MAX_READ_WORDS: usize = 2_048;

/// A word of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case, without accents on Latin letters.
    pub(super) text: String,
    /// The form by which words of different endings are compared.
    pub(super) stem: String,
    /// Whether it occurs in texts about anything, so that it says little.
    pub(super) is_common: bool,
}

/// Returns the words of a question, those of most value first: identifiers, then rare words, then common ones, each kind in
/// the order of the question. Words without a subject are left out, unless there are no others.
pub(super) fn words_of(question: &str) -> Vec<Word> {
    let named: HashSet<String> = identifiers(&folded(question), MAX_WORDS).into_iter().collect();
    let mut seen = HashSet::new();
    let (mut rest, mut empty): (Vec<Word>, Vec<Word>) = (Vec::new(), Vec::new());
    for written in unstemmed_words(question, MAX_READ_WORDS) {
        let text = folded(&written);
        let stem = stem_of(&text);
        if !seen.insert(stem.clone()) {
            continue;
        }
        let is_letter = text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_empty = is_letter || is_stop_word(&stem) || is_function_word(&written);
        let is_common = is_empty || is_common_word(&stem);
        let word = Word {
            text,
            stem,
            is_common,
        };
        if is_empty {
            empty.push(word)
        } else {
            rest.push(word)
        }
    }
    if rest.is_empty() {
        rest = empty;
    }
    let value = |word: &Word| match (named.contains(&word.text), word.is_common) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 2,
    };
    rest.sort_by_key(value);
    rest.truncate(MAX_WORDS);
    rest
}

/// The stem of one word in lower case.
fn stem_of(word: &str) -> String {
    match words(word, 2).as_slice() {
        [stem] => stem.clone(),
        // An identifier with digits.
        _ => word.to_owned(),
    }
}

/// Returns the stems of a text, identifiers split but also whole.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(&folded(text), usize::MAX)
}

/// Removes the accents of Latin letters, as the search index does: `é` is `e`. Other scripts keep their marks.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let composed: String = text.chars().map(without_accent).collect();
    // Marks that are characters of their own, behind a Latin letter.
    let mut folded = String::with_capacity(composed.len());
    for character in composed.chars() {
        let is_mark = matches!(character, '\u{300}'..='\u{36f}');
        if !(is_mark && folded.ends_with(|last: char| last.is_ascii_alphabetic())) {
            folded.push(character);
        }
    }
    folded
}

fn without_accent(character: char) -> char {
    if character.is_ascii() || !('\u{c0}'..='\u{1eff}').contains(&character) {
        return character;
    }
    let normalizer = DecomposingNormalizerBorrowed::new_nfd();
    let base = normalizer.normalize_iter(std::iter::once(character)).next();
    base.filter(char::is_ascii_alphabetic).unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(question: &str) -> Vec<String> {
        words_of(question).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_without_a_subject_are_dropped_and_rare_ones_come_first() {
        assert_eq!(
            texts("How do we change the retention of audit_log rows?"),
            ["auditlog", "retention", "audit", "rows", "change", "log"]
        );
        assert_eq!(
            texts("Wie lange werden die Rechnungen aufbewahrt?"),
            ["lange", "rechnungen", "aufbewahrt"]
        );
        assert_eq!(texts("what is this?"), ["what", "is", "this"]);
        assert_eq!(texts(""), Vec::<String>::new());
    }

    #[test]
    fn accents_are_folded_on_latin_letters_only() {
        assert_eq!(folded("Größe Überblick café naïve"), "Große Uberblick cafe naive");
        assert_eq!(folded("cafe\u{301}"), "cafe");
        assert_eq!(folded("йод 한국 バグ"), "йод 한국 バグ");
    }

    #[test]
    fn unspaced_scripts_are_pairs_and_long_questions_are_bounded() {
        assert_eq!(texts("缓存策略"), ["缓存", "存策", "策略"]);
        let long: String = (0..5_000).map(|number| format!("word{number}x ")).collect();
        assert!(words_of(&long).len() <= MAX_WORDS);
    }
}
