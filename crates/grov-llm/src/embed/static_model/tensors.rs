//! Parses the header of a safetensors file.

use super::UnusableFile;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of the header's length.
const LENGTH: usize = 8;

/// A tensor in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) format: Format,
    pub(super) shape: Vec<usize>,
    /// Its byte range in the file; the length matches the shape.
    pub(super) place: Range<usize>,
}

/// The number format, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    I8,
    I32,
    I64,
    F16,
    F32,
    F64,
}

/// The header entry of a tensor.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// The tensors of a file, by name. An entry is checked when it is read.
pub(super) struct Header<'a> {
    entries: HashMap<String, &'a RawValue>,
    /// The byte range of all tensors.
    data: Range<usize>,
}

impl<'a> Header<'a> {
    /// Parses the header of a file.
    pub(super) fn read(file: &'a [u8]) -> Result<Self, UnusableFile> {
        let cut_off = || UnusableFile("it is truncated, or not a safetensors file".to_owned());
        let (length, rest) = file.split_first_chunk::<LENGTH>().ok_or_else(cut_off)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut_off())?;
        let header = rest.get(..length).ok_or_else(cut_off)?;
        let entries =
            serde_json::from_slice(header).map_err(|error| format!("its header is broken: {error}"))?;
        Ok(Self {
            entries,
            data: LENGTH + length..file.len(),
        })
    }

    /// The tensor with that name, if any.
    pub(super) fn tensor(&self, name: &str) -> Result<Option<Tensor>, UnusableFile> {
        let Some(entry) = self.entries.get(name) else {
            return Ok(None);
        };
        let wrong = |reason: String| UnusableFile(format!("its tensor {name} {reason}"));
        let entry: Entry =
            serde_json::from_str(entry.get()).map_err(|error| wrong(format!("is not described: {error}")))?;
        let format = Format::named(&entry.dtype).ok_or_else(|| {
            wrong(format!(
                "has numbers of type {}; Grov reads I8, F16, F32 and F64",
                entry.dtype
            ))
        })?;
        let [from, to] = entry.data_offsets;
        let length = entry
            .shape
            .iter()
            .try_fold(format.width(), |length, side| length.checked_mul(*side));
        if to.checked_sub(from) != length || length.is_none() {
            return Err(wrong(format!(
                "is at bytes {from} to {to}, which does not match its shape {:?}",
                entry.shape
            )));
        }
        let end = self
            .data
            .start
            .checked_add(to)
            .filter(|end| *end <= self.data.end);
        let end = end.ok_or_else(|| {
            let there = self.data.len();
            wrong(format!("ends at byte {to} of {there}: the file is truncated"))
        })?;
        Ok(Some(Tensor {
            format,
            shape: entry.shape,
            place: end - (to - from)..end,
        }))
    }
}

impl Format {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "I8" => Self::I8,
            "I32" => Self::I32,
            "I64" => Self::I64,
            "F16" => Self::F16,
            "F32" => Self::F32,
            "F64" => Self::F64,
            _ => return None,
        })
    }

    /// Bytes per number.
    pub(super) fn width(self) -> usize {
        match self {
            Self::I8 => 1,
            Self::F16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }
}
