//! In which languages a text may be written.

use super::{LANGUAGES, Phrases};
use crate::words::Word;

/// The most words that are looked at.
const MAX_WORDS: usize = 120;

/// What a word of one language only weighs; a word of several languages weighs a part of it.
const WEIGHT: usize = 12;

/// Languages of a text, as indices into the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Languages(u16);

/// Counts words of several texts, to tell their languages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Votes {
    scores: [usize; LANGUAGES.len()],
    scripts: u16,
    words: usize,
}

impl Votes {
    /// The votes of the words of a text.
    pub fn of(words: &[Word<'_>]) -> Self {
        let mut votes = Self::default();
        votes.count(words);
        votes
    }

    /// Adds the votes of another part of the text, unless enough words are known.
    pub fn add(&mut self, other: &Self) {
        if self.words >= MAX_WORDS {
            return;
        }
        self.words += other.words;
        self.scripts |= other.scripts;
        for (score, more) in self.scores.iter_mut().zip(other.scores) {
            *score += more;
        }
    }

    fn count(&mut self, words: &[Word<'_>]) {
        for word in words.iter().take(MAX_WORDS) {
            self.words += 1;
            if !word.raw.is_ascii() {
                self.scripts |= scripts_of(word.raw);
            }
            add_word(&word.folded, &mut self.scores);
            // The article before an apostrophe is a word of its own: "l'api", "dell'utente".
            if let Some((article, _)) = word.folded.split_once('\'') {
                add_elision(article, &mut self.scores);
            }
        }
    }

    /// The likely languages: those with at least two thirds of the most votes, and those of the scripts.
    pub fn languages(&self) -> Languages {
        let best = self.scores.iter().max().copied().unwrap_or_default();
        // Kanji are not Chinese where there is kana.
        let scripts = if self.scripts & JAPANESE != 0 {
            JAPANESE
        } else {
            self.scripts
        };
        let mut languages = scripts;
        for (at, score) in self.scores.iter().enumerate() {
            if *score > 0 && score * 3 >= best * 2 {
                languages |= 1 << at;
            }
        }
        Languages(languages)
    }
}

impl Languages {
    /// No language.
    pub const NONE: Self = Self(0);
    /// English.
    pub const ENGLISH: Self = Self(1);
    /// Chinese and Japanese.
    pub const EAST_ASIAN: Self = Self(CHINESE | JAPANESE);
    /// Romanian.
    pub const ROMANIAN: Self = Self(1 << 1);

    /// The likely languages of a text with these words, judged by its commonest words and its script. None if nothing tells.
    pub fn of(words: &[Word<'_>]) -> Self {
        Votes::of(words).languages()
    }

    /// These and others.
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether there are some, and all are among these.
    pub fn is_within(self, others: Self) -> bool {
        !self.is_none() && self.0 & !others.0 == 0
    }

    /// Whether it is one of these. Without evidence any language is.
    pub fn contains(self, other: Self) -> bool {
        self.is_none() || self.0 & other.0 != 0
    }

    /// The languages of a part of a text in these languages: those that fit both if there are any, else all of them.
    pub fn within(self, whole: Self) -> Self {
        let both = self.0 & whole.0;
        Self(if both == 0 { self.0 | whole.0 } else { both })
    }

    /// The languages of a short part of a text in these languages: those of the whole, and its own if they differ.
    pub(crate) fn of_part(self, whole: Self) -> Self {
        Self(if self.0 & whole.0 == 0 {
            self.0 | whole.0
        } else {
            whole.0
        })
    }

    /// Whether it is the language at this position of the tables. Without evidence any language is.
    pub(crate) fn has(self, at: usize) -> bool {
        self.is_none() || self.0 & 1 << at != 0
    }

    /// Whether there is no evidence.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Whether the text may be English.
    pub(crate) fn may_be_english(self) -> bool {
        self.is_none() || self.0 & 1 != 0
    }

    /// These, or `others` if there are none.
    pub fn or(self, others: Self) -> Self {
        if self.is_none() { others } else { self }
    }

    /// With English, whose words for technical things are used in all languages. None stays none.
    pub fn with_english(self) -> Self {
        if self.is_none() { self } else { Self(self.0 | 1) }
    }

    /// Their tables. If there are none, all tables of languages with spaces.
    pub fn tables(self) -> impl Iterator<Item = &'static Phrases> {
        let mut left = if self.is_none() {
            ALL & !(CHINESE | JAPANESE)
        } else {
            self.0
        };
        std::iter::from_fn(move || {
            let at = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            LANGUAGES.get(at).copied()
        })
    }
}

/// Slots of [`FUNCTION_WORDS`].
const SLOTS: usize = 4096;

/// The languages that have a function word with the same two first letters, last letter and length, by these. Most words have none,
/// and need no search.
static FUNCTION_WORDS: [u16; SLOTS] = {
    let mut slots = [0; SLOTS];
    let mut at = 0;
    while at < LANGUAGES.len() {
        let words = LANGUAGES[at].function_words.entries();
        let mut word = 0;
        while word < words.len() {
            slots[slot(words[word].as_bytes())] |= 1 << at;
            word += 1;
        }
        at += 1;
    }
    slots
};

const fn slot(word: &[u8]) -> usize {
    let (first, second, last) = match word {
        [] => return 0,
        [one] => (*one, 0, *one),
        [first, second, ..] => (*first, *second, word[word.len() - 1]),
    };
    (first as usize * 211 + second as usize * 31 + last as usize * 7 + word.len()) % SLOTS
}

/// The languages of which a folded word is a function word.
fn languages_with(word: &str) -> u16 {
    let mut candidates = FUNCTION_WORDS[slot(word.as_bytes())];
    let mut known = 0;
    while candidates != 0 {
        let at = candidates.trailing_zeros() as usize;
        candidates &= candidates - 1;
        if LANGUAGES[at].function_words.contains(word) {
            known |= 1 << at;
        }
    }
    known
}

/// Adds a word to the scores of its languages.
fn add_word(folded: &str, scores: &mut [usize; LANGUAGES.len()]) {
    let known = languages_with(folded);
    if known != 0 {
        let weight = WEIGHT / known.count_ones() as usize;
        for (at, score) in scores.iter_mut().enumerate() {
            if known & 1 << at != 0 {
                *score += weight.max(1);
            }
        }
    }
}

/// Articles and pronouns before an apostrophe, and the position of their language.
#[rustfmt::skip]
const ELISIONS: &[(&str, &[usize])] = &[
    ("all", &[5]), ("c", &[3, 5]), ("d", &[3, 5]), ("dall", &[5]), ("dell", &[5]), ("j", &[3]), ("l", &[3, 5]),
    ("m", &[3]), ("n", &[3]), ("nell", &[5]), ("nient", &[5]), ("qu", &[3]), ("quell", &[5]), ("s", &[3]),
    ("sull", &[5]), ("t", &[3]), ("un", &[5]),
];

fn add_elision(article: &str, scores: &mut [usize; LANGUAGES.len()]) {
    if let Ok(at) = ELISIONS.binary_search_by(|(known, _)| (*known).cmp(article)) {
        let languages = ELISIONS[at].1;
        for language in languages {
            scores[*language] += WEIGHT / languages.len();
        }
    }
}

/// All languages.
const ALL: u16 = (1 << LANGUAGES.len()) - 1;
const CHINESE: u16 = 1 << 9;
const JAPANESE: u16 = 1 << 10;

/// Chinese or Japanese by the script: kana is Japanese only.
fn scripts_of(text: &str) -> u16 {
    let mut found = 0;
    for letter in text.chars() {
        match letter {
            '\u{3041}'..='\u{30ff}' => return JAPANESE,
            '\u{3400}'..='\u{9fff}' => found = CHINESE,
            _ => {}
        }
    }
    found
}
