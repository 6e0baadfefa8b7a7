//! What a text narrates without ordering it. A verb is an order only if the agent is to do it, and to do it now: not what happens
//! ("when I delete an order I get a 500"), what others do ("the plan wants to delete it"), what the user does or did ("I'll publish
//! it", "yesterday I deleted it"), and not what a feature is for ("add an endpoint to delete a user").

mod english;
mod tables;
mod unspaced;
mod wished;

use crate::words::Word;
use tables::{
    ALONE, ASKING_POLITELY, AWAY, BEFORE_FIRST_PERSON, BUILD, DIRECTED, FEATURES, FIRST_PERSON, IDIOMS,
    JOINS, OTHER_MEANINGS, OTHERS, PAST, RELATIVE, REPEATED, STATES, SUBORDINATORS, WEAK, WEAK_SUBJECTS,
    WISHES,
};
pub(super) use unspaced::addressed;

/// The most words from a verb for building something to what is built.
const NEAR: usize = 8;

/// The most words of a clause before "and", after which the next verb belongs to the same clause: "users can edit and delete it".
const COORDINATED: usize = 3;

/// Words directly before a verb that says what something is for.
#[rustfmt::skip]
const BEFORE_VERB: &[&str] = &["to", "that", "which", "who", "can", "will", "zu", "te", "para", "pour", "per", "sa"];

