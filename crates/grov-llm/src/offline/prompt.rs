//! What a prompt is: work, a question, thanks, an objection, a change of subject.

use super::clean::clean;
use super::goal;
use super::lexicon::{ACKNOWLEDGING, SATISFIED};
use super::text::{
    Word, any_phrase_at, ends_with_question, find_phrase, has_phrase, phrase_at, sentences, words,
};

/// The sentences of a prompt, cleaned; at most so many are looked at.
const MOST_SENTENCES: usize = 400;

/// How a prompt stands to the work before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// It says nothing about that.
    Unsaid,
    /// "Now fix …", "new task", "moving on".
    Other,
    /// "First we need …", "before that …".
    Before,
    /// "Also …", "in parallel …".
    Beside,
    /// "Back to …".
    Back,
}

/// A prompt, understood.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    /// Its prose.
    pub(super) sentences: Vec<String>,
    /// Nothing was typed.
    pub(super) empty: bool,
    /// Thanks, praise or "ok", and nothing else.
    pub(super) acknowledges: bool,
    /// "Yes", "go ahead", and nothing else.
    pub(super) approves: bool,
    /// "No, that's wrong", "still failing", "revert".
    pub(super) objects: bool,
    /// Asks for information.
    pub(super) asks: bool,
    /// Asks for work.
    pub(super) orders: bool,
    /// How it stands to the work before it.
    pub(super) relation: Relation,
    /// It leans on what was said before: "it", "that", "instead".
    pub(super) leans: bool,
}

/// Words that make a go-ahead of a short sentence.
const APPROVING: &[&str] = &[
    "yes", "yep", "yeah", "yup", "sure", "go", "ahead", "proceed", "continue", "do", "it", "please",
    "approved", "approve", "ok", "okay", "sounds", "good", "keep", "going", "on", "carry", "with", "the",
    "plan", "that", "then", "start", "let's", "and", "lgtm", "ship", "great", "perfect", "y", "da", "sigur",
    "continua", "mergi", "inainte", "mai", "departe", "fa-o", "fa", "asa", "hai", "ok", "bine", "de",
    "acord", "desigur", "te", "rog", "option", "one", "first", "a", "b", "1", "2", "3",
];

/// At least one of these must be there.
const GO_AHEAD: &[&str] = &[
    "yes", "yep", "yeah", "yup", "sure", "go", "proceed", "continue", "approved", "approve", "keep", "carry",
    "ship", "start", "y", "da", "sigur", "continua", "mergi", "fa-o", "hai", "do", "acord", "desigur",
    "option", "1", "2", "3",
];

/// Objections anywhere in a sentence.
const OBJECTIONS: &[&str] = &[
    "that's wrong",
    "that is wrong",
    "this is wrong",
    "that's not right",
    "that is not right",
    "that's not what",
    "that is not what",
    "not what i",
    "still failing",
    "still fails",
    "still broken",
    "still not working",
    "still doesn't",
    "still does not",
    "still getting",
    "still get",
    "still see",
    "still seeing",
    "still happens",
    "still crashes",
    "still the same",
    "still red",
    "still wrong",
    "doesn't work",
    "does not work",
    "didn't work",
    "did not work",
    "isn't working",
    "not working",
    "that broke",
    "you broke",
    "this broke",
    "it broke",
    "is broken now",
    "now it fails",
    "you missed",
    "you forgot",
    "you didn't",
    "you did not",
    "that didn't help",
    "didn't help",
    "no luck",
    "same error",
    "try again",
    "not quite",
    "not correct",
    "is incorrect",
    "wrong file",
    "wrong approach",
    "i meant",
    "i said",
    "tot nu",
    "nu e bine",
    "nu este bine",
    "nu e corect",
    "nu asta",
    "nu merge",
    "nu functioneaza",
    "ai gresit",
    "e gresit",
    "este gresit",
    "inca nu",
    "inca pica",
    "tot pica",
    "ai stricat",
    "ai uitat",
    "mai incearca",
    "aceeasi eroare",
    "tot da eroare",
    "inca da eroare",
    "nu a mers",
    "n-a mers",
];

/// Objections at the beginning of a sentence.
const OBJECTING_STARTS: &[&str] = &[
    "nope",
    "wrong",
    "revert",
    "undo",
    "roll back",
    "rollback",
    "hmm",
    "wait",
    "stop",
    "anuleaza",
    "gresit",
    "revino la versiunea",
    "da inapoi",
    "dai inapoi",
    "stai",
    "opreste-te",
];

const BACK: &[&str] = &[
    "back to",
    "return to",
    "resume",
    "let's resume",
    "pick up",
    "continue with",
    "continue on",
    "let's continue",
    "inapoi la",
    "sa revenim la",
    "revenim la",
    "revino la",
    "reia",
    "sa reluam",
    "reluam",
    "continuam cu",
    "continua cu",
    "sa continuam",
];

const OTHER: &[&str] = &[
    "new task",
    "next task",
    "different task",
    "another task",
    "something else",
    "different topic",
    "moving on",
    "move on to",
    "let's move on",
    "switch to",
    "switching to",
    "unrelated",
    "new topic",
    "on to the next",
    "forget that",
    "forget about that",
    "drop that",
    "different thing",
    "another thing",
    "new feature",
    "something different",
    "altceva",
    "alt task",
    "task nou",
    "alta sarcina",
    "sa trecem la",
    "trecem la",
    "treci la",
    "schimbam subiectul",
    "urmatorul task",
    "alt subiect",
    "next up",
    "next issue",
    "new issue",
];

