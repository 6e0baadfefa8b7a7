//! Finds what a task teaches beyond itself: standing rules of the user, decisions against an alternative, open ends.
//!
//! Few proposals, each with a sentence of the user or the agent as evidence. A rule is a sentence that says that it holds beyond the
//! task ("from now on"), or a limit that the user stated in two prompts. A decision names what was rejected or that it is a
//! decision. An open end is stated in the last closing text, outright.

mod phrases;

use super::clean::clean;
use super::text::{Word, ends_with_question, fold, has_phrase, sentences, shorten, words};
use super::{constraints, open_ends};
use grov_domain::{
    MAX_PROPOSALS, MemoryType, ProposalMaterial, ProposedItem, StatementSource, is_function_word,
    is_stop_word,
};
use phrases::{CHOSEN, INSTEAD, INSTEAD_UNSPACED, OFFERS, STANDING, STANDING_UNSPACED};
pub(crate) use phrases::{LEFT, LEFT_UNSPACED};
use std::collections::BTreeSet;

/// The longest content and quotation, in characters.
const MAX_CHARACTERS: usize = 240;
/// The most rules, and the most decisions and open ends of a task.
const MAX_RULES: usize = 2;
const MAX_OTHERS: usize = 1;
/// The share of words, in tenths, from which on two texts say the same.
const SAME_TENTHS: usize = 7;
/// The fewest words of a sentence that is understood on its own.
const MIN_WORDS: usize = 3;

/// Returns at most three proposals: rules, then decisions, then open ends.
pub fn proposals(material: &ProposalMaterial<'_>) -> Vec<ProposedItem> {
    let mut found = Vec::new();
    let candidates = [
        (MAX_RULES, rules(material)),
        (MAX_OTHERS, decisions(material)),
        (MAX_OTHERS, open_loops(material)),
    ];
    let mut said: Vec<BTreeSet<String>> = material.known.iter().map(|text| subject(text)).collect();
    for (most, candidates) in candidates {
        let mut room = most;
        for candidate in candidates {
            let subject = subject(&candidate.content);
            let is_said = said.iter().any(|known| is_same(known, &subject));
            if room > 0 && !is_said && is_understood(&candidate.content, &subject) {
                room -= 1;
                said.push(subject);
                found.push(candidate);
            }
        }
    }
    found.truncate(MAX_PROPOSALS);
    found
}

/// A sentence of a prompt with what it limits.
struct Said {
    /// The prompt; `None` for earlier tasks.
    prompt: Option<usize>,
    sentence: String,
    limits: Vec<BTreeSet<String>>,
}

fn rules(material: &ProposalMaterial<'_>) -> Vec<ProposedItem> {
    let own = material.prompts.iter().enumerate();
    let own = own.flat_map(|(place, prompt)| said(Some(place), prompt));
    let all: Vec<Said> = own.collect();
    let earlier: Vec<Said> = material
        .earlier
        .iter()
        .flat_map(|text| said(None, text))
        .collect();
    let mut found = Vec::new();
    for (place, one) in all.iter().enumerate() {
        if ends_with_question(&one.sentence) {
            continue;
        }
        let before = all[..place].iter().filter(|other| other.prompt != one.prompt);
        let repeated = before.chain(&earlier).find(|other| {
            one.limits
                .iter()
                .any(|limit| other.limits.iter().any(|same| repeats(limit, same)))
        });
        if is_standing(&one.sentence) || repeated.is_some() {
            // Of two ways to say it, the shorter one says less about the task.
            let shorter = repeated
                .map(|other| other.sentence.as_str())
                .filter(|other| other.len() < one.sentence.len());
            let content = shorten(shorter.unwrap_or(&one.sentence), MAX_CHARACTERS);
            found.push(ProposedItem {
                kind: MemoryType::Rule,
                quote: shorten(&one.sentence, MAX_CHARACTERS),
                content,
            });
        }
    }
    found
}

fn said(prompt: Option<usize>, text: &str) -> Vec<Said> {
    let of_sentence = |sentence: String| {
        let mut limits = Vec::new();
        constraints::find(std::slice::from_ref(&sentence), &mut limits);
        Said {
            prompt,
            limits: limits.iter().map(|limit| subject(limit)).collect(),
            sentence,
        }
    };
    sentences(&clean(text).prose)
        .into_iter()
        .map(of_sentence)
        .collect()
}

