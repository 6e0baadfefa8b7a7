//! Server-sent events, read from a stream in pieces of any size.

/// The longest line, in bytes. A provider that sends a longer one is broken.
const MAX_LINE: usize = 8 * 1024 * 1024;

/// Collects the `data` of events.
#[derive(Debug, Default)]
pub struct EventReader {
    pending: Vec<u8>,
    data: String,
    has_data: bool,
    is_broken: bool,
}

impl EventReader {
    /// Adds bytes, and returns the data of the events that are complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        if self.is_broken {
            return events;
        }
        // What was pending has no line end; a long line is searched once.
        let mut searched = self.pending.len();
        self.pending.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(length) = self.pending[searched..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.pending[start..searched + length]).into_owned();
            start = searched + length + 1;
            searched = start;
            self.line(line.trim_end_matches('\r'), &mut events);
        }
        self.pending.drain(..start);
        self.is_broken = self.pending.len() > MAX_LINE || self.data.len() > MAX_LINE;
        events
    }

    /// Whether an event was longer than the limit. Nothing behind it is read.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// The event at the end of a stream that has no empty line behind it.
    pub fn finish(mut self) -> Option<String> {
        let mut events = Vec::new();
        let rest = String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned();
        self.line(&rest, &mut events);
        self.line("", &mut events);
        events.pop()
    }

    fn line(&mut self, line: &str, events: &mut Vec<String>) {
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                events.push(std::mem::take(&mut self.data));
            }
            return;
        }
        if let Some(data) = line.strip_prefix("data:") {
            if self.has_data {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            self.has_data = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: &str = ": hello\r\ndata: {\"a\":1}\r\n\r\nevent: x\ndata: é\ndata: two\n\ndata: [DONE]\n\n";

    #[test]
    fn the_last_event_may_lack_its_empty_line() {
        let mut reader = EventReader::default();
        assert!(reader.push(b"data: x").is_empty());
        assert_eq!(reader.finish().as_deref(), Some("x"));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(cuts in proptest::collection::vec(0..STREAM.len(), 0..6)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let mut reader = EventReader::default();
            let mut events = Vec::new();
            for pair in cuts.windows(2) {
                events.extend(reader.push(&STREAM.as_bytes()[pair[0]..pair[1]]));
            }
            prop_assert_eq!(events, ["{\"a\":1}", "é\ntwo", "[DONE]"]);
        }

        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            let mut reader = EventReader::default();
            reader.push(&bytes);
            reader.finish();
        }
    }
}
