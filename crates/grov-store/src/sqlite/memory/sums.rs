//! Maps and sums by document number. A search does many thousand lookups in them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map with keys that the store assigned in sequence, so an attacker cannot choose colliding ones.
pub(crate) type NumberMap<V> = HashMap<i64, V, BuildHasherDefault<NumberHasher>>;

/// Hashes numbers by multiplication (Fibonacci hashing).
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
        // The upper bits depend on the whole number, and the map uses the lower ones first.
        self.0.rotate_left(32)
    }
}

/// A range uses a vector if at least one in this many numbers is used.
const MAX_SPACING: usize = 16;

/// Sums by number. The numbers of one project are usually close together: then they index a vector, without hashing.
pub(crate) enum NumberSums {
    Dense { first: i64, sums: Vec<f64> },
    Sparse(NumberMap<f64>),
}

impl NumberSums {
    /// Creates sums for these numbers, which may contain duplicates.
    pub(crate) fn over(numbers: impl Iterator<Item = i64>) -> Self {
        let (mut first, mut last, mut count) = (i64::MAX, i64::MIN, 0_usize);
        for number in numbers {
            first = first.min(number);
            last = last.max(number);
            count += 1;
        }
        let span = last
            .checked_sub(first)
            .and_then(|span| usize::try_from(span).ok());
        match span {
            Some(span) if span < count.saturating_mul(MAX_SPACING) => Self::Dense {
                first,
                sums: vec![0.0; span + 1],
            },
            _ => Self::Sparse(NumberMap::default()),
        }
    }

    pub(crate) fn add(&mut self, number: i64, value: f64) {
        match self {
            Self::Dense { first, sums } => {
                let place = number
                    .checked_sub(*first)
                    .and_then(|place| usize::try_from(place).ok());
                if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
                    *sum += value;
                }
            }
            Self::Sparse(sums) => *sums.entry(number).or_default() += value,
        }
    }

    /// Returns the numbers with the largest positive sums, unordered, and sets their sums to zero. Of equal sums,
    /// larger numbers are preferred.
    pub(crate) fn take_largest(&mut self, most: usize) -> Vec<i64> {
        let mut largest: Vec<(f64, i64)> = match self {
            Self::Dense { first, sums } => {
                let number = |place| first.wrapping_add_unsigned(place as u64);
                let sums = sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0);
                sums.map(|(place, sum)| (*sum, number(place))).collect()
            }
            Self::Sparse(sums) => {
                let sums = sums.iter().filter(|(_, sum)| **sum > 0.0);
                sums.map(|(number, sum)| (*sum, *number)).collect()
            }
        };
        if largest.len() > most {
            largest.select_nth_unstable_by(most, |one, other| {
                other.0.total_cmp(&one.0).then(other.1.cmp(&one.1))
            });
            largest.truncate(most);
        }
        for (_, number) in &largest {
            match self {
                Self::Dense { first, sums } => {
                    let place = usize::try_from(number.wrapping_sub(*first)).ok();
                    if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
                        *sum = 0.0;
                    }
                }
                Self::Sparse(sums) => drop(sums.remove(number)),
            }
        }
        largest.into_iter().map(|(_, number)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dense_and_sparse_sums_return_the_same_numbers(
            values in prop::collection::vec((0_i64..40, 0_u32..3), 0..60),
            first in prop_oneof![Just(i64::MIN), Just(-7), Just(1000), Just(i64::MAX - 40_000_000)],
            distance in prop_oneof![Just(1_i64), Just(1_000_000)],
            most in 1..7_usize,
        ) {
            let values: Vec<(i64, f64)> = values
                .into_iter()
                .map(|(number, value)| (first + number * distance, f64::from(value)))
                .collect();
            let mut sums = NumberSums::over(values.iter().map(|(number, _)| *number));
            let mut expected = std::collections::BTreeMap::new();
            for (number, value) in values {
                sums.add(number, value);
                *expected.entry(number).or_insert(0.0) += value;
            }
            let mut expected: Vec<_> = expected.into_iter().filter(|(_, sum)| *sum > 0.0).collect();
            expected.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
            let mut expected: Vec<i64> = expected.into_iter().map(|(number, _)| number).collect();
            while !expected.is_empty() {
                let rest = expected.split_off(most.min(expected.len()));
                let mut found = sums.take_largest(most);
                found.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(found, std::mem::replace(&mut expected, rest));
            }
            prop_assert_eq!(sums.take_largest(most), [0_i64; 0]);
        }
    }
}
