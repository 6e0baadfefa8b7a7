//! Maps from the store's numbers of memories: a question asks them many thousand times.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are numbers that the store gave, one after the other: nobody chooses them to collide.
pub(crate) type NumberMap<V> = HashMap<i64, V, BuildHasherDefault<NumberHasher>>;

/// Spreads numbers over all bits by multiplication (Fibonacci hashing).
#[derive(Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        // The upper bits depend on all of the number, and the map looks at the lower ones first.
        self.0.rotate_left(32)
    }
}
