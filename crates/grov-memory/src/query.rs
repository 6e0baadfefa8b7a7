//! The query and its search terms.

use crate::concepts::concepts;
use crate::language::Language;
use crate::pointed::pointed;
use grov_domain::{MemoryScope, file_name, file_term, identifiers, is_function_word, is_stop_word, words};
use std::collections::{HashMap, HashSet};
use time::OffsetDateTime;

/// Maximum number of words to search for; later ones are mostly pasted output.
const MAX_WORDS: usize = 96;
/// Maximum number of words read from a prompt.
const MAX_READ_WORDS: usize = 4096;
/// Maximum number of files of a query.
const MAX_FILES: usize = 32;
/// Maximum number of words of a query for which other words are searched: a longer one has words enough.
const MAX_RELATED_WORDS: usize = 32;

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
    /// Further terms, each with the position of the word that it replaces; only of [`Terms::with_related`].
    pub related: Vec<RelatedTerm>,
    /// Beginnings of terms that mean the same as a word, each with its position; only of [`Terms::with_related`].
    pub beginnings: Vec<(String, usize)>,
    /// Pairs of positions of words that mean the same: the later one, and the first.
    pub same: Vec<(usize, usize)>,
    /// The language; [`Language::English`] without [`Terms::with_related`].
    pub language: Language,
    /// The positions of the words without a subject in that language.
    pub function_words: HashSet<usize>,
    /// The positions of the words at which a short prompt points; only of [`Terms::with_related`].
    pub pointed: HashSet<usize>,
    /// Whether it goes on with that work, or asks how far it is.
    pub goes_on: bool,
}

/// A term that is searched for besides a word of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedTerm {
    /// The term.
    pub term: String,
    /// The position of the word that it replaces.
    pub word: usize,
    /// Whether it is this word and the next as one identifier, and not a synonym.
    pub is_compound: bool,
    /// Whether it is known by its beginning only.
    pub is_beginning: bool,
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
            ..Self::default()
        }
    }

    /// The terms of a query with synonyms, translations and compounds: `chain writer` may be `ChainWriter` in a memory.
    pub fn with_related(query: &Query) -> Self {
        let mut terms = Self::of(query);
        terms.language = Language::of(&query.text);
        let pointed = pointed(&query.text, &query.files);
        let is_pointed = |place: &usize| pointed.subject.contains(&terms.words[*place]);
        terms.pointed = (0..terms.words.len()).filter(is_pointed).collect();
        terms.goes_on = pointed.goes_on;
        if terms.language != Language::English {
            let is_function_word = |place: &usize| is_function_word(&terms.words[*place]);
            terms.function_words = (0..terms.words.len()).filter(is_function_word).collect();
        }
        if terms.words.len() > MAX_RELATED_WORDS {
            return terms;
        }
        let words = terms.words.clone();
        let mut known: HashSet<&str> = words.iter().map(String::as_str).collect();
        let mut related = Vec::new();
        let compounds = compounds(&query.text);
        for (first, compound) in &compounds {
            if let Some(word) = terms.words.iter().position(|word| word == first)
                && known.insert(compound)
            {
                related.push(RelatedTerm {
                    term: compound.clone(),
                    word,
                    is_compound: true,
                    is_beginning: false,
                });
            }
        }
        for concept in concepts(&query.text, &words) {
            let Some(word) = concept.said.first() else {
                continue;
            };
            terms
                .same
                .extend(concept.said[1..].iter().map(|later| (*later, *word)));
            let beginnings = concept
                .beginnings
                .into_iter()
                .filter(|beginning| known.insert(beginning));
            terms
                .beginnings
                .extend(beginnings.map(|beginning| (beginning.to_owned(), *word)));
            let new = concept.related.into_iter().filter(|term| known.insert(term));
            related.extend(new.map(|term| RelatedTerm {
                term: term.to_owned(),
                word: *word,
                is_compound: false,
                is_beginning: false,
            }));
        }
        terms.related = related;
        terms
    }

    /// Adds terms of memories, each with the position of its beginning in [`Terms::beginnings`].
    pub(crate) fn add_beginning(&mut self, found: Vec<(usize, String)>) {
        for (place, term) in found {
            let is_new =
                !self.words.contains(&term) && self.related.iter().all(|related| related.term != term);
            if let Some((_, word)) = self.beginnings.get(place)
                && is_new
            {
                self.related.push(RelatedTerm {
                    term,
                    word: *word,
                    is_compound: false,
                    is_beginning: true,
                });
            }
        }
    }

    /// All terms: the words, then the file names, then the related terms.
    pub(crate) fn all(&self) -> Vec<String> {
        let names = self.files.iter().map(|(_, term)| term);
        let related = self.related.iter().map(|related| &related.term);
        self.words.iter().chain(names).chain(related).cloned().collect()
    }

    /// The position of the first related term among all terms.
    pub(crate) fn first_related(&self) -> usize {
        self.words.len() + self.files.len()
    }
}

/// Two adjacent words as one identifier, with the stem of the first.
fn compounds(text: &str) -> Vec<(String, String)> {
    let is_plain = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let runs: Vec<&str> = text
        .split(|character: char| {
            !(character.is_alphanumeric() || character == '_' || ",.;:!?()".contains(character))
        })
        .filter(|word| !word.is_empty())
        .take(MAX_RELATED_WORDS * 2)
        .collect();
    let pairs = runs.windows(2).filter(|pair| pair.iter().all(is_plain));
    pairs
        .filter_map(|pair| {
            let first = words(pair[0], 1).pop()?;
            let is_named = !is_stop_word(&first) && !is_stop_word(&pair[1].to_lowercase());
            is_named.then(|| (first, format!("{}{}", pair[0], pair[1]).to_lowercase()))
        })
        .collect()
}

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
    fn stop_words_are_left_out() {
        assert_eq!(
            terms("Why is the cache of this so slow?", &[]).words,
            ["cach", "slow"]
        );
    }

    #[test]
    fn adjacent_words_are_also_one_identifier() {
        let found = compounds("why does the chain writer lock the whole table");
        let compounds: Vec<&str> = found.iter().map(|(_, compound)| compound.as_str()).collect();
        assert_eq!(compounds, ["chainwriter", "writerlock", "wholetable"]);
        assert_eq!(compounds.len(), found.len());
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
