//! Limits whose objects stand in a list below them: "Do not touch:", and then paths as bullets.

use super::lexicon::{NEGATIONS, STATES};
use crate::goal;
use crate::text::{Word, fold, words};
use grov_scope::phrases::PhraseList;

/// The most words of a heading, and of a point below it.
const MAX_HEADING: usize = 7;
const MAX_POINT: usize = 8;

/// The most points of a list.
const MAX_POINTS: usize = 12;

/// The sentences that a prompt's headings make with the points below them.
pub(crate) fn sentences(texts: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        if let Some((heading, rest)) = text.split_once(": ")
            && is_entry(&STATES, heading.trim())
            && is_object(rest)
        {
            found.push(format!("Hands off {}", rest.trim_end_matches(['.', '!'])));
            continue;
        }
        let heading = text.trim().trim_end_matches([':', '：']).trim_end();
        let is_marked = heading.len() < text.trim().len();
        let count = words(heading).len();
        if count == 0 || count > MAX_HEADING || heading.ends_with(['.', '!', '?', '。']) {
            continue;
        }
        let folded = fold(heading);
        let negates = is_entry(&NEGATIONS, heading);
        let is_state = is_entry(&STATES, heading);
        // "No" alone is an answer.
        let is_order = negates && folded.starts_with("do");
        if !(is_order || is_marked) {
            continue;
        }
        let points = texts
            .iter()
            .skip(at + 1)
            .take(MAX_POINTS)
            .take_while(|text| is_point(text));
        if negates {
            found.extend(points.map(|point| format!("{heading} {point}")));
            continue;
        }
        let points: Vec<&str> = points
            .map(String::as_str)
            .take_while(|point| is_object(point))
            .collect();
        if points.is_empty() {
            continue;
        }
        let list = points.join(", ");
        found.push(match is_state {
            true => format!("Hands off {list}"),
            false => format!("{heading}: {list}"),
        });
    }
    found
}

/// Whether a heading of several words is in a list.
fn is_entry(list: &PhraseList, heading: &str) -> bool {
    list.entries().contains(&fold(heading).as_str())
}

fn is_point(text: &str) -> bool {
    let count = words(text).len();
    (1..=MAX_POINT).contains(&count) && !text.trim_end().ends_with(['.', '!', '?', ':', '。', '：'])
}

/// Whether a point names something, and asks for nothing.
fn is_object(text: &str) -> bool {
    let all = words(text);
    let says = |word: &Word<'_>| word.is_any(&["is", "are", "i", "we", "you", "please"]);
    !goal::opens_with_order(&all) && !all.iter().any(says)
}
