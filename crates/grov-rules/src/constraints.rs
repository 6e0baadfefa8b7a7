//! Finds the constraints in a prompt: what it forbids or demands.
//!
//! A constraint starts with a cue ("don't", "only", "fără") where an instruction can start: at the beginning of a clause. The
//! same word elsewhere describes something ("it doesn't compile", "only happens when").

use super::goal;
use super::scope::is_path;
use super::text::{Word, push_new, quotation, shorten, words};
use grov_scope::phrases::Languages;

pub(crate) mod headed;
mod lexicon;
mod reader;
pub(crate) mod standing;
mod unspaced;

/// The most constraints of a task.
pub(crate) const MAX_CONSTRAINTS: usize = 20;

/// The longest constraint, in characters.
const MAX_CHARACTERS: usize = 200;

/// The constraints in a prompt's sentences, in order.
pub(crate) fn find(sentences: &[String], found: &mut Vec<String>) {
    let headed = headed::sentences(sentences);
    let all = goal::Sentence::read(sentences)
        .into_iter()
        .chain(goal::Sentence::read(&headed));
    for sentence in all {
        for constraint in sentence.constraints() {
            push_new(found, constraint.clone(), MAX_CONSTRAINTS);
        }
    }
}

/// What is known of a sentence's prompt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// The likely languages of the sentence.
    pub(crate) languages: Languages,
    /// No sentence before it asks for work, so that "users must not …" is what is asked for.
    pub(crate) opens: bool,
}

/// The constraints in a sentence with these words, in order.
pub(crate) fn of_sentence(sentence: &str, all: &[Word<'_>], context: Context, found: &mut Vec<String>) {
    if all.is_empty() {
        return;
    }
    let quoted = quotations(sentence);
    let is_quoted = |at: usize| quoted.iter().any(|(from, to)| (*from..*to).contains(&at));
    let spans = reader::find(sentence, all, context, &is_quoted);
    let mut ranges: Vec<(usize, usize)> = spans.into_iter().map(|span| range(all, span)).collect();
    for (from, to) in unspaced::find(sentence, context.languages, &is_quoted) {
        if !ranges.iter().any(|(start, end)| from < *end && *start < to) {
            ranges.push((from, to));
        }
    }
    ranges.sort_unstable();
    let tells_cause = tells_cause(all);
    ranges.retain(|(from, to)| {
        let text = &sentence[*from..*to];
        !tells_cause && !defines(text) && !describes(text)
    });
    for (from, to) in ranges {
        push_new(
            found,
            shorten(sentence[from..to].trim(), MAX_CHARACTERS),
            MAX_CONSTRAINTS,
        );
    }
}

/// "Root cause: the effect falls through without setting the id": a plan tells what is wrong.
fn tells_cause(all: &[Word<'_>]) -> bool {
    let label = all
        .iter()
        .take(MAX_LABEL)
        .position(|word| word.after.contains(':'));
    label.is_some_and(|end| {
        let label = &all[..=end];
        label.iter().any(|word| word.is_any(CAUSES))
            && label.iter().all(|word| {
                word.is_any(CAUSES)
                    || word.is_any(&[
                        "the", "root", "main", "actual", "real", "das", "die", "la", "le", "el",
                    ])
            })
    })
}

/// The most words of a label.
const MAX_LABEL: usize = 4;

/// Words of labels before what is wrong.
const CAUSES: &[&str] = &[
    "bug", "cause", "evidence", "fehler", "issue", "problem", "probleme", "problema", "symptom", "ursache",
];

/// "Init only sets p.options", "(no LIMIT)": what code does.
fn describes(text: &str) -> bool {
    let words = words(text);
    let only = words.iter().position(|word| word.is_any(&["only"]));
    let next = only.and_then(|only| words.get(only + 1));
    let is_statement =
        |word: &Word<'_>| word.raw.len() > 2 && word.raw.bytes().all(|byte| byte.is_ascii_uppercase());
    next.is_some_and(|next| next.is_any(DOES))
        || matches!(&words[..], [no, name] if no.raw == "no" && is_statement(name) && SQL.contains(&name.raw))
}

/// Verbs of code in the third person that are no nouns of files.
const DOES: &[&str] = &[
    "affects", "appears", "applies", "checks", "contains", "covers", "does", "exists", "fails", "gets",
    "handles", "happens", "has", "knows", "matters", "reads", "returns", "sees", "sets", "shows", "supports",
    "takes", "uses", "works", "writes",
];

/// Words of SQL.
const SQL: &[&str] = &[
    "LIMIT", "OFFSET", "JOIN", "WHERE", "ORDER", "GROUP", "INDEX", "NULL", "UNION", "DISTINCT",
];

/// "CLAUDE.md = pointer only": a plan tells what something is. "Keep the timeout = 5" is a limit.
fn defines(text: &str) -> bool {
    let after = text.split_once(" = ").map(|(_, after)| words(after));
    after.is_some_and(|after| {
        after.iter().any(|word| {
            word.is_any(&[
                "only",
                "solely",
                "nur",
                "seulement",
                "solo",
                "tylko",
                "doar",
                "alleen",
            ])
        })
    })
}

/// The byte range of some words, with quotation marks around them.
fn range(all: &[Word<'_>], (from, to): (usize, usize)) -> (usize, usize) {
    // "Never connect to prod (db-main.int)"
    let opens = all[from + 1..=to].iter().any(|word| word.before.ends_with('('));
    let closes = usize::from(opens && all[to].after.starts_with(')'));
    (
        all[from].start - leading_mark(&all[from]),
        all[to].end + closing_mark(&all[to]).max(closes),
    )
}

/// The length of a backtick or quotation mark directly before a word.
fn leading_mark(word: &Word<'_>) -> usize {
    usize::from(word.before.ends_with(['`', '"', '\'']))
}

fn closing_mark(word: &Word<'_>) -> usize {
    usize::from(word.after.starts_with(['`', '"', '\'']))
}

fn is_mark(letter: char) -> bool {
    matches!(
        letter,
        '`' | '"' | '\'' | '“' | '”' | '„' | '«' | '»' | '「' | '」' | '『' | '』' | ' '
    )
}

/// The byte ranges of quotations, which contain no constraints of the speaker. A path alone is none: `"app/views.py" must stay`.
fn quotations(sentence: &str) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let mut before = ' ';
    let mut plain_to = 0;
    for (at, letter) in sentence.char_indices() {
        if ranges.last().is_none_or(|(_, end)| *end < at)
            && at >= plain_to
            && let Some(length) = quotation(&sentence[at..], before)
        {
            if is_path(sentence[at..at + length].trim_matches(is_mark)) {
                plain_to = at + length + letter.len_utf8();
            } else {
                ranges.push((at, at + length));
            }
        }
        before = letter;
    }
    ranges
}

#[cfg(test)]
mod tests;
