//! Reads escapes of four hexadecimal digits.

/// Whether a text is the beginning of `uXXXX`, or of a pair of escapes.
pub(super) fn is_cut_unicode(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let half = |text: &str| text.len() < 5 && text.strip_prefix('u').is_some_and(digits);
    let is_first_of_pair = text
        .get(1..5)
        .is_some_and(|first| digits(first) && matches!(u32::from_str_radix(first, 16), Ok(0xD800..0xDC00)));
    half(text)
        || (is_first_of_pair
            && match text[5..].strip_prefix('\\') {
                Some(second) => second.is_empty() || half(second),
                None => text.len() == 5,
            })
}

/// Reads the digits after `\u`, and the second half of a pair. Half of a pair becomes the replacement character; `None` if
/// there are no digits.
pub(super) fn unicode(text: &str) -> Option<(char, &str)> {
    let digits = |text: &str| {
        let digits = text.get(..4)?;
        let valid = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| valid)
    };
    let first = digits(text)?;
    let rest = &text[4..];
    if let Some(c) = char::from_u32(first) {
        return Some((c, rest));
    }
    let second = rest
        .strip_prefix("\\u")
        .and_then(|rest| Some((digits(rest)?, &rest[4..])));
    if let Some((second, rest)) = second
        && (0xD800..0xDC00).contains(&first)
        && (0xDC00..0xE000).contains(&second)
        && let Some(c) = char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    {
        return Some((c, rest));
    }
    Some((char::REPLACEMENT_CHARACTER, rest))
}