/// Whether one limit says the other again: their content words are the same, or most of them if there are several.
fn repeats(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    !one.is_empty() && (one == other || one.len().min(other.len()) > 1 && is_same(one, other))
}

/// Whether a sentence says that it holds beyond the task.
fn is_standing(sentence: &str) -> bool {
    has_phrase(&words(sentence), STANDING) || STANDING_UNSPACED.iter().any(|mark| sentence.contains(mark))
}

fn decisions(material: &ProposalMaterial<'_>) -> Vec<ProposedItem> {
    let sentences = evidence_sentences(material);
    let mut found = Vec::new();
    for decision in material.decisions {
        let choice = terms(&decision.choice);
        let quote = sentences.iter().find(|sentence| {
            let all = terms(sentence);
            let shared = choice.iter().filter(|term| all.contains(*term)).count();
            !choice.is_empty() && shared * 10 >= choice.len() * 8
        });
        let Some(quote) = quote.filter(|quote| is_choice(quote)) else {
            continue;
        };
        let reason = terms(&decision.reason);
        let all = terms(quote);
        let has_reason = reason.iter().filter(|term| all.contains(*term)).count() * 10 >= reason.len() * 8;
        let content = if has_reason {
            quote.clone()
        } else {
            format!(
                "{}: {}",
                quote.trim_end_matches(['.', '。', '!']),
                decision.reason
            )
        };
        found.push(ProposedItem {
            kind: MemoryType::Decision,
            content: shorten(&content, MAX_CHARACTERS),
            quote: shorten(quote, MAX_CHARACTERS),
        });
    }
    found
}

/// The sentences of the user and of the agent's closing texts and plans, the user's first.
fn evidence_sentences(material: &ProposalMaterial<'_>) -> Vec<String> {
    let statements = material.statements.iter();
    let said = statements
        .filter(|statement| statement.source != StatementSource::Summary)
        .map(|statement| statement.text.as_str());
    let prompts = material.prompts.iter().map(String::as_str);
    let texts = prompts.chain(said).chain([material.answer]);
    texts.flat_map(|text| sentences(&clean(text).prose)).collect()
}

/// Whether a sentence says that something was chosen, or over what.
fn is_choice(sentence: &str) -> bool {
    let words = words(sentence);
    let rejects = words
        .iter()
        .any(|word| word.is_any(&["not"]) && word.before.contains([',', '(', '–', '—']));
    rejects
        || has_phrase(&words, INSTEAD)
        || has_phrase(&words, CHOSEN)
        || INSTEAD_UNSPACED.iter().any(|mark| sentence.contains(mark))
}

fn open_loops(material: &ProposalMaterial<'_>) -> Vec<ProposedItem> {
    let ends = open_ends::open_ends(&[], material.answer);
    let mut found: Vec<ProposedItem> = Vec::new();
    for sentence in ends {
        let all = words(&sentence);
        let is_offer = has_phrase(&all, OFFERS);
        let is_left = has_phrase(&all, LEFT) || LEFT_UNSPACED.iter().any(|mark| sentence.contains(mark));
        let is_named = sentence.starts_with("Open: ");
        if (is_left || is_named) && !is_offer {
            found.push(ProposedItem {
                kind: MemoryType::OpenLoop,
                quote: sentence.clone(),
                content: sentence,
            });
        }
    }
    found
}

/// Whether a sentence says enough alone: it has words of content, is not only marks, and hides no secret.
fn is_understood(content: &str, subject: &BTreeSet<String>) -> bool {
    let is_long =
        words(content).len() >= MIN_WORDS || content.chars().filter(|letter| !letter.is_ascii()).count() >= 6;
    is_long && !subject.is_empty() && !content.contains("[REDACTED")
}

/// The words of a text that say what it is about.
fn subject(text: &str) -> BTreeSet<String> {
    let is_content = |word: &String| {
        let is_letter = word.chars().count() == 1 && word.is_ascii();
        !is_letter && !is_stop_word(word) && !is_function_word(word)
    };
    grov_domain::words(text, 200)
        .into_iter()
        .filter(is_content)
        .collect()
}

fn is_same(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let shared = one.intersection(other).count();
    shared > 0 && shared * 10 >= one.len().min(other.len()) * SAME_TENTHS
}

/// The folded words of a text.
fn terms(text: &str) -> Vec<String> {
    let folded = |word: &Word<'_>| fold(word.raw);
    words(text).iter().map(folded).collect()
}

#[cfg(test)]
mod tests;
