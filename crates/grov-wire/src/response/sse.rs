//! Server-sent events, decoded as they arrive (WHATWG HTML §9.2.6).

use memchr::memchr2;
use std::ops::Range;

/// The largest event that is decoded, in bytes from its first line to the blank line. Real events stay far below:
/// the largest carry one web search result. Larger ones are skipped and counted.
pub const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// Buffers that grew past this are given back after the event, so that one large event does not stay paid for.
const KEPT_CAPACITY: usize = 16 * 1024;

const BYTE_ORDER_MARK: &[u8; 3] = b"\xEF\xBB\xBF";

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The value of the last `event:` line; empty if there was none.
    pub name: &'a [u8],
    /// The values of the `data:` lines, joined by line feeds. Borrowed from the fed chunk when the event lies whole
    /// in it and has one such line.
    pub data: &'a [u8],
}

/// Splits a byte stream into events, whatever the chunks it comes in.
///
/// Line ends may be LF, CRLF or CR. Comments, unknown fields, and `id:` and `retry:` (they concern reconnection,
/// which a message stream never does) are skipped; blocks without a `data:` line yield no event.
#[derive(Debug)]
pub struct SseDecoder {
    /// The bytes of the event that is not whole yet; of a skipped one only the last byte.
    pending: Vec<u8>,
    /// The event in `pending` is too large and is being skipped.
    skipping: bool,
    /// `data:` lines joined, when an event has several.
    joined: Vec<u8>,
    mark: Mark,
    oversized: u32,
    /// [`MAX_EVENT_BYTES`]; tests set it lower.
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
    /// So many bytes of it were seen and nothing else.
    Seen(usize),
    /// It is past, or there was none.
    Past,
}

/// Where the parts of an event lie.
struct Layout {
    /// Bytes from the event's first to the first byte of the blank line's end.
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
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the stream and calls `on_event` for every event that they complete.
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
            let (event, behind) = rest.split_at(layout.length);
            if event.len() > self.limit {
                self.oversized = self.oversized.saturating_add(1);
            } else {
                emit(event, &layout, &self.joined, &mut on_event);
            }
            rest = behind;
        }
    }

    /// Whether the stream so far ends inside an event.
    pub fn is_mid_event(&self) -> bool {
        !self.pending.is_empty() || matches!(self.mark, Mark::Seen(1..))
    }

    /// How many events were skipped because they exceed [`MAX_EVENT_BYTES`].
    pub fn oversized(&self) -> u32 {
        self.oversized
    }

    /// `chunk` without what belongs to a byte order mark at the start of the stream.
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
            // No mark after all: what was taken for its beginning is the stream's first line.
            self.mark = Mark::Past;
            self.pending.extend_from_slice(&BYTE_ORDER_MARK[..seen]);
            chunk
        }
    }

    /// Where in `rest` the pending event ends: behind the first byte of the blank line's end.
    fn pending_end(&self, rest: &[u8]) -> Option<usize> {
        let last = self.pending.last().copied();
        let mut at = usize::from(last == Some(b'\r') && rest.first() == Some(&b'\n'));
        if matches!(last, Some(b'\n' | b'\r')) && matches!(rest.get(at), Some(b'\n' | b'\r')) {
            return Some(at + 1);
        }
        loop {
            at = behind_line_end(rest, at)?;
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
            // Only the last byte matters: it tells whether the next one starts a line.
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

/// The position behind the first line end at or after `at`; `None` if there is no line end.
fn behind_line_end(bytes: &[u8], at: usize) -> Option<usize> {
    let end = at + memchr2(b'\n', b'\r', bytes.get(at..)?)?;
    let is_pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
    Some(end + 1 + usize::from(is_pair))
}

/// How nearly all events of a message stream begin. They are laid out the same without it, only slower.
const USUAL_LINE: &[u8] = b"event: content_block_delta\n";

/// Lays out the event at the head of `bytes`; `None` if its blank line is not there yet.
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
            // A CR ends the event at once. A LF that follows counts as one more blank line, which changes nothing.
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

/// Where the value of `field` starts in `line`, if the line is of that field.
fn value_start(line: &[u8], field: &[u8]) -> Option<usize> {
    let behind = line.strip_prefix(field)?;
    match behind {
        [] => Some(line.len()),
        [b':', b' ', ..] => Some(field.len() + 2),
        [b':', ..] => Some(field.len() + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
