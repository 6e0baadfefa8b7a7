//! Sixty-four bytes at a time: where are the bytes that cannot stand plain inside a string?

/// How many bytes one mask covers.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// A mask with bit `i` set where byte `i` is a quote, a backslash or a control character.
///
/// Written as two plain loops that compilers turn into vector code: one compares, one gathers eight flags at a time
/// into the top byte of a product.
#[inline]
pub(super) fn marks(bytes: &[u8; BLOCK]) -> u64 {
    /// Moves the lowest bit of byte `i` to bit `56 + i`, for all eight bytes at once.
    const GATHER: u64 = 0x0102_0408_1020_4080;

    let flags: [u8; BLOCK] = std::array::from_fn(|position| u8::from(is_mark(bytes[position])));
    let mut mask = 0;
    for (group, flags) in flags.as_chunks::<8>().0.iter().enumerate() {
        mask |= (u64::from_le_bytes(*flags).wrapping_mul(GATHER) >> 56) << (8 * group);
    }
    mask
}

/// Like [`marks`] for the last, shorter block of a document.
#[inline]
pub(super) fn marks_of_tail(bytes: &[u8]) -> u64 {
    let mut padded = [b' '; BLOCK];
    for (to, from) in padded.iter_mut().zip(bytes) {
        *to = *from;
    }
    marks(&padded)
}

#[inline]
fn is_mark(byte: u8) -> bool {
    // Not `||`: without branches the comparison vectorises.
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_value_at_every_position_is_classified() {
        for value in 0..=u8::MAX {
            let expected = matches!(value, b'"' | b'\\' | 0..=0x1f);
            for position in 0..BLOCK {
                let mut bytes = [b'x'; BLOCK];
                bytes[position] = value;
                assert_eq!(
                    marks(&bytes),
                    u64::from(expected) << position,
                    "byte {value:#x} at {position}"
                );
                assert_eq!(
                    marks_of_tail(&bytes[..=position]),
                    u64::from(expected) << position
                );
            }
        }
    }
}