/// Which words of a text stand in a clause that orders nothing.
pub(super) fn narrated(words: &[Word<'_>]) -> Vec<bool> {
    let mut found = vec![false; words.len()];
    let mut start = 0;
    let mut inherits = false;
    for (at, word) in words.iter().enumerate() {
        let joins = word.is_any(JOINS);
        if joins || word.pauses() || at + 1 == words.len() {
            let end = if joins { at } else { at + 1 };
            if start < end {
                let opened = read_clause(words, start, end, &mut found);
                if inherits {
                    found[start..end].fill(true);
                }
                let follows_particle = end >= start + 2 && words[end - 2].is_any(BEFORE_VERB);
                let is_short =
                    opened.is_some_and(|opened| end - opened <= COORDINATED) || follows_particle || inherits;
                inherits = joins && is_short && found[end - 1];
            }
            start = at + 1;
        }
    }
    wished::unmark(words, &mut found);
    found
}

/// Marks what a clause narrates. Returns where the narrated part begins.
fn read_clause(words: &[Word<'_>], start: usize, end: usize, found: &mut [bool]) -> Option<usize> {
    let clause = &words[start..end];
    let mut opened = None;
    let mut mark = |from: usize, to: usize| {
        if from < to && to <= end {
            found[from..to].fill(true);
            opened = Some(opened.map_or(from, |before: usize| before.min(from)));
        }
    };
    let has = |list: &[&str]| clause.iter().any(|word| word.is_any(list));
    let is_repeated = crate::words::has_phrase(clause, REPEATED);
    if is_repeated {
        mark(start, end);
    }
    let wishes = has(WISHES) && !has(ALONE);
    let asks = has(ASKING_POLITELY) || has(AWAY);
    let is_own = (start..end).any(|at| is_first_person(words, start, at, end));
    for at in start..end {
        let word = &words[at];
        let next = words[at + 1..end].first();
        let before = (at > start).then(|| &words[at - 1]);
        // "When I delete an order", "bevor du pushst"
        let is_weak = word.is_any(WEAK) && next.is_some_and(|next| next.is_any(WEAK_SUBJECTS));
        let is_strong = word.is_any(SUBORDINATORS) && !next.is_some_and(|next| next.is_any(IDIOMS));
        if is_strong || is_weak {
            mark(at + 1, end_of_subordinate(words, at + 1, end));
        }
        // "Deployen mach ich selbst", "die Tabelle, die ich angelegt habe"
        if is_own && !wishes && is_first_person(words, start, at, end) {
            let is_relative = before.is_some_and(|before| before.is_any(RELATIVE));
            mark(if is_relative { at } else { start }, end);
        }
        // "Terraform will die Datenbank löschen"
        let is_directed = |near: &Word<'_>| near.is_any(DIRECTED);
        if word.is_any(OTHERS)
            && before.is_some_and(|before| !is_directed(before))
            && !next.is_some_and(|next| {
                next.is_any(&["you", "du", "sie", "ihr", "man", "tu", "vous", "je", "jij", "be"])
            })
            && !asks
            && !is_own
        {
            mark(at + 1, end);
        }
        let is_past = crate::words::any_phrase_at(words, at, PAST).is_some();
        if is_past && (at == start || is_own || has(&["i", "we"])) {
            mark(at + 1, end);
        }
        if is_feature_built(words, at, end) {
            mark(at + 1, end);
        }
        if is_named_before(words, start, at) {
            mark(start, at);
        }
        if english::is_narrated(words, start, at, end) {
            mark(at, at + 1);
        }
        if english::opens(words, start, at, end) || english::announces(words, at, end) {
            mark(at + 1, end);
        }
        if is_past_or_future(word) || is_own_verb(before, word) {
            mark(at, at + 1);
        }
    }
    opened
}

/// Where a subordinate clause without a comma ends: after the state that it names, or before a polite word.
fn end_of_subordinate(words: &[Word<'_>], from: usize, end: usize) -> usize {
    let ends = |at: &usize| words[*at].is_any(ASKING_POLITELY) || *at > from && words[*at].is_any(STATES);
    (from..end).find(ends).unwrap_or(end)
}

/// Whether the word at a position is the user as the one who does something.
fn is_first_person(words: &[Word<'_>], start: usize, at: usize, end: usize) -> bool {
    let word = &words[at];
    if !word.is_any(FIRST_PERSON) {
        return false;
    }
    let has_meanings = word.is_any(&["je", "io", "eu", "yo", "ben", "biz", "sam"]);
    let before = (at > start).then(|| &words[at - 1]);
    let next = words[at + 1..end].first();
    let is_last = at + 1 == end && !word.is_any(&["je", "eu"]);
    let stands_there = is_last || before.is_none_or(|before| before.is_any(BEFORE_FIRST_PERSON));
    !has_meanings || stands_there && !next.is_some_and(|next| next.is_any(OTHER_MEANINGS))
}

/// Whether a word builds something in software that stands shortly after it: "add an endpoint to delete a user".
fn is_feature_built(words: &[Word<'_>], at: usize, end: usize) -> bool {
    is_like(&words[at], BUILD)
        && words[at + 1..end.min(at + 1 + NEAR)]
            .iter()
            .any(|word| is_like(word, FEATURES))
}

/// The same where the verb stands at the end: "einen Endpunkt zum Löschen von Benutzern hinzufügen".
fn is_named_before(words: &[Word<'_>], start: usize, at: usize) -> bool {
    at > start
        && is_like(&words[at], BUILD)
        && (words[at].pauses() || at + 1 == words.len())
        && words[start..at].iter().any(|word| is_like(word, FEATURES))
}

/// Whether a form is in the past, or the future of the first person: "supprimé", "borré", "usunąłem", "удалила", "удалю".
fn is_past_or_future(word: &Word<'_>) -> bool {
    const ENDINGS: &[&str] = &[
        "é", "ée", "és", "ées", "ó", "ò", "łem", "łam", "liśmy", "ał", "ął", "uję", "unę",
    ];
    const RUSSIAN: &[&str] = &[
        "ил", "ал", "ила", "ала", "или", "али", "ыл", "ыла", "ыли", "лся", "лась", "лись", "ую", "лю", "ою",
        "ишу", "ает", "яет", "ует", "ит", "ают", "яют", "уют", "ят",
    ];
    const IMPERATIVES: &[&str] = &["удали", "пошли", "пришли", "вышли", "свали", "отвали"];
    if word.raw.is_ascii() {
        return false;
    }
    let lower = word.raw.to_lowercase();
    ENDINGS.iter().any(|ending| lower.ends_with(ending))
        || RUSSIAN.iter().any(|ending| lower.ends_with(ending)) && !IMPERATIVES.contains(&lower.as_str())
}

/// Whether a verb with a pronoun before it is one of the first person: "lo publico", "la cancello".
fn is_own_verb(before: Option<&Word<'_>>, word: &Word<'_>) -> bool {
    const PRONOUNS: &[&str] = &["lo", "la", "los", "las", "li", "le", "l'"];
    word.folded.len() >= 4
        && word.folded.ends_with('o')
        && before.is_some_and(|before| before.is_any(PRONOUNS))
}

/// Whether a word is a form of one of these stems; a dot marks a whole word.
fn is_like(word: &Word<'_>, stems: &[&str]) -> bool {
    stems.iter().any(|stem| match stem.strip_suffix('.') {
        Some(whole) => word.folded == whole,
        None => word.folded.starts_with(stem),
    })
}

#[cfg(test)]
mod tests;
