//! Judges whether a token without spaces was generated: by its alphabet, by how often the kind of its characters changes, and by
//! the words in it.

use crate::value::{entropy, is_hex, is_name, is_uuid};

/// The alphabet of a generated token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// Letters of both cases and digits. Identifiers, digests and names rarely look like that.
    Mixed,
    /// The same, with parts that look like words.
    MixedWords,
    /// Digits and letters of one case. Many identifiers do too.
    OneCase,
    /// Hexadecimal digits, as in most digests.
    Hex,
}

/// Maximum length of a generated token, in bytes. Longer ones are data.
pub(crate) const MAX_TOKEN: usize = 256;

/// Counts of the characters of a token.
struct Shape {
    upper: usize,
    lower: usize,
    digits: usize,
    /// Neighbouring letters and digits.
    pairs: usize,
    /// Those of different kinds.
    changes: usize,
    /// Characters in runs of at least four letters of one case, as words have.
    in_words: usize,
    /// Characters in runs of at least three small letters, with the capital letter before it, as parts of `camelCase`.
    in_camel_case: usize,
    vowels: usize,
    /// Characters in pairs of small letters after a capital one.
    short_words: usize,
}

impl Shape {
    fn of(text: &[u8]) -> Self {
        let mut shape = Self {
            upper: 0,
            lower: 0,
            digits: 0,
            pairs: 0,
            changes: 0,
            in_words: 0,
            in_camel_case: 0,
            vowels: 0,
            short_words: 0,
        };
        let (mut previous, mut run, mut capital) = (0, 0_usize, 0);
        for &byte in text {
            let kind = match byte {
                b'a'..=b'z' => 1,
                b'A'..=b'Z' => 2,
                b'0'..=b'9' => 3,
                _ => 0,
            };
            shape.lower += usize::from(kind == 1);
            shape.upper += usize::from(kind == 2);
            shape.digits += usize::from(kind == 3);
            shape.vowels += usize::from(matches!(byte | 0x20, b'a' | b'e' | b'i' | b'o' | b'u' | b'y'));
            if kind > 0 && previous > 0 {
                shape.pairs += 1;
                shape.changes += usize::from(kind != previous);
            }
            if kind != previous {
                capital = usize::from(previous == 2);
                run = 0;
            }
            run += 1;
            if kind == 1 && capital == 1 {
                // A third one makes it a word.
                match run {
                    2 => shape.short_words += 3,
                    3 => shape.short_words -= 3,
                    _ => {}
                }
            }
            if kind == 1 {
                shape.in_camel_case += match run {
                    3 => 3 + capital,
                    4.. => 1,
                    _ => 0,
                };
            }
            if kind == 1 || kind == 2 {
                shape.in_words += match run {
                    4 => 4,
                    5.. => 1,
                    _ => 0,
                };
            }
            previous = kind;
        }
        shape
    }

    fn letters_and_digits(&self) -> usize {
        self.upper + self.lower + self.digits
    }
}

/// Returns the alphabet of a token of at least 16 characters that looks generated.
pub(crate) fn generated(text: &str) -> Option<Alphabet> {
    let bytes = text.as_bytes();
    if !(16..=MAX_TOKEN).contains(&bytes.len()) || is_uuid(text) {
        return None;
    }
    let shape = Shape::of(bytes);
    let length = shape.letters_and_digits();
    if length < 14 || shape.digits == 0 || length * 8 < bytes.len() * 7 {
        return None;
    }
    if has_sequence(bytes) {
        return None;
    }
    if is_hex(text) {
        let letters = shape.upper + shape.lower;
        let one_case = shape.upper == 0 || shape.lower == 0;
        let spread = bytes.len() >= 24 && letters >= 4 && shape.digits >= 4 && entropy(bytes) >= 2.9;
        return (one_case && spread).then_some(Alphabet::Hex);
    }
    let changes = shape.changes as f32 / shape.pairs.max(1) as f32;
    let in_words = shape.in_words as f32 / length as f32;
    // Of a short token two small letters after a capital one count as well.
    let in_camel_case = if length < 20 {
        shape.in_camel_case + shape.short_words
    } else {
        shape.in_camel_case
    };
    let is_camel_case =
        in_camel_case * 2 >= length || (shape.in_camel_case + shape.short_words) * 25 >= length * 18;
    let spread = entropy(bytes) / (bytes.len() as f32).log2();
    let mixed = shape.upper >= 2 && shape.lower >= 2;
    if mixed {
        let random = changes >= 0.4
            && in_words <= 0.34
            && !is_camel_case
            && spread >= 0.8_f32.min(4.1 / (bytes.len() as f32).log2());
        // `WithSHA1And3_Key_CBC` is a name.
        let has_word = text.split(['_', '-']).any(is_name);
        let worded = !has_word
            && shape.digits >= 2
            && changes >= 0.3
            && in_words <= 0.6
            && (shape.in_camel_case + shape.short_words) * 10 < length * 7;
        return match (random, worded) {
            (true, _) => Some(Alphabet::Mixed),
            (false, true) => Some(Alphabet::MixedWords),
            (false, false) => None,
        };
    }
    let one_case = shape.upper == 0 || shape.lower == 0;
    let letters = length - shape.digits;
    let even = shape.digits * 6 >= length && changes >= 0.25 && in_words <= 0.6;
    // A token in small letters that had both cases has fewer digits, but not as many vowels as words.
    let lowered =
        length >= 24 && shape.digits * 12 >= length && changes >= 0.15 && shape.vowels * 3 < letters;
    let random = (even || lowered)
        && shape.digits * 5 <= length * 4
        && spread >= 0.76_f32.min(3.6 / (bytes.len() as f32).log2());
    (one_case && random).then_some(Alphabet::OneCase)
}

