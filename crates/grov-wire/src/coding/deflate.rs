//! The `deflate` coding: zlib as in the standard, or raw deflate as some servers send it.

use super::{Coding, Corrupt, Step};
use flate2::{Decompress, FlushDecompress, Status};

/// Runs `inflater` once. The flag is whether the compressed data ended.
pub(super) fn inflate(
    inflater: &mut Decompress,
    input: &[u8],
    output: &mut [u8],
) -> Result<(Step, bool), Corrupt> {
    let (consumed_before, produced_before) = (inflater.total_in(), inflater.total_out());
    let status = inflater
        .decompress(input, output, FlushDecompress::None)
        .map_err(|_| Corrupt)?;
    // Both differences are bounded by the slices' lengths.
    let consumed = (inflater.total_in() - consumed_before) as usize;
    let produced = (inflater.total_out() - produced_before) as usize;
    Ok((Step { consumed, produced }, status == Status::StreamEnd))
}

pub(super) struct Deflate {
    state: State,
}

enum State {
    /// The first two bytes distinguish zlib from raw deflate. Stores the first one.
    Start(Option<u8>),
    Running(Box<Decompress>),
    Ended,
}

impl Deflate {
    pub(super) fn new() -> Self {
        Self {
            state: State::Start(None),
        }
    }
}

impl Coding for Deflate {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        match &mut self.state {
            State::Start(first) => {
                let mut consumed = 0;
                for &byte in input.iter().take(2) {
                    match *first {
                        None => {
                            *first = Some(byte);
                            consumed += 1;
                        }
                        Some(first) => {
                            let mut inflater = Decompress::new(is_zlib_header(first, byte));
                            inflate(&mut inflater, &[first], output)?;
                            self.state = State::Running(Box::new(inflater));
                            break;
                        }
                    }
                }
                if matches!(self.state, State::Running(_)) {
                    let step = self.step(&input[consumed..], output)?;
                    return Ok(Step {
                        consumed: consumed + step.consumed,
                        ..step
                    });
                }
                Ok(Step {
                    consumed,
                    produced: 0,
                })
            }
            State::Running(inflater) => {
                let (step, ended) = inflate(inflater, input, output)?;
                if ended {
                    self.state = State::Ended;
                }
                Ok(step)
            }
            State::Ended => Ok(Step {
                consumed: 0,
                produced: 0,
            }),
        }
    }

    fn is_at_end(&self) -> bool {
        matches!(self.state, State::Ended)
    }
}

/// RFC 1950 §2.2: method 8, a window of at most 32 KiB, and a number divisible by 31.
fn is_zlib_header(first: u8, second: u8) -> bool {
    first & 0x0F == 8 && first >> 4 <= 7 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}
