//! The text that a string's raw bytes stand for.

use super::Span;
use std::borrow::Cow;

/// The bytes of `span` as they stand in the document.
pub(crate) fn raw(document: &[u8], span: Span) -> &str {
    let bytes = document.get(span.range()).unwrap_or_default();
    // Never empty by fault: the encoding was checked as a whole, and spans begin and end beside ASCII bytes.
    simdutf8::basic::from_utf8(bytes).unwrap_or_default()
}

/// The text of a checked string whose bytes between the quotes are `span`: borrowed unless it holds escapes.
///
/// A lone surrogate, which JSON can write and UTF-8 cannot, becomes U+FFFD.
pub(crate) fn decode(document: &[u8], span: Span) -> Cow<'_, str> {
    unescaped(raw(document, span))
}

/// The text of a checked string that is `raw` between its quotes; else as [`decode`].
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

/// The character that the escape at the start of `escape` stands for, and the escape's length.
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

/// Like [`escaped_character`] for `\uXXXX`, which may be half of a pair.
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
