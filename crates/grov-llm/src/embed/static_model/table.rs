//! The embedding table: `model.safetensors`, kept in its file format.

use super::UnusableFile;
use super::tensors::{Format, Header, Tensor};
use std::ops::Range;

/// The maximum number of dimensions of a row.
const MAX_DIMENSIONS: usize = 8192;

/// One row per token.
#[derive(Debug)]
pub(super) struct Table {
    /// The content of the file; numbers are converted as they are read.
    file: Vec<u8>,
    /// The byte range of the rows.
    rows: Range<usize>,
    format: Format,
    dimension: usize,
    tokens: usize,
    /// The row of each token, if several share one; otherwise the token's number.
    row_of: Option<Vec<usize>>,
    /// The weight of each token; `None` if all are equal.
    weights: Option<Vec<f32>>,
    unknown_counts: bool,
}

impl Table {
    /// Reads a file of model2vec (tensor `embeddings`) or sentence-transformers (`embedding.weight`).
    pub(super) fn read(file: Vec<u8>) -> Result<Self, UnusableFile> {
        let header = Header::read(&file)?;
        let (rows, unknown_counts) = match (header.tensor("embeddings")?, header.tensor("embedding.weight")?)
        {
            (Some(rows), _) => (rows, false),
            (None, Some(rows)) => (rows, true),
            (None, None) => {
                return Err("it has no tensor embeddings or embedding.weight"
                    .to_owned()
                    .into());
            }
        };
        let &[count, dimension] = rows.shape.as_slice() else {
            return Err(format!(
                "its embeddings have the shape {:?}, not rows and columns",
                rows.shape
            )
            .into());
        };
        if count == 0 || !(1..=MAX_DIMENSIONS).contains(&dimension) {
            return Err(format!(
                "its embeddings are {count} rows of {dimension} numbers; there must be some, and at most {MAX_DIMENSIONS} in a row"
            ).into());
        }
        let mapping = header.tensor("mapping")?;
        let row_of = mapping
            .map(|mapping| row_numbers(&file, &mapping, count))
            .transpose()?;
        let tokens = row_of.as_ref().map_or(count, Vec::len);
        let weights = header.tensor("weights")?;
        let weights = weights
            .map(|weights| weights_of(&file, &weights, tokens))
            .transpose()?;
        if let Some(at) = not_finite(&file, &rows) {
            return Err(format!("its embedding in row {} is not finite", at / dimension).into());
        }
        Ok(Self {
            rows: rows.place,
            format: rows.format,
            file,
            dimension,
            tokens,
            row_of,
            weights,
            unknown_counts,
        })
    }

    /// The length of a row.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number of tokens.
    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Whether the token for unknown words counts: with sentence-transformers it does, with model2vec it does not.
    pub(super) fn unknown_counts(&self) -> bool {
        self.unknown_counts
    }

    /// Adds the row of a token below [`Table::tokens`] to `sum`, which must be as long as a row.
    pub(super) fn add(&self, token: u32, sum: &mut [f32]) {
        let token = token as usize;
        let row = self.row_of.as_ref().map_or(token, |row_of| row_of[token]);
        let weight = self.weights.as_ref().map_or(1.0, |weights| weights[token]);
        let width = self.format.width() * self.dimension;
        let start = self.rows.start + row * width;
        let mut sum = sum.iter_mut();
        each(self.format, &self.file[start..start + width], |number| {
            if let Some(sum) = sum.next() {
                *sum += weight * number;
            }
        });
    }
}

/// The row of each token.
fn row_numbers(file: &[u8], mapping: &Tensor, rows: usize) -> Result<Vec<usize>, UnusableFile> {
    let bytes = &file[mapping.place.clone()];
    let numbers: Vec<i64> = match (mapping.format, mapping.shape.len()) {
        (Format::I32, 1) => of_width(bytes)
            .map(|bytes| i32::from_le_bytes(bytes).into())
            .collect(),
        (Format::I64, 1) => of_width(bytes).map(i64::from_le_bytes).collect(),
        _ => {
            return Err("its mapping is no list of whole numbers (I32 or I64)"
                .to_owned()
                .into());
        }
    };
    let row = |number: i64| {
        let row = usize::try_from(number).ok().filter(|row| *row < rows);
        row.ok_or_else(|| format!("its mapping names row {number} of {rows}").into())
    };
    numbers.into_iter().map(row).collect()
}

/// The weight of each token.
fn weights_of(file: &[u8], weights: &Tensor, tokens: usize) -> Result<Vec<f32>, UnusableFile> {
    if weights.shape != [tokens] {
        return Err(format!(
            "its weights have the shape {:?}, and there are {tokens} tokens",
            weights.shape
        )
        .into());
    }
    if let Some(at) = not_finite(file, weights) {
        return Err(format!("its weight of token {at} is not finite").into());
    }
    let mut numbers = Vec::with_capacity(tokens);
    each(weights.format, &file[weights.place.clone()], |number| {
        numbers.push(number)
    });
    Ok(numbers)
}

/// The index of the first number that is not finite.
fn not_finite(file: &[u8], tensor: &Tensor) -> Option<usize> {
    let (mut at, mut found) = (0, None);
    each(tensor.format, &file[tensor.place.clone()], |number| {
        if found.is_none() && !number.is_finite() {
            found = Some(at);
        }
        at += 1;
    });
    found
}

/// Calls `take` with each number.
fn each(format: Format, bytes: &[u8], mut take: impl FnMut(f32)) {
    match format {
        Format::I8 => bytes.iter().for_each(|byte| take(byte.cast_signed().into())),
        Format::F16 => of_width(bytes).for_each(|bytes| take(of_half(u16::from_le_bytes(bytes)))),
        Format::F32 => of_width(bytes).for_each(|bytes| take(f32::from_le_bytes(bytes))),
        // Single precision is enough for a direction.
        Format::F64 => of_width(bytes).for_each(|bytes| take(f64::from_le_bytes(bytes) as f32)),
        Format::I32 => of_width(bytes).for_each(|bytes| take(i32::from_le_bytes(bytes) as f32)),
        Format::I64 => of_width(bytes).for_each(|bytes| take(i64::from_le_bytes(bytes) as f32)),
    }
}

fn of_width<const WIDTH: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; WIDTH]> {
    bytes.as_chunks::<WIDTH>().0.iter().copied()
}

/// A number of IEEE 754 binary16.
fn of_half(bits: u16) -> f32 {
    const INFINITE: u32 = 0x7c00;
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff);
    let magnitude = if rest >= INFINITE {
        f32::from_bits(0x7f80_0000 | rest << 13)
    } else {
        // The exponent offsets differ by 112. Multiplication also converts subnormal numbers correctly.
        f32::from_bits(rest << 13) * f32::from_bits((127 + 112) << 23)
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::of_half;

    #[test]
    fn half_precision() {
        for (bits, number) in [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65_504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x83ff, -6.097_555e-5),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(of_half(bits).to_bits(), f32::to_bits(number), "{bits:#06x}");
        }
        assert!(of_half(0x7e00).is_nan());
    }
}
