//! Sixty-four bytes at a time: where do strings end, and where are escapes?
//!
//! A string of code has an escape every few words. Looking at each on its own costs a mispredicted branch
//! almost every time, so a block is turned into masks, one bit a byte, and what is escaped follows from them
//! by arithmetic.

use wide::u8x16;

/// How many bytes one mask covers.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// What is where in one block: bit `i` speaks of byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    /// Quotes and control characters, escaped or not: what plain text inside a string cannot be.
    pub(super) stops: u64,
    /// Backslashes, escaped or not.
    pub(super) backslashes: u64,
    /// What most backslashes escape: quotes, backslashes, `n` and `t`. Not looked for where no backslash is.
    pub(super) common: u64,
}

impl Masks {
    /// Classifies a block.
    #[inline]
    pub(super) fn of(bytes: &[u8; BLOCK]) -> Self {
        let mut vectors = [u8x16::ZERO; BLOCK / LANES];
        for (vector, bytes) in vectors.iter_mut().zip(bytes.as_chunks::<LANES>().0) {
            *vector = u8x16::new(*bytes);
        }
        let is = |vector: u8x16, byte| vector.simd_eq(u8x16::splat(byte));
        // What is no greater than the last control character is the lesser of both.
        let is_control = |vector: u8x16| vector.min(u8x16::splat(0x1f)).simd_eq(vector);
        let backslashes = mask(&vectors, |vector| is(vector, b'\\'));
        let common = |vector| is(vector, b'"') | is(vector, b'\\') | is(vector, b'n') | is(vector, b't');
        Self {
            stops: mask(&vectors, |vector| is(vector, b'"') | is_control(vector)),
            backslashes,
            common: if backslashes == 0 {
                0
            } else {
                mask(&vectors, common)
            },
        }
    }
}

/// Bytes that are compared at once: the width of the vectors that every x86-64 and AArch64 processor has.
const LANES: usize = 16;

/// One bit for each byte that `test` marks, by setting its highest bit.
#[inline]
fn mask(vectors: &[u8x16; BLOCK / LANES], test: impl Fn(u8x16) -> u8x16) -> u64 {
    let parts = vectors.iter().enumerate();
    parts.fold(0, |mask, (part, vector)| {
        mask | u64::from(test(*vector).to_bitmask()) << (part * LANES)
    })
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
