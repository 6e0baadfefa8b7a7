//! Parsing of JSON that JavaScript wrote, which may contain lone surrogates.

use serde::de::DeserializeOwned;

/// Parses JSON; `None` if it is malformed. A lone surrogate becomes a replacement character: JavaScript writes one when it
/// truncates a string within a surrogate pair.
pub(crate) fn parse<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json)
        .or_else(|_| serde_json::from_str(&without_lone_surrogates(json)))
        .ok()
}

/// Replaces each escaped lone surrogate by an escaped replacement character.
fn without_lone_surrogates(json: &str) -> String {
    let mut whole = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        whole.push_str(plain);
        let next = escape.get(ESCAPE..).and_then(unit);
        let (letter, length) = match (unit(escape), next) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (escape.get(..2 * ESCAPE), 2 * ESCAPE),
            (Some(0xD800..=0xDFFF), _) => (Some("\\ufffd"), ESCAPE),
            (Some(_), _) => (escape.get(..ESCAPE), ESCAPE),
            // Another escape sequence: the backslash and one character.
            (None, _) => {
                let length = escape.char_indices().nth(2).map_or(escape.len(), |(at, _)| at);
                (escape.get(..length), length)
            }
        };
        whole.push_str(letter.unwrap_or_default());
        rest = escape.get(length..).unwrap_or_default();
    }
    whole + rest
}

/// Bytes of a `\u` escape sequence.
const ESCAPE: usize = 6;

/// The UTF-16 code unit of the `\u` escape sequence that `text` begins with.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}
