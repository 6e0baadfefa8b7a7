//! Synonyms and translations of the trade's nouns, so that a prompt finds a memory in other words: "throttle" and "rate
//! limit", "Rechnung" and "invoice".
//!
//! Each line of `words.txt` is a concept; `stems.txt` has the same as [`words`](grov_domain::words) returns it, because stemming
//! two thousand words takes too long for a hook process. `>` marks a word that is only
//! searched for, `*` the beginning of a word, `+` words that only mean the concept together. What is marked `+` is only
//! recognized, not searched for.

use grov_redact::is_unspaced;
use std::collections::HashSet;

static CONCEPTS: &str = include_str!("concepts/stems.txt");

/// Maximum number of concepts taken from one prompt.
const MAX_CONCEPTS: usize = 12;
/// Maximum number of words searched for instead of one word.
const MAX_RELATED: usize = 12;

/// The shortest beginning that is searched for, in bytes: four letters, or two that are not Latin.
const MIN_BEGINNING: usize = 4;

/// Words that mean the same as a word of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Concept {
    /// The positions of the words of the prompt that mean it.
    pub(crate) said: Vec<usize>,
    /// The other words for it.
    pub(crate) related: Vec<&'static str>,
    /// The beginnings of other words for it.
    pub(crate) beginnings: Vec<&'static str>,
}

/// The concepts of a prompt with these words, in the order of the list.
pub(crate) fn concepts(text: &str, words: &[String]) -> Vec<Concept> {
    let mut sorted: Vec<(&str, usize)> = words.iter().map(String::as_str).zip(0..).collect();
    sorted.sort_unstable();
    let mut beginnings = [0; BITS / 64];
    for (word, _) in &sorted {
        if let Some(bit) = beginning_bit(word) {
            beginnings[bit / 64] |= 1 << (bit % 64);
        }
    }
    let said = Said {
        sorted,
        beginnings,
        unspaced: text.chars().any(is_unspaced).then(|| text.to_lowercase()),
    };
    CONCEPTS
        .lines()
        .filter_map(|line| said.concept(line))
        .take(MAX_CONCEPTS)
        .collect()
}

/// Bits of [`Said::beginnings`].
const BITS: usize = 1024;

/// The bit for the first two bytes of a word or of a token of the list; `None` if it has only one.
fn beginning_bit(word: &str) -> Option<usize> {
    match word.as_bytes() {
        [] | [_] | [_, b'*' | b'+', ..] => None,
        [first, second, ..] => Some((usize::from(*first) * 37 + usize::from(*second)) % BITS),
    }
}

/// What a prompt says.
struct Said<'a> {
    /// The words with their positions.
    sorted: Vec<(&'a str, usize)>,
    /// Which two bytes the words begin with, as a bit set without false negatives. It rules most tokens of the list out.
    beginnings: [u64; BITS / 64],
    /// The text, if it has a script without spaces.
    unspaced: Option<String>,
}

