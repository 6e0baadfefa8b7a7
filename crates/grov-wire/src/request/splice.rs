//! Applying edits: a chain of slices of the original with the additions between them.

use super::edit::{Behind, Edit, Part, PartKind, Seam};
use super::index::{BlockEntry, ContentEntry, RequestIndex, SystemEntry};
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
    /// An edit lies before or inside the one that precedes it.
    #[error("edit {edit} does not lie behind the edit before it; nothing was edited")]
    OutOfOrder {
        /// Which edit, counted from 0.
        edit: usize,
    },
    /// An insertion repeats the one before it.
    #[error("edit {edit} inserts the same block at the same place again; nothing was edited")]
    Duplicate {
        /// Which edit, counted from 0.
        edit: usize,
    },
}

/// The act of applying edits to an indexed request.
#[derive(Clone, Copy, Debug)]
pub struct Splice;

impl Splice {
    /// Applies `edits`, which stand in the order of their places in the request.
    ///
    /// Several blocks may be inserted at one seam; they come to stand in the order of the edits. A message whose content is
    /// a plain string becomes an array whose first block holds that string, byte for byte, so that the model reads the
    /// same prompt. The result is a valid request if the original was one: slices of the original tile it, and all that
    /// stands between them was checked.
    ///
    /// # Errors
    /// Where an edit fits no place of this request, lies before its predecessor, repeats it or carries no JSON. Then
    /// nothing is applied, and the caller sends the original.
    pub fn apply(index: &RequestIndex, edits: &[Edit]) -> Result<Chunks, SpliceError> {
        let mut chain = Chain {
            index,
            taken: 0,
            chunks: Chunks::default(),
        };
        let mut number = 0;
        for group in edits.chunk_by(at_one_seam) {
            chain.apply(number, group)?;
            number += group.len();
        }
        chain.chunks.push(index.body.slice(chain.taken..));
        Ok(chain.chunks)
    }
}

fn at_one_seam(one: &Edit, other: &Edit) -> bool {
    matches!((one, other), (Edit::Insert { at, .. }, Edit::Insert { at: again, .. }) if at == again)
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

/// The chain so far, and how much of the original is in it or was replaced.
struct Chain<'a> {
    index: &'a RequestIndex,
    taken: usize,
    chunks: Chunks,
}

impl Chain<'_> {
    /// Applies one replacement, or all insertions at one seam. `number` is the first one's.
    fn apply(&mut self, number: usize, group: &[Edit]) -> Result<(), SpliceError> {
        let missing = SpliceError::NoSuchPlace { edit: number };
        let Some(first) = group.first() else { return Ok(()) };
        match first {
            Edit::Replace { part, bytes } => {
                check_value(number, bytes)?;
                let part = find_part(self.index, *part).ok_or(missing)?;
                self.take_to(part.start, number)?;
                self.chunks.push(bytes.clone());
                self.taken = part.end;
            }
            Edit::Insert { at, .. } => match find_seam(self.index, *at).ok_or(missing)? {
                Place::BehindBlock(end) => {
                    self.take_to(end, number)?;
                    self.add_blocks(number, group, true)?;
                }
                Place::InEmptyArray(start) => {
                    self.take_to(start, number)?;
                    self.add_blocks(number, group, false)?;
                }
                Place::AroundString(string) => {
                    self.take_to(string.start, number)?;
                    self.add(WRAP_START);
                    self.take_to(string.end, number)?;
                    self.add(WRAP_MIDDLE);
                    self.add_blocks(number, group, true)?;
                    self.add(WRAP_END);
                }
            },
        }
        Ok(())
    }

    /// Takes the original up to `end`, on behalf of the edit of that number.
    fn take_to(&mut self, end: usize, edit: usize) -> Result<(), SpliceError> {
        if end < self.taken {
            return Err(SpliceError::OutOfOrder { edit });
        }
        self.chunks.push(self.index.body.slice(self.taken..end));
        self.taken = end;
        Ok(())
    }

    /// Adds the blocks of insertions, with commas between them and, if they follow a block, before them.
    fn add_blocks(
        &mut self,
        number: usize,
        insertions: &[Edit],
        mut follows: bool,
    ) -> Result<(), SpliceError> {
        let mut previous = None;
        for (edit, insertion) in (number..).zip(insertions) {
            let Edit::Insert { bytes, .. } = insertion else {
                continue;
            };
            check_value(edit, bytes)?;
            if bytes.trim_ascii_start().first() != Some(&b'{') {
                return Err(SpliceError::NotABlock { edit });
            }
            if previous.replace(bytes) == Some(bytes) {
                return Err(SpliceError::Duplicate { edit });
            }
            if follows {
                self.add(COMMA);
            }
            self.chunks.push(bytes.clone());
            follows = true;
        }
        Ok(())
    }

    fn add(&mut self, punctuation: &'static [u8]) {
        self.chunks.push(Bytes::from_static(punctuation));
    }
}

fn check_value(edit: usize, bytes: &Bytes) -> Result<(), SpliceError> {
    json::validate(bytes).map_err(|source| SpliceError::NotJson { edit, source })
}

/// Where a seam is, and what it takes to insert there.
enum Place {
    BehindBlock(usize),
    InEmptyArray(usize),
    AroundString(Range<usize>),
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
        (Behind::Content, ContentEntry::Text(text)) => Some(Place::AroundString(with_quotes(*text))),
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
