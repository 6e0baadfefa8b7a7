//! Applying edits: a chain of slices of the original with the additions between them.

use super::edit::{Behind, Edit, Part, PartKind, Seam};
use super::entry::{BlockEntry, ContentEntry, SystemEntry};
use super::index::RequestIndex;
use crate::json::{self, JsonError, Span};
use bytes::Bytes;
use std::ops::Range;
use thiserror::Error;

/// Why edits were not applied. The original can still be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpliceError {
    /// The bytes of an edit are no JSON value.
    #[error("edit {edit} carries no JSON value: {source}; nothing was edited")]
    NotJson {
        /// Which edit, counted from 0.
        edit: usize,
        /// What is wrong with the bytes.
        source: JsonError,
    },
    /// The bytes of an insertion are JSON, but no object.
    #[error("edit {edit} inserts something that is no content block; nothing was edited")]
    NotABlock {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// The place belongs to another request: this one has no such block, message or field.
    #[error("edit {edit} names a place that this request does not have; nothing was edited")]
    NoSuchPlace {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// An edit touches what another one replaces.
    #[error("edit {edit} touches what another edit changes; nothing was edited")]
    Overlap {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// An insertion repeats another one.
    #[error("edit {edit} inserts a block where another edit inserts the same; nothing was edited")]
    Duplicate {
        /// Which edit, counted from 0.
        edit: usize,
    },
}

/// The act of applying edits to an indexed request.
#[derive(Clone, Copy, Debug)]
pub struct Splice;

impl Splice {
    /// Applies `edits`, in whatever order they are given.
    ///
    /// Several blocks may be inserted at one seam; they come to stand in the order of the edits. A message
    /// whose content is a plain string becomes an array whose first block holds that string, byte for byte,
    /// so that the model reads the same prompt. The result is a valid request if the original was one: slices
    /// of the original tile it, and all that stands between them was checked.
    ///
    /// # Errors
    /// Where an edit fits no place of this request, touches or repeats another or carries no JSON. Then
    /// nothing is applied, and the caller sends the original.
    pub fn apply(index: &RequestIndex, edits: &[Edit]) -> Result<Chunks, SpliceError> {
        let placed = edits
            .iter()
            .enumerate()
            .map(|(number, edit)| Placed::find(index, number, edit));
        let mut placed = placed.collect::<Result<Vec<_>, _>>()?;
        placed.sort_by_key(|placed| placed.place.start());
        let mut chain = Chain {
            original: &index.body,
            taken: 0,
            chunks: Chunks::default(),
        };
        for group in placed.chunk_by(Placed::is_at_the_seam_of) {
            chain.apply(group)?;
        }
        chain.take_rest();
        Ok(chain.chunks)
    }
}

const COMMA: &[u8] = b",";
const WRAP_START: &[u8] = br#"[{"type":"text","text":"#;
const WRAP_MIDDLE: &[u8] = b"}";
const WRAP_END: &[u8] = b"]";

/// A body as a chain of pieces, none of them empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunks {
    pieces: Vec<Bytes>,
    length: usize,
}

impl Chunks {
    /// The number of bytes in all pieces together: what goes into `content-length`.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The pieces in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Bytes> {
        self.pieces.iter()
    }

    /// The pieces in order.
    pub fn into_vec(self) -> Vec<Bytes> {
        self.pieces
    }

    fn push(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.length += piece.len();
            self.pieces.push(piece);
        }
    }
}

/// An edit that was found to fit, and where.
struct Placed<'a> {
    number: usize,
    edit: &'a Edit,
    place: Place,
}

/// Where an edit belongs, in offsets.
enum Place {
    /// Behind a block that ends there.
    BehindBlock(usize),
    /// Behind the opening bracket of an empty array.
    InEmptyArray(usize),
    /// Behind a string, quotes included, that has to become a block first.
    BehindString(Range<usize>),
    /// In the place of a value.
    Instead(Range<usize>),
}

impl Place {
    fn start(&self) -> usize {
        match self {
            Self::BehindBlock(start) | Self::InEmptyArray(start) => *start,
            Self::BehindString(range) | Self::Instead(range) => range.start,
        }
    }
}

impl<'a> Placed<'a> {
    fn find(index: &RequestIndex, number: usize, edit: &'a Edit) -> Result<Self, SpliceError> {
        let (bytes, place) = match edit {
            Edit::Insert { at, bytes } => (bytes, find_seam(index, *at)),
            Edit::Replace { part, bytes } => (bytes, find_part(index, *part).map(Place::Instead)),
        };
        let place = place.ok_or(SpliceError::NoSuchPlace { edit: number })?;
        json::validate(bytes).map_err(|source| SpliceError::NotJson { edit: number, source })?;
        let is_object = bytes.trim_ascii_start().first() == Some(&b'{');
        if matches!(edit, Edit::Insert { .. }) && !is_object {
            return Err(SpliceError::NotABlock { edit: number });
        }
        Ok(Self { number, edit, place })
    }

