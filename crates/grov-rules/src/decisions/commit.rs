//! Messages of commits.

use super::lexicon::{CAUSES, CONSEQUENCES, FINITE, NEGATIONS, OTHERWISE, PURPOSES, RATIONALES};
use super::units::units;
use super::{Candidate, has_any, is_unspaced};
use crate::text::words;

/// The fewest words of a body that explains something.
const MIN_BODY_WORDS: usize = 5;

/// Beginnings of lines that are no part of the message.
#[rustfmt::skip]
const TRAILERS: &[&str] = &[
    "co-authored-by:", "signed-off-by:", "reviewed-by:", "refs:", "refs #", "fixes #", "closes #", "closes:", "change-id:",
    "generated with", "🤖",
];

/// First words of a body that tells what was done.
#[rustfmt::skip]
const REPORTING: &[&str] = &[
    "added", "adds", "also", "changed", "changes", "fixed", "fixes", "it", "moved", "moves", "refactored", "removed", "removes", "renamed",
    "this", "updated", "updates", "dieser", "ce", "este", "questo", "deze", "ten", "acest", "bu",
];

/// The message that a command line gives to `git commit`; `None` if it names none. Read are `-m` in all forms and here-documents.
pub(crate) fn message(command: &str) -> Option<String> {
    let from = command.find("commit")?;
    let rest = &command[from..];
    if let Some(document) = here_document(rest) {
        return Some(document);
    }
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(found) = rest[at..].find("-m").map(|found| at + found) {
        at = found + 2;
        let is_option = {
            // `-m`, `-am`, `-qam`, `--message`.
            let start = rest[..found]
                .rfind(char::is_whitespace)
                .map_or(0, |space| space + 1);
            let option = &rest[start..at];
            option == "-m" || option == "--m"
        };
        let after = &rest[at..];
        let after = match after.strip_prefix("essage") {
            Some(more) if is_option => more,
            _ if is_option => after,
            _ => continue,
        };
        let after = after.trim_start_matches(['=', ' ', '\t']);
        parts.extend(quoted(after));
    }
    if parts.is_empty() {
        parts.extend(combined(rest));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The text of options such as `-am "…"`.
fn combined(rest: &str) -> Option<String> {
    let mut before = 0;
    for word in rest.split_inclusive(char::is_whitespace) {
        before += word.len();
        let option = word.trim_end();
        let is_combined = option.starts_with('-')
            && !option.starts_with("--")
            && option.ends_with('m')
            && option.len() > 2
            && option[1..].bytes().all(|byte| byte.is_ascii_lowercase());
        if is_combined {
            return quoted(rest[before..].trim_start());
        }
    }
    None
}

/// The first shell word, without its quotes.
fn quoted(text: &str) -> Option<String> {
    let mark = text.chars().next()?;
    if !matches!(mark, '"' | '\'') {
        let word = text.split_whitespace().next()?;
        return Some(word.to_owned());
    }
    let mut message = String::new();
    let mut escaped = false;
    for letter in text[1..].chars() {
        if escaped {
            message.push(letter);
            escaped = false;
        } else if letter == '\\' && mark == '"' {
            escaped = true;
        } else if letter == mark {
            break;
        } else {
            message.push(letter);
        }
    }
    Some(message)
}

/// The text between `<<EOF` and the line `EOF`.
fn here_document(text: &str) -> Option<String> {
    let at = text.find("<<")?;
    let rest = text[at + 2..].trim_start_matches('-').trim_start();
    let name: String = rest
        .trim_start_matches(['\'', '"', '\\'])
        .chars()
        .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
        .collect();
    if name.is_empty() {
        return None;
    }
    let body = rest.split_once('\n')?.1;
    let lines: Vec<&str> = body.lines().take_while(|line| line.trim() != name).collect();
    Some(lines.join("\n"))
}

/// A message without its trailers.
pub(super) fn without_trailers(message: &str) -> String {
    let is_trailer = |line: &str| {
        let line = line.trim().to_lowercase();
        TRAILERS.iter().any(|trailer| line.starts_with(trailer))
    };
    let lines: Vec<&str> = message.lines().filter(|line| !is_trailer(line)).collect();
    lines.join("\n")
}

/// The subject as the choice, and a body that explains it as the reason.
pub(super) fn subject_and_body(message: &str) -> Option<Candidate> {
    let (subject, body) = message.trim().split_once('\n')?;
    let paragraph = body.trim().split("\n\n").next()?;
    let parts = units(paragraph);
    let read = words(paragraph);
    let unspaced = paragraph.chars().filter(|letter| is_unspaced(*letter)).count();
    let explains = [
        CAUSES,
        PURPOSES,
        OTHERWISE,
        CONSEQUENCES,
        RATIONALES,
        FINITE,
        NEGATIONS,
    ]
    .iter()
    .any(|table| has_any(table, &read))
        || read
            .iter()
            .any(|word| word.is_any(&["so", "as", "with", "damit", "ne", "n'est"]));
    let reports = read
        .first()
        .is_some_and(|word| word.is_any(REPORTING) || super::super::lexicon::is_work_verb(&word.folded));
    let is_prose = !parts.iter().any(|part| part.is_item);
    let is_long = read.len() >= MIN_BODY_WORDS && explains && !reports || unspaced >= 2 * MIN_BODY_WORDS;
    (is_prose && is_long).then(|| Candidate {
        choice: subject.trim().to_owned(),
        reason: paragraph.to_owned(),
        weight: 2,
    })
}
