//! Phrases that instruct an agent: words in a sentence with a few others between them.

use super::SuspicionKind;
use crate::quote::is_hidden;
use std::sync::LazyLock;

/// One of several words, at most `reach` words after the slot before it. For the first slot: after the start of the sentence.
struct Slot {
    reach: usize,
    words: Vec<&'static str>,
}

/// Slots in this order in one sentence.
struct Phrase {
    kind: SuspicionKind,
    slots: Vec<Slot>,
}

static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    include_str!("phrases.txt")
        .lines()
        .filter_map(Phrase::parse)
        .collect()
});

/// The same in scripts without spaces, as pieces in this order in one sentence.
#[rustfmt::skip]
const UNSPACED: &[&[&str]] = &[
    &["忽略", "指令"], &["忽略", "指示"], &["忽略", "提示词"], &["无视", "指令"], &["無視", "指令"], &["忘记", "之前", "指令"],
    &["指示", "無視し"], &["指示を無視"], &["命令を無視"], &["이전", "지시", "무시"], &["지침", "무시"],
];

/// A text as a reader perceives it: lower case, letters that look like Latin ones replaced, hidden characters removed, one
/// space between words and one line per sentence.
pub(super) struct NormalizedText {
    text: String,
    /// For each byte of a word's beginning in `text`, where the word begins in the original: pairs, ascending.
    origins: Vec<(usize, usize)>,
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
            let stop =
                word.ends_with('.') || matches!(character, '!' | '?' | ';' | '\n' | '。' | '！' | '？');
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

    /// Each kind of phrase found, with the offset of its first match in the original.
    pub(super) fn phrases(&self) -> Vec<(SuspicionKind, usize)> {
        let mut found = Vec::new();
        let mut from = 0;
        for sentence in self.text.split_inclusive('\n') {
            let words: Vec<&str> = sentence.split_whitespace().collect();
            for phrase in PHRASES.iter() {
                if let Some(at) = phrase.find(&words) {
                    // The words are slices of the text.
                    let place = from + words.iter().take(at).map(|word| word.len() + 1).sum::<usize>();
                    found.push((phrase.kind, self.origin(place)));
                }
            }
            if !sentence.is_ascii() && UNSPACED.iter().any(|pieces| contains_in_order(pieces, sentence)) {
                found.push((SuspicionKind::Order, self.origin(from)));
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

impl Phrase {
    /// Parses a line of `phrases.txt`; `None` for a comment.
    fn parse(line: &'static str) -> Option<Self> {
        let mut parts = line.split_whitespace();
        let kind = match parts.next()? {
            "order" => SuspicionKind::Order,
            "exfiltration" => SuspicionKind::Exfiltration,
            "unchecked" => SuspicionKind::Unchecked,
            _ => return None,
        };
        let slots = parts.map(|part| {
            let (reach, words) = part.split_once(':')?;
            Some(Slot {
                reach: reach.parse().unwrap_or(usize::MAX),
                words: words.split('|').collect(),
            })
        });
        Some(Self {
            kind,
            slots: slots.collect::<Option<_>>()?,
        })
    }

    /// The index of the word at which the phrase starts.
    fn find(&self, words: &[&str]) -> Option<usize> {
        let (first, rest) = self.slots.split_first()?;
        (0..words.len())
            .take(first.reach.saturating_add(1))
            .find(|&at| first.matches(words[at]) && !is_negated(words, at) && follow(rest, words, at + 1))
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
fn is_negated(words: &[&str], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    before.is_some_and(|word| ["not", "never", "dont", "cannot", "doesnt", "wont", "shouldnt"].contains(word))
}

fn contains_in_order(pieces: &[&str], sentence: &str) -> bool {
    let mut rest = sentence;
    pieces.iter().all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || "'_-./~@:$*".contains(character) || character == '\u{2019}'
}

/// Full-width letters as ordinary ones.
fn narrow(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character),
        _ => character,
    }
}

/// A lower-case letter of another alphabet as the Latin one that it looks like.
fn look_alike(character: char) -> char {
    match character {
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'у' => 'y',
        'х' => 'x',
        'і' | 'ι' => 'i',
        'ѕ' => 's',
        'ј' => 'j',
        'ν' => 'v',
        'ԁ' => 'd',
        'һ' => 'h',
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_parses() {
        let lines = include_str!("phrases.txt").lines();
        assert_eq!(PHRASES.len(), lines.filter(|line| !line.starts_with('#')).count());
        assert!(PHRASES.iter().all(|phrase| phrase.slots.len() > 1));
    }
}
