//! Whether a prompt is worth a search in memory.

use grov_domain::{ClientDialect, has_word};
use std::sync::LazyLock;

/// Words without a request, in the languages that people prompt in: greetings, thanks, consent, refusal, "go on", and the
/// function words between them. Lower case, sorted.
static WORDS: &str = include_str!("prompt_kind/words.txt");

/// The same for scripts without spaces. A run of several phrases has no request either.
static PHRASES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    include_str!("prompt_kind/phrases.txt")
        .split_whitespace()
        .collect()
});

/// Maximum length of smalltalk, in characters.
const MAX_SMALLTALK_CHARACTERS: usize = 240;

/// The kind of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// It may concern something that memory holds.
    Substantive,
    /// It has no words, or only a choice by number.
    Wordless,
    /// It says nothing new: a greeting, thanks, consent, refusal, "go on", "try again", "commit".
    Acknowledgement,
    /// A command to the client: `/compact`, `!ls`.
    Command,
    /// Text that the client wrote, not the user.
    ClientText,
}

impl PromptKind {
    /// Whether to search memory.
    pub fn is_substantive(self) -> bool {
        self == Self::Substantive
    }

    /// The name for counters and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Substantive => "something",
            Self::Wordless => "wordless",
            Self::Acknowledgement => "acknowledgement",
            Self::Command => "command",
            Self::ClientText => "of_the_client",
        }
    }
}

/// Classifies a prompt by its words alone. One word that is not smalltalk in any of the known languages makes it
/// [`PromptKind::Substantive`], so "no, don't touch the parser" and "ok now fix the retry" are.
pub fn prompt_kind(prompt: &str) -> PromptKind {
    let prompt = prompt.trim();
    if ClientDialect::CLAUDE_CODE.is_inserted(prompt) {
        return PromptKind::ClientText;
    }
    if is_command(prompt) {
        return PromptKind::Command;
    }
    if prompt.chars().nth(MAX_SMALLTALK_CHARACTERS).is_some() {
        let has_word = prompt.chars().any(char::is_alphabetic);
        return if has_word {
            PromptKind::Substantive
        } else {
            PromptKind::Wordless
        };
    }
    let mut worded = false;
    for word in prompt_words(prompt) {
        if word.chars().all(|character| character.is_numeric()) {
            continue;
        }
        worded = true;
        if !is_smalltalk(&word) {
            return PromptKind::Substantive;
        }
    }
    if worded {
        PromptKind::Acknowledgement
    } else {
        PromptKind::Wordless
    }
}

/// Whether this is a client command (`/name`) or a shell line (`!ls`). A path has a second slash or a dot.
fn is_command(prompt: &str) -> bool {
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

/// The prompt without image placeholders: `[Image #1]`.
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

/// The words of a prompt in lower case, without image placeholders.
pub(crate) fn prompt_words(prompt: &str) -> Vec<String> {
    words(&without_images(prompt))
}

/// The words in lower case: letters with combining marks, digits and the punctuation that joins names. An apostrophe
/// belongs to its word.
fn words(prompt: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in prompt.chars().chain([' ']) {
        match character {
            '\'' | '\u{2019}' | '\u{2bc}' if !word.is_empty() => word.push('\''),
            // `push_word` trims punctuation that only ends a sentence.
            _ if character.is_alphanumeric() || is_mark(character) || "_/\\.-".contains(character) => {
                word.extend(character.to_lowercase());
            }
            _ => {
                push_word(&mut words, &word);
                word.clear();
            }
        }
    }
    words
}

/// Combining marks that belong to words, such as vowel signs (Devanagari, Thai, Arabic).
fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{903}'
        | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

/// Adds a word, split at dashes and dots if all parts are smalltalk: "go-ahead", "ok.thanks", "s.v.p.".
fn push_word(words: &mut Vec<String>, word: &str) {
    let word = word.trim_matches(|character: char| "_/\\.-'".contains(character));
    if word.is_empty() {
        return;
    }
    let parts: Vec<&str> = word
        .split(['.', '-', '/'])
        .filter(|part| !part.is_empty())
        .collect();
    let known = |part: &&str| is_smalltalk(part) || part.chars().all(char::is_numeric);
    if parts.len() > 1 && parts.iter().all(known) {
        words.extend(parts.into_iter().map(str::to_owned));
    } else {
        words.push(word.to_owned());
    }
}

/// Whether a word is in the list, repeated letters aside ("okkk", "yesss"), or consists of listed phrases in a script
/// without spaces.
fn is_smalltalk(word: &str) -> bool {
    if is_listed(word) || is_listed(&without_repeats(word, 1)) || is_listed(&without_repeats(word, 2)) {
        return true;
    }
    if word.is_ascii() {
        return false;
    }
    is_made_of(word, &PHRASES)
}

/// Whether a word is a sequence of phrases.
pub(crate) fn is_made_of(word: &str, phrases: &[&str]) -> bool {
    // `reached[n]`: the first n bytes are a sequence of phrases.
    let mut reached = vec![false; word.len() + 1];
    reached[0] = true;
    for at in 0..word.len() {
        if !reached[at] {
            continue;
        }
        for phrase in phrases {
            if word[at..].starts_with(*phrase) {
                reached[at + phrase.len()] = true;
            }
        }
    }
    reached[word.len()]
}

fn is_listed(word: &str) -> bool {
    has_word(WORDS, word)
}

/// A word with no letter repeated more than `most` times in a row.
fn without_repeats(word: &str, most: usize) -> String {
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
