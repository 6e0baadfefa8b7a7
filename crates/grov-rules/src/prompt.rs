//! Classifies prompts: work, question, thanks, objection, change of subject.

use super::goal;
use super::lexicon::{ACKNOWLEDGING, SATISFIED};
use super::text::{Word, any_phrase_at, ends_with_question, find_phrase, has_phrase, phrase_at, words};
use grov_scope::phrases::PhraseList;

/// How a prompt relates to the work before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Unspecified.
    Unsaid,
    /// "New task", "moving on", "something else".
    Other,
    /// "Now …", "next …": other work, or the next step of the same.
    Now,
    /// "First we need …", "before that …".
    Before,
    /// "Also …", "in parallel …".
    Beside,
    /// "Back to …".
    Back,
}

/// An objection in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objection {
    /// None.
    None,
    /// It mentions a fault, possibly of something else: "doesn't work".
    Fault,
    /// To what was just done: "no, …", "still failing", "you forgot".
    Plain,
}

/// A classified prompt.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    /// There is no text.
    pub(crate) empty: bool,
    /// Thanks, praise or "ok", and nothing else.
    pub(crate) acknowledges: bool,
    /// "Yes", "go ahead", "finish it", and nothing else.
    pub(crate) approves: bool,
    /// "No, that's wrong", "still failing", "revert".
    pub(crate) objection: Objection,
    /// Asks for information and for nothing else.
    pub(crate) only_asks: bool,
    /// Asks for work.
    pub(crate) orders: bool,
    /// How it relates to the work before it.
    pub(crate) relation: Relation,
    /// It refers to earlier text: "it", "that", "instead".
    pub(crate) is_anaphoric: bool,
    /// It requests the usual end of a task: run the tests, commit, push.
    pub(crate) routine: bool,
}

/// A prompt that only confirms the work or lets it continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assent {
    /// It is more than that.
    None,
    /// Thanks, praise or "ok".
    Acknowledges,
    /// "Yes", "go ahead", "finish it".
    Approves,
}

impl Assent {
    /// Classifies a prompt with these sentences and their words.
    pub(crate) fn of<'s, 'w: 's>(sentences: impl Iterator<Item = (&'s str, &'s [Word<'w>])> + Clone) -> Self {
        let words = || sentences.clone().flat_map(|(_, words)| words);
        let length = words().count();
        let all_of = |list: &PhraseList| length > 0 && words().all(|word| list.contains(&word.folded));
        let some_of = |list: &PhraseList| words().any(|word| list.contains(&word.folded));
        let assent = if length <= 16 && all_of(&ACKNOWLEDGING) && some_of(&SATISFIED) {
            Self::Acknowledges
        } else if length <= 8 && all_of(&APPROVING) && some_of(&GO_AHEAD) {
            Self::Approves
        } else {
            return Self::None;
        };
        let mut sentences = sentences;
        if sentences.any(|(sentence, words)| asks(sentence, words)) {
            Self::None
        } else {
            assent
        }
    }
}

/// A short sentence of these words only may be an approval.
#[rustfmt::skip]
pub(crate) static APPROVING: PhraseList = PhraseList::of(&[
    "1", "2", "3", "a", "acord", "acum", "again", "ahead", "also", "and", "approve", "approved", "asa", "b", "bine",
    "carry", "continua", "continue", "da", "data", "de", "departe", "desigur", "din", "do", "fa", "fa-o", "finish",
    "first", "go", "going", "good", "great", "hai", "iar", "inainte", "incearca", "it", "just", "keep", "let's", "lgtm",
    "mai", "mergi", "more", "next", "nou", "now", "o", "ok", "okay", "on", "once", "one", "option", "perfect", "plan",
    "please", "prima", "proceed", "retry", "rog", "ship", "sigur", "sounds", "start", "sure", "te", "termina", "that",
    "the", "then", "this", "try", "up", "varianta", "wait", "with", "y", "yeah", "yep", "yes", "yup",
]);

/// An approval contains at least one of these.
#[rustfmt::skip]
static GO_AHEAD: PhraseList = PhraseList::of(&[
    "1", "2", "3", "acord", "approve", "approved", "carry", "continua", "continue", "da", "desigur", "do", "fa", "fa-o",
    "finish", "go", "hai", "incearca", "keep", "mergi", "option", "proceed", "retry", "ship", "sigur", "start", "sure",
    "termina", "try", "y", "yeah", "yep", "yes", "yup",
]);

