//! The characters of an uploaded file.

use super::IngestFailed;
use std::borrow::Cow;

/// Decodes a text file: UTF-8 with or without a byte order mark, or UTF-16 with one.
///
/// # Errors
///
/// Returns [`IngestFailed::Invalid`] with the place of the first byte that does not hold.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, IngestFailed> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        _ => {
            let (skipped, rest) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
                Some(rest) => (3, rest),
                None => (0, bytes),
            };
            Cow::Borrowed(std::str::from_utf8(rest).map_err(|error| {
                invalid(format!(
                    "the file is not valid UTF-8: byte {} does not belong there; save it as UTF-8 and upload it again",
                    skipped + error.valid_up_to()
                ))
            })?)
        }
    };
    if let Some(place) = text.find('\0') {
        return Err(invalid(format!(
            "the file has a NUL character at byte {place} of its text, so it is not a text file; upload it as what it is, or \
             without that character"
        )));
    }
    if text.trim().is_empty() {
        return Err(invalid("the file has no text; nothing was stored".to_owned()));
    }
    Ok(text)
}

/// Decodes UTF-16 behind its byte order mark.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, IngestFailed> {
    let (units, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut at = 2;
    for character in char::decode_utf16(units.iter().map(|bytes| unit(*bytes))) {
        let character = character.map_err(|_| broken_utf16(at))?;
        text.push(character);
        at += character.len_utf16() * 2;
    }
    if rest.is_empty() {
        Ok(text)
    } else {
        Err(broken_utf16(at))
    }
}

fn broken_utf16(at: usize) -> IngestFailed {
    invalid(format!(
        "the file begins like UTF-16 and is not valid UTF-16 at byte {at}; save it as UTF-8 and upload it again"
    ))
}

fn invalid(message: String) -> IngestFailed {
    IngestFailed::Invalid(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_marks_are_understood() {
        for (bytes, text) in [
            (&b"plain"[..], "plain"),
            (b"\xef\xbb\xbfmarked", "marked"),
            (b"\xff\xfeh\0\xac\x20", "h€"),
            (b"\xfe\xff\0h\xd8\x3d\xde\x00", "h😀"),
        ] {
            assert_eq!(decode(bytes).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        for (bytes, part) in [
            (&b"ab\xffcd"[..], "byte 2 "),
            (b"\xef\xbb\xbfab\xff", "byte 5 "),
            (b"ab\0cd", "NUL character at byte 2"),
            (b"\xff\xfea\0\0\xd8b\0", "UTF-16 at byte 4"),
            (b"\xff\xfea\0b", "UTF-16 at byte 4"),
            (b"", "no text"),
            (b" \n\t ", "no text"),
            (b"\xff\xfe", "no text"),
        ] {
            let error = decode(bytes).unwrap_err().to_string();
            assert!(error.contains(part), "{bytes:?}: {error}");
        }
    }
}