impl Said<'_> {
    /// The concept of a line, if the prompt has a word for it.
    fn concept(&self, line: &'static str) -> Option<Concept> {
        let mut said: Vec<usize> = Vec::new();
        for token in line.split(' ').filter(|token| !token.starts_with('>')) {
            said.extend(self.places(token));
        }
        if said.is_empty() {
            return None;
        }
        said.sort_unstable();
        said.dedup();
        let known: HashSet<&str> = self
            .sorted
            .iter()
            .filter(|(_, place)| said.contains(place))
            .map(|(word, _)| *word)
            .collect();
        let related = line
            .split(' ')
            .map(|token| token.trim_start_matches('>'))
            .filter(|token| is_searched(token) && !known.contains(token))
            .take(MAX_RELATED)
            .collect();
        let beginnings = line
            .split(' ')
            .filter_map(|token| token.trim_start_matches('>').strip_suffix('*'))
            .filter(|beginning| beginning.len() >= MIN_BEGINNING && !beginning.contains('+'))
            .collect();
        Some(Concept {
            said,
            related,
            beginnings,
        })
    }

    /// The positions of the words that a token of the list means; empty if the prompt does not have them.
    fn places(&self, token: &str) -> Vec<usize> {
        if !token.is_ascii() && token.chars().next().is_some_and(is_unspaced) {
            let text = self.unspaced.as_deref().unwrap_or_default();
            if !text.contains(token) {
                return Vec::new();
            }
            // The pairs of characters that the word consists of.
            let is_part = |word: &&(&str, usize)| token.contains(word.0) && word.0.chars().all(is_unspaced);
            return self
                .sorted
                .iter()
                .filter(is_part)
                .map(|(_, place)| *place)
                .collect();
        }
        if beginning_bit(token).is_some_and(|bit| self.beginnings[bit / 64] >> (bit % 64) & 1 == 0) {
            return Vec::new();
        }
        let mut places = Vec::new();
        for part in token.split('+') {
            let found = self.begins(part);
            if found.is_empty() {
                return Vec::new();
            }
            places.extend(found);
        }
        places
    }

    /// The positions of a word, or of the words with a beginning.
    fn begins(&self, part: &str) -> Vec<usize> {
        let (beginning, is_whole) = part.strip_suffix('*').map_or((part, true), |part| (part, false));
        let from = self.sorted.partition_point(|(word, _)| *word < beginning);
        self.sorted[from..]
            .iter()
            .take_while(|(word, _)| word.starts_with(beginning))
            .filter(|(word, _)| !is_whole || *word == beginning)
            .map(|(_, place)| *place)
            .collect()
    }
}

/// Whether the index can have the token as a word: of a script without spaces it has pairs of characters.
fn is_searched(token: &str) -> bool {
    let is_short = !token.chars().any(is_unspaced) || token.chars().count() == 2;
    is_short && !token.contains(['*', '+'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::words;

    fn related(text: &str) -> Vec<&'static str> {
        let found = concepts(text, &words(text, 99));
        found.into_iter().flat_map(|concept| concept.related).collect()
    }

    /// A token of `words.txt` with its stems.
    fn stemmed(token: &str) -> String {
        let bare = token.trim_start_matches('>');
        let mark = &token[..token.len() - bare.len()];
        let stem = |part: &str| match part {
            _ if part.ends_with('*') || part.chars().any(is_unspaced) => part.to_owned(),
            _ => words(part, 1).pop().unwrap_or_default(),
        };
        let parts: Vec<String> = bare.split(['+', '-', '/']).map(stem).collect();
        format!("{mark}{}", parts.join("+"))
    }

    #[test]
    fn stems_are_those_of_the_words() {
        let lines = include_str!("concepts/words.txt").lines().map(|line| {
            let mut tokens: Vec<String> = Vec::new();
            for token in line.split_whitespace().map(stemmed) {
                if !tokens
                    .iter()
                    .any(|known| known.trim_start_matches('>') == token.trim_start_matches('>'))
                {
                    tokens.push(token);
                }
            }
            tokens.join(" ")
        });
        let expected: Vec<String> = lines.collect();
        let stems: Vec<&str> = CONCEPTS.lines().collect();
        assert_eq!(stems, expected, "concepts/stems.txt");
    }

    #[test]
    fn synonyms_and_translations_are_related() {
        assert!(related("throttle the partners").contains(&"limit"));
        assert!(related("Rechnungen drucken").contains(&"invoic"));
        assert!(related("限流 按客户").contains(&"throttl"));
        assert!(related("часовой пояс").contains(&"timezon"));
        assert!(related("añadir la zona horaria").contains(&"timezon"));
        assert_eq!(related("rename the variable"), [""; 0]);
        assert_eq!(related("añadir la zona"), [""; 0]);
    }

    #[test]
    fn a_concept_names_the_words_that_mean_it() {
        let found = concepts("限流", &words("限流", 9));
        assert_eq!(found[0].said, [0]);
    }
}
