//! Injection patterns other than phrases and commands: tags, hidden characters, encoded data. Each function returns the byte
//! offset of the first match.

use super::hosts::host;
use super::look_alikes::look_alike;
use super::mention::Quotations;

/// The shortest run of encoded data, in characters.
const MIN_DATA: usize = 120;
/// Zero-width characters inside words that are suspicious; one or two come with text from the web.
const MIN_ZERO_WIDTH: usize = 3;

/// Tag names of the system, the client or Grov, with or without attributes.
const RESERVED: &[&str] = &[
    "system-reminder",
    "system_reminder",
    "system_prompt",
    "system-prompt",
    "grov-context",
    "function_calls",
    "function_results",
    "invoke",
    "tool_result",
    "tool_use",
    "task-notification",
    "command-name",
    "command-message",
    "local-command-stdout",
    "user-prompt-submit-hook",
    "antml:invoke",
    "antml:function_calls",
];
/// Tag names that are also words; only matched without attributes.
const RESERVED_WORDS: &[&str] = &["system", "assistant", "human", "override", "operator"];

/// A reserved tag outside of backticks, or a line that starts a conversation turn.
pub(super) fn tags(text: &str, quotations: &Quotations<'_>) -> Option<usize> {
    let tag = text
        .char_indices()
        .filter(|(_, character)| matches!(character, '<' | '\u{ff1c}' | '['));
    let tag = tag.map(|(at, _)| at).find(|&at| {
        let before = text[..at].chars().next_back();
        let is_text = || quotations.is_about_texts() || is_named(text, at) || quotations.has_mention(at);
        before != Some('`') && is_reserved(&text[at..], before) && !is_text()
    });
    let turn = ["\n\nHuman:", "\n\nAssistant:"]
        .iter()
        .filter_map(|turn| text.find(turn))
        .filter(|at| !quotations.has_mention(*at))
        .min();
    tag.into_iter().chain(turn).min()
}

/// Whether the words around a tag are about tags: "strip <system-reminder> blocks".
fn is_named(text: &str, at: usize) -> bool {
    const BEFORE: &[&str] = &[
        "strip", "strips", "escape", "escapes", "remove", "removes", "filter", "filters", "parse", "parses",
        "render", "renders", "wrap", "wraps", "the", "a", "no", "tag", "tags", "token", "tokens", "element",
        "elements", "between", "inside",
    ];
    const AFTER: &[&str] = &[
        "tag",
        "tags",
        "block",
        "blocks",
        "token",
        "tokens",
        "element",
        "elements",
        "markers",
        "component",
        "sections",
    ];
    let before = text[..at]
        .split_whitespace()
        .next_back()
        .unwrap_or_default()
        .to_lowercase();
    let after = text[at..]
        .find(['>', ']'])
        .and_then(|end| text.get(at + end + 1..));
    let after = after.and_then(|after| {
        after
            .split(|character: char| !character.is_alphanumeric())
            .find(|word| !word.is_empty())
    });
    BEFORE.contains(&before.as_str())
        && after.is_some_and(|word| AFTER.contains(&word.to_lowercase().as_str()))
}

/// Whether `text`, which starts with a bracket, starts with a reserved tag.
fn is_reserved(text: &str, before: Option<char>) -> bool {
    let mut rest = text.chars();
    let open = rest.next();
    let rest = rest.as_str();
    if open == Some('[') {
        return ["INST]", "/INST]"].iter().any(|tag| rest.starts_with(tag));
    }
    if ["|im_start|", "|im_end|", "|system|", "|endoftext|", "<SYS>>"]
        .iter()
        .any(|tag| rest.starts_with(tag))
    {
        return true;
    }
    let name: String = rest
        .chars()
        .filter(|character| !crate::quote::is_hidden(*character))
        .skip_while(|character| character.is_whitespace() || *character == '/')
        .take(32)
        .take_while(|character| character.is_ascii_alphanumeric() || "-_:>".contains(*character))
        .collect();
    let (name, is_closed) = name
        .split_once('>')
        .map_or((name.as_str(), false), |(name, _)| (name, true));
    let bare = name.to_ascii_lowercase();
    if RESERVED.contains(&bare.as_str()) {
        return true;
    }
    // `Vec<system>` is a type; `<System>` a component.
    let is_type = before.is_some_and(|before| before.is_alphanumeric() || before == '_');
    !is_type && is_closed && RESERVED_WORDS.contains(&name)
}