/// Returns whether a short word changes between kinds of letters like a generated password: `5xozakQmQICx`.
pub(crate) fn is_scrambled(text: &str) -> bool {
    let shape = Shape::of(text.as_bytes());
    (10..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && shape.upper >= 2
        && shape.lower >= 2
        && shape.digits >= 1
        && shape.changes * 5 >= shape.pairs * 2
        && (shape.in_camel_case + shape.short_words) * 2 < text.len()
        && !has_sequence(text.as_bytes())
}

/// Returns whether the text has a sequence of 6 ascending characters, such as `abcdef`, or 6 equal ones. Alphabets and invented
/// values have one.
pub(crate) fn has_sequence(text: &[u8]) -> bool {
    let rises = |signs: &[u8]| {
        signs
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if a.checked_add(1) == Some(*b)))
    };
    let stays = |signs: &[u8]| signs.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
    text.windows(6).any(rises) || text.windows(6).any(stays)
}

/// The value of a digit of base64, of both alphabets.
pub(crate) fn base64_digit(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// Returns the bytes that a token in base64 encodes. The last one may be cut.
pub(crate) fn decoded(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let (mut bits, mut count) = (0_u32, 0_u32);
    let mut decoded = Vec::with_capacity(digits.len());
    for byte in digits {
        bits = (bits << 6 | u32::from(base64_digit(*byte)?)) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push((bits >> count & 0xFF) as u8);
        }
    }
    Some(decoded)
}

/// Returns whether a token is base64 of printable text: then it is what the text is.
pub(crate) fn is_encoded_text(text: &str) -> bool {
    let Some(decoded) = decoded(text) else {
        return false;
    };
    let is_printable = |byte: &&u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
    let printable = decoded.iter().filter(is_printable).count();
    // The last character may be cut.
    let is_text = match std::str::from_utf8(&decoded) {
        Ok(text) => !text.chars().any(char::is_control),
        Err(error) => error.error_len().is_none() && error.valid_up_to() >= 8,
    };
    decoded.len() >= 8 && (printable * 20 >= decoded.len() * 17 || is_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alphabet_of_a_generated_token_is_known() {
        for (text, alphabet) in [
            ("HYtzyQPOwxA57F6dXiL3nBcrPFhUN1FW", Alphabet::Mixed),
            ("5i1Fwl8b0JJ7vCBqTmq4aPis", Alphabet::Mixed),
            ("nqZLQM3riPRoxosJPTnLwAJRvJVGeT", Alphabet::Mixed),
            ("cA9xX0U/QwV5xyrVT5E9IvN7FIyqT3mTb6VWBfiG", Alphabet::Mixed),
            ("jozhl5mjzo31xnwhjy0sscjon3ydshysy2vypanl", Alphabet::OneCase),
            ("sbhhn8m01elw5y7m7qezci1pwpiif7", Alphabet::OneCase),
            ("94c749d618705335bd1d3a173c638036", Alphabet::Hex),
        ] {
            assert_eq!(generated(text), Some(alphabet), "{text}");
        }
    }

    #[test]
    fn a_name_was_not_generated() {
        for text in [
            "ClearWebsiteDataOnLogoutHandlerFactory2",
            "test_sha256_x86_64_unknown_linux_gnu",
            "AbstractUserDetailsAuthenticationProvider",
            "Utf8ToUtf16LittleEndianConverter",
            "org.example.Base64UrlDecoder2Test",
            "2026-01-05T12-00-00-000Z",
            "11111111111111111111111111111111",
            "0123456789abcdef0123456789abcdef",
            "MAX_HTTP2_HEADER_LIST_SIZE_V2",
        ] {
            assert_eq!(generated(text), None, "{text}");
        }
    }

    #[test]
    fn base64_of_a_text_is_known() {
        assert!(is_encoded_text("SGVsbG8gd29ybGQhIFRoaXMgaXMgYSB0ZXN0"));
        assert!(!is_encoded_text("HYtzyQPOwxA57F6dXiL3nBcrPFhUN1FW"));
    }
}
