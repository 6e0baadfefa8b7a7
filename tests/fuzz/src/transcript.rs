//! A transcript: reading it in parts gives the same entries as reading it whole.

use crate::{chunks, controlled};
use grov_actions::transcript::Reader;

/// Checks one transcript.
pub(crate) fn check(data: &[u8]) {
    let (control, bytes) = controlled(data);
    let mut reader = Reader::new(Some("s"));
    let whole = reader.read(bytes);
    assert!(whole.taken <= bytes.len());
    let mut reader = Reader::new(Some("s"));
    let (mut entries, mut broken) = (Vec::new(), 0);
    let mut pending: Vec<u8> = Vec::new();
    for chunk in chunks(bytes, control) {
        pending.extend_from_slice(chunk);
        let part = reader.read(&pending);
        pending.drain(..part.taken);
        entries.extend(part.entries);
        broken += part.broken;
    }
    assert_eq!(pending, &bytes[whole.taken..]);
    assert_eq!((entries, broken), (whole.entries, whole.broken));
}
