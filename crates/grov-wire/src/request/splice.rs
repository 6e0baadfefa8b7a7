//! Applies edits. The result is a list of slices of the original with the new bytes between them.

use super::edit::{Edit, InsertionPoint, Position};
use super::entry::ContentEntry;
use super::index::RequestIndex;
use crate::json::{self, JsonError};
use bytes::Bytes;
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
    /// The request has no such block or message: the place comes from another request.
    #[error("edit {edit} has a place that this request does not have")]
    NoSuchPlace {
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
    /// If an edit names a place that the request does not have, repeats another edit, or is not one JSON object. No edit is
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
    /// let edit = Edit { at: at.ok_or("no content")?, bytes: block };
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
        for group in placed.chunk_by(|one, other| one.edit.at == other.edit.at) {
            chain.apply(group)?;
        }
        chain.take_to(index.body.len());
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
    /// After a string, which must become a block first. The offsets include the quotes.
    AfterString { start: usize, end: usize },
}

impl Place {
    fn start(&self) -> usize {
        match self {
            Self::AfterBlock(start) | Self::InEmptyArray(start) | Self::AfterString { start, .. } => *start,
        }
    }
}

impl<'a> Placed<'a> {
    fn find(index: &RequestIndex, number: usize, edit: &'a Edit) -> Result<Self, SpliceError> {
        let place = find_place(index, edit.at).ok_or(SpliceError::NoSuchPlace { edit: number })?;
        json::validate(&edit.bytes).map_err(|source| SpliceError::NotJson { edit: number, source })?;
        if edit.bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(SpliceError::NotABlock { edit: number });
        }
        Ok(Self { number, edit, place })
    }
}

/// The result so far. It contains the bytes of the original before `taken`.
struct Chain<'a> {
    original: &'a Bytes,
    taken: usize,
    chunks: Chunks,
}

impl Chain<'_> {
    /// Applies all insertions at one point.
    fn apply(&mut self, group: &[Placed<'_>]) -> Result<(), SpliceError> {
        let Some(first) = group.first() else { return Ok(()) };
        self.take_to(first.place.start());
        match first.place {
            Place::AfterBlock(_) => self.add_blocks(group, true)?,
            Place::InEmptyArray(_) => self.add_blocks(group, false)?,
            Place::AfterString { end, .. } => {
                self.add(WRAP_START);
                self.take_to(end);
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
            if before.iter().any(|earlier| earlier.edit == insertion.edit) {
                return Err(SpliceError::Duplicate {
                    edit: insertion.number,
                });
            }
            if follows || position > 0 {
                self.add(COMMA);
            }
            self.chunks.push(insertion.edit.bytes.clone());
        }
        Ok(())
    }

    /// Appends the original up to `end`.
    fn take_to(&mut self, end: usize) {
        self.chunks.push(self.original.slice(self.taken..end));
        self.taken = end;
    }

    fn add(&mut self, punctuation: &'static [u8]) {
        self.chunks.push(Bytes::from_static(punctuation));
    }
}

fn find_place(index: &RequestIndex, point: InsertionPoint) -> Option<Place> {
    match (point.position, &index.messages.get(point.message)?.content) {
        (Position::AfterBlock(block), ContentEntry::Blocks { first, count, .. }) if block < *count => {
            let block = index.blocks.get(first + block)?;
            Some(Place::AfterBlock(block.span.range().end))
        }
        (Position::End, ContentEntry::Blocks { array, count: 0, .. }) => {
            Some(Place::InEmptyArray(array.range().start + 1))
        }
        (Position::End, ContentEntry::Text(text)) => Some(Place::AfterString {
            start: text.range().start - 1,
            end: text.range().end + 1,
        }),
        _ => None,
    }
}
