//! Finds the sentence that states the goal.

use super::constraints::Context;
use super::lexicon::{AFTER_A_NOUN, LEAD_INS, is_work_verb};
use super::prompt::Assent;
use super::text::{Word, any_phrase_at, ends_with_question, fold, has_phrase, shorten, words};

use grov_scope::phrases::{Languages, Votes};

/// The longest goal, in characters.
pub(crate) const MAX_CHARACTERS: usize = 200;

/// The most lead-ins in a row.
const MAX_LEAD_INS: usize = 8;

/// Phrases that request work without an imperative.
#[rustfmt::skip]
const REQUESTS: &[&str] = &[
    "i want", "i only want", "i just want", "i need", "we need", "i'd like", "i would like", "we want",
    "can you", "could you", "would you", "will you", "help me", "please", "there should be", "it should",
    "we should", "should have", "needs to", "need to", "vreau", "as vrea", "as dori", "am nevoie",
    "avem nevoie", "te rog", "va rog", "poti sa", "ai putea", "trebuie sa", "ar trebui",
];

/// Words allowed between the start of a clause and its verb.
#[rustfmt::skip]
pub(crate) const LEADING_WORDS: &[&str] = &[
    "please", "just", "also", "and", "but", "so", "then", "ok", "te", "rog", "sa", "you", "should",
    "absolutely", "of", "course",
];

