//! The outline of a document: where it may be divided, what has to stay whole, and which headings are above each part.
//! The input of [`chunks`](super::chunks), the same for all kinds of documents.

use std::ops::Range;

/// The most levels of headings.
pub(super) const MAX_LEVELS: usize = 6;

/// A place at the start of a line where a text may be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Break {
    /// The place in bytes.
    pub(super) at: usize,
    /// How deep the place is inside blocks: dividing at a smaller depth is better.
    pub(super) depth: u8,
}

/// A heading, or the name of an item of source code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// The title.
    pub(super) title: String,
}

/// The headings above a section: places in [`Outline::headings`], outermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeadingPath {
    headings: [u32; MAX_LEVELS],
    levels: [u8; MAX_LEVELS],
    len: u8,
}

impl HeadingPath {
    /// The path of a heading of a level (1 is the outermost) that follows this path.
    pub(super) fn followed_by(mut self, heading: usize, level: u8) -> Self {
        while self.len > 0 && self.levels[usize::from(self.len) - 1] >= level {
            self.len -= 1;
        }
        if usize::from(self.len) == MAX_LEVELS {
            self.len -= 1;
        }
        self.headings[usize::from(self.len)] = u32::try_from(heading).unwrap_or(u32::MAX);
        self.levels[usize::from(self.len)] = level;
        self.len += 1;
        self
    }

    /// The places of the headings.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.headings[..usize::from(self.len)]
            .iter()
            .map(|place| *place as usize)
    }

    /// Whether every heading of this path is above `other` too.
    pub(super) fn is_above(&self, other: &Self) -> bool {
        self.len <= other.len && self.common_with(other).len == self.len
    }

    /// The headings that both paths have.
    pub(super) fn common_with(mut self, other: &Self) -> Self {
        let same = self
            .places()
            .zip(other.places())
            .take_while(|(own, its)| own == its);
        self.len = u8::try_from(same.count()).unwrap_or(0);
        self
    }
}

/// The text between one heading and the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The range, with its heading.
    pub(super) range: Range<usize>,
    /// The headings above it, its own included.
    pub(super) path: HeadingPath,
    /// Whether it has nothing but its heading.
    pub(super) is_bare: bool,
}

/// The outline of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// All headings in order.
    pub(super) headings: Vec<Heading>,
    /// The sections in order, without gaps.
    pub(super) sections: Vec<Section>,
    /// Where the text may be divided, in order.
    pub(super) breaks: Vec<Break>,
    /// Code blocks and tables, in order, without overlaps, from the start of a line to the end of one.
    pub(super) wholes: Vec<Range<usize>>,
}

impl Outline {
    /// The outline of a text without headings.
    pub(super) fn flat(length: usize, breaks: Vec<Break>) -> Self {
        Self {
            sections: vec![Section {
                range: 0..length,
                path: HeadingPath::default(),
                is_bare: false,
            }],
            breaks,
            ..Self::default()
        }
    }
}

/// Finds the lines of places that come in order, in time linear in the text.
pub(super) struct Lines<'a> {
    text: &'a str,
    start: usize,
    read: usize,
}

impl<'a> Lines<'a> {
    /// Starts at the beginning of a text.
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            text,
            start: 0,
            read: 0,
        }
    }

    /// The start of the line of a place. A place before the last one has the line of the last one.
    pub(super) fn start_of(&mut self, at: usize) -> usize {
        let at = at.min(self.text.len());
        if at > self.read {
            let newline = self.text.as_bytes()[self.read..at]
                .iter()
                .rposition(|byte| *byte == b'\n');
            if let Some(newline) = newline {
                self.start = self.read + newline + 1;
            }
            self.read = at;
        }
        self.start
    }
}

/// The start of the line behind a place; the length of the text at its end. A place at the start of a line stays.
pub(super) fn end_of_line(text: &str, at: usize) -> usize {
    if at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n') {
        return at;
    }
    text.as_bytes()[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |newline| at + newline + 1)
}

/// The lines of a text with their starts; a line has its line end.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}
