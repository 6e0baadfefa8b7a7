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

/// Each kind's spelling between the index and the string.
const KINDS: [(DeltaKind, &[u8]); 3] = [
    (
        DeltaKind::Text,
        b",\"delta\":{\"type\":\"text_delta\",\"text\":\"",
    ),
    (
        DeltaKind::InputJson,
        b",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"",
    ),
    (
        DeltaKind::Thinking,
        b",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"",
    ),
];

/// A delta in its canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CanonicalDelta<'a> {
    pub(super) index: u64,
    pub(super) kind: DeltaKind,
    /// The string between its quotes, escapes as written.
    pub(super) escaped: &'a str,
    pub(super) has_escapes: bool,
}

impl<'a> CanonicalDelta<'a> {
    /// Recognises an event's data.
    pub(super) fn recognise(data: &'a [u8]) -> Option<Self> {
        let rest = data.strip_prefix(HEAD)?;
        let (index, rest) = small_number(rest)?;
        let (kind, rest) = KINDS
            .iter()
            .find_map(|(kind, head)| Some((*kind, rest.strip_prefix(*head)?)))?;
        let (length, has_escapes) = string_end(rest)?;
        // The upstream pads events with spaces before the last brace, so that sizes tell less.
        let tail = rest[length + 1..]
            .strip_prefix(b"}")?
            .trim_ascii_start()
            .strip_prefix(b"}")?;
        if !tail.trim_ascii().is_empty() {
            return None;
        }
        let escaped = std::str::from_utf8(&rest[..length]).ok()?;
        Some(Self {
            index,
            kind,
            escaped,
            has_escapes,
        })
    }

    /// Appends the string to `target`. On `false` nothing was appended: an escape is not valid.
    #[must_use]
    pub(super) fn append_to(&self, target: &mut String) -> bool {
        if !self.has_escapes {
            target.push_str(self.escaped);
            return true;
        }
        let before = target.len();
        if unescape(self.escaped, target).is_some() {
            return true;
        }
        target.truncate(before);
        false
    }
}

/// A number of up to four digits without leading zeros, and what follows it.
fn small_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digits = bytes
        .iter()
        .take(5)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 || digits > 4 || (digits > 1 && bytes[0] == b'0') {
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

/// Where the JSON string whose first byte is `bytes[0]` ends (the position of its closing quote), and whether it holds
/// escapes. `None` if it does not end or holds control characters, which JSON forbids.
fn string_end(bytes: &[u8]) -> Option<(usize, bool)> {
    let mut at = 0;
    let mut has_escapes = false;
    loop {
        at += plain_length(&bytes[at..]);
        match bytes.get(at)? {
            b'"' => return Some((at, has_escapes)),
            b'\\' => {
                has_escapes = true;
                at += 2;
                if at > bytes.len() {
                    return None;
                }
            }
            _ => return None,
        }
    }
}

/// How many of the first bytes are neither quote, backslash nor control character. Looks at eight bytes at a time:
/// these strings are mostly too short for a vector search to pay.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let zero_byte = |word: u64| word.wrapping_sub(ONES) & !word;
    let mut at = 0;
    while let Some(Ok(word)) = bytes.get(at..at + 8).map(<[u8; 8]>::try_from) {
        let word = u64::from_le_bytes(word);
        let is_quote = zero_byte(word ^ (ONES * u64::from(b'"')));
        let is_backslash = zero_byte(word ^ (ONES * u64::from(b'\\')));
        let is_control = word.wrapping_sub(ONES * 0x20) & !word;
        // A borrow can only spoil bytes above the first hit, so the lowest mark is right.
        let marks = (is_quote | is_backslash | is_control) & HIGHS;
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let tail = bytes[at..]
        .iter()
        .take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    at + tail.count()
}

/// Appends what the JSON string body `escaped` spells. `None` if an escape is not valid; `target` may then have grown.
fn unescape(mut escaped: &str, target: &mut String) -> Option<()> {
    while let Some((plain, behind)) = escaped.split_once('\\') {
        target.push_str(plain);
        let mut rest = behind.chars();
        let character = match rest.next()? {
            character @ ('"' | '\\' | '/') => character,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let unit = hex_unit(&mut rest)?;
                match unit {
                    0xD800..=0xDBFF => {
                        let low = rest.as_str().strip_prefix("\\u")?;
                        rest = low.chars();
                        let low = hex_unit(&mut rest).filter(|low| (0xDC00..=0xDFFF).contains(low))?;
                        char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00))?
                    }
                    _ => char::from_u32(unit)?,
                }
            }
            _ => return None,
        };
        target.push(character);
        escaped = rest.as_str();
    }
    target.push_str(escaped);
    Some(())
}

fn hex_unit(characters: &mut std::str::Chars<'_>) -> Option<u32> {
    let mut unit = 0;
    for _ in 0..4 {
        unit = unit * 16 + characters.next()?.to_digit(16)?;
    }
    Some(unit)
}

#[cfg(test)]
mod tests;