/// The index of the first word after the lead-ins.
pub(crate) fn skip_lead_ins(words: &[Word<'_>]) -> usize {
    let mut at = 0;
    for _ in 0..MAX_LEAD_INS {
        match any_phrase_at(words, at, LEAD_INS) {
            Some(length) => at += length,
            None => break,
        }
    }
    at
}

/// Words after the Romanian verb "merge" (works).
#[rustfmt::skip]
const ROMANIAN_AFTER_MERGE: &[&str] = &[
    "doar", "numai", "bine", "acum", "pe", "dar", "greu", "prost", "foarte", "la", "cu", "si", "asa",
    "cand", "daca", "perfect",
];

/// Whether the word at `at` is an imperative.
pub(crate) fn is_order(words: &[Word<'_>], at: usize) -> bool {
    let Some(verb) = words.get(at) else {
        return false;
    };
    if !is_work_verb(&verb.folded) {
        return false;
    }
    let next = words.get(at + 1);
    let next_is = |words: &[&str]| next.is_some_and(|next| next.is_any(words));
    // Romanian "merge" states that something works.
    let works = verb.folded == "merge" && (next.is_none() || next_is(ROMANIAN_AFTER_MERGE));
    !works && !verb.after.contains(':') && !next_is(AFTER_A_NOUN)
}

/// Whether a sentence asks for work.
pub(crate) fn asks_for_work(words: &[Word<'_>]) -> bool {
    is_order(words, skip_lead_ins(words)) || orders_later(words)
}

/// An imperative after a pause or an "and": "The page crashes, fix it".
fn orders_later(words: &[Word<'_>]) -> bool {
    (1..words.len()).any(|at| {
        let before = &words[at - 1];
        (before.pauses() || before.is_any(&["please", "rog"])) && {
            let behind = at + skip_lead_ins(&words[at..]);
            is_order(words, behind)
        }
    })
}

/// A sentence and its constraints.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    text: String,
    constraints: Vec<String>,
}

impl Sentence {
    /// Parses sentences.
    pub(crate) fn read(texts: impl IntoIterator<Item = String>) -> Vec<Self> {
        let texts: Vec<String> = texts.into_iter().collect();
        let read: Vec<Vec<Word<'_>>> = texts.iter().map(|text| words(text)).collect();
        let mut whole = Votes::default();
        for words in &read {
            whole.add(words);
        }
        let whole = whole.languages();
        let mut opens = true;
        let mut constraints = Vec::with_capacity(texts.len());
        for (text, words) in texts.iter().zip(&read) {
            let languages = Languages::of(words).within(whole);
            let mut found = Vec::new();
            let context = Context { languages, opens };
            super::constraints::of_sentence(text, words, context, &mut found);
            opens &= !is_order(words, skip_lead_ins(words));
            constraints.push(found);
        }
        drop(read);
        let sentences = texts.into_iter().zip(constraints);
        sentences
            .map(|(text, constraints)| Self { text, constraints })
            .collect()
    }

    /// Its constraints.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Its constraints.
    pub(crate) fn constraints(&self) -> &[String] {
        &self.constraints
    }

    /// How well it states the goal, 0 to 5.
    fn weight(&self, words: &[Word<'_>]) -> u8 {
        let sentence = &*self.text;
        if words.is_empty() {
            return 0;
        }
        let at = skip_lead_ins(words);
        if at >= words.len() {
            return 0;
        }
        if sentence.trim_end().ends_with(':')
            || super::constraints::opens_with_one(sentence, &self.constraints)
        {
            return 1;
        }
        if is_order(words, at) {
            return 5;
        }
        if orders_later(words) || has_phrase(words, REQUESTS) {
            return 4;
        }
        if !self.constraints.is_empty() {
            return 1;
        }
        if ends_with_question(sentence) { 3 } else { 2 }
    }
}

/// The goal of a prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Goal {
    /// At most 200 characters; empty for an empty prompt.
    pub(crate) text: String,
    /// The prompt only acknowledges or approves.
    pub(crate) assents: bool,
}

impl AsRef<Self> for Goal {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Goal {
    /// The goal of a prompt with these sentences.
    pub(crate) fn of(sentences: &[Sentence]) -> Self {
        let read: Vec<Vec<Word<'_>>> = sentences.iter().map(|sentence| words(&sentence.text)).collect();
        let texts = sentences.iter().map(|sentence| &*sentence.text);
        Self {
            text: best_sentence(sentences, &read),
            assents: Assent::of(texts, &read) != Assent::None,
        }
    }
}

/// The goal stated in sentences: at most 200 characters; empty for no sentences.
pub(crate) fn goal_of(sentences: Vec<String>) -> String {
    Goal::of(&Sentence::read(sentences)).text
}

/// The goal of sentences with these words.
fn best_sentence(sentences: &[Sentence], read: &[Vec<Word<'_>>]) -> String {
    let both = sentences.iter().zip(read);
    let weights: Vec<u8> = both.map(|(sentence, words)| sentence.weight(words)).collect();
    let Some(best) = weights.iter().max().copied() else {
        return String::new();
    };
    let Some(at) = weights.iter().position(|weight| *weight == best) else {
        return String::new();
    };
    let sentence = without_greeting(&sentences[at].text, &read[at]);
    // "Fix it." needs the sentence before it.
    if at > 0 && words(sentence).len() <= 4 && weights[at - 1] > 0 {
        let before = without_greeting(&sentences[at - 1].text, &read[at - 1]);
        let joined = format!("{before} {sentence}");
        if joined.chars().count() <= MAX_CHARACTERS {
            return shorten(&joined, MAX_CHARACTERS);
        }
    }
    shorten(sentence, MAX_CHARACTERS)
}

/// Words of greetings and thanks.
#[rustfmt::skip]
const GREETINGS: &[&str] = &[
    "hi", "hey", "hello", "claude", "thanks", "thank", "you", "great", "ok", "okay", "perfect", "salut",
    "buna", "mersi", "multumesc", "there", "cool", "nice", "super",
];

/// The sentence without a leading greeting or thanks.
fn without_greeting<'s>(sentence: &'s str, found: &[Word<'_>]) -> &'s str {
    let mut from = 0;
    for (at, word) in found.iter().enumerate().take(5) {
        let greets = word.is_any(GREETINGS);
        if !greets {
            break;
        }
        if word.pauses() || fold(word.after).contains('!') {
            from = found.get(at + 1).map_or(0, |next| next.start - next.before.len());
        }
    }
    sentence[from..].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goal_is_the_sentence_that_asks_for_work() {
        let cases = [
            (
                "Hi Claude! The parser is slow. Please make it faster.",
                "The parser is slow. Please make it faster.",
            ),
            (
                "Hey, can you add a dark mode toggle to the settings page?",
                "can you add a dark mode toggle to the settings page?",
            ),
            (
                "We ship on Friday. Fix the flaky login test in tests/login.rs. Do not touch CI.",
                "Fix the flaky login test in tests/login.rs.",
            ),
            (
                "Do not touch CI. Fix the flaky login test in tests/login.rs.",
                "Fix the flaky login test in tests/login.rs.",
            ),
            (
                "Salut! Te rog să adaugi un test pentru parser. Mersi!",
                "Te rog să adaugi un test pentru parser.",
            ),
            (
                "The login page crashes on an empty address.",
                "The login page crashes on an empty address.",
            ),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(goal_of(crate::text::sentences(text)), expected);
        }
    }
}
