//! Reads an event stream: the `data` of each event. Names are not needed, because the data of both APIs says what it is.

use crate::model::ModelError;

/// The longest event in bytes.
const MAX_EVENT_BYTES: usize = 1024 * 1024;

/// Splits a byte stream into events, however it is cut into parts.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    /// The unfinished line.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, whose line feed belongs to it.
    after_return: bool,
    /// Whether a line was read: the first may begin with a byte order mark.
    has_begun: bool,
    /// The data lines of the unfinished event.
    data: Option<Vec<u8>>,
}

impl EventReader {
    /// Reads the next part of the stream. Returns the data of the events that it ends.
    pub(super) fn read(&mut self, part: &[u8]) -> Result<Vec<String>, ModelError> {
        let mut events = Vec::new();
        for &byte in part {
            let is_second_half = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                _ if is_second_half => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > MAX_EVENT_BYTES {
                let reason = format!("an event is longer than {MAX_EVENT_BYTES} bytes");
                return Err(ModelError::Broken(reason));
            }
        }
        Ok(events)
    }

    /// Ends a line. Returns the data of the event if the line is empty.
    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let data = self.data.take()?;
            return Some(String::from_utf8_lossy(&data).into_owned());
        }
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            // Another field, or a comment.
            _ => return None,
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(parts: &[&[u8]]) -> Vec<String> {
        let mut reader = EventReader::default();
        let read = parts.iter().map(|part| reader.read(part).unwrap());
        read.collect::<Vec<_>>().concat()
    }

    #[test]
    fn the_data_of_each_event() {
        let stream = "\u{feff}data: one\n\nevent: x\r\ndata:two\r\ndata: and more\r\n\r\n: comment\n\ndata\n\ndata: unfinished";
        assert_eq!(events(&[stream.as_bytes()]), ["one", "two\nand more", ""]);
        assert_eq!(events(&[b"data: a\r", b"\ndata: b\r", b"\r"]), ["a\nb"]);
        assert_eq!(events(&[b"database: a\n\ndata :b\n\n"]), [""; 0]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut reader = EventReader::default();
        let part = vec![b'x'; MAX_EVENT_BYTES];
        assert!(reader.read(&part).is_ok());
        assert!(matches!(reader.read(b"x"), Err(ModelError::Broken(_))));
        let mut reader = EventReader::default();
        let lines = "data: x\n".repeat(MAX_EVENT_BYTES);
        assert!(reader.read(lines.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn the_cut_does_not_matter(
            stream in "(data: ?[a-zä:\u{feff}]{0,4}|event: x|:c|\r|\n|\r\n|\n\n){0,40}",
            cuts in proptest::collection::vec(0_usize..200, 0..8),
        ) {
            let bytes = stream.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(events(&parts), events(&[bytes]));
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut reader = EventReader::default();
            prop_assert!(reader.read(&bytes).is_ok());
        }

        #[test]
        fn what_was_written_is_read(data in proptest::collection::vec("[^\r\n]{0,20}", 1..10)) {
            let stream: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
            prop_assert_eq!(events(&[stream.as_bytes()]), data);
        }
    }
}
