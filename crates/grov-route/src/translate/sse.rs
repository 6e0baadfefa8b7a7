//! Decodes server-sent events.

use memchr::memchr;

/// Splits a byte stream into the data of its events.
///
/// Accepts LF and CRLF, `data:` with and without a space, comments, other fields, and a byte order mark. A line that
/// is a complete payload is delivered at once, without waiting for the blank line after it.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    /// The unfinished line.
    line: Vec<u8>,
    /// Lines of one event that only together are a payload.
    lines: Vec<Vec<u8>>,
    /// The memory of `lines`, in bytes.
    held: usize,
    /// The most bytes of one event.
    limit: usize,
    started: bool,
}

/// An event exceeds the size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the provider exceeds {limit} bytes")]
pub(crate) struct EventTooLarge {
    limit: usize,
}

/// What to do with a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It was understood.
    Yes,
    /// It is not a payload by itself.
    No,
}

impl SseDecoder {
    /// A decoder that refuses events of more than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            lines: Vec::new(),
            held: 0,
            limit,
            started: false,
        }
    }

    /// Decodes a chunk. Each payload is offered to `payloads`; lines that are part of no payload are reported as lost.
    pub(crate) fn chunk(
        &mut self,
        mut chunk: &[u8],
        payloads: &mut impl Payloads,
    ) -> Result<(), EventTooLarge> {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            chunk = &rest[1..];
            if self.line.is_empty() {
                self.line(line, payloads)?;
            } else {
                self.grow(line)?;
                let line = std::mem::take(&mut self.line);
                self.line(&line, payloads)?;
            }
        }
        self.grow(chunk)
    }

    /// Decodes what is left at the end of the stream.
    pub(crate) fn end(&mut self, payloads: &mut impl Payloads) -> Result<(), EventTooLarge> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.line(&line, payloads)?;
        }
        self.dispatch(payloads);
        Ok(())
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        if self.line.len() + bytes.len() > self.limit {
            return Err(EventTooLarge { limit: self.limit });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line(&mut self, line: &[u8], payloads: &mut impl Payloads) -> Result<(), EventTooLarge> {
        let mut line = line.strip_suffix(b"\r").unwrap_or(line);
        if !self.started {
            self.started = true;
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(payloads);
            return Ok(());
        }
        // llama.cpp names the field of an error `error`.
        let data = line
            .strip_prefix(b"data:")
            .or_else(|| line.strip_prefix(b"error:"));
        let Some(data) = data else {
            return Ok(());
        };
        let data = data.strip_prefix(b" ").unwrap_or(data);
        // Some gateways keep the connection alive by empty events.
        if data.trim_ascii().is_empty() {
            return Ok(());
        }
        if payloads.take(data) == Taken::Yes {
            // Lines before it belong to no payload.
            self.give_up(payloads);
            return Ok(());
        }
        self.held += data.len() + size_of::<Vec<u8>>();
        if self.held > self.limit {
            return Err(EventTooLarge { limit: self.limit });
        }
        self.lines.push(data.to_vec());
        Ok(())
    }

    /// The event is complete: its lines are one payload, or none.
    fn dispatch(&mut self, payloads: &mut impl Payloads) {
        if self.lines.len() > 1 && payloads.take(&self.lines.join(&b'\n')) == Taken::Yes {
            self.lines.clear();
            self.held = 0;
            return;
        }
        self.give_up(payloads);
    }

    fn give_up(&mut self, payloads: &mut impl Payloads) {
        for line in self.lines.drain(..) {
            payloads.lost(&line);
        }
        self.held = 0;
    }
}

/// Receives the payloads of a stream.
pub(crate) trait Payloads {
    /// Offers a payload.
    fn take(&mut self, data: &[u8]) -> Taken;
    /// Reports a line that is part of no payload.
    fn lost(&mut self, data: &[u8]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Default, PartialEq, Debug)]
    struct Seen(Vec<String>, Vec<String>);
    impl Payloads for Seen {
        fn take(&mut self, data: &[u8]) -> Taken {
            if serde_json::from_slice::<serde_json::Value>(data).is_err() {
                return Taken::No;
            }
            self.0.push(String::from_utf8_lossy(data).into_owned());
            Taken::Yes
        }
        fn lost(&mut self, data: &[u8]) {
            self.1.push(String::from_utf8_lossy(data).into_owned());
        }
    }

    fn decode(text: &[u8], size: usize) -> Seen {
        let mut decoder = SseDecoder::new(1 << 20);
        let mut seen = Seen::default();
        for chunk in text.chunks(size.max(1)) {
            decoder.chunk(chunk, &mut seen).unwrap();
        }
        decoder.end(&mut seen).unwrap();
        seen
    }

    #[test]
    fn forms_of_lines() {
        let seen = decode(
            b"\xEF\xBB\xBFdata:1\r\n\r\n: note\nevent: x\nid: 4\ndata: [2,\ndata: 3]\n\ndata: 4\ndata: 5",
            3,
        );
        assert_eq!(
            seen,
            Seen(["1", "[2,\n3]", "4", "5"].map(String::from).into(), vec![])
        );
    }

    #[test]
    fn empty_events_keep_a_connection_alive() {
        let seen = decode(b"data: \n\ndata:\n\ndata: \r\n\r\ndata: 1\n\n", 100);
        assert_eq!(seen, Seen(vec!["1".into()], vec![]));
    }

    #[test]
    fn lines_that_are_no_payload_are_reported_one_by_one() {
        let seen = decode(b"data: {bad\n\ndata: {bad\ndata: {bad\n\n", 100);
        assert_eq!(seen.1.len(), 3);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = SseDecoder::new(1000);
        let mut seen = Seen::default();
        let result: Result<Vec<()>, _> = (0..100).map(|_| decoder.chunk(&[b'x'; 100], &mut seen)).collect();
        assert_eq!(result, Err(EventTooLarge { limit: 1000 }));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(lines in proptest::collection::vec("(data: ?)?[\\[{}\\],0-9a-z\"]{0,6}\r?", 0..20), size in 1usize..9) {
            let text = lines.join("\n").into_bytes();
            prop_assert_eq!(decode(&text, size), decode(&text, text.len()));
        }
    }
}
