//! Phrases that instruct an agent: words in a sentence with a few others between them.

use super::look_alikes::{look_alike, narrow};
use super::secret_files::{is_advised_against, secret_file_sent};
use super::{Feature, Finding, SuspicionKind};
use crate::quote::is_hidden;
use std::collections::HashMap;
use std::sync::LazyLock;

/// One of several words, at most `reach` words after the slot before it. For the first slot: after the start of the sentence.
struct Slot {
    reach: usize,
    words: Vec<&'static str>,
}

/// Slots in this order in one sentence.
struct Phrase {
    finding: Finding,
    slots: Vec<Slot>,
}

/// What "agent" is read as where people are meant.
const PERSON: &str = "people";

/// The phrases, and where each can start.
struct Phrases {
    list: Vec<Phrase>,
    /// The phrases by a whole word of their first slot.
    by_word: HashMap<&'static str, Vec<usize>>,
    /// The phrases by the first two characters of an incomplete word of their first slot.
    by_beginning: HashMap<String, Vec<usize>>,
}

static PHRASES: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::of(include_str!("phrases.txt").lines().filter_map(Phrase::parse)));

/// A text as a reader perceives it: lower case, letters that look like Latin ones replaced, hidden characters removed, one
/// space between words and one line per sentence.
pub(super) struct NormalizedText {
    text: String,
    /// For each byte of a word's beginning in `text`, where the word begins in the original: pairs, ascending.
    origins: Vec<(usize, usize)>,
}

/// A phrase in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PhraseMatch {
    /// What the phrase means.
    pub(super) finding: Finding,
    /// The byte offset in the original.
    pub(super) at: usize,
    /// The number of the sentence.
    pub(super) sentence: usize,
}

impl NormalizedText {
    pub(super) fn of(original: &str) -> Self {
        let mut visible = Self {
            text: String::with_capacity(original.len()),
            origins: Vec::new(),
        };
        let mut word = String::new();
        let mut start = 0;
        for (at, character) in original.char_indices().chain([(original.len(), '\n')]) {
            if is_hidden(character) {
                continue;
            }
            let character = narrow(character);
            if is_word_character(character) {
                if word.is_empty() {
                    start = at;
                }
                if character != '\'' && character != '\u{2019}' {
                    word.extend(character.to_lowercase());
                }
                continue;
            }
            // A dot ends a sentence at the end of a word; inside it is part of a name.
            // So does a question mark, but not in an address.
            let is_query = character == '?'
                && word.contains("://")
                && !original[at + 1..].starts_with(char::is_whitespace);
            let stop = word.ends_with('.')
                || !is_query && matches!(character, '!' | '?' | ';' | '\n' | '。' | '！' | '？');
            let bare = word.trim_end_matches(['.', ':', ',', '-']);
            if !bare.is_empty() {
                if !visible.text.is_empty() && !visible.text.ends_with('\n') {
                    visible.text.push(' ');
                }
                visible.origins.push((visible.text.len(), start));
                visible.push_word(bare);
            }
            word.clear();
            if stop && !visible.text.ends_with('\n') {
                visible.text.push('\n');
            }
        }
        visible
    }

    /// Adds a word. In a word that mixes Latin letters with look-alikes, the look-alikes become Latin.
    fn push_word(&mut self, word: &str) {
        if !word.is_ascii() && word.contains(|character: char| character.is_ascii_alphabetic()) {
            self.text.extend(word.chars().map(look_alike));
        } else {
            self.text.push_str(word);
        }
    }

    /// The number of sentences.
    pub(super) fn sentences(&self) -> usize {
        self.text.lines().count()
    }

    /// All phrases of the text. `agents_are_people` if its agents are no programs.
    pub(super) fn phrases(&self, agents_are_people: bool) -> Vec<PhraseMatch> {
        let mut found = Vec::new();
        let mut from = 0;
        for (number, sentence) in self.text.split_inclusive('\n').enumerate() {
            let mut add = |finding, at| {
                found.push(PhraseMatch {
                    finding,
                    at: self.origin(at),
                    sentence: number,
                });
            };
            let mut words: Vec<&str> = sentence.split_whitespace().collect();
            let mut places = Vec::with_capacity(words.len());
            let mut next = from;
            for word in &words {
                places.push(next);
                next += word.len() + 1;
            }
            if agents_are_people {
                for word in words.iter_mut().filter(|word| word.starts_with("agent")) {
                    *word = PERSON;
                }
            }
            PHRASES.find(&words, &mut |finding, at| add(finding, places[at]));
            if let Some(finding) = secret_file_sent(&words) {
                add(finding, from);
            }
            from += sentence.len();
        }
        found
    }

    fn origin(&self, place: usize) -> usize {
        let next = self.origins.partition_point(|(seen, _)| *seen <= place);
        next.checked_sub(1)
            .and_then(|index| self.origins.get(index))
            .map_or(0, |(_, original)| *original)
    }
}