/// Objections to what was just done, anywhere in a sentence.
#[rustfmt::skip]
const OBJECTIONS: &[&str] = &[
    "that's wrong", "that is wrong", "this is wrong", "that's not right", "that is not right",
    "that's not what", "that is not what", "not what i", "still failing", "still fails", "still fail",
    "still broken", "still not", "still doesn't", "still don't", "still does not", "still getting",
    "still get", "still gets", "still see", "still seeing", "still happens", "still happening",
    "still crashes", "still crashing", "still the same", "still there", "still red", "still wrong",
    "still shows", "still throws", "still errors", "didn't work", "did not work", "didn't fix",
    "did not fix", "that broke", "you broke", "this broke", "it broke", "broken now", "fails now",
    "now it fails", "now fails", "you missed", "you forgot", "you didn't", "you did not",
    "that didn't help", "didn't help", "no luck", "same error", "same problem", "same issue", "not quite",
    "not correct", "is incorrect", "wrong file", "wrong approach", "wrong place", "i meant", "i said",
    "not that one", "put it back", "change it back", "undo that", "undo it", "revert that", "revert it",
    "revert this", "revert your", "roll that back", "roll it back", "made it worse", "it's worse",
    "why did you change", "i didn't ask", "i did not ask", "tot nu", "nu e bine", "nu este bine",
    "nu e corect", "nu e ok", "nu asta", "nu asa", "nu ce", "ai gresit", "e gresit", "este gresit",
    "inca nu", "inca pica", "tot pica", "tot crapa", "inca crapa", "ai stricat", "s-a stricat", "ai uitat",
    "aceeasi eroare", "aceeasi problema", "tot da eroare", "inca da eroare", "nu a mers", "n-a mers",
    "nu a ajutat", "tot la fel", "acum nu mai", "nu mai merge", "nu am cerut", "n-am cerut",
];

/// Phrases that mention a fault.
#[rustfmt::skip]
const FAULTS: &[&str] = &[
    "broken", "crashes", "fails", "breaks", "crapa", "pica", "nu se", "doesn't work", "does not work",
    "don't work", "isn't working", "not working", "is broken", "nu merge", "nu functioneaza", "nu mearga",
];

/// Objections at the beginning of a sentence.
#[rustfmt::skip]
const OBJECTING_STARTS: &[&str] = &[
    "nope", "wrong", "revert", "undo", "roll back", "rollback", "anuleaza", "gresit", "da inapoi",
    "dai inapoi", "incorrect", "cancel that",
];

#[rustfmt::skip]
const BACK: &[&str] = &[
    "back to", "return to", "returning to", "resume", "let's resume", "pick up", "continue with",
    "continue on", "let's continue", "go on with", "inapoi la", "sa revenim la", "revenim la", "revin la",
    "revino la", "intoarce-te la", "ne intoarcem la", "sa ne intoarcem la", "reia", "sa reluam", "reluam",
    "continuam cu", "continua cu", "sa continuam", "mergem mai departe cu",
];

#[rustfmt::skip]
const OTHER: &[&str] = &[
    "new task", "next task", "different task", "another task", "something else", "different topic",
    "moving on", "move on to", "let's move on", "switch to", "switching to", "unrelated", "new topic",
    "on to the next", "forget that", "forget about that", "drop that", "different thing",
    "something different", "different question", "different problem", "new problem", "separate task",
    "another bug", "new bug", "next bug", "altceva", "alt task", "task nou", "alta sarcina", "alta treaba",
    "alta problema", "sa trecem la", "trecem la", "treci la", "schimbam subiectul", "urmatorul task",
    "urmatoarea sarcina", "alt subiect", "next up", "next issue", "new issue", "alt bug", "lasa asta",
    "las-o balta",
];

#[rustfmt::skip]
const NOW: &[&str] = &[
    "now", "next", "ok now", "okay now", "great now", "good now", "perfect now", "thanks now", "nice now",
    "cool now", "alright now", "acum", "urmatorul", "apoi", "ok acum", "gata acum", "bun acum",
    "mersi acum", "perfect acum", "super acum", "bine acum", "in continuare",
];

