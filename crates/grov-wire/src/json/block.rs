//! Sixty-four bytes at a time: where do strings end, and where are escapes?
//!
//! A string of code has an escape every few words. Looking at each on its own costs a mispredicted branch
//! almost every time, so a block is turned into masks, one bit a byte, and what is escaped follows from them
//! by arithmetic.

/// How many bytes one mask covers.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// What is where in one block: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    /// Quotes and control characters, escaped or not: what plain text inside a string cannot be.
    pub(super) stops: u64,
    /// Backslashes, escaped or not.
    pub(super) backslashes: u64,
    /// What most backslashes escape: quotes, backslashes, `n` and `t`. Not looked for where nothing stops and no
    /// backslash is.
    pub(super) common: u64,
}

impl Masks {
    /// Classifies a block.
    ///
    /// Plain loops and `|` instead of `||`: so they compile to vector code everywhere, without `unsafe`.
    #[inline]
    pub(super) fn of(bytes: &[u8; BLOCK]) -> Self {
        let mut stops = [0; LANES];
        let mut backslashes = [0; LANES];
        let mut common = [0; LANES];
        for (part, bytes) in bytes.as_chunks::<LANES>().0.iter().enumerate() {
            for lane in 0..LANES {
                let byte = bytes[lane];
                // Groups of eight bytes get a bit each, so that all eight groups can lie over each other.
                let bit = 1 << (2 * part + lane / 8);
                let flag = |is_set: bool| if is_set { bit } else { 0_u8 };
                let is_quote = byte == b'"';
                let is_backslash = byte == b'\\';
                stops[lane] |= flag(is_quote | (byte < 0x20));
                backslashes[lane] |= flag(is_backslash);
                common[lane] |= flag(is_quote | is_backslash | (byte == b'n') | (byte == b't'));
            }
        }
        let (stops, backslashes, common) = (fold(stops), fold(backslashes), fold(common));
        if stops | backslashes == 0 {
            // Nothing ends and nothing is escaped here, as in all of an image.
            return Self {
                stops: 0,
                backslashes: 0,
                common: 0,
            };
        }
        Self {
            stops: turn(stops),
            backslashes: turn(backslashes),
            common: turn(common),
        }
    }
}

/// Bytes that are compared at once: the width of the vectors that every x86-64 and AArch64 processor has.
const LANES: usize = 16;

/// Lays the groups of both halves over each other.
#[inline]
fn fold(flags: [u8; LANES]) -> u64 {
    let flags = u128::from_le_bytes(flags);
    flags as u64 | (flags >> 64) as u64
}

/// Turns a matrix of 8 x 8 bits about its diagonal (Warren, Hacker's Delight, 7-3): bit `g` of byte `i`, which
/// speaks of byte `i` of group `g`, becomes bit `8 * g + i`.
#[inline]
fn turn(mut bits: u64) -> u64 {
    let mut swap = (bits ^ (bits >> 7)) & 0x00AA_00AA_00AA_00AA;
    bits ^= swap ^ (swap << 7);
    swap = (bits ^ (bits >> 14)) & 0x0000_CCCC_0000_CCCC;
    bits ^= swap ^ (swap << 14);
    swap = (bits ^ (bits >> 28)) & 0x0000_0000_F0F0_F0F0;
    bits ^ swap ^ (swap << 28)
}

/// The last, shorter block of a document, filled up with spaces.
pub(super) fn padded(bytes: &[u8]) -> [u8; BLOCK] {
    let mut padded = [b' '; BLOCK];
    for (to, from) in padded.iter_mut().zip(bytes) {
        *to = *from;
    }
    padded
}

/// Tells which bytes are escaped: those that follow the first, third, fifth … backslash of a run.
///
/// `carried` says whether the byte before the block escapes the block's first byte. Returns the mask of
/// escaped bytes, and whether the block's last byte escapes the byte behind it.
#[inline]
pub(super) fn escapes(backslashes: u64, carried: bool) -> (u64, bool) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

    let carried = u64::from(carried);
    if backslashes == 0 {
        return (carried, false);
    }
    // A backslash that is itself escaped starts no run.
    let runs = backslashes & !carried;
    // Subtracting a run from the odd bits behind its starts flips every second bit of it, whatever the parity
    // of its start: what remains are the backslashes that escape and the bytes behind runs of odd length.
    let alternating = ((runs << 1) | ODD).wrapping_sub(runs) ^ ODD;
    let escaped = alternating ^ (backslashes | carried);
    let carries = (alternating & backslashes) >> (u64::BITS - 1) == 1;
    (escaped, carries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_value_at_every_position_is_classified() {
        for value in 0..=u8::MAX {
            for position in 0..BLOCK {
                let mut bytes = [b'x'; BLOCK];
                bytes[position] = value;
                let masks = Masks::of(&bytes);
                let is_stop = value == b'"' || value < 0x20;
                assert_eq!(
                    masks.stops,
                    u64::from(is_stop) << position,
                    "byte {value:#x} at {position}"
                );
                assert_eq!(masks.backslashes, u64::from(value == b'\\') << position);
                assert_eq!(Masks::of(&padded(&bytes[..=position])), masks);

                // With a backslash somewhere, so that the common escapes are looked for.
                let other = (position + 1) % BLOCK;
                bytes[other] = b'\\';
                let is_common = br#""\nt"#.contains(&value);
                assert_eq!(
                    Masks::of(&bytes).common,
                    u64::from(is_common) << position | 1 << other
                );
            }
        }
    }

    /// What is escaped, byte by byte.
    fn escaped_one_by_one(backslashes: u64, mut escapes: bool) -> (u64, bool) {
        let mut escaped = 0;
        for bit in 0..u64::BITS {
            escaped |= u64::from(escapes) << bit;
            escapes = !escapes && backslashes >> bit & 1 == 1;
        }
        (escaped, escapes)
    }

    proptest! {
        #[test]
        fn escapes_are_those_found_one_by_one(one: u64, other: u64, thin: bool, carried: bool) {
            let backslashes = if thin { one & other } else { one | other };
            prop_assert_eq!(escapes(backslashes, carried), escaped_one_by_one(backslashes, carried));
        }
    }

    #[test]
    fn runs_of_backslashes_of_every_length_at_every_place() {
        for length in 0..=64 {
            for start in 0..=64 - length {
                for carried in [false, true] {
                    let run = if length == 64 {
                        u64::MAX
                    } else {
                        ((1 << length) - 1) << start.min(63)
                    };
                    assert_eq!(
                        escapes(run, carried),
                        escaped_one_by_one(run, carried),
                        "{length} from {start}"
                    );
                }
            }
        }
    }
}
