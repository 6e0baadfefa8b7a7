//! A fast path for the deltas that make up nearly all of a stream: it compares bytes instead of parsing JSON.
//!
//! It recognises only the exact form that the upstream writes. Everything else goes to the JSON parser. A property test checks
//! that both agree.

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

/// The bytes of each kind, including the opening quote of its string.
const TEXT: &[u8] = b"text_delta\",\"text\":\"";
const INPUT_JSON: &[u8] = b"input_json_delta\",\"partial_json\":\"";
const THINKING: &[u8] = b"thinking_delta\",\"thinking\":\"";

/// A delta in canonical form. Its string is validated by [`CanonicalDelta::append_to`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CanonicalDelta<'a> {
    pub(super) index: u64,
    pub(super) kind: DeltaKind,
    /// The text between the opening and the last quote, with escapes.
    escaped: &'a str,
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
        let escaped = std::str::from_utf8(before_tail(rest)?).ok()?;
        Some(Self { index, kind, escaped })
    }

    /// Appends the string to `target`. Returns `false` and appends nothing if it is not a valid JSON string.
    #[must_use]
    pub(super) fn append_to(&self, target: &mut String) -> bool {
        let plain = plain_length(self.escaped.as_bytes());
        if plain == self.escaped.len() {
            target.push_str(self.escaped);
            return true;
        }
        let before = target.len();
        if unescape(self.escaped, plain, target).is_some() {
            return true;
        }
        target.truncate(before);
        false
    }
}

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

/// Returns the bytes before the last quote and the closing braces. The upstream pads events with spaces before the last brace to
/// hide their size.
fn before_tail(bytes: &[u8]) -> Option<&[u8]> {
    if let Some(before) = bytes.strip_suffix(b"\"}}") {
        return Some(before);
    }
    let mut before = bytes.strip_suffix(b"}")?;
    while let Some(shorter) = before.strip_suffix(b" ") {
        before = shorter;
    }
    before.strip_suffix(b"\"}")
}

/// Returns the number of leading bytes that are not a quote, a backslash or a control character. Checks 8 bytes at a time: most
/// of these strings are too short for vector instructions.
fn plain_length(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let marks = special_bytes(*word);
        if marks != 0 {
            return number * 8 + (marks.trailing_zeros() / 8) as usize;
        }
    }
    let is_plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
    words.len() * 8 + tail.iter().position(|byte| !is_plain(byte)).unwrap_or(tail.len())
}

/// Marks the quotes, backslashes and control characters among 8 bytes. The lowest set bit is the first of them; a borrow can set
/// wrong bits only above it.
fn special_bytes(word: [u8; 8]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(word);
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let is_quote = below(word ^ (ONES * 0x22), 1);
    let is_backslash = below(word ^ (ONES * 0x5C), 1);
    let is_control = below(word, 0x20);
    (is_quote | is_backslash | is_control) & HIGHS
}

/// Appends the JSON string `escaped` without its escapes. Its first `plain` bytes have none. Returns `None` if it is invalid;
/// part of it may be appended then.
fn unescape(escaped: &str, mut plain: usize, target: &mut String) -> Option<()> {
    let mut rest = escaped;
    loop {
        let (head, tail) = rest.split_at(plain);
        target.push_str(head);
        let Some(tail) = tail.strip_prefix('\\') else {
            return tail.is_empty().then_some(());
        };
        let character = match *tail.as_bytes().first()? {
            character @ (b'"' | b'\\' | b'/') => character,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, after) = unicode(tail)?;
                target.push(character);
                rest = after;
                plain = plain_length(rest.as_bytes());
                continue;
            }
            _ => return None,
        };
        target.push(char::from(character));
        rest = &tail[1..];
        plain = plain_length(rest.as_bytes());
    }
}

/// Returns the character of `uXXXX` or of a surrogate pair `uXXXX\uXXXX`, and the rest.
fn unicode(escape: &str) -> Option<(char, &str)> {
    let (unit, rest) = hex_unit(escape)?;
    if !(0xD800..=0xDBFF).contains(&unit) {
        return Some((char::from_u32(unit)?, rest));
    }
    let (low, rest) = hex_unit(rest.strip_prefix('\\')?)?;
    if !(0xDC00..=0xDFFF).contains(&low) {
        return None;
    }
    Some((
        char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00))?,
        rest,
    ))
}

/// Returns the number after a `u`, four hexadecimal digits, and the rest.
fn hex_unit(escape: &str) -> Option<(u32, &str)> {
    let digits = escape.strip_prefix('u')?;
    let (digits, rest) = digits.split_at_checked(4)?;
    let mut unit = 0;
    for digit in digits.chars() {
        unit = unit * 16 + digit.to_digit(16)?;
    }
    Some((unit, rest))
}

#[cfg(test)]
mod tests;