#[rustfmt::skip]
const BEFORE: &[&str] = &[
    "before that", "before we", "before you", "before doing", "before continuing", "before anything",
    "before going on", "before this", "prerequisite", "we first need", "i first need", "you first need",
    "you'll first need", "we need to first", "first i need", "first we need", "first you need",
    "you need to first", "for that you need", "for that we need", "for that i need", "for this we need",
    "blocked on", "blocked by", "first things first", "as a first step", "to do that we",
    "in order to do that", "needed for that", "first let's", "let's first", "first of all", "mai intai",
    "inainte de asta", "inainte de", "inainte sa", "intai trebuie", "intai", "pentru asta trebuie",
    "pentru asta avem nevoie", "pentru asta ne trebuie", "prima data",
];

#[rustfmt::skip]
const BESIDE: &[&str] = &[
    "can you also", "could you also", "please also", "let's also", "poti si", "poti sa mai", "mai vreau",
    "in parallel", "at the same time", "on the side", "while you're at it", "while you are at it",
    "while at it", "while that runs", "while this runs", "while we're at it", "in addition", "as well",
    "meanwhile", "separately", "side task", "in the meantime", "on a side note", "side note",
    "in the background", "alongside", "de asemenea", "in paralel", "intre timp", "pe langa asta",
    "totodata", "in acelasi timp", "daca tot esti", "si mai",
];

#[rustfmt::skip]
const BESIDE_STARTS: &[&str] = &[
    "also", "additionally", "btw", "by the way", "and also", "oh and", "one more thing", "another thing",
    "plus", "besides", "ah and", "ok also", "ok and also", "and btw", "si", "in plus", "apropo",
    "inca ceva", "a si", "ah si", "mai",
];

#[rustfmt::skip]
const ANAPHORA: &[&str] = &[
    "it's", "that's", "they", "it", "its", "that", "this", "these", "those", "them", "instead", "same",
    "too", "again", "previous", "above", "asta", "aia", "acesta", "aceasta", "aceea", "astea", "la-fel",
];

/// Words of requests for the usual end of a task.
#[rustfmt::skip]
pub(crate) static ROUTINE: PhraseList = PhraseList::of(&[
    "adauga", "add", "arata", "branch", "build", "change", "changes", "check", "code", "comite", "commit", "diff",
    "diff-ul", "everything", "explain", "format", "full", "lint", "linter", "merge", "modificari", "modificarile",
    "open", "pr", "pull", "push", "request", "result", "results", "ruleaza", "run", "scrie", "show", "some", "suite",
    "test", "teste", "testele", "tests", "testul", "toate", "totul", "unit", "verifica", "verify", "whole", "write",
]);

impl Prompt {
    /// Classifies a prompt.
    pub(crate) fn read(sentences: &[String]) -> Self {
        let read: Vec<Vec<Word<'_>>> = sentences.iter().map(|sentence| words(sentence)).collect();
        let empty = read.iter().all(Vec::is_empty);
        let length: usize = read.iter().map(Vec::len).sum();
        let some_of = |list: &[&str]| read.iter().flatten().any(|word| word.is_any(list));
        let both = || sentences.iter().zip(&read);
        let asks = both().any(|(sentence, words)| asks(sentence, words));
        let orders = read.iter().any(|words| orders(words));
        let assent = Assent::of(both().map(|(sentence, words)| (&**sentence, &**words)));
        let objection = read
            .iter()
            .take(3)
            .map(|words| objection(words))
            .max_by_key(|objection| *objection as u8);
        Self {
            empty,
            acknowledges: assent == Assent::Acknowledges,
            approves: assent == Assent::Approves,
            objection: objection.unwrap_or(Objection::None),
            only_asks: asks && !orders,
            orders,
            relation: relation(&read.iter().map(Vec::as_slice).collect::<Vec<_>>()),
            is_anaphoric: some_of(ANAPHORA),
            routine: length <= 12
                && super::scope::subject(&sentences.join(" "))
                    .iter()
                    .all(|word| ROUTINE.contains(word)),
        }
    }
}