    fn is_at_the_seam_of(&self, other: &Self) -> bool {
        matches!((self.edit, other.edit), (Edit::Insert { at, .. }, Edit::Insert { at: again, .. }) if at == again)
    }

    fn bytes(&self) -> &'a Bytes {
        let (Edit::Insert { bytes, .. } | Edit::Replace { bytes, .. }) = self.edit;
        bytes
    }
}

/// The chain so far, and how much of the original is in it or was replaced.
struct Chain<'a> {
    original: &'a Bytes,
    taken: usize,
    chunks: Chunks,
}

impl Chain<'_> {
    /// Applies one replacement, or all insertions at one seam.
    fn apply(&mut self, group: &[Placed<'_>]) -> Result<(), SpliceError> {
        let Some(first) = group.first() else { return Ok(()) };
        if first.place.start() < self.taken {
            return Err(SpliceError::Overlap { edit: first.number });
        }
        self.take_to(first.place.start());
        match &first.place {
            Place::Instead(value) => {
                self.chunks.push(first.bytes().clone());
                self.taken = value.end;
            }
            Place::BehindBlock(_) => self.add_blocks(group, true)?,
            Place::InEmptyArray(_) => self.add_blocks(group, false)?,
            Place::BehindString(string) => {
                self.add(WRAP_START);
                self.take_to(string.end);
                self.add(WRAP_MIDDLE);
                self.add_blocks(group, true)?;
                self.add(WRAP_END);
            }
        }
        Ok(())
    }

    /// Adds the blocks of insertions, with commas between them and, if they follow a block, before them.
    fn add_blocks(&mut self, insertions: &[Placed<'_>], follows: bool) -> Result<(), SpliceError> {
        for (position, insertion) in insertions.iter().enumerate() {
            let (before, _) = insertions.split_at(position);
            if before.iter().any(|earlier| earlier.bytes() == insertion.bytes()) {
                return Err(SpliceError::Duplicate {
                    edit: insertion.number,
                });
            }
            if follows || position > 0 {
                self.add(COMMA);
            }
            self.chunks.push(insertion.bytes().clone());
        }
        Ok(())
    }

    /// Takes the original up to `end`.
    fn take_to(&mut self, end: usize) {
        self.chunks.push(self.original.slice(self.taken..end));
        self.taken = end;
    }

    fn take_rest(&mut self) {
        self.take_to(self.original.len());
    }

    fn add(&mut self, punctuation: &'static [u8]) {
        self.chunks.push(Bytes::from_static(punctuation));
    }
}

fn find_seam(index: &RequestIndex, seam: Seam) -> Option<Place> {
    let content = &index.messages.get(seam.message)?.content;
    match (seam.behind, content) {
        (Behind::Block(block), ContentEntry::Blocks { .. }) => Some(Place::BehindBlock(
            message_block(index, seam.message, block)?.span.range().end,
        )),
        (Behind::Content, ContentEntry::Blocks { array, count: 0, .. }) => {
            Some(Place::InEmptyArray(array.range().start + 1))
        }
        (Behind::Content, ContentEntry::Text(text)) => Some(Place::BehindString(with_quotes(*text))),
        _ => None,
    }
}

fn find_part(index: &RequestIndex, part: Part) -> Option<Range<usize>> {
    match part.0 {
        PartKind::Field(number) => Some(index.fields.get(number)?.value.range()),
        PartKind::SystemBlock(number) => Some(system_block(index, number)?.span.range()),
        PartKind::SystemBlockText(number) => system_block(index, number)?.text.map(with_quotes),
        PartKind::Message(number) => Some(index.messages.get(number)?.span.range()),
        PartKind::Content(number) => match &index.messages.get(number)?.content {
            ContentEntry::Text(text) => Some(with_quotes(*text)),
            ContentEntry::Blocks { array, .. } => Some(array.range()),
            ContentEntry::Other => None,
        },
        PartKind::Block(message, number) => Some(message_block(index, message, number)?.span.range()),
        PartKind::BlockText(message, number) => message_block(index, message, number)?.text.map(with_quotes),
    }
}

fn message_block(index: &RequestIndex, message: usize, number: usize) -> Option<&BlockEntry> {
    match index.messages.get(message)?.content {
        ContentEntry::Blocks { first, count, .. } if number < count => index.blocks.get(first + number),
        _ => None,
    }
}

fn system_block(index: &RequestIndex, number: usize) -> Option<&BlockEntry> {
    match &index.system {
        SystemEntry::Blocks(blocks) => blocks.get(number),
        _ => None,
    }
}

fn with_quotes(text: Span) -> Range<usize> {
    let inner = text.range();
    inner.start - 1..inner.end + 1
}
