//! The `gzip` coding (RFC 1952), with any number of members.

use super::deflate::inflate;
use super::{Coding, Corrupt, Step};
use flate2::{Crc, Decompress};

/// Maximum number of members. Some servers write one per flush. An empty member has 20 bytes and costs a reset of the 32 KiB
/// window.
pub(super) const MAX_MEMBERS: usize = 16 * 1024;

pub(super) const HEADER_CRC: u8 = 1 << 1;
pub(super) const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;

pub(super) struct Gzip {
    state: State,
    /// Header flags whose fields are not read yet.
    flags: u8,
    members: usize,
    inflater: Decompress,
    checksum: Crc,
}

enum State {
    /// The fixed part of the header, 10 bytes, and how many were read.
    Fixed(usize),
    /// The length of the extra field, low byte first.
    ExtraLength(Option<u8>),
    Extra(u16),
    /// A name or comment, which ends with a zero byte.
    Text,
    HeaderChecksum(u8),
    Body,
    /// CRC-32 and length of the member, low byte first, and how many bytes were read.
    Trailer([u8; 8], usize),
}

impl Gzip {
    pub(super) fn new() -> Self {
        Self {
            state: State::Fixed(0),
            flags: 0,
            members: 0,
            inflater: Decompress::new(false),
            checksum: Crc::new(),
        }
    }

    /// Returns the state after a header field.
    fn next_field(&mut self) -> State {
        for (flag, state) in [
            (EXTRA, State::ExtraLength(None)),
            (NAME, State::Text),
            (COMMENT, State::Text),
            (HEADER_CRC, State::HeaderChecksum(2)),
        ] {
            if self.flags & flag != 0 {
                self.flags &= !flag;
                return state;
            }
        }
        self.inflater.reset(false);
        self.checksum.reset();
        State::Body
    }

    /// Processes one byte of a header or trailer.
    fn take(&mut self, byte: u8) -> Result<(), Corrupt> {
        match &mut self.state {
            // Some servers append zeros to the last member.
            State::Fixed(0) if byte == 0 && self.members > 0 => {}
            State::Fixed(seen) => {
                let is_wrong = match *seen {
                    0 => byte != 0x1F || self.members == MAX_MEMBERS,
                    1 => byte != 0x8B,
                    2 => byte != 8,
                    3 => byte & 0b1110_0000 != 0,
                    _ => false,
                };
                if is_wrong {
                    return Err(Corrupt);
                }
                if *seen == 3 {
                    self.flags = byte;
                }
                *seen += 1;
                if *seen == 10 {
                    self.state = self.next_field();
                }
            }
            State::ExtraLength(low) => match *low {
                None => *low = Some(byte),
                Some(low) => match u16::from_le_bytes([low, byte]) {
                    0 => self.state = self.next_field(),
                    length => self.state = State::Extra(length),
                },
            },
            State::Extra(left) => {
                *left -= 1;
                if *left == 0 {
                    self.state = self.next_field();
                }
            }
            State::Text => {
                if byte == 0 {
                    self.state = self.next_field();
                }
            }
            State::HeaderChecksum(left) => {
                *left -= 1;
                if *left == 0 {
                    self.state = self.next_field();
                }
            }
            State::Body => return Err(Corrupt),
            State::Trailer(bytes, seen) => {
                bytes[*seen] = byte;
                *seen += 1;
                if *seen == bytes.len() {
                    let [a, b, c, d, e, f, g, h] = *bytes;
                    let is_right = self.checksum.sum() == u32::from_le_bytes([a, b, c, d])
                        && self.checksum.amount() == u32::from_le_bytes([e, f, g, h]);
                    if !is_right {
                        return Err(Corrupt);
                    }
                    self.members += 1;
                    self.state = State::Fixed(0);
                }
            }
        }
        Ok(())
    }
}

impl Coding for Gzip {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt> {
        let mut consumed = 0;
        while !matches!(self.state, State::Body) {
            let Some(&byte) = input.get(consumed) else {
                return Ok(Step {
                    consumed,
                    produced: 0,
                });
            };
            self.take(byte)?;
            consumed += 1;
        }
        let (step, ended) = inflate(&mut self.inflater, &input[consumed..], output)?;
        self.checksum.update(&output[..step.produced]);
        if ended {
            self.state = State::Trailer([0; 8], 0);
        }
        Ok(Step {
            consumed: consumed + step.consumed,
            produced: step.produced,
        })
    }

    fn is_at_end(&self) -> bool {
        self.members > 0 && matches!(self.state, State::Fixed(0))
    }
}
