//! An incremental decoder of server-sent events (WHATWG HTML §9.2.6).

use memchr::memchr2;
use std::ops::Range;

/// Maximum size of an event, in bytes from its first line to the blank line. Larger events are skipped and counted. The largest
/// real events contain one web search result and are far smaller.
pub const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// Buffers are shrunk to this capacity after each event, in bytes.
const KEPT_CAPACITY: usize = 16 * 1024;

const BYTE_ORDER_MARK: &[u8; 3] = b"\xEF\xBB\xBF";

/// A server-sent event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The value of the last `event:` line, or empty.
    pub name: &'a [u8],
    /// The values of the `data:` lines, joined by line feeds.
    pub data: &'a [u8],
}

/// Splits a byte stream, in chunks of any size, into events.
///
/// Lines end with LF, CRLF or CR. Comments and unknown fields are skipped, and also `id:` and `retry:`, because message streams
/// are not resumed. A block without a `data:` line is not an event.
///
/// ```
/// let mut decoder = grov_wire::response::SseDecoder::new();
/// let mut data = Vec::new();
/// for chunk in [b"event: a\nda".as_slice(), b"ta: 1\n\ndata: 2\n\n"] {
///     decoder.feed(chunk, |event| data.push(event.data.to_vec()));
/// }
/// assert_eq!(data, [b"1", b"2"]);
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    /// The bytes of an incomplete event, or only the last byte of a skipped one.
    pending: Vec<u8>,
    /// Whether the incomplete event is too large and is being skipped.
    skipping: bool,
    /// The joined `data:` lines of an event with several.
    joined: Vec<u8>,
    mark: Mark,
    oversized: u32,
    /// [`MAX_EVENT_BYTES`], or less in tests.
    limit: usize,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self {
            pending: Vec::new(),
            skipping: false,
            joined: Vec::new(),
            mark: Mark::Seen(0),
            oversized: 0,
            limit: MAX_EVENT_BYTES,
        }
    }
}

/// The byte order mark that may start a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// This many bytes of it were received, and nothing else.
    Seen(usize),
    /// It was received, or there is none.
    Past,
}

/// The ranges of the parts of an event.
struct Layout {
    /// The length up to and including the first byte of the blank line.
    length: usize,
    name: Range<usize>,
    data: Data,
}

enum Data {
    None,
    At(Range<usize>),
    Joined,
}

impl SseDecoder {
    /// Creates a decoder for a new stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes the next chunk and calls `on_event` for each event that it completes.
    pub fn feed(&mut self, chunk: &[u8], mut on_event: impl FnMut(SseEvent<'_>)) {
        let mut rest = self.past_mark(chunk);
        if !self.pending.is_empty() {
            let Some(end) = self.pending_end(rest) else {
                self.keep(rest);
                return;
            };
            self.keep(&rest[..end]);
            self.dispatch_pending(&mut on_event);
            rest = &rest[end..];
        }
        while !rest.is_empty() {
            let Some(layout) = lay_out(rest, &mut self.joined) else {
                self.keep(rest);
                return;
            };
            let (event, after) = rest.split_at(layout.length);
            if event.len() > self.limit {
                self.oversized = self.oversized.saturating_add(1);
            } else {
                emit(event, &layout, &self.joined, &mut on_event);
            }
            rest = after;
        }
    }

    /// Returns whether the stream so far ends inside an event.
    pub fn is_mid_event(&self) -> bool {
        !self.pending.is_empty() || matches!(self.mark, Mark::Seen(1..))
    }

    /// Returns the number of events that were skipped because they are larger than [`MAX_EVENT_BYTES`].
    pub fn oversized(&self) -> u32 {
        self.oversized
    }

    /// Returns `chunk` without a byte order mark at the start of the stream.
    fn past_mark<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        let Mark::Seen(seen) = self.mark else { return chunk };
        let missing = &BYTE_ORDER_MARK[seen..];
        let matching = missing
            .iter()
            .zip(chunk)
            .take_while(|(want, have)| want == have)
            .count();
        if matching == missing.len() {
            self.mark = Mark::Past;
            &chunk[matching..]
        } else if matching == chunk.len() {
            self.mark = Mark::Seen(seen + matching);
            &[]
        } else {
            // Not a byte order mark: its bytes belong to the first line.
            self.mark = Mark::Past;
            self.pending.extend_from_slice(&BYTE_ORDER_MARK[..seen]);
            chunk
        }
    }

