//! Checks of the bytes of a PDF, before any library reads them.

use super::{IngestFailed, invalid, picture, too_large};
use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;
use std::borrow::Cow;

/// The most bytes that all streams together may unpack to, without pictures: a reader holds them in memory.
const MAX_UNPACKED: usize = 64 * 1024 * 1024;
/// The same for pictures, which are not read.
const MAX_PICTURES: usize = 512 * 1024 * 1024;
/// The most streams in streams.
const MAX_LAYERS: usize = 4;
/// The most brackets that open arrays and dictionaries, in the file and in each stream: the reader may recurse for each, which
/// takes about 2.3 kB of its stack.
const MAX_OPENING: usize = 150_000;
/// How far before a stream its dictionary is looked for.
const DICTIONARY_BYTES: usize = 16 * 1024;

/// Checks that a PDF is not encrypted and unpacks to a bounded size.
pub(super) fn check(bytes: &[u8]) -> Result<(), IngestFailed> {
    let mut names = Names::default();
    names.read(bytes);
    if names.encrypt {
        return Err(invalid(
            "the PDF is encrypted; save it without a password and without restrictions, and upload that"
                .to_owned(),
        ));
    }
    if names.lzw || (names.ascii85 && names.object_stream) {
        return Err(invalid(
            "the PDF uses a compression of the nineties (LZW) or an unusual combination of encodings; save it again with a \
             current program and upload that"
                .to_owned(),
        ));
    }
    check_opening(bytes)?;
    let (mut unpacked, mut pictures) = (0, 0);
    let mut at = 0;
    while let Some(found) = memmem::find(&bytes[at..], b"stream") {
        let keyword = at + found;
        at = keyword + b"stream".len();
        let data = data_after(&bytes[at..]);
        let before = &bytes[keyword.saturating_sub(DICTIONARY_BYTES)..keyword];
        if picture::ends_with_dictionary(before) {
            pictures += unpack(data, MAX_PICTURES - pictures, None)?;
        } else {
            unpacked += check_layers(data, MAX_UNPACKED - unpacked)?;
        }
    }
    Ok(())
}

/// Returns the data behind the word `stream`: the reader skips blanks and one end of a line, also a lone carriage return.
fn data_after(keyword: &[u8]) -> &[u8] {
    let blanks = keyword
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let data = &keyword[blanks..];
    [&b"\r\n"[..], b"\n", b"\r"]
        .iter()
        .find_map(|end| data.strip_prefix(*end))
        .unwrap_or(data)
}

/// Unpacks a stream, and streams in it, and returns their size.
///
/// What a layer is is not known, so each is read as zlib and as ASCII85.
fn check_layers(data: &[u8], most: usize) -> Result<usize, IngestFailed> {
    let mut total = 0;
    let mut layers = vec![(0, Cow::Borrowed(data))];
    while let Some((depth, layer)) = layers.pop() {
        if depth > 0 {
            check_opening(&layer)?;
        }
        let mut unpacked = Vec::new();
        let size = unpack(&layer, most - total, Some(&mut unpacked))?;
        total += size;
        // Text is often ASCII85 by chance. It matters only if it hides something that unpacks.
        let decoded = Some(ascii85(&layer)).filter(|decoded| is_zlib(decoded));
        for next in [unpacked, decoded.unwrap_or_default()] {
            if next.is_empty() {
                continue;
            }
            if depth == MAX_LAYERS {
                return Err(too_large("streams in streams"));
            }
            layers.push((depth + 1, Cow::Owned(next)));
        }
    }
    Ok(total)
}

fn check_opening(bytes: &[u8]) -> Result<(), IngestFailed> {
    let arrays = memchr::memchr_iter(b'[', bytes).count();
    let dictionaries = memmem::find_iter(bytes, b"<<").count();
    if arrays + dictionaries > MAX_OPENING {
        return Err(too_large("arrays and dictionaries"));
    }
    Ok(())
}

/// Unpacks zlib data at the beginning of `data` and returns its size, 0 if there is none. What follows it is ignored.
fn unpack(data: &[u8], most: usize, mut keep: Option<&mut Vec<u8>>) -> Result<usize, IngestFailed> {
    if !is_zlib(data) {
        return Ok(0);
    }
    let mut decoder = Decompress::new(true);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let (read, written) = (decoder.total_in() as usize, decoder.total_out());
        let status = decoder.decompress(&data[read.min(data.len())..], &mut buffer, FlushDecompress::None);
        let new = (decoder.total_out() - written) as usize;
        if let Some(keep) = keep.as_deref_mut() {
            keep.extend_from_slice(&buffer[..new]);
        }
        let total = decoder.total_out() as usize;
        if total > most {
            return Err(too_large("its streams"));
        }
        let is_stuck = new == 0 && decoder.total_in() as usize == read;
        match status {
            Ok(Status::StreamEnd) | Err(_) => return Ok(total),
            Ok(_) if is_stuck => return Ok(total),
            Ok(_) => {}
        }
    }
}

/// Whether data begins like zlib data.
fn is_zlib(data: &[u8]) -> bool {
    matches!(data, [first, second, ..] if first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

/// Decodes ASCII85 at the beginning of `data`, as far as it is that.
fn ascii85(data: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::new();
    let (mut group, mut count) = (0_u32, 0);
    for byte in data {
        match byte {
            b'z' if count == 0 => decoded.extend_from_slice(&[0; 4]),
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte - b'!'));
                count += 1;
                if count == 5 {
                    decoded.extend_from_slice(&group.to_be_bytes());
                    (group, count) = (0, 0);
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => break,
        }
    }
    decoded
}

/// Names in a PDF that decide whether it is read.
#[derive(Default)]
struct Names {
    encrypt: bool,
    lzw: bool,
    ascii85: bool,
    object_stream: bool,
}

impl Names {
    /// Looks for the names, also where characters are written as `#4c`.
    fn read(&mut self, bytes: &[u8]) {
        for name in bytes.split(|byte| *byte == b'/').skip(1) {
            let end = name
                .iter()
                .position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'#'))
                .unwrap_or(name.len())
                .min(64);
            match decoded(&name[..end]).as_slice() {
                b"Encrypt" => self.encrypt = true,
                b"LZWDecode" => self.lzw = true,
                b"ASCII85Decode" => self.ascii85 = true,
                b"ObjStm" => self.object_stream = true,
                _ => {}
            }
        }
    }
}

fn decoded(name: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(name.len());
    let mut at = 0;
    while at < name.len() {
        match (name[at], digit(name.get(at + 1)), digit(name.get(at + 2))) {
            (b'#', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or(b'#'));
                at += 3;
            }
            (byte, _, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}
