//! Applies edits. The result is a list of slices of the original with the new bytes between them.

use super::edit::{Edit, InsertionPoint, Part, PartKind, Position};
use super::entry::{BlockEntry, ContentEntry, SystemEntry};
use super::index::RequestIndex;
use crate::json::{self, JsonError, Span};
use bytes::Bytes;
use std::ops::Range;
use thiserror::Error;

/// Why [`Splice::apply`] rejected the edits. The original can still be sent.
///
/// `edit` is the index of the edit in the slice passed to [`Splice::apply`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpliceError {
    /// The bytes of an edit are not one JSON value.
    #[error("edit {edit} is not valid JSON: {source}")]
    NotJson {
        /// Which edit, counted from 0.
        edit: usize,
        /// The syntax error.
        source: JsonError,
    },
    /// The bytes of an insertion are not a JSON object.
    #[error("edit {edit} inserts a value that is not an object")]
    NotABlock {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// The request has no such block, message or field: the place comes from another request.
    #[error("edit {edit} has a place that this request does not have")]
    NoSuchPlace {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// Two edits overlap.
    #[error("edit {edit} overlaps another edit")]
    Overlap {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// Two insertions at one place have the same bytes.
    #[error("edit {edit} inserts the same block at the same place as another edit")]
    Duplicate {
        /// Which edit, counted from 0.
        edit: usize,
    },
}

/// Applies edits to an indexed request.
#[derive(Clone, Copy, Debug)]
pub struct Splice;

impl Splice {
    /// Applies `edits`, which may be in any order, and returns the new body.
    ///
    /// Blocks inserted at one point keep the order of the edits. If the content of a message is a plain string, it becomes an
    /// array whose first block contains that string unchanged, so the model reads the same prompt. All other bytes are slices
    /// of the original. Nothing is copied.
    ///
    /// # Errors
    /// If an edit names a place that the request does not have, overlaps or repeats another, or is not valid JSON. No edit is
    /// applied then.
    ///
    /// # Examples
    /// ```
    /// use grov_wire::{Edit, RequestIndex, Splice};
    ///
    /// let body = br#"{"messages":[{"role":"user","content":"fix the bug"}]}"#.as_slice().into();
    /// let index = RequestIndex::parse(&body)?;
    /// let at = index.newest_user_message().and_then(|message| message.insertion_point_at_end());
    /// let block = br#"{"type":"text","text":"Run the tests."}"#.as_slice().into();
    /// let edit = Edit::Insert { at: at.ok_or("no content")?, bytes: block };
    /// let chunks = Splice::apply(&index, &[edit])?;
    /// assert_eq!(
    ///     chunks.into_vec().concat(),
    ///     br#"{"messages":[{"role":"user","content":[{"type":"text","text":"fix the bug"},{"type":"text","text":"Run the tests."}]}]}"#,
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        for group in placed.chunk_by(Placed::inserts_at_same_point) {
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

/// A request body in pieces. No piece is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunks {
    pieces: Vec<Bytes>,
    length: usize,
}

impl Chunks {
    /// Returns the size of all pieces together, in bytes: the value for `content-length`.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are no pieces.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Iterates over the pieces in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Bytes> {
        self.pieces.iter()
    }

    /// Returns the pieces in order.
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

/// An edit and its resolved place.
struct Placed<'a> {
    number: usize,
    edit: &'a Edit,
    place: Place,
}

/// A place as byte offsets.
enum Place {
    /// After a block that ends at this offset.
    AfterBlock(usize),
    /// After the opening bracket of an empty array.
    InEmptyArray(usize),
    /// After a string, which must become a block first. The range includes the quotes.
    AfterString(Range<usize>),
    /// The range of a value to replace.
    Replace(Range<usize>),
}

impl Place {
    fn start(&self) -> usize {
        match self {
            Self::AfterBlock(start) | Self::InEmptyArray(start) => *start,
            Self::AfterString(range) | Self::Replace(range) => range.start,
        }
    }
}

impl<'a> Placed<'a> {
    fn find(index: &RequestIndex, number: usize, edit: &'a Edit) -> Result<Self, SpliceError> {
        let (bytes, place) = match edit {
            Edit::Insert { at, bytes } => (bytes, find_insertion_point(index, *at)),
            Edit::Replace { part, bytes } => (bytes, find_part(index, *part).map(Place::Replace)),
        };
        let place = place.ok_or(SpliceError::NoSuchPlace { edit: number })?;
        json::validate(bytes).map_err(|source| SpliceError::NotJson { edit: number, source })?;
        let is_object = bytes.trim_ascii_start().first() == Some(&b'{');
        if matches!(edit, Edit::Insert { .. }) && !is_object {
            return Err(SpliceError::NotABlock { edit: number });
        }
        Ok(Self { number, edit, place })
    }

    fn inserts_at_same_point(&self, other: &Self) -> bool {
        matches!((self.edit, other.edit), (Edit::Insert { at, .. }, Edit::Insert { at: again, .. }) if at == again)
    }

    fn bytes(&self) -> &'a Bytes {
        let (Edit::Insert { bytes, .. } | Edit::Replace { bytes, .. }) = self.edit;
        bytes
    }
}

/// The result so far. Bytes of the original before `taken` were copied or replaced.
struct Chain<'a> {
    original: &'a Bytes,
    taken: usize,
    chunks: Chunks,
}

impl Chain<'_> {
    /// Applies one replacement, or all insertions at one point.
    fn apply(&mut self, group: &[Placed<'_>]) -> Result<(), SpliceError> {
        let Some(first) = group.first() else { return Ok(()) };
        if first.place.start() < self.taken {
            return Err(SpliceError::Overlap { edit: first.number });
        }
        self.take_to(first.place.start());
        match &first.place {
            Place::Replace(value) => {
                self.chunks.push(first.bytes().clone());
                self.taken = value.end;
            }
            Place::AfterBlock(_) => self.add_blocks(group, true)?,
            Place::InEmptyArray(_) => self.add_blocks(group, false)?,
            Place::AfterString(string) => {
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

    /// Appends the original up to `end`.
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

fn find_insertion_point(index: &RequestIndex, point: InsertionPoint) -> Option<Place> {
    let content = &index.messages.get(point.message)?.content;
    match (point.position, content) {
        (Position::AfterBlock(block), ContentEntry::Blocks { .. }) => Some(Place::AfterBlock(
            message_block(index, point.message, block)?.span.range().end,
        )),
        (Position::End, ContentEntry::Blocks { array, count: 0, .. }) => {
            Some(Place::InEmptyArray(array.range().start + 1))
        }
        (Position::End, ContentEntry::Text(text)) => Some(Place::AfterString(with_quotes(*text))),
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
