//! Follows the events of a stream that passes unchanged.

use memchr::memchr;

/// The bytes of a line that are looked at.
const SEEN: usize = 64;

/// Where a stream of the Messages API is. Only the beginning of each line is kept.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The beginning of the unfinished line.
    line: Vec<u8>,
    /// Whether the current event has a line.
    in_event: bool,
    /// Whether the current event has data.
    has_data: bool,
    /// Whether the current event is the last of a response.
    is_last: bool,
    ended: bool,
}

impl Events {
    /// Takes the next bytes of the stream.
    pub(super) fn chunk(&mut self, mut chunk: &[u8]) {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            chunk = rest.get(1..).unwrap_or_default();
            self.extend(line);
            self.line_ended();
        }
        self.extend(chunk);
    }

    /// Whether the next byte begins an event.
    pub(super) fn is_at_boundary(&self) -> bool {
        !self.in_event && self.line.is_empty()
    }

    /// Whether `message_stop` or an error arrived whole.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = SEEN.saturating_sub(self.line.len()).min(bytes.len());
        self.line.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }

    fn line_ended(&mut self) {
        // White space means nothing in the lines that are compared here.
        self.line.retain(|byte| !byte.is_ascii_whitespace());
        let line = self.line.as_slice();
        if line.is_empty() {
            self.ended |= self.is_last && self.has_data;
            (self.in_event, self.has_data, self.is_last) = (false, false, false);
            return;
        }
        self.in_event = true;
        self.has_data |= line.starts_with(b"data:");
        self.is_last |= matches!(line, b"event:message_stop" | b"event:error")
            || line.starts_with(br#"data:{"type":"message_stop""#)
            || line.starts_with(br#"data:{"type":"error""#)
            || line.starts_with(br#"data:{"error":"#);
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(text: &str) -> (bool, bool) {
        let mut events = Events::default();
        events.chunk(text.as_bytes());
        (events.is_at_boundary(), events.has_ended())
    }

    #[test]
    fn boundaries_and_ends_are_found() {
        for (text, expected) in [
            ("", (true, false)),
            ("event: ping\n", (false, false)),
            ("event: ping\ndata: {}\n", (false, false)),
            ("event: ping\r\ndata: {}\r\n\r\n", (true, false)),
            ("event: message_stop\n\n", (true, false)),
            (
                "event: message_stop\ndata: {\"type\":\"message_stop\"}\n",
                (false, false),
            ),
            (
                "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
                (true, true),
            ),
            ("data: {\"type\": \"message_stop\"}\n\n", (true, true)),
            ("event: error\ndata: {}\n\nev", (false, true)),
            ("data: {\"error\":{\"message\":\"busy\"}}\n\n", (true, true)),
            (
                "data: {\"type\":\"x\",\"text\":\"event: message_stop\"}\n\n",
                (true, false),
            ),
        ] {
            assert_eq!(after(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(text in "(event: |data: |error|message_stop|\\{\"type\":|[a\"}\r\n]){0,40}", at in 0_usize..100) {
            let at = at.min(text.len());
            let mut events = Events::default();
            let (before, rest) = text.as_bytes().split_at(at);
            events.chunk(before);
            events.chunk(rest);
            prop_assert_eq!((events.is_at_boundary(), events.has_ended()), after(&text));
        }
    }
}
