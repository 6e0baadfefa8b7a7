//! Encodes postings as bytes.
//!
//! A posting consists of the difference to the previous document number (LEB128), a byte with two bits per field for
//! the number of occurrences, and for each larger number the excess over three (LEB128). Most take two or three bytes.

use grov_domain::PerField;

/// The occurrences of a term in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    /// The document number of the memory.
    pub(super) document: i64,
    /// The number of occurrences by field; saturating.
    pub(super) counts: PerField<u16>,
}

/// Maximum size of a part in bytes. A row of an index tree that takes more than a quarter of a page (1002 bytes of 4
/// KiB, <https://sqlite.org/fileformat.html#b_tree_pages>) would use a separate page.
pub(super) const PART_BYTES: usize = 900;

/// Maximum size of a posting, with 32-bit counts. All programs that share a database, including older ones, must agree
/// when a part is full.
const MAX_POSTING_BYTES: usize = 10 + 1 + 4 * 5;

/// Counts from this one on are followed by the excess.
const MORE: u16 = 3;

/// The bytes are not a list of postings.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a list of postings ends in the middle of one")]
pub(super) struct Malformed;

/// Decodes the postings in ascending order.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<Posting>, Malformed> {
    let mut rest = bytes;
    let mut document = 0_i64;
    let mut postings = Vec::with_capacity(bytes.len() / 2);
    while !rest.is_empty() {
        document = document.wrapping_add_unsigned(number(&mut rest)?);
        let (marks, tail) = rest.split_first().ok_or(Malformed)?;
        rest = tail;
        let marks = u16::from(*marks);
        let mut counts = [marks & MORE, marks >> 2 & MORE, marks >> 4 & MORE, marks >> 6];
        // Most postings have no field with more: two set bits side by side, the lower one in an even place.
        if marks & marks >> 1 & 0b0101_0101 != 0 {
            for count in counts.iter_mut().filter(|count| **count == MORE) {
                // A number that does not fit saturates.
                let more = u16::try_from(number(&mut rest)?).unwrap_or(u16::MAX);
                *count = MORE.saturating_add(more);
            }
        }
        postings.push(Posting { document, counts });
    }
    Ok(postings)
}

fn number(rest: &mut &[u8]) -> Result<u64, Malformed> {
    if let [byte @ ..0x80, tail @ ..] = rest {
        *rest = tail;
        return Ok(u64::from(*byte));
    }
    let mut value = 0;
    for place in 0..10 {
        let (byte, tail) = rest.split_first().ok_or(Malformed)?;
        *rest = tail;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Malformed)
}

/// A full part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FullPart {
    /// The document number of its first posting.
    pub(super) first: i64,
    pub(super) documents: i64,
    pub(super) bytes: Vec<u8>,
}

/// Packs postings in ascending order.
#[derive(Debug, Default)]
pub(super) struct Packer {
    /// Full parts, oldest first.
    pub(super) full: Vec<FullPart>,
    /// The last part, which has room for more; initially empty.
    pub(super) bytes: Vec<u8>,
    first: i64,
    last: i64,
    documents: i64,
}

impl Packer {
    /// Continues a part.
    pub(super) fn resume(bytes: Vec<u8>) -> Result<Self, Malformed> {
        let postings = unpack(&bytes)?;
        Ok(Self {
            full: Vec::new(),
            first: postings.first().map_or(0, |posting| posting.document),
            last: postings.last().map_or(0, |posting| posting.document),
            documents: i64::try_from(postings.len()).unwrap_or(i64::MAX),
            bytes,
        })
    }

    pub(super) fn push(&mut self, posting: &Posting) {
        if self.bytes.len() + MAX_POSTING_BYTES > PART_BYTES {
            self.full.push(FullPart {
                first: self.first,
                documents: self.documents,
                bytes: std::mem::take(&mut self.bytes),
            });
            (self.last, self.documents) = (0, 0);
        }
        if self.bytes.is_empty() {
            self.first = posting.document;
        }
        // Document numbers only grow, so the difference is not negative.
        self.number(posting.document.wrapping_sub(self.last).cast_unsigned());
        self.last = posting.document;
        self.documents += 1;
        let mut marks = 0_u8;
        for (field, count) in posting.counts.iter().enumerate() {
            marks |= u8::try_from((*count).min(MORE)).unwrap_or(0) << (2 * field);
        }
        self.bytes.push(marks);
        for count in posting.counts {
            if count >= MORE {
                self.number(u64::from(count - MORE));
            }
        }
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }
}

/// Packs postings into one part.
pub(super) fn packed(postings: &[Posting]) -> Vec<u8> {
    let mut packer = Packer::default();
    postings.iter().for_each(|posting| packer.push(posting));
    packer.bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ascending() -> impl Strategy<Value = Vec<Posting>> {
        let distance = prop_oneof![1..4_i64, 1..300_i64, 1..(1_i64 << 40)];
        let count = prop_oneof![0..4_u16, any::<u16>()];
        prop::collection::vec((distance, prop::array::uniform4(count)), 0..900).prop_map(|steps| {
            let mut document = 0;
            let posting = |(distance, counts)| {
                document += distance;
                Posting { document, counts }
            };
            steps.into_iter().map(posting).collect()
        })
    }

    proptest! {
        #[test]
        fn packed_postings_are_unpacked_unchanged(postings in ascending(), cut in 0..900_usize) {
            let (early, late) = postings.split_at(cut.min(postings.len()));
            let mut packer = Packer::default();
            early.iter().for_each(|posting| packer.push(posting));
            let mut full = packer.full;
            let mut packer = Packer::resume(packer.bytes).unwrap();
            late.iter().for_each(|posting| packer.push(posting));
            full.append(&mut packer.full);
            let mut found = Vec::new();
            for part in &full {
                let before = found.len();
                found.append(&mut unpack(&part.bytes).unwrap());
                prop_assert_eq!(found[before].document, part.first);
                prop_assert_eq!((found.len() - before) as i64, part.documents);
                prop_assert!(part.bytes.len() <= PART_BYTES);
            }
            found.append(&mut unpack(&packer.bytes).unwrap());
            prop_assert!(packer.bytes.len() <= PART_BYTES);
            prop_assert_eq!(found, postings);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = unpack(&bytes);
        }
    }

    #[test]
    fn common_postings_take_two_bytes() {
        let postings: Vec<Posting> = (1000..1100)
            .map(|document| Posting {
                document,
                counts: [1, 0, 2, 0],
            })
            .collect();
        assert_eq!(packed(&postings).len(), 201);
        assert_eq!(unpack(&packed(&postings)), Ok(postings));
    }

    #[test]
    fn truncated_bytes_are_malformed() {
        let bytes = packed(&[Posting {
            document: 300,
            counts: [7, 0, 0, 0],
        }]);
        for cut in 1..bytes.len() {
            assert_eq!(unpack(&bytes[..cut]), Err(Malformed));
        }
    }
}
