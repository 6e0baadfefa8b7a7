//! Pictures in a PDF: they are not read, so they may unpack to more than what is.

use memchr::memmem;
use pdf_extract::{Document, Object};

/// Makes all pictures empty, so that nothing unpacks them, whatever refers to them.
pub(super) fn leave_out(document: &mut Document) {
    for object in document.objects.values_mut() {
        if let Object::Stream(stream) = object
            && stream
                .dict
                .get(b"Subtype")
                .and_then(Object::as_name)
                .is_ok_and(|name| name == b"Image")
        {
            stream.dict.remove(b"Filter");
            stream.set_content(Vec::new());
        }
    }
}

/// Whether bytes end with the dictionary of a picture that unpacks in one step.
///
/// A yes is certain: [`leave_out`] finds the same picture. A no may be wrong for a dictionary that is written in an unusual way;
/// such a picture counts like any other stream.
pub(super) fn ends_with_dictionary(before: &[u8]) -> bool {
    let Some(place) = memmem::rfind(before, b"obj") else {
        return false;
    };
    let line = before[..place]
        .iter()
        .rposition(|byte| matches!(byte, b'\n' | b'\r'));
    let is_header = line.is_some_and(|end| {
        let header = &before[end + 1..place];
        header.iter().all(|byte| byte.is_ascii_digit() || *byte == b' ')
    });
    let dictionary = before[place + b"obj".len()..].trim_ascii();
    // Strings and comments may hide where a dictionary begins, and `#` what a name is.
    let is_plain = !dictionary
        .iter()
        .any(|byte| matches!(byte, b'(' | b')' | b'%' | b'#'));
    is_header && is_plain && Entries::read(dictionary).is_some_and(|entries| entries.is_picture())
}

/// What a dictionary says about itself.
#[derive(Default)]
struct Entries<'a> {
    subtype: &'a [u8],
    kind: &'a [u8],
    filters: usize,
}

impl<'a> Entries<'a> {
    fn is_picture(&self) -> bool {
        self.subtype == b"Image" && matches!(self.kind, b"" | b"XObject") && self.filters <= 1
    }

    /// Reads a dictionary, `None` if it does not end where the bytes end. As for the reader, the last of equal keys counts.
    fn read(dictionary: &'a [u8]) -> Option<Self> {
        let mut entries = Self::default();
        let (mut depth, mut at) = (0_usize, 0);
        let mut key: Option<&[u8]> = None;
        let mut list: Option<&[u8]> = None;
        while at < dictionary.len() {
            let rest = &dictionary[at..];
            let is_inside = depth > 0;
            let (length, change) = match rest {
                [b'<', b'<', ..] => (2, 1),
                [b'>', b'>', ..] => (2, -1),
                [b'[', ..] => (1, 1),
                [b']', ..] => (1, -1),
                [b'<', ..] => (memchr::memchr(b'>', rest)? + 1, 0),
                [b'/', name @ ..] => (1 + name.iter().take_while(|byte| is_regular(**byte)).count(), 0),
                [byte, ..] if is_regular(*byte) => {
                    (rest.iter().take_while(|byte| is_regular(**byte)).count(), 0)
                }
                [b' ' | b'\t' | b'\r' | b'\n' | 0 | 0x0c, ..] => {
                    at += 1;
                    continue;
                }
                _ => return None,
            };
            if !is_inside && at > 0 {
                return None;
            }
            match (depth, rest.first()?) {
                (1, b'/') => {
                    let name = &rest[1..length];
                    match key.take() {
                        None => key = Some(name),
                        Some(b"Subtype") => entries.subtype = name,
                        Some(b"Type") => entries.kind = name,
                        Some(b"Filter") => entries.filters += 1,
                        Some(_) => {}
                    }
                }
                (1, _) => list = key.take(),
                (2, b'/') if list == Some(b"Filter") => entries.filters += 1,
                _ => {}
            }
            depth = depth.checked_add_signed(change)?;
            at += length;
        }
        (depth == 0 && dictionary.starts_with(b"<<")).then_some(entries)
    }
}

fn is_regular(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t'
            | b'\r'
            | b'\n'
            | 0
            | 0x0c
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'/'
            | b'%'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_dictionary_of_a_picture_is_one() {
        let is_picture = |dictionary: &str| {
            ends_with_dictionary(format!("1 0 obj\n<<>>\nendobj\n7 0 obj\n{dictionary}\n").as_bytes())
        };
        for dictionary in [
            "<</Type/XObject/Subtype/Image/Width 2/Filter/FlateDecode/Length 5 0 R>>",
            "<< /Length 9 /ColorSpace [/Indexed /DeviceRGB 1 <00FF>] /Filter [ /DCTDecode ] /Subtype /Image >>",
            "<</DecodeParms<</Colors 3>>/Subtype/Image>>",
        ] {
            assert!(is_picture(dictionary), "{dictionary}");
        }
        for dictionary in [
            "<</Subtype/Image/Subtype/Form>>",
            "<</X/Subtype/Image 5>>",
            "<</Subtype/Form/A<</Subtype/Image>>>>",
            "<</Type/ObjStm/Subtype/Image>>",
            "<</Type/XRef/Subtype/Image>>",
            "<</Subtype/Image/Filter[/FlateDecode/FlateDecode]>>",
            "<</Length 4/A(\n1 0 obj <</Subtype/Image)>>",
            "<</Length 4 %\n/Subtype/Image>>",
            "<</Length 4 %1 0 obj<<\n/Subtype/Image>>",
            "<</Subtype/Image>> <</Length 4>>",
            "<</Length 4>>",
            "",
        ] {
            assert!(!is_picture(dictionary), "{dictionary}");
        }
    }
}
