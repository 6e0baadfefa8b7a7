//! Holds the error events of a stream back, because they may repeat a key. All other events pass at once.

use memchr::memchr;

/// The bytes of a line that decide whether its event is an error.
const DECIDING: usize = 64;

/// The most bytes of an event that are held back.
const MAX_HELD: usize = 64 * 1024;

/// A part of a stream to write.
pub(super) enum Held<'b> {
    /// Bytes to pass unchanged.
    Bytes(&'b [u8]),
    /// The data of an error event.
    Error(&'b [u8]),
}

/// What is known of the current event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Unknown,
    Error,
    Other,
}

/// Splits a stream into error events and everything else.
#[derive(Debug, Default)]
pub(super) struct HeldErrors {
    kind: Kind,
    /// The bytes of the event that are held back.
    held: Vec<u8>,
    /// Where the unfinished line begins in `held`, or the number of its bytes that passed.
    line: usize,
}

impl HeldErrors {
    /// Takes the next bytes of the stream.
    pub(super) fn chunk(&mut self, mut chunk: &[u8], pass: &mut impl FnMut(Held<'_>)) {
        while !chunk.is_empty() {
            let end = memchr(b'\n', chunk).map(|at| at + 1);
            let (part, rest) = chunk.split_at(end.unwrap_or(chunk.len()));
            chunk = rest;
            self.part(part, end.is_some(), pass);
        }
    }

    /// Passes what is held back when the stream ended.
    pub(super) fn end(&mut self, pass: &mut impl FnMut(Held<'_>)) {
        self.event_ended(pass);
    }

    /// A line, or a part of one.
    fn part(&mut self, part: &[u8], is_end: bool, pass: &mut impl FnMut(Held<'_>)) {
        if self.kind == Kind::Other {
            pass(Held::Bytes(part));
            let is_blank = self.line == 0 && part.trim_ascii().is_empty();
            self.line = if is_end { 0 } else { self.line + part.len() };
            if is_end && is_blank {
                (self.kind, self.line) = (Kind::Unknown, 0);
            }
            return;
        }
        let room = MAX_HELD.saturating_sub(self.held.len());
        if self.kind == Kind::Error {
            // More than an error message needs is dropped.
            self.held.extend_from_slice(&part[..part.len().min(room)]);
        } else {
            self.held.extend_from_slice(part);
        }
        let line = self.held.get(self.line..).unwrap_or_default();
        if is_end && line.trim_ascii().is_empty() {
            return self.event_ended(pass);
        }
        if self.kind == Kind::Unknown && (is_end || line.len() >= DECIDING) {
            self.kind = match kind(line) {
                Kind::Unknown if self.held.len() > MAX_HELD => Kind::Other,
                kind => kind,
            };
            if self.kind == Kind::Other {
                pass(Held::Bytes(&self.held));
                let begun = if is_end { 0 } else { line.len() };
                self.held.clear();
                self.line = begun;
                return;
            }
        }
        if is_end {
            self.line = self.held.len();
        }
    }

    fn event_ended(&mut self, pass: &mut impl FnMut(Held<'_>)) {
        let held = std::mem::take(&mut self.held);
        if self.kind == Kind::Error {
            pass(Held::Error(&data(&held)));
        } else if !held.is_empty() {
            pass(Held::Bytes(&held));
        }
        (self.kind, self.line) = (Kind::Unknown, 0);
    }
}

/// What the beginning of a line says about its event.
fn kind(line: &[u8]) -> Kind {
    let line: Vec<u8> = line
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    if line == b"event:error"
        || line.starts_with(br#"data:{"type":"error""#)
        || line.starts_with(br#"data:{"error":"#)
    {
        Kind::Error
    } else if line.starts_with(b"event:") || line.starts_with(b"data:") {
        Kind::Other
    } else {
        Kind::Unknown
    }
}

/// The data of an event.
fn data(event: &[u8]) -> Vec<u8> {
    let lines = event.split(|byte| *byte == b'\n');
    let data: Vec<&[u8]> = lines
        .filter_map(|line| line.trim_ascii().strip_prefix(b"data:"))
        .collect();
    data.join(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What passes, with errors in angle brackets.
    fn passed(chunks: &[&str]) -> String {
        let mut out = String::new();
        let mut errors = HeldErrors::default();
        let mut pass = |held: Held<'_>| match held {
            Held::Bytes(bytes) => out.push_str(std::str::from_utf8(bytes).unwrap()),
            Held::Error(data) => out.push_str(&format!("<{}>", String::from_utf8_lossy(data).trim())),
        };
        for chunk in chunks {
            errors.chunk(chunk.as_bytes(), &mut pass);
        }
        errors.end(&mut pass);
        out
    }

    #[test]
    fn only_error_events_are_held_back() {
        for (text, expected) in [
            ("event: ping\ndata: {}\n\n", "event: ping\ndata: {}\n\n"),
            ("event: error\ndata: {}\n\nevent: x\n", "<{}>event: x\n"),
            (
                ": c\r\ndata: {\"type\": \"error\", \"a\": 1}\r\n\r\n",
                "<{\"type\": \"error\", \"a\": 1}>",
            ),
            (
                "data: {\"text\":\"event: error\"}\n\n",
                "data: {\"text\":\"event: error\"}\n\n",
            ),
            ("id: 1\n\nevent: error\ndata: cut", "id: 1\n\n<cut>"),
        ] {
            assert_eq!(passed(&[text]), expected, "{text:?}");
        }
        let mut errors = HeldErrors::default();
        let mut count = 0;
        errors.chunk(b"event: content_block_delta\n", &mut |_| count += 1);
        errors.chunk(b"data: {\"a\"", &mut |_| count += 1);
        assert_eq!(count, 2, "an event passes while it arrives");
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(text in "(event: |data: |error|x|\\{\"type\":|[a\"}\r\n]){0,40}", at in 0_usize..100) {
            let at = at.min(text.len());
            prop_assert_eq!(passed(&[&text[..at], &text[at..]]), passed(&[&text]));
        }

        #[test]
        fn text_without_errors_passes_unchanged(text in "(event: |data: |ping|x|[a\"}\r\n]){0,40}") {
            prop_assert_eq!(passed(&[&text]), text);
        }
    }
}
