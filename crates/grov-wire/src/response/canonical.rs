//! A fast path for the deltas that make up nearly all of a stream: it compares bytes instead of parsing JSON.
//!
//! It recognises only the exact form that the upstream writes. Everything else goes to the JSON parser. A property test checks
//! that both agree.

use serde::Deserialize;
use std::borrow::Cow;

/// The start of every canonical delta.
const HEAD: &[u8] = b"{\"type\":\"content_block_delta\",\"index\":";

/// The kind of a canonical delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeltaKind {
    Text,
    InputJson,
    Thinking,
}

/// The bytes between the index and the kind.
const DELTA: &[u8] = b",\"delta\":{\"type\":\"";

/// The bytes of each kind, up to its string.
const TEXT: &[u8] = b"text_delta\",\"text\":";
const INPUT_JSON: &[u8] = b"input_json_delta\",\"partial_json\":";
const THINKING: &[u8] = b"thinking_delta\",\"thinking\":";

/// A delta in canonical form. Its string is validated by [`CanonicalDelta::append_to`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CanonicalDelta<'a> {
    pub(super) index: u64,
    pub(super) kind: DeltaKind,
    /// The text from the opening to the last quote, with both.
    quoted: &'a str,
}

impl<'a> CanonicalDelta<'a> {
    /// Recognises the data of an event.
    pub(super) fn recognise(data: &'a [u8]) -> Option<Self> {
        let rest = data.strip_prefix(HEAD)?;
        let (index, rest) = small_number(rest)?;
        let rest = rest.strip_prefix(DELTA)?;
        let (kind, rest) = if let Some(rest) = rest.strip_prefix(TEXT) {
            (DeltaKind::Text, rest)
        } else if let Some(rest) = rest.strip_prefix(INPUT_JSON) {
            (DeltaKind::InputJson, rest)
        } else {
            (DeltaKind::Thinking, rest.strip_prefix(THINKING)?)
        };
        let quoted = std::str::from_utf8(before_tail(rest)?).ok()?;
        Some(Self { index, kind, quoted })
    }

    /// Appends the string to `target`. Returns `false` and appends nothing if it is not a valid JSON string.
    #[must_use]
    pub(super) fn append_to(&self, target: &mut String) -> bool {
        match serde_json::from_str::<Unescaped<'_>>(self.quoted) {
            Ok(Unescaped(text)) => target.push_str(&text),
            Err(_) => return false,
        }
        true
    }
}

/// The text of a JSON string, borrowed if it has no escapes.
#[derive(Deserialize)]
struct Unescaped<'a>(#[serde(borrow)] Cow<'a, str>);

/// Returns a number of up to four digits without leading zeros, and the rest.
fn small_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    // Nearly always a single digit.
    if let [digit @ b'0'..=b'9', b',', ..] = bytes {
        return Some((u64::from(digit - b'0'), &bytes[1..]));
    }
    let digits = bytes
        .iter()
        .take(5)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 || digits > 4 || bytes[0] == b'0' {
        return None;
    }
    let (number, rest) = bytes.split_at(digits);
    Some((
        number
            .iter()
            .fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')),
        rest,
    ))
}

/// Returns the bytes before the closing braces. The upstream pads events with spaces before the last brace to
/// hide their size.
fn before_tail(bytes: &[u8]) -> Option<&[u8]> {
    if let Some(before) = bytes.strip_suffix(b"}}") {
        return Some(before);
    }
    let mut before = bytes.strip_suffix(b"}")?;
    while let Some(shorter) = before.strip_suffix(b" ") {
        before = shorter;
    }
    before.strip_suffix(b"}")
}

#[cfg(test)]
mod tests;