/// Whether a prompt asks for information, in any language, and for no work: the answer to it is no work either.
pub fn only_asks(prompt: &str) -> bool {
    let sentences = super::clean::clean(prompt).sentences();
    if Prompt::read(&sentences).only_asks {
        return true;
    }
    let asks = |sentence: &String| {
        ends_with_question(sentence) || {
            let plain = sentence.trim_end_matches(['。', '.', '!', '！', ' ']);
            QUESTION_ENDINGS.iter().any(|ending| plain.ends_with(ending))
        }
    };
    let is_question = sentences.iter().any(asks);
    let read = goal::Sentence::read(&sentences);
    is_question && !read.iter().any(goal::Sentence::asks_for_work)
}

/// Ends of questions in Chinese and Japanese.
const QUESTION_ENDINGS: &[&str] = &[
    "吗",
    "呢",
    "什么",
    "怎么用",
    "为什么",
    "哪里",
    "ですか",
    "ますか",
    "でしたっけ",
    "だっけ",
    "のか",
];

/// Whether a sentence asks for work.
fn orders(words: &[Word<'_>]) -> bool {
    goal::asks_for_work(words) && !opens_question(words)
}

/// Whether a sentence asks for information.
fn asks(sentence: &str, words: &[Word<'_>]) -> bool {
    !orders(words) && (ends_with_question(sentence) || opens_question(words))
}

/// Whether a sentence starts like a question for information.
fn opens_question(words: &[Word<'_>]) -> bool {
    let at = usize::from(words.first().is_some_and(|word| {
        word.is_any(&["and", "but", "so", "ok", "hmm", "now", "si", "dar", "also", "btw"])
    }));
    words.get(at).is_some_and(|word| {
        word.is_any(&[
            "what", "what's", "why", "how", "where", "which", "who", "cum", "unde", "cand", "cine", "ce",
        ])
    }) && words.len() >= 3
        && phrase_at(words, at, "how about").is_none()
        || phrase_at(words, at, "de ce").is_some()
}

pub(crate) fn objection(words: &[Word<'_>]) -> Objection {
    let Some(first) = words.first() else {
        return Objection::None;
    };
    let at =
        usize::from(first.is_any(&["hmm", "wait", "ok", "hm", "sorry", "stop", "stai"]) && words.len() > 1);
    let Some(first) = words.get(at) else {
        return Objection::None;
    };
    let says_no = first.is_any(&["no", "nu", "nah"])
        && (first.after.starts_with([',', '.', '!', '—']) || words.len() == 1);
    if says_no
        || any_phrase_at(words, at, OBJECTING_STARTS).is_some()
        || (words.len() <= 40 && has_phrase(words, OBJECTIONS))
        || (words.len() == 1 && first.is_any(&["stop", "wait", "stai"]))
    {
        return Objection::Plain;
    }
    if words.len() <= 40 && has_phrase(words, FAULTS) {
        Objection::Fault
    } else {
        Objection::None
    }
}

pub(crate) fn relation(read: &[&[Word<'_>]]) -> Relation {
    for sentence in read.iter().take(4) {
        let at = sentence
            .iter()
            .take(3)
            .take_while(|word| {
                word.is_any(&[
                    "ok", "okay", "great", "thanks", "wait", "hmm", "hm", "perfect", "good", "no", "yes",
                    "but", "and", "cool", "nice", "stai", "super", "bun", "mersi", "da", "oh", "ah",
                    "actually", "please",
                ])
            })
            .count();
        let starts = |phrases: &[&str]| {
            any_phrase_at(sentence, 0, phrases).is_some() || any_phrase_at(sentence, at, phrases).is_some()
        };
        if find_phrase(sentence, BACK).is_some_and(|at| at <= 5) {
            return Relation::Back;
        }
        if has_phrase(sentence, OTHER) {
            return Relation::Other;
        }
        if starts(&["first", "firstly", "intai"])
            || has_phrase(sentence, BEFORE)
            || sentence.iter().enumerate().any(|(at, word)| {
                word.is_any(&["first", "intai"]) && (at + 1 == sentence.len() || word.pauses())
            })
        {
            return Relation::Before;
        }
        if starts(BESIDE_STARTS) || has_phrase(sentence, BESIDE) {
            return Relation::Beside;
        }
        if starts(NOW) && phrase_at(sentence, at, "next to").is_none() {
            return Relation::Now;
        }
    }
    Relation::Unsaid
}