impl Phrases {
    fn of(phrases: impl Iterator<Item = Phrase>) -> Self {
        let list: Vec<Phrase> = phrases.collect();
        let mut by_word: HashMap<&'static str, Vec<usize>> = HashMap::new();
        let mut by_beginning: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, phrase) in list.iter().enumerate() {
            for word in phrase.slots.first().into_iter().flat_map(|slot| &slot.words) {
                if word.ends_with('*') {
                    by_beginning.entry(beginning(word)).or_default().push(number);
                } else {
                    by_word.entry(word).or_default().push(number);
                }
            }
        }
        Self {
            list,
            by_word,
            by_beginning,
        }
    }

    /// Calls `add` for each phrase in a sentence, with the index of its first word.
    fn find(&self, words: &[&str], add: &mut impl FnMut(Finding, usize)) {
        for (at, word) in words.iter().enumerate() {
            let whole = self.by_word.get(word).into_iter().flatten();
            let begun = self.by_beginning.get(&beginning(word)).into_iter().flatten();
            for number in whole.chain(begun) {
                if let Some(phrase) = self.list.get(*number)
                    && phrase.starts_at(words, at)
                {
                    add(phrase.finding, at);
                }
            }
        }
    }
}

/// The first two characters of a word.
fn beginning(word: &str) -> String {
    word.chars().take(2).collect()
}

impl Phrase {
    /// Parses a line of `phrases.txt`; `None` for a comment.
    fn parse(line: &'static str) -> Option<Self> {
        let mut parts = line.split_whitespace();
        let finding = Finding::named(parts.next()?)?;
        let slots = parts.map(|part| {
            let (reach, words) = part.split_once(':')?;
            Some(Slot {
                reach: reach.parse().unwrap_or(usize::MAX),
                words: words.split('|').collect(),
            })
        });
        Some(Self {
            finding,
            slots: slots.collect::<Option<_>>()?,
        })
    }

    /// Whether the phrase starts with the word at `at`.
    fn starts_at(&self, words: &[&str], at: usize) -> bool {
        let Some((first, rest)) = self.slots.split_first() else {
            return false;
        };
        // "Agents must never, in any case, push without asking" asks for the opposite.
        let negated_within = match self.finding {
            Finding::Kind(_) => 1,
            Finding::Feature(Feature::Unasked | Feature::Hasty | Feature::Concealed)
                if words.get(at) == Some(&"without") =>
            {
                at
            }
            Finding::Feature(Feature::Urged | Feature::Addressed) => 0,
            Finding::Feature(_) => 3,
        };
        let is_exfiltration = self.finding == Finding::Kind(SuspicionKind::Exfiltration);
        at <= first.reach
            && first.matches(words[at])
            && !is_negated(words, at, negated_within)
            && follow(rest, words, at + 1)
            && !(is_exfiltration && is_advised_against(words, at))
    }
}

/// Whether the slots match in the words from `from` on.
fn follow(slots: &[Slot], words: &[&str], from: usize) -> bool {
    let Some((slot, rest)) = slots.split_first() else {
        return true;
    };
    (from..words.len())
        .take(slot.reach.saturating_add(1))
        .any(|at| slot.matches(words[at]) && follow(rest, words, at + 1))
}

impl Slot {
    fn matches(&self, word: &str) -> bool {
        self.words.iter().any(|one| match one.strip_suffix('*') {
            Some("@") => word.contains('@') && word.contains('.'),
            Some("http") => word.contains("http://") || word.contains("https://"),
            Some(beginning) => word.starts_with(beginning),
            None => word == *one,
        })
    }
}

/// "Never ignore previous instructions" and "must not …" do not instruct the agent to do it.
pub(super) fn is_negated(words: &[&str], at: usize, within: usize) -> bool {
    const NEGATIONS: &[&str] = &[
        "not",
        "never",
        "dont",
        "cannot",
        "doesnt",
        "wont",
        "shouldnt",
        "mustnt",
        "nie",
        "niemals",
        "nicht",
        "nunca",
        "jamais",
        "mai",
        "nigdy",
        "никогда",
        "nooit",
    ];
    words[at.saturating_sub(within)..at]
        .iter()
        .any(|word| NEGATIONS.contains(word))
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || "'_-./~@:$*".contains(character) || character == '\u{2019}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lists_parses() {
        let lines = include_str!("phrases.txt").lines();
        let phrases = lines.filter(|line| !line.starts_with('#')).count();
        assert_eq!(PHRASES.list.len(), phrases);
        assert!(PHRASES.list.iter().all(|phrase| !phrase.slots.is_empty()));
        let has_beginning = |word: &&str| !word.ends_with('*') || word.chars().count() > 2;
        let first = PHRASES.list.iter().flat_map(|phrase| &phrase.slots[0].words);
        assert!(
            first.into_iter().all(has_beginning),
            "a beginning is two characters or more"
        );
    }
}
