//! Applies edits. The result is a list of slices of the original with the new bytes between them.

use super::edit::{CutPoint, Edit, InsertionPoint, Position, ResultPlace};
use super::entry::{BlockKind, ContentEntry};
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
    /// The bytes of an inserted block are not a JSON object.
    #[error("edit {edit} inserts a value that is not an object")]
    NotABlock {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// The new content of a tool result is neither a string nor an array.
    #[error(
        "edit {edit} replaces the content of a tool result by a value that is neither a string nor an array"
    )]
    NotContent {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// The request has no such block or message: the place comes from another request.
    #[error("edit {edit} has a place that this request does not have")]
    NoSuchPlace {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// Two insertions at one place have the same bytes, two edits replace the same content, or there are two cuts.
    #[error("edit {edit} changes the same place as another edit")]
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
    /// array whose first block contains that string unchanged, so the model reads the same prompt. A cut drops the other edits
    /// in the messages that it leaves out. All other bytes are slices of the original. Nothing is copied.
    ///
    /// # Errors
    /// If an edit names a place that the request does not have, repeats another edit, or its bytes are not the JSON value that
    /// belongs there. No edit is applied then.
    ///
    /// # Examples
    /// ```
    /// use grov_wire::{Edit, RequestIndex, Splice};
    ///
    /// let body = br#"{"messages":[{"role":"user","content":"fix the bug"}]}"#.as_slice().into();
    /// let index = RequestIndex::parse(&body)?;
    /// let at = index.newest_user_message().and_then(|message| message.insertion_point_at_end());
    /// let block = br#"{"type":"text","text":"Run the tests."}"#.as_slice();
    /// let edit = Edit::insert(at.ok_or("no content")?, block);
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
        let kept_from = kept_from(&placed)?;
        placed.retain(|placed| placed.is_cut() || placed.edit.message() >= kept_from);
        placed.sort_by_key(|placed| placed.place.start());
        let mut chain = Chain {
            index,
            taken: 0,
            chunks: Chunks::default(),
        };
        for group in placed.chunk_by(|one, other| one.place == other.place) {
            chain.apply(group)?;
        }
        chain.take_to(index.body.len());
        Ok(chain.chunks)
    }
}

/// Returns the index of the first message after the cut, or 0 without a cut.
fn kept_from(placed: &[Placed<'_>]) -> Result<usize, SpliceError> {
    let mut cuts = placed.iter().filter(|placed| placed.is_cut());
    let first = cuts.next();
    match cuts.next() {
        Some(second) => Err(SpliceError::Duplicate { edit: second.number }),
        None => Ok(first.map_or(0, |cut| cut.edit.message())),
    }
}

const OPENING_START: &[u8] = br#"{"role":"user","content":["#;
const OPENING_END: &[u8] = b"]}";
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// After a block that ends at this offset.
    AfterBlock(usize),
    /// After the opening bracket of an empty array.
    InEmptyArray(usize),
    /// After a string, which must become a block first. The offsets include the quotes.
    AfterString { start: usize, end: usize },
    /// A value that is replaced.
    Value { start: usize, end: usize },
    /// From the first message to the first one after the cut.
    Opening { start: usize, end: usize },
}

impl Place {
    fn start(&self) -> usize {
        match self {
            Self::AfterBlock(start)
            | Self::InEmptyArray(start)
            | Self::AfterString { start, .. }
            | Self::Value { start, .. }
            | Self::Opening { start, .. } => *start,
        }
    }
}

impl<'a> Placed<'a> {
    fn find(index: &RequestIndex, number: usize, edit: &'a Edit) -> Result<Self, SpliceError> {
        let place = match edit {
            Edit::Insert { at, .. } => find_place(index, *at),
            Edit::Cut { at, .. } => find_opening(index, *at),
            Edit::ReplaceResult { at, .. } => find_result(index, *at),
        };
        let place = place.ok_or(SpliceError::NoSuchPlace { edit: number })?;
        let bytes = edit.bytes();
        json::validate(bytes).map_err(|source| SpliceError::NotJson { edit: number, source })?;
        match (edit, bytes.trim_ascii_start().first()) {
            (Edit::Insert { .. } | Edit::Cut { .. }, Some(b'{'))
            | (Edit::ReplaceResult { .. }, Some(b'"' | b'[')) => Ok(Self { number, edit, place }),
            (Edit::Insert { .. } | Edit::Cut { .. }, _) => Err(SpliceError::NotABlock { edit: number }),
            (Edit::ReplaceResult { .. }, _) => Err(SpliceError::NotContent { edit: number }),
        }
    }

    fn is_cut(&self) -> bool {
        matches!(self.edit, Edit::Cut { .. })
    }
}

/// The result so far. It contains the bytes of the original before `taken`, as far as they are kept.
struct Chain<'a> {
    index: &'a RequestIndex,
    taken: usize,
    chunks: Chunks,
}

impl Chain<'_> {
    /// Applies all edits at one place.
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
            Place::Value { end, .. } => {
                self.chunks.push(only(group)?.edit.bytes().clone());
                self.taken = end;
            }
            Place::Opening { end, .. } => {
                self.add_opening(only(group)?.edit.bytes());
                self.taken = end;
            }
        }
        Ok(())
    }

    /// Adds the messages that stand for those that are left out, and a comma.
    fn add_opening(&mut self, block: &Bytes) {
        self.add(OPENING_START);
        for reminder in self.index.opening_reminders() {
            self.add_slice(reminder.raw());
            self.add(COMMA);
        }
        self.chunks.push(block.clone());
        self.add(OPENING_END);
        self.add(COMMA);
        if let Some(system) = self.index.opening_system() {
            self.add_slice(system.raw());
            self.add(COMMA);
        }
    }

    /// Adds a part of the original.
    fn add_slice(&mut self, part: &str) {
        self.chunks.push(self.index.body.slice_ref(part.as_bytes()));
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
            self.chunks.push(insertion.edit.bytes().clone());
        }
        Ok(())
    }

    /// Appends the original up to `end`.
    fn take_to(&mut self, end: usize) {
        self.chunks.push(self.index.body.slice(self.taken..end));
        self.taken = end;
    }

    fn add(&mut self, punctuation: &'static [u8]) {
        self.chunks.push(Bytes::from_static(punctuation));
    }
}

/// Returns the edit of a place that takes only one.
fn only<'g, 'e>(group: &'g [Placed<'e>]) -> Result<&'g Placed<'e>, SpliceError> {
    match group {
        [placed] => Ok(placed),
        [_, second, ..] => Err(SpliceError::Duplicate { edit: second.number }),
        [] => Err(SpliceError::NoSuchPlace { edit: 0 }),
    }
}

fn find_result(index: &RequestIndex, place: ResultPlace) -> Option<Place> {
    let ContentEntry::Blocks { first, count, .. } = index.messages.get(place.message)?.content else {
        return None;
    };
    let block = index
        .blocks
        .get(first + place.block)
        .filter(|_| place.block < count)?;
    let value = block
        .payload
        .filter(|_| block.kind == BlockKind::ToolResult)?
        .range();
    Some(Place::Value {
        start: value.start,
        end: value.end,
    })
}

fn find_opening(index: &RequestIndex, point: CutPoint) -> Option<Place> {
    let point = index.cut_point(point.message)?;
    Some(Place::Opening {
        start: index.messages.first()?.span.range().start,
        end: index.messages.get(point.message)?.span.range().start,
    })
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