    /// Returns where the pending event ends in `rest`: after the first byte of the blank line.
    fn pending_end(&self, rest: &[u8]) -> Option<usize> {
        let last = self.pending.last().copied();
        let mut at = usize::from(last == Some(b'\r') && rest.first() == Some(&b'\n'));
        if matches!(last, Some(b'\n' | b'\r')) && matches!(rest.get(at), Some(b'\n' | b'\r')) {
            return Some(at + 1);
        }
        loop {
            at = after_line_end(rest, at)?;
            if matches!(rest.get(at), Some(b'\n' | b'\r')) {
                return Some(at + 1);
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if !self.skipping && self.pending.len() + bytes.len() > self.limit {
            self.skipping = true;
        }
        if self.skipping {
            // The last byte shows whether the next one starts a line.
            if let Some(last) = bytes.last().or(self.pending.last()).copied() {
                self.pending = vec![last];
            }
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }

    fn dispatch_pending(&mut self, on_event: &mut impl FnMut(SseEvent<'_>)) {
        if self.skipping {
            self.skipping = false;
            self.oversized = self.oversized.saturating_add(1);
        } else if let Some(layout) = lay_out(&self.pending, &mut self.joined) {
            emit(&self.pending, &layout, &self.joined, on_event);
        }
        self.pending.clear();
        self.pending.shrink_to(KEPT_CAPACITY);
        self.joined.clear();
        self.joined.shrink_to(KEPT_CAPACITY);
    }
}

fn emit(event: &[u8], layout: &Layout, joined: &[u8], on_event: &mut impl FnMut(SseEvent<'_>)) {
    let data = match &layout.data {
        Data::None => return,
        Data::At(range) => &event[range.clone()],
        Data::Joined => joined,
    };
    on_event(SseEvent {
        name: &event[layout.name.clone()],
        data,
    });
}

/// Returns the position after the first line end at or after `at`.
fn after_line_end(bytes: &[u8], at: usize) -> Option<usize> {
    let end = at + memchr2(b'\n', b'\r', bytes.get(at..)?)?;
    let is_pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
    Some(end + 1 + usize::from(is_pair))
}

/// The first line of nearly all events. A shortcut that does not change the result.
const USUAL_LINE: &[u8] = b"event: content_block_delta\n";

/// Finds the parts of the event at the start of `bytes`. Returns `None` if its blank line is missing.
fn lay_out(bytes: &[u8], joined: &mut Vec<u8>) -> Option<Layout> {
    let mut name = 0..0;
    let mut data = Data::None;
    let mut at = 0;
    if bytes.starts_with(USUAL_LINE) {
        name = b"event: ".len()..USUAL_LINE.len() - 1;
        at = USUAL_LINE.len();
    }
    loop {
        if let Some(b'\n' | b'\r') = bytes.get(at) {
            // A CR ends the event at once. A following LF is another blank line, which has no effect.
            let length = at + 1;
            return Some(Layout { length, name, data });
        }
        let end = at + memchr2(b'\n', b'\r', &bytes[at..])?;
        let line = &bytes[at..end];
        if let Some(start) = value_start(line, b"data") {
            let value = at + start..end;
            data = match data {
                Data::None => Data::At(value),
                Data::At(first) => {
                    joined.clear();
                    joined.extend_from_slice(&bytes[first]);
                    joined.push(b'\n');
                    joined.extend_from_slice(&bytes[value]);
                    Data::Joined
                }
                Data::Joined => {
                    joined.push(b'\n');
                    joined.extend_from_slice(&bytes[value]);
                    Data::Joined
                }
            };
        } else if let Some(start) = value_start(line, b"event") {
            name = at + start..end;
        }
        let is_pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
        at = end + 1 + usize::from(is_pair);
    }
}

/// Returns where the value starts in a line of this field.
fn value_start(line: &[u8], field: &[u8]) -> Option<usize> {
    match line.strip_prefix(field)? {
        [] => Some(line.len()),
        [b':', b' ', ..] => Some(field.len() + 2),
        [b':', ..] => Some(field.len() + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
