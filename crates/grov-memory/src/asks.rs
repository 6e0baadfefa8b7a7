//! Whether a prompt asks for anything that could be remembered.

use crate::trifles::{PHRASES, WORDS};
use grov_domain::ClientDialect;

/// Characters of a prompt that is looked at word by word; a longer one is no acknowledgement.
const LONGEST_TRIFLE: usize = 240;

/// What a prompt asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Something that memory may know about.
    Something,
    /// Nothing: there is no word in it, or only a choice by number.
    Wordless,
    /// Nothing new: a greeting, thanks, consent, refusal, "go on", "try again", "commit".
    Acknowledgement,
    /// A command to the client: `/compact`, `!ls`.
    Command,
    /// The client speaks, not the user.
    OfTheClient,
}

impl Asked {
    /// Whether memory is worth a look.
    pub fn is_something(self) -> bool {
        self == Self::Something
    }

    /// The name of the answer for counters and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Something => "something",
            Self::Wordless => "wordless",
            Self::Acknowledgement => "acknowledgement",
            Self::Command => "command",
            Self::OfTheClient => "of_the_client",
        }
    }
}

/// What a prompt asks, judged by its words alone. It errs on the side of asking: a single word that is no filler in one of
/// the languages known makes it something, so "no, don't touch the parser" and "ok now fix the retry" are.
pub fn asks(prompt: &str) -> Asked {
    let prompt = prompt.trim();
    if ClientDialect::CLAUDE_CODE.is_inserted(prompt) {
        return Asked::OfTheClient;
    }
    if is_command(prompt) {
        return Asked::Command;
    }
    if prompt.chars().nth(LONGEST_TRIFLE).is_some() {
        // Pages of digits and rules have no words either.
        let has_word = prompt.chars().any(char::is_alphabetic);
        return if has_word {
            Asked::Something
        } else {
            Asked::Wordless
        };
    }
    let mut worded = false;
    for run in runs(&without_images(prompt)) {
        if run.chars().all(|character| character.is_numeric()) {
            continue;
        }
        worded = true;
        if !is_trifle(&run) {
            return Asked::Something;
        }
    }
    if worded {
        Asked::Acknowledgement
    } else {
        Asked::Wordless
    }
}

/// `/name` of a command of the client, and a line for its shell. A path has a second slash or a dot.
fn is_command(prompt: &str) -> bool {
    // The client's shell takes everything behind the sign.
    if let Some(line) = prompt.strip_prefix('!') {
        return line.starts_with(|character: char| character.is_ascii_alphabetic() || character == '.');
    }
    let Some(rest) = prompt.strip_prefix('/') else {
        return false;
    };
    let name = rest.split_whitespace().next().unwrap_or_default();
    name.starts_with(|character: char| character.is_ascii_alphabetic())
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "-_:".contains(character))
}

/// The prompt without the marks that stand for pictures: `[Image #1]`.
fn without_images(prompt: &str) -> String {
    let mut rest = prompt;
    let mut kept = String::new();
    while let Some(at) = rest.find("[Image #") {
        kept.push_str(&rest[..at]);
        rest = match rest[at..].find(']') {
            Some(end) => &rest[at + end + 1..],
            None => "",
        };
    }
    kept.push_str(rest);
    kept
}

/// Words in lower case: letters with their marks, digits and what joins code. An apostrophe belongs to its word.
fn runs(prompt: &str) -> Vec<String> {
    let mut runs = Vec::new();
    let mut run = String::new();
    for character in prompt.chars().chain([' ']) {
        match character {
            '\'' | '\u{2019}' | '\u{2bc}' if !run.is_empty() => run.push('\''),
            // Joins that make a name of words; what only ends a sentence is told apart below.
            _ if character.is_alphanumeric() || is_mark(character) || "_/\\.-".contains(character) => {
                run.extend(character.to_lowercase());
            }
            _ => {
                push_run(&mut runs, &run);
                run.clear();
            }
        }
    }
    runs
}

/// Vowel signs and other marks, which are no letters by themselves but belong to words (Devanagari, Thai, Arabic).
fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{903}'
        | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

/// Adds a run; dashes and dots between trifles do not join them: "go-ahead", "ok.thanks", "s.v.p.".
fn push_run(runs: &mut Vec<String>, run: &str) {
    let run = run.trim_matches(|character: char| "_/\\.-'".contains(character));
    if run.is_empty() {
        return;
    }
    let parts: Vec<&str> = run
        .split(['.', '-', '/'])
        .filter(|part| !part.is_empty())
        .collect();
    let known = |part: &&str| is_trifle(part) || part.chars().all(char::is_numeric);
    if parts.len() > 1 && parts.iter().all(known) {
        runs.extend(parts.into_iter().map(str::to_owned));
    } else {
        runs.push(run.to_owned());
    }
}

/// Whether a run says nothing: a word from the list, drawn out or not ("okkk", "yesss"), or in a script without spaces
/// phrases from the list and nothing else.
fn is_trifle(run: &str) -> bool {
    if is_listed(run) || is_listed(&undrawn(run, 1)) || is_listed(&undrawn(run, 2)) {
        return true;
    }
    if run.is_ascii() {
        return false;
    }
    // Which beginnings of the run are made of phrases.
    let mut reached = vec![false; run.len() + 1];
    reached[0] = true;
    for at in 0..run.len() {
        if !reached[at] {
            continue;
        }
        for phrase in PHRASES {
            if run[at..].starts_with(phrase) {
                reached[at + phrase.len()] = true;
            }
        }
    }
    reached[run.len()]
}

fn is_listed(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok()
}

/// A word with no letter more than `most` times in a row.
fn undrawn(word: &str, most: usize) -> String {
    let mut kept = String::with_capacity(word.len());
    let mut row = (None, 0);
    for character in word.chars() {
        row = if row.0 == Some(character) {
            (row.0, row.1 + 1)
        } else {
            (Some(character), 1)
        };
        if row.1 <= most {
            kept.push(character);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
