//! The `br` (RFC 7932) and `zstd` (RFC 8878) codings.

use super::{Coding, Corrupt, Step};
use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use zstd::stream::raw::{DParameter, Decoder, Operation};

/// RFC 9659 §3: windows of at most 8 MiB.
const ZSTANDARD_WINDOW_LOG_MAX: u32 = 23;

pub(super) struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    produced: usize,
    ended: bool,
}

impl Brotli {
    pub(super) fn new() -> Self {
        let allocator = StandardAlloc::default;
        // Strict limits windows to 16 MiB.
        let state = BrotliState::new_strict(allocator(), allocator(), allocator());
        Self {
            state,
            produced: 0,
            ended: false,
        }
    }
}

impl Coding for Brotli {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        if self.ended {
            return Ok(Step {
                consumed: 0,
                produced: 0,
            });
        }
        let (mut available_in, mut consumed) = (input.len(), 0);
        let (mut available_out, mut produced) = (output.len(), 0);
        let result = BrotliDecompressStream(
            &mut available_in,
            &mut consumed,
            input,
            &mut available_out,
            &mut produced,
            output,
            &mut self.produced,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultFailure => return Err(Corrupt),
            BrotliResult::ResultSuccess => self.ended = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(Step { consumed, produced })
    }

    fn is_at_end(&self) -> bool {
        self.ended
    }
}

pub(super) struct Zstandard {
    decoder: Decoder<'static>,
    /// Whether a frame ended and no other started.
    between_frames: bool,
}

impl Zstandard {
    pub(super) fn new() -> Result<Self, Corrupt> {
        let mut decoder = Decoder::new().map_err(|_| Corrupt)?;
        decoder
            .set_parameter(DParameter::WindowLogMax(ZSTANDARD_WINDOW_LOG_MAX))
            .map_err(|_| Corrupt)?;
        Ok(Self {
            decoder,
            between_frames: false,
        })
    }
}

impl Coding for Zstandard {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        if self.between_frames && input.is_empty() {
            return Ok(Step {
                consumed: 0,
                produced: 0,
            });
        }
        let status = self.decoder.run_on_buffers(input, output).map_err(|_| Corrupt)?;
        self.between_frames = status.remaining == 0;
        Ok(Step {
            consumed: status.bytes_read,
            produced: status.bytes_written,
        })
    }

    fn is_at_end(&self) -> bool {
        self.between_frames
    }
}
