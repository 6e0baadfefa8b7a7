//! Drops constraints that a later prompt lifts: "ok, you may touch vendor now", "looks good, do it" after "no code yet".

use super::parsed_prompt::ParsedPrompt;
use super::scope::{content_words, same_stem};
use super::text::words;
use grov_scope::phrases::{Found, Noun, nouns, verbs};

/// Words of constraints that hold until the plan is approved.
#[rustfmt::skip]
const PROVISIONAL: &[&str] = &[
    "analiza", "analizeaza", "analizuj", "analyse", "apply", "ancora", "aplica", "code", "cod", "codice", "codigo", "deocamdata",
    "encore", "erstmal", "for now", "inca", "kod", "kodu", "jeszcze", "noch", "nog", "now", "plan", "planul", "todavia", "yet",
    "implement", "plano", "piano", "diagnosis", "diagnoza", "moment",
];

/// The same in Chinese and Japanese.
const PROVISIONAL_UNSPACED: &[&str] = &["まだ", "だけして", "のみ", "調査", "先", "暂", "只看", "只分析"];

/// Words that refer to the thing of the constraint before.
const REFERRING: &[&str] = &["es", "it", "lo", "them", "that", "le", "to"];

/// Drops from `constraints` what `prompt` lifts.
pub(crate) fn lift(constraints: &mut Vec<String>, prompt: &ParsedPrompt) {
    if constraints.is_empty() {
        return;
    }
    let approves = prompt.opens_with_assent;
    if !approves && prompt.permissions.is_empty() {
        return;
    }
    let mut was_lifted = false;
    constraints.retain(|constraint| {
        let permitted = prompt.permissions.iter().any(|text| is_about(text, constraint));
        let refers = was_lifted && words(constraint).len() <= 5 && has_word(constraint, REFERRING);
        let lifted = permitted || refers || approves && is_provisional(constraint);
        was_lifted = lifted;
        !lifted
    });
}

fn has_word(text: &str, entries: &[&str]) -> bool {
    words(text).iter().any(|word| word.is_any(entries))
}

/// Whether a constraint ends with the plan: "only the plan, no code", "まだ禁止".
fn is_provisional(constraint: &str) -> bool {
    let bound = constraint.contains(['/', '`', '.', '_']);
    !bound
        && words(constraint).len() <= 6
        && (has_word(constraint, PROVISIONAL)
            || PROVISIONAL_UNSPACED
                .iter()
                .any(|entry| constraint.contains(entry)))
}

/// Whether a permission and a constraint are about the same thing.
fn is_about(permission: &str, constraint: &str) -> bool {
    let things = |text: &str| -> Vec<Noun> {
        let named = nouns(text).into_iter().map(|found: Found<Noun>| found.means);
        named
            .filter(|noun| !matches!(noun, Noun::Anything | Noun::Code | Noun::File))
            .collect()
    };
    let (permitted, forbidden) = (things(permission), things(constraint));
    if permitted.iter().any(|noun| forbidden.contains(noun)) {
        return true;
    }
    let parts = |text: &str| -> Vec<String> {
        let all = content_words(text).flat_map(|word| {
            let parts: Vec<String> = word.split(['/', '.']).map(str::to_owned).collect();
            parts
        });
        all.filter(|part| part.len() > 3 && verbs(part).is_empty())
            .collect()
    };
    let constrained = parts(constraint);
    if parts(permission)
        .iter()
        .any(|word| constrained.iter().any(|other| same_stem(word, other)))
    {
        return true;
    }
    // "編集していいよ" after "編集はまだ禁止": neither names a thing.
    let actions = |text: &str| -> Vec<_> { verbs(text).into_iter().map(|found| found.means).collect() };
    let forbidden_actions = actions(constraint);
    permitted.is_empty()
        && forbidden.is_empty()
        && constrained.is_empty()
        && actions(permission)
            .iter()
            .any(|verb| forbidden_actions.contains(verb))
}
