//! The deltas that make up nearly all of a stream, recognised by their exact spelling instead of by a JSON parser.
//!
//! Only the form that the upstream really writes is recognised; anything else, however close, is left to the JSON
//! parser. What is recognised means the same to both (a property test holds them together).

/// The start of every canonical delta.
const HEAD: &[u8] = b"{\"type\":\"content_block_delta\",\"index\":";

/// What a canonical delta carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeltaKind {
    Text,
    InputJson,
    Thinking,
}

/// What stands between the index and the kind.
const DELTA: &[u8] = b",\"delta\":{\"type\":\"";

/// Each kind's spelling, up to and with the opening quote of its string.
const TEXT: &[u8] = b"text_delta\",\"text\":\"";
const INPUT_JSON: &[u8] = b"input_json_delta\",\"partial_json\":\"";
const THINKING: &[u8] = b"thinking_delta\",\"thinking\":\"";

/// A delta in its canonical form, but for its string: whether that is one, [`CanonicalDelta::append_to`] finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CanonicalDelta<'a> {
    pub(super) index: u64,
    pub(super) kind: DeltaKind,
    /// What stands between the opening quote and the last quote.
    escaped: &'a str,
}

impl<'a> CanonicalDelta<'a> {
    /// Recognises an event's data.
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

    /// Appends the string to `target`. On `false` nothing was appended: the string ends early, or JSON does not allow
    /// what it holds.
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

/// A number of up to four digits without leading zeros, and what follows it.
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

/// What stands before the last quote and the braces behind it. The upstream pads events with spaces before the last
/// brace, so that their sizes tell less.
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

/// How many of the first bytes are neither quote, backslash nor control character. Looks at eight bytes at a time:
/// these strings are mostly too short for a vector search to pay.
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

/// Marks the quotes, backslashes and control characters among eight bytes: the lowest bit set tells the first of them.
/// (A borrow can spoil marks above a hit, never below.)
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

/// Appends what the JSON string body `escaped` spells; its first `plain` bytes stand for themselves. `None` if it is no
/// such body; `target` may then have grown.
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
                let (character, behind) = unicode(tail)?;
                target.push(character);
                rest = behind;
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

/// The character that `uXXXX`, or a pair of surrogates `uXXXX\uXXXX`, spells, and what follows.
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

/// The four hexadecimal digits behind a `u`, and what follows.
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
