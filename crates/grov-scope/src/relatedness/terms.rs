//! Words of code and prose, normalised so that goals, paths and code can be compared.

use crate::words::fold;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Stop words of code and prose, sorted.
#[rustfmt::skip]
const EMPTY: &[&str] = &[
    "add", "added", "all", "also", "and", "any", "append", "are", "args", "array", "async", "await", "bash",
    "been", "being", "bool", "both", "break", "bun", "but", "can", "cargo", "case", "cat", "class", "classname",
    "cmd", "code", "common", "const", "context", "continue", "could", "ctx", "data", "def", "default", "dev",
    "did", "dir", "div", "does", "done", "each", "echo", "else", "err", "error", "errors", "export", "false",
    "few", "file", "files", "find", "fix", "fmt", "for", "from", "func", "function", "get", "git", "grep",
    "had", "has", "have", "head", "helper", "here", "how", "if", "import", "index", "input", "int", "interface",
    "into", "its", "just", "key", "keys", "len", "let", "lib", "like", "line", "lines", "list", "log", "logs",
    "made", "main", "make", "map", "method", "mkdir", "more", "most", "name", "need", "needs", "new", "nil",
    "node", "none", "not", "now", "npm", "null", "number", "object", "off", "only", "option", "options", "opts",
    "other", "our", "out", "output", "package", "path", "paths", "per", "please", "print", "printf", "println",
    "private", "public", "python", "python3", "range", "result", "results", "return", "run", "same", "sed",
    "see", "self", "set", "should", "some", "span", "src", "static", "string", "struct", "such", "switch",
    "tail", "test", "tests", "text", "than", "that", "the", "them", "then", "there", "these", "they", "this",
    "those", "tmp", "true", "type", "types", "use", "used", "using", "util", "utils", "value", "values", "var",
    "via", "void", "want", "wants", "was", "were", "what", "when", "where", "which", "who", "why", "will",
    "with", "would", "you", "your",
];

/// Suffixes that are removed from words. Longer ones precede their own suffixes.
const SUFFIXES: &[&str] = &[
    "ations", "ation", "ings", "ing", "ies", "ers", "ed", "es", "er", "s", "e",
];
/// The minimum length of a word without its suffix.
const MIN_LEFT: usize = 4;
/// The minimum length of a compound identifier; shorter ones are not evidence.
const MIN_IDENTIFIER: usize = 7;

/// The terms of a text. Each list is sorted and has no duplicates.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TextTerms {
    /// Stems of the words and of the parts of compound words.
    pub(super) words: Vec<String>,
    /// Whole compound identifiers, in lower case, without `_`.
    pub(super) identifiers: Vec<String>,
    /// Runs of letters, digits, `_` and `-`, in lower case: possible names of files.
    pub(super) names: Vec<String>,
}

impl TextTerms {
    /// The terms of some texts, each with the number of characters to read.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = (&'a str, usize)>) -> Self {
        let (mut found, mut identifiers, mut names) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (text, letters) in texts {
            let text = beginning(text, letters);
            for word in compounds(text) {
                add_words(word, &mut found);
                if word.len() >= MIN_IDENTIFIER && is_compound(word) {
                    identifiers.insert(fold(word).replace('_', ""));
                }
            }
            names.extend(names_of(text));
        }
        Self {
            words: found.into_iter().collect(),
            identifiers: identifiers.into_iter().collect(),
            names: names.into_iter().collect(),
        }
    }
}

impl TextTerms {
    /// The weight of all words.
    pub(super) fn weight(&self) -> f64 {
        self.words.iter().map(|word| weight(word)).sum()
    }
}

/// The words of a path or another short text, sorted, without duplicates.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for word in compounds(text) {
        add_words(word, &mut found);
    }
    found.into_iter().collect()
}

/// The weight of a word, which increases with its length. A pair of letters of a script without spaces weighs as much as a
/// word of five letters.
pub(super) fn weight(word: &str) -> f64 {
    const MAX_LETTERS: usize = 10;
    const PAIR: u8 = 3;
    let letters = word.chars().take(MAX_LETTERS).count();
    let counted = if letters <= 2 {
        PAIR
    } else {
        u8::try_from(letters - 2).unwrap_or(PAIR)
    };
    f64::from(counted)
}

/// The first characters of a text.
fn beginning(text: &str, letters: usize) -> &str {
    let end = text.char_indices().nth(letters).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Runs of letters, digits and `_` that begin with a letter.
fn compounds(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .map(|run| run.trim_start_matches(|letter: char| !letter.is_alphabetic()))
        .filter(|word| !word.is_empty())
}

/// Whether a word is a compound: `snake_case`, `camelCase`.
fn is_compound(word: &str) -> bool {
    let hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    word.trim_matches('_').contains('_') || word.as_bytes().windows(2).any(hump)
}

fn names_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-')))
        .map(|run| run.trim_start_matches('-'))
        .filter(|name| !name.is_empty())
        .map(fold)
}

/// Adds the stems of a compound's parts, without stop words.
fn add_words(compound: &str, found: &mut BTreeSet<String>) {
    for part in parts(compound) {
        if part.starts_with(is_caseless) {
            // Scripts without spaces: each pair of adjacent letters counts as a word.
            let letters: Vec<char> = part.chars().collect();
            found.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
            continue;
        }
        let part = fold(part);
        if part.chars().nth(2).is_some() && EMPTY.binary_search(&part.as_str()).is_err() {
            found.insert(stemmed(&part).to_owned());
        }
    }
}

/// The class of a character, for splitting compound words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Caseless,
    Other,
}

fn class(letter: char) -> Class {
    if letter.is_lowercase() {
        Class::Lower
    } else if letter.is_uppercase() {
        Class::Upper
    } else if letter.is_numeric() {
        Class::Digit
    } else if letter.is_alphabetic() {
        Class::Caseless
    } else {
        Class::Other
    }
}

fn is_caseless(letter: char) -> bool {
    class(letter) == Class::Caseless
}

/// `HTMLParser2_old` as `HTML`, `Parser`, `2`, `old`.
fn parts(compound: &str) -> Vec<&str> {
    let letters: Vec<(usize, Class)> = compound
        .char_indices()
        .map(|(at, letter)| (at, class(letter)))
        .collect();
    let mut found = Vec::new();
    let mut start = 0;
    for at in 1..=letters.len() {
        let here = letters[at - 1].1;
        let next = letters.get(at).map(|(_, class)| *class);
        let goes_on = match next {
            None => false,
            // The last capital of a run starts the next word: `HTMLParser`.
            Some(Class::Upper) if here == Class::Upper => {
                letters.get(at + 1).is_none_or(|(_, then)| *then != Class::Lower)
            }
            Some(Class::Lower) if here == Class::Upper => true,
            Some(next) => next == here,
        };
        if goes_on {
            continue;
        }
        let end = letters.get(at).map_or(compound.len(), |(end, _)| *end);
        let begin = letters[start].0;
        if here != Class::Other {
            found.push(&compound[begin..end]);
        }
        start = at;
    }
    found
}

/// The word without its suffix.
fn stemmed(word: &str) -> &str {
    SUFFIXES
        .iter()
        .find_map(|suffix| word.strip_suffix(suffix).filter(|rest| rest.len() >= MIN_LEFT))
        .unwrap_or(word)
}
