//! Finds the ends of strings and the escapes in blocks of 64 bytes.
//!
//! Source code in strings has an escape every few words, and a branch for each would often be mispredicted. Instead, a block
//! becomes bit masks, and arithmetic on them finds the escaped bytes.

use wide::u8x16;

/// Bytes in a block.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// Bit masks of a block: bit `i` describes byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    /// Quotes and control characters, escaped or not: they end or invalidate a string.
    pub(super) stops: u64,
    /// Backslashes, escaped or not.
    pub(super) backslashes: u64,
    /// The most common escaped characters: quotes, backslashes, `n` and `t`. Zero if the block has no backslash.
    pub(super) common: u64,
}

impl Masks {
    /// Computes the masks of a block.
    #[inline]
    pub(super) fn of(bytes: &[u8; BLOCK]) -> Self {
        let mut vectors = [u8x16::ZERO; BLOCK / LANES];
        for (vector, bytes) in vectors.iter_mut().zip(bytes.as_chunks::<LANES>().0) {
            *vector = u8x16::new(*bytes);
        }
        let is = |vector: u8x16, byte| vector.simd_eq(u8x16::splat(byte));
        // A byte is a control character if the minimum of it and 0x1f is the byte itself.
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

/// Bytes in a vector register of every x86-64 and AArch64 processor.
const LANES: usize = 16;

/// Returns one bit for each byte whose highest bit `test` sets.
#[inline]
fn mask(vectors: &[u8x16; BLOCK / LANES], test: impl Fn(u8x16) -> u8x16) -> u64 {
    let parts = vectors.iter().enumerate();
    parts.fold(0, |mask, (part, vector)| {
        mask | u64::from(test(*vector).to_bitmask()) << (part * LANES)
    })
}

/// Returns the last, shorter block of a document, padded with spaces.
pub(super) fn padded(bytes: &[u8]) -> [u8; BLOCK] {
    let mut padded = [b' '; BLOCK];
    for (to, from) in padded.iter_mut().zip(bytes) {
        *to = *from;
    }
    padded
}

/// Finds the escaped bytes: those after the first, third, fifth and so on backslash of a run.
///
/// `carried` is whether the byte before the block escapes its first byte. Returns the mask of escaped bytes, and whether the
/// last byte of the block escapes the next block's first byte.
#[inline]
pub(super) fn escapes(backslashes: u64, carried: bool) -> (u64, bool) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

    let carried = u64::from(carried);
    if backslashes == 0 {
        return (carried, false);
    }
    // An escaped backslash does not start a run.
    let runs = backslashes & !carried;
    // The subtraction flips every second bit of a run, whatever the parity of its start. The remaining bits are the
    // backslashes that escape and the bytes after runs of odd length.
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

                // Common escapes are computed only with a backslash in the block.
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

    /// Like `escapes`, byte by byte.
    fn escapes_bytewise(backslashes: u64, mut escapes: bool) -> (u64, bool) {
        let mut escaped = 0;
        for bit in 0..u64::BITS {
            escaped |= u64::from(escapes) << bit;
            escapes = !escapes && backslashes >> bit & 1 == 1;
        }
        (escaped, escapes)
    }

    proptest! {
        #[test]
        fn escapes_match_the_bytewise_result(one: u64, other: u64, thin: bool, carried: bool) {
            let backslashes = if thin { one & other } else { one | other };
            prop_assert_eq!(escapes(backslashes, carried), escapes_bytewise(backslashes, carried));
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
                        escapes_bytewise(run, carried),
                        "{length} from {start}"
                    );
                }
            }
        }
    }
}