const OTHER_STARTS: &[&str] = &[
    "now",
    "next",
    "ok now",
    "okay now",
    "great now",
    "thanks now",
    "acum",
    "urmatorul",
    "apoi",
    "ok acum",
    "gata acum",
    "bun acum",
    "mersi acum",
];

const BEFORE: &[&str] = &[
    "before that",
    "before we",
    "before you",
    "before doing",
    "before continuing",
    "before anything",
    "prerequisite",
    "we first need",
    "i first need",
    "first i need",
    "first we need",
    "first you need",
    "need first",
    "you'll need to first",
    "for that you need",
    "for that we need",
    "for that i need",
    "blocked on",
    "blocked by",
    "first things first",
    "as a first step",
    "to do that",
    "in order to do that",
    "mai intai",
    "inainte de asta",
    "inainte de",
    "inainte sa",
    "intai trebuie",
    "pentru asta trebuie",
    "pentru asta avem nevoie",
];

const BEFORE_STARTS: &[&str] = &["first", "firstly", "intai", "mai intai"];

const BESIDE: &[&str] = &[
    "in parallel",
    "at the same time",
    "on the side",
    "while you're at it",
    "while you are at it",
    "while at it",
    "in addition",
    "as well",
    "meanwhile",
    "separately",
    "side task",
    "in the meantime",
    "on a side note",
    "de asemenea",
    "in paralel",
    "intre timp",
    "pe langa asta",
    "totodata",
    "in acelasi timp",
    "tot acum",
];

const BESIDE_STARTS: &[&str] = &[
    "also",
    "additionally",
    "btw",
    "by the way",
    "and also",
    "oh and",
    "one more thing",
    "plus",
    "besides",
    "si",
    "in plus",
    "apropo",
    "inca ceva",
];

const LEANING: &[&str] = &[
    "it", "its", "that", "this", "these", "those", "them", "they", "instead", "same", "too", "again",
    "there", "one", "ones", "here", "previous", "above", "asta", "aia", "acesta", "aceasta", "aceea", "le",
    "il", "o", "la fel", "tot", "aici", "acolo", "astea",
];

impl Prompt {
    /// Reads a prompt.
    pub(super) fn read(text: &str) -> Self {
        let cleaned = clean(text);
        let mut sentences = sentences(cleaned.best());
        sentences.truncate(MOST_SENTENCES);
        let read: Vec<Vec<Word<'_>>> = sentences.iter().map(|sentence| words(sentence)).collect();
        let empty = sentences.is_empty();
        let length: usize = read.iter().map(Vec::len).sum();
        let all_of = |list: &[&str]| !empty && read.iter().flatten().all(|word| word.is_any(list));
        let some_of = |list: &[&str]| read.iter().flatten().any(|word| word.is_any(list));
        let is_question = |at: usize| ends_with_question(&sentences[at]) || opens_question(&read[at]);
        let mut asks = false;
        let mut orders = false;
        for (at, sentence) in read.iter().enumerate() {
            if goal::asks_for_work(sentence) {
                orders = true;
            } else if is_question(at) {
                asks = true;
            }
        }
        let acknowledges = length <= 16 && all_of(ACKNOWLEDGING) && some_of(SATISFIED) && !asks;
        let approves = length <= 8 && all_of(APPROVING) && some_of(GO_AHEAD) && !acknowledges;
        let objects = read.iter().take(3).any(|sentence| objects(sentence));
        let relation = relation(&read);
        let leans = some_of(LEANING);
        Self {
            empty,
            acknowledges,
            approves,
            objects,
            asks,
            orders,
            relation,
            leans,
            sentences,
        }
    }
}

/// Whether a sentence opens like a question for information.
fn opens_question(words: &[Word<'_>]) -> bool {
    words.first().is_some_and(|word| {
        word.is_any(&[
            "what", "what's", "why", "how", "where", "which", "who", "cum", "unde", "cand", "cine",
        ])
    }) && words.len() >= 3
        || phrase_at(words, 0, "de ce").is_some()
}

fn objects(words: &[Word<'_>]) -> bool {
    let Some(first) = words.first() else {
        return false;
    };
    if first.is_any(&["no", "nu", "nah"])
        && (first.after.starts_with([',', '.', '!', '—']) || words.len() == 1)
    {
        return true;
    }
    any_phrase_at(words, 0, OBJECTING_STARTS).is_some()
        || (has_phrase(words, OBJECTIONS) && words.len() <= 30)
}

fn relation(read: &[Vec<Word<'_>>]) -> Relation {
    for sentence in read.iter().take(4) {
        if find_phrase(sentence, BACK).is_some_and(|at| at <= 5) {
            return Relation::Back;
        }
        if has_phrase(sentence, OTHER) {
            return Relation::Other;
        }
        if any_phrase_at(sentence, 0, BEFORE_STARTS).is_some()
            || has_phrase(sentence, BEFORE)
            || sentence
                .last()
                .is_some_and(|word| word.is_any(&["first", "intai"]))
        {
            return Relation::Before;
        }
        if any_phrase_at(sentence, 0, BESIDE_STARTS).is_some() || has_phrase(sentence, BESIDE) {
            return Relation::Beside;
        }
        if any_phrase_at(sentence, 0, OTHER_STARTS).is_some() {
            return Relation::Other;
        }
    }
    Relation::Unsaid
}
