//! Content codings, decoded as the bytes arrive and without holding more than one small buffer per coding.

mod deflate;
mod gzip;
mod modern;

use deflate::Deflate;
use gzip::Gzip;
use modern::{Brotli, Zstandard};

/// The most that one exchange's response may decode to before observation stops, in bytes of decoded text. It is
/// the bound on what a response can make an observer hold, decompression bombs included.
pub const MAX_DECODED_BYTES: usize = 64 * 1024 * 1024;

/// Codings may be stacked so deep; real servers use one, rarely two.
const MAX_STACKED: usize = 4;

/// Size of each coding's output buffer: large enough for a burst of events, small enough for many connections.
const OUTPUT_BYTES: usize = 8 * 1024;

/// Why a response could not be decoded to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeFault {
    /// The content encoding is none of identity, gzip, deflate, br and zstd.
    Unsupported,
    /// The bytes are not what the content encoding says.
    Corrupt,
    /// The body ended inside the encoded data.
    Truncated,
    /// More than [`MAX_DECODED_BYTES`] came out.
    TooLarge,
}

/// What one call of [`Coding::step`] did.
struct Step {
    consumed: usize,
    produced: usize,
}

/// The input is not what the coding says.
#[derive(Debug)]
struct Corrupt;

/// One content coding's decoder.
trait Coding: Send {
    /// Decodes from `input` into `output` until either is used up. What the input holds comes out at once: less than
    /// a full `output` means that nothing is held back.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt>;

    /// Whether the encoded data may end here.
    fn is_at_end(&self) -> bool;
}

struct Stage {
    coding: Box<dyn Coding>,
    output: Box<[u8]>,
    produced: usize,
}

/// Undoes a `content-encoding`.
pub(super) struct ContentDecoder {
    /// In the order of decoding: the coding applied last comes first.
    stages: Vec<Stage>,
}

impl ContentDecoder {
    /// The decoder for a `content-encoding` value (several header lines joined by commas); `None` when there is
    /// nothing to undo.
    pub(super) fn for_header(value: &str) -> Result<Option<Self>, DecodeFault> {
        let mut stages = Vec::new();
        for name in value.split(',').map(str::trim).rev() {
            let coding: Box<dyn Coding> = match name.to_ascii_lowercase().as_str() {
                "" | "identity" => continue,
                "gzip" | "x-gzip" => Box::new(Gzip::new()),
                "deflate" => Box::new(Deflate::new()),
                "br" => Box::new(Brotli::new()),
                "zstd" => Box::new(Zstandard::new().map_err(|Corrupt| DecodeFault::Unsupported)?),
                _ => return Err(DecodeFault::Unsupported),
            };
            if stages.len() == MAX_STACKED {
                return Err(DecodeFault::Unsupported);
            }
            stages.push(Stage {
                coding,
                output: vec![0; OUTPUT_BYTES].into_boxed_slice(),
                produced: 0,
            });
        }
        Ok(if stages.is_empty() {
            None
        } else {
            Some(Self { stages })
        })
    }

    /// Decodes `chunk` and hands the text to `sink` in pieces. After an error the decoder must not be fed again.
    pub(super) fn feed(
        &mut self,
        chunk: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), DecodeFault>,
    ) -> Result<(), DecodeFault> {
        run(&mut self.stages, chunk, sink)
    }

    /// Whether the body may end here.
    pub(super) fn is_at_end(&self) -> bool {
        self.stages.iter().all(|stage| stage.coding.is_at_end())
    }
}

fn run(
    stages: &mut [Stage],
    mut input: &[u8],
    sink: &mut dyn FnMut(&[u8]) -> Result<(), DecodeFault>,
) -> Result<(), DecodeFault> {
    let Some((stage, behind)) = stages.split_first_mut() else {
        return sink(input);
    };
    loop {
        let step = stage
            .coding
            .step(input, &mut stage.output)
            .map_err(|Corrupt| DecodeFault::Corrupt)?;
        input = &input[step.consumed..];
        stage.produced = stage.produced.saturating_add(step.produced);
        if stage.produced > MAX_DECODED_BYTES {
            return Err(DecodeFault::TooLarge);
        }
        if step.produced > 0 {
            run(behind, &stage.output[..step.produced], sink)?;
        }
        let is_drained = step.produced < stage.output.len();
        if input.is_empty() && is_drained {
            return Ok(());
        }
        if step.consumed == 0 && step.produced == 0 {
            return Err(DecodeFault::Corrupt);
        }
    }
}

#[cfg(test)]
mod tests;