/// Characters that hide text: the tag block (except flags), direction overrides, zero-width characters inside words.
pub(super) fn hidden(text: &str) -> Option<usize> {
    let mut zero_width = Vec::new();
    let mut before = None;
    let mut in_flag = false;
    for (at, character) in text.char_indices() {
        match character {
            // England, Scotland and Wales are written with these.
            '\u{1f3f4}' => in_flag = true,
            '\u{e0000}'..='\u{e007f}' if in_flag => in_flag = character != '\u{e007f}',
            '\u{e0000}'..='\u{e0fff}' | '\u{202d}' | '\u{202e}' => return Some(at),
            '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' => {
                in_flag = false;
                let next = text[at + character.len_utf8()..].chars().next();
                let letter = |character: Option<char>| character.is_some_and(|one| one.is_ascii_alphabetic());
                if letter(before) && letter(next) {
                    zero_width.push(at);
                }
            }
            _ => in_flag = false,
        }
        before = Some(character);
    }
    zero_width
        .first()
        .filter(|_| zero_width.len() >= MIN_ZERO_WIDTH)
        .copied()
}

/// A message of a conversation as JSON that speaks to a model.
pub(super) fn posed_message(text: &str) -> Option<usize> {
    const LENGTH: usize = 160;
    let roles = [
        r#""role":"system""#,
        r#""role": "system""#,
        r#""role":"user""#,
        r#""role": "user""#,
    ];
    roles.iter().find_map(|role| {
        let at = text.find(role)?;
        let rest = &text[at + role.len()..];
        let rest = rest[..rest.floor_char_boundary(LENGTH)].to_lowercase();
        let (_, content) = rest.split_once("\"content\"")?;
        let mut words = content.split(|character: char| !character.is_alphanumeric());
        words
            .any(|word| matches!(word, "you" | "your" | "ignore"))
            .then_some(at)
    })
}

/// Words that mix Latin letters with others that look like them.
pub(super) fn mixed_words(text: &str) -> Option<usize> {
    const FEWEST: usize = 3;
    /// The letters before it are Latin.
    const FIRST_OTHER: char = '\u{370}';
    let is_mixed = |word: &&str| {
        let others = word
            .chars()
            .filter(|letter| letter.is_alphabetic() && *letter > FIRST_OTHER);
        let lower = others.flat_map(char::to_lowercase).collect::<Vec<char>>();
        !lower.is_empty()
            && lower.iter().all(|letter| look_alike(*letter) != *letter)
            && word.bytes().filter(u8::is_ascii_alphabetic).count() >= 2
    };
    let mut mixed = text
        .split(|character: char| !character.is_alphabetic())
        .filter(is_mixed);
    let first = mixed.next()?;
    // Words are slices of the text.
    (mixed.count() + 1 >= FEWEST).then_some(first.as_ptr() as usize - text.as_ptr() as usize)
}

/// An address with a place for what was said or for secrets: `https://x.example/p?d=<the last message>`.
pub(super) fn leaking_address(text: &str) -> Option<usize> {
    const CONTENTS: &[&str] = &[
        "message",
        "conversation",
        "prompt",
        "transcript",
        "contents",
        "environment",
        "history",
        "secret",
        "token of",
        "password",
        "api key",
        "source code",
    ];
    /// Bytes of a placeholder.
    const LENGTH: usize = 80;
    text.match_indices("://").find_map(|(at, _)| {
        let address = &text[at + 3..];
        let end = address.find(char::is_whitespace).unwrap_or(address.len());
        let query = address[..end].find('?')?;
        let value = query + address[query..end].find('=')? + 1;
        let rest = &address[value..];
        let is_open = rest.starts_with(['<', '{', '[']);
        let placeholder = rest[..rest.floor_char_boundary(LENGTH)].to_lowercase();
        let is_foreign = host(address).is_foreign();
        (is_open && is_foreign && CONTENTS.iter().any(|word| placeholder.contains(word))).then_some(at)
    })
}

/// A long run of base64: letters of both cases and digits. Paths have more slashes, hashes only one case.
pub(super) fn blob(text: &str) -> Option<usize> {
    let is_data = |character: char| character.is_ascii_alphanumeric() || "+/=-_".contains(character);
    let mut at = 0;
    for run in text.split(|character: char| !is_data(character)) {
        if run.len() >= MIN_DATA {
            let count = |wanted: fn(&u8) -> bool| run.bytes().filter(wanted).count();
            let mixed = count(u8::is_ascii_uppercase).min(count(u8::is_ascii_lowercase)) > run.len() / 8
                && count(u8::is_ascii_digit) > run.len() / 32;
            let separators = count(|byte| b"/-_".contains(byte));
            if mixed && separators < run.len() / 12 {
                return Some(at);
            }
        }
        at += run.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    None
}
