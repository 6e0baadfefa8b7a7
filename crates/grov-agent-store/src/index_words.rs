//! The words under which entries are found, the same on both databases.
//!
//! Accents are folded, then [`grov_domain::words`] splits: lower case, English stems, identifiers whole and in parts, pairs
//! of characters in scripts without spaces. The databases only store and count the words.

use grov_agent::{ProjectId, SearchBy};
use grov_domain::words;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The most words of a text that are indexed. PostgreSQL counts places up to 16,383.
const MOST_WORDS: usize = 12_000;

/// The most words of a question.
const MOST_QUESTION_WORDS: usize = 32;

/// What a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    Chunk,
    Item,
}

impl EntryKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Chunk => "chunk",
            Self::Item => "item",
        }
    }
}

/// The words of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryWords {
    pub(crate) title: Vec<String>,
    pub(crate) heading: Vec<String>,
    pub(crate) body: Vec<String>,
}

impl EntryWords {
    pub(crate) fn of(title: &str, heading_path: &[String], body: &str) -> Self {
        Self {
            title: text_words(title),
            heading: text_words(&heading_path.join(" ")),
            body: text_words(body),
        }
    }

    /// The words as a value of PostgreSQL's type `tsvector`: A title, B heading, C text, D scope.
    pub(crate) fn to_tsvector(&self, scope: &str) -> String {
        let mut places: BTreeMap<&str, Vec<(usize, char)>> = BTreeMap::new();
        let weighted = [(&self.title, 'A'), (&self.heading, 'B'), (&self.body, 'C')];
        let mut place = 0;
        for (words, weight) in weighted {
            for word in words {
                place += 1;
                places.entry(word).or_default().push((place, weight));
            }
        }
        places.entry(scope).or_default().push((1, 'D'));
        let mut vector = String::new();
        for (word, places) in places {
            // Words are letters and digits, so nothing has to be escaped. Writing to a string does not fail.
            let _ = write!(vector, "'{word}':");
            for (index, (place, weight)) in places.iter().enumerate() {
                let _ = write!(vector, "{}{place}{weight}", if index > 0 { "," } else { "" });
            }
            vector.push(' ');
        }
        vector
    }
}

/// One word for a project and a kind of entry, so that a search reads no entries of other projects.
pub(crate) fn scope_word(project: ProjectId, kind: EntryKind) -> String {
    let project = project.to_string().replace('-', "");
    let kind = match kind {
        EntryKind::Chunk => 'c',
        EntryKind::Item => 'm',
    };
    format!("{kind}{project}")
}

/// The words of a question; `None` if it is one by vector.
pub(crate) fn question_words(by: &SearchBy<'_>) -> Option<Vec<String>> {
    let SearchBy::Words(given) = by else {
        return None;
    };
    let mut found: Vec<String> = Vec::new();
    for word in *given {
        let folded = folded(word);
        let whole = folded
            .chars()
            .all(char::is_alphanumeric)
            .then(|| folded.to_string());
        // The caller may have split and stemmed already, so the word counts as it is too.
        for word in text_words(&folded).into_iter().chain(whole) {
            if !word.is_empty() && !found.contains(&word) && found.len() < MOST_QUESTION_WORDS {
                found.push(word);
            }
        }
    }
    Some(found)
}

fn text_words(text: &str) -> Vec<String> {
    let mut found = words(&folded(text), MOST_WORDS);
    // Only such words need no escaping in the query languages of the databases.
    found.retain(|word| !word.is_empty() && word.chars().all(char::is_alphanumeric));
    found
}

/// Removes accents: `Café` gives `Cafe`. Other scripts keep the marks that make other letters.
fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    let bare: String = decomposed
        .chars()
        .filter(|character| !matches!(character, '\u{300}'..='\u{36f}'))
        .collect();
    Cow::Owned(
        ComposingNormalizerBorrowed::new_nfc()
            .normalize(&bare)
            .into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        question_words(&SearchBy::Words(&words)).unwrap()
    }

    #[test]
    fn accents_are_folded_and_letters_of_other_scripts_stay() {
        assert_eq!(folded("Café Übergrößen"), "Cafe Ubergroßen");
        assert_eq!(folded("が 한국어 हिन्दी"), "が 한국어 हिन्दी");
    }

    #[test]
    fn a_question_finds_words_that_were_stemmed_by_the_caller_or_not() {
        let stored = EntryWords::of("", &[], "Deployments are running").body;
        for word in ["running", "run", "deployments", "deployment"] {
            assert!(asked(&[word]).iter().any(|word| stored.contains(word)), "{word}");
        }
    }

    #[test]
    fn a_question_in_a_script_without_spaces_shares_words_with_the_text() {
        let stored = EntryWords::of("", &[], "東京都の天気予報").body;
        assert!(asked(&["天気"]).iter().any(|word| stored.contains(word)));
    }

    proptest! {
        #[test]
        fn words_need_no_escaping(text in ".*") {
            let words = EntryWords::of(&text, &[], &text);
            let vector = words.to_tsvector("scope");
            let quotes = vector.matches('\'').count();
            let distinct: std::collections::BTreeSet<&String> = words.title.iter().collect();
            prop_assert_eq!(quotes, 2 * (distinct.len() + 1), "{}", vector);
            prop_assert!(asked(&[&text]).iter().all(|word| word.chars().all(char::is_alphanumeric)));
        }
    }
}
