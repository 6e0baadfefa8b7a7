//! Divides a text into chunks along its outline.
//!
//! A chunk has at most [`TARGET_BYTES`], which an embedder reads completely. Longer ones are code blocks and tables, which
//! stay whole up to [`MAX_WHOLE_BYTES`]. A section with a text is a chunk with its own headings, however short; only in a document
//! with more than [`MAX_OWN_SECTIONS`] sections are those with a few words joined. Every character that is not white space is in
//! exactly one chunk.

use super::outline::{HeadingPath, Outline, Section};
use std::ops::Range;
use text_splitter::{ChunkConfig, ChunkSizer, TextSplitter};

/// The size of a chunk in bytes.
pub(super) const TARGET_BYTES: usize = 1_400;
/// The largest code block or table that stays whole, in bytes.
pub(super) const MAX_WHOLE_BYTES: usize = 16 * 1024;
/// The most sections of a document that become chunks of their own if they are tiny. Beyond it, each would cost more than it says.
const MAX_OWN_SECTIONS: usize = 500;
/// In a document with very many sections, one below this size in bytes is joined with a neighbour as small.
const TINY_BYTES: usize = 200;
/// The size in bytes up to which tiny sections are joined.
const JOINED_BYTES: usize = 700;
/// How much of a text without breaks is divided at a time, in bytes: the splitter's time is not linear.
const WINDOW_BYTES: usize = 8 * 1024;

/// A chunk of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where it is.
    pub(super) range: Range<usize>,
    /// The headings above it.
    pub(super) path: HeadingPath,
}

/// Divides a text.
pub(super) fn chunks(text: &str, outline: &Outline) -> Vec<Piece> {
    let mut divider = Divider {
        text,
        outline,
        next_break: 0,
        next_whole: 0,
        pieces: Vec::new(),
    };
    for section in joined(&outline.sections) {
        divider.divide(&section);
    }
    divider.pieces
}

/// Joins headings without text with what is below them, and where there are very many, tiny sections with their neighbours.
fn joined(sections: &[Section]) -> Vec<Section> {
    let are_many = sections.len() > MAX_OWN_SECTIONS;
    let mut joined: Vec<Section> = Vec::new();
    // The size of the largest section in the last joined one.
    let mut largest = 0;
    for section in sections {
        let size = section.range.len();
        if let Some(last) = joined.last_mut() {
            let is_opening =
                last.is_bare && last.range.len() <= TINY_BYTES && last.path.is_above(&section.path);
            let is_tiny =
                are_many && largest.max(size) <= TINY_BYTES && last.range.len() + size <= JOINED_BYTES;
            if is_opening || is_tiny {
                last.path = if is_opening {
                    section.path
                } else {
                    last.path.common_with(&section.path)
                };
                last.range.end = section.range.end;
                last.is_bare &= section.is_bare;
                largest = largest.max(size);
                continue;
            }
        }
        largest = size;
        joined.push(section.clone());
    }
    joined
}

/// Divides sections in order.
struct Divider<'a> {
    text: &'a str,
    outline: &'a Outline,
    /// The first break that may be behind the current place.
    next_break: usize,
    /// The first whole that may be behind the current place.
    next_whole: usize,
    pieces: Vec<Piece>,
}

impl Divider<'_> {
    fn divide(&mut self, section: &Section) {
        let mut at = section.range.start;
        let end = section.range.end;
        while at < end {
            let next = self.next(at, end);
            if next - at > TARGET_BYTES
                && !(self.is_whole(at, next) && next - at <= MAX_WHOLE_BYTES + TINY_BYTES)
            {
                self.divide_long(at..next, section.path);
            } else {
                self.push(at..next, section.path);
            }
            at = next;
        }
    }

    /// The end of the chunk that starts at a place: a break at most [`TARGET_BYTES`] away, or the next break behind it.
    fn next(&mut self, at: usize, end: usize) -> usize {
        if end - at <= TARGET_BYTES {
            return end;
        }
        let breaks = &self.outline.breaks;
        while breaks.get(self.next_break).is_some_and(|place| place.at <= at) {
            self.next_break += 1;
        }
        let near = breaks[self.next_break..]
            .iter()
            .take_while(|place| place.at <= at + TARGET_BYTES && place.at < end);
        // Between the best places the last one, so that chunks are few.
        let best = near
            .clone()
            .filter(|place| place.at >= at + TARGET_BYTES / 3)
            .min_by_key(|place| (place.depth, std::cmp::Reverse(place.at)));
        if let Some(best) = best {
            return best.at;
        }
        // A few words before a long block: they stay together.
        let (count, last) = near.fold((0, None), |(count, _), place| (count + 1, Some(place.at)));
        match last {
            Some(last) if last >= at + TINY_BYTES => last,
            _ => breaks
                .get(self.next_break + count)
                .map_or(end, |place| place.at.min(end)),
        }
    }

    /// Whether what is between two places is a code block or a table, perhaps with a few words before it.
    fn is_whole(&mut self, at: usize, next: usize) -> bool {
        let wholes = &self.outline.wholes;
        while wholes.get(self.next_whole).is_some_and(|whole| whole.end <= at) {
            self.next_whole += 1;
        }
        wholes.get(self.next_whole).is_some_and(|whole| {
            whole.start < at + TINY_BYTES && self.text[whole.end.min(next)..next].trim().is_empty()
        })
    }

    /// Divides a text without breaks at sentences and words, and one of lines that belong together at its lines.
    fn divide_long(&mut self, range: Range<usize>, path: HeadingPath) {
        let splitter = TextSplitter::new(ChunkConfig::new(TARGET_BYTES).with_sizer(Bytes).with_trim(false));
        let mut at = range.start;
        while at < range.end {
            let end = self.text.floor_char_boundary(range.end.min(at + WINDOW_BYTES));
            let window = &self.text[at..end];
            let mut ends: Vec<usize> = splitter
                .chunk_indices(window)
                .map(|(start, chunk)| at + start + chunk.len())
                .collect();
            // The last chunk of a window goes on in the next one.
            if end < range.end && ends.len() > 1 {
                ends.pop();
            }
            let start = at;
            for end in ends {
                self.push(at..end, path);
                at = end;
            }
            if at == start {
                self.push(at..end, path);
                at = end;
            }
        }
    }

    fn push(&mut self, range: Range<usize>, path: HeadingPath) {
        let range = trimmed(self.text, range);
        if !range.is_empty() {
            self.pieces.push(Piece { range, path });
        }
    }
}

/// Removes white space at the end, and empty lines at the beginning; the first line keeps its indentation.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let end = range.start + text[range.clone()].trim_end().len();
    if end == range.start {
        return end..end;
    }
    let kept = &text[range.start..end];
    let first = kept.len() - kept.trim_start().len();
    let blank = kept[..first].rfind('\n').map_or(0, |newline| newline + 1);
    range.start + blank..end
}

/// Measures text in bytes.
struct Bytes;

impl ChunkSizer for Bytes {
    fn size(&self, chunk: &str) -> usize {
        chunk.len()
    }
}

#[cfg(test)]
mod tests;
