//! Unescapes JSON strings.

use super::Span;
use std::borrow::Cow;

/// Returns the text of a span, with escapes.
pub(crate) fn raw(document: &[u8], span: Span) -> &str {
    let bytes = document.get(span.range()).unwrap_or_default();
    // Cannot fail: the document is valid UTF-8, and spans start and end next to ASCII bytes.
    simdutf8::basic::from_utf8(bytes).unwrap_or_default()
}

/// Returns the text of a valid string without escapes. `span` is between the quotes. Borrowed if there are none.
///
/// A lone surrogate becomes U+FFFD, because UTF-8 cannot represent it.
pub(crate) fn decode(document: &[u8], span: Span) -> Cow<'_, str> {
    unescaped(raw(document, span))
}

/// Like [`decode`], for the text between the quotes.
pub(crate) fn unescaped(raw: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw.as_bytes()) else {
        return Cow::Borrowed(raw);
    };
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut next = Some(first);
    while let Some((plain, escape)) = next.and_then(|at| rest.split_at_checked(at)) {
        text.push_str(plain);
        let (character, length) = escaped_character(escape);
        text.push(character);
        rest = escape.get(length..).unwrap_or_default();
        next = memchr::memchr(b'\\', rest.as_bytes());
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Returns the character of the escape at the start of `escape`, and the escape's length in bytes.
fn escaped_character(escape: &str) -> (char, usize) {
    let simple = match escape.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_escape(escape),
        Some(&byte) => char::from(byte),
        None => char::REPLACEMENT_CHARACTER,
    };
    (simple, 2)
}

/// Like [`escaped_character`], for `\uXXXX` and surrogate pairs.
fn unicode_escape(escape: &str) -> (char, usize) {
    let unit = |at: usize| {
        escape
            .get(at..at + 6)
            .filter(|unit| unit.starts_with("\\u"))
            .and_then(|unit| u16::from_str_radix(&unit[2..], 16).ok())
    };
    let Some(first) = unit(0) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if let Some(character) = char::from_u32(u32::from(first)) {
        return (character, 6);
    }
    let pair = unit(6).and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    match pair {
        Some(character) => (character, 12),
        None => (char::REPLACEMENT_CHARACTER, 6),
    }
}
