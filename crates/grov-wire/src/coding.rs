//! Content codings of responses and requests: incremental decoders, with one small buffer per coding.

mod deflate;
mod gzip;
mod modern;

use bytes::Bytes;
use deflate::Deflate;
use gzip::Gzip;
use modern::{Brotli, Zstandard};

/// Maximum decoded size of a body, in bytes. Parsing stops there, which limits the memory for a decompression bomb.
pub const MAX_DECODED_BYTES: usize = 64 * 1024 * 1024;

/// Maximum number of codings in one header. Servers use one, rarely two.
const MAX_STACKED: usize = 4;

/// Size of the output buffer of each coding, in bytes.
const OUTPUT_BYTES: usize = 8 * 1024;

/// Why a body could not be decoded to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeFault {
    /// The content coding is not `identity`, `gzip`, `deflate`, `br` or `zstd`.
    #[error("its content coding is not known")]
    Unsupported,
    /// The bytes are not valid in the content coding.
    #[error("it is not valid in its content coding")]
    Corrupt,
    /// The body ended inside the encoded data.
    #[error("it ends inside its content coding")]
    Truncated,
    /// The body decodes to more than [`MAX_DECODED_BYTES`].
    #[error("it is too large when decoded")]
    TooLarge,
}

/// Bytes consumed and produced by [`Coding::step`].
struct Step {
    consumed: usize,
    produced: usize,
}

/// The input is not valid.
#[derive(Debug)]
struct Corrupt;

/// A decoder of one content coding.
trait Coding: Send {
    /// Decodes from `input` into `output` until either is used up. If `output` is not full, nothing is held back.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt>;

    /// Returns whether the encoded data may end here.
    fn is_at_end(&self) -> bool;
}

struct Stage {
    coding: Box<dyn Coding>,
    output: Box<[u8]>,
    produced: usize,
}

/// Decodes the codings of a `content-encoding` header.
pub(crate) struct ContentDecoder {
    /// In the order of decoding: the coding that was applied last is first.
    stages: Vec<Stage>,
}

impl ContentDecoder {
    /// Creates the decoder for a `content-encoding` value. Returns `None` if the body is not encoded.
    pub(crate) fn for_header(value: &str) -> Result<Option<Self>, DecodeFault> {
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
        Ok((!stages.is_empty()).then_some(Self { stages }))
    }

    /// Decodes `chunk` and passes the result to `sink` in pieces. Do not call it again after an error.
    pub(crate) fn feed(
        &mut self,
        chunk: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), DecodeFault>,
    ) -> Result<(), DecodeFault> {
        run(&mut self.stages, chunk, sink)
    }

    /// Returns whether the body may end here.
    pub(crate) fn is_at_end(&self) -> bool {
        self.stages.iter().all(|stage| stage.coding.is_at_end())
    }
}

/// Decodes a whole body with the codings of its `content-encoding` header, to at most `limit` bytes.
///
/// # Errors
/// Returns why it cannot be decoded. Nothing beyond `limit` is kept, so that a decompression bomb takes no more memory.
///
/// ```
/// use grov_wire::decode_body;
///
/// let body = "{}".into();
/// assert_eq!(decode_body("identity", &body, 100)?, body);
/// assert!(decode_body("zstd", &body, 100).is_err());
/// # Ok::<(), grov_wire::response::DecodeFault>(())
/// ```
pub fn decode_body(content_encoding: &str, body: &Bytes, limit: usize) -> Result<Bytes, DecodeFault> {
    let Some(mut decoder) = ContentDecoder::for_header(content_encoding)? else {
        return Ok(body.clone());
    };
    let mut decoded = Vec::new();
    decoder.feed(body, &mut |piece| {
        if decoded.len() + piece.len() > limit {
            return Err(DecodeFault::TooLarge);
        }
        decoded.extend_from_slice(piece);
        Ok(())
    })?;
    match decoder.is_at_end() {
        true => Ok(decoded.into()),
        false => Err(DecodeFault::Truncated),
    }
}

fn run(
    stages: &mut [Stage],
    mut input: &[u8],
    sink: &mut dyn FnMut(&[u8]) -> Result<(), DecodeFault>,
) -> Result<(), DecodeFault> {
    let Some((stage, next)) = stages.split_first_mut() else {
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
            run(next, &stage.output[..step.produced], sink)?;
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
