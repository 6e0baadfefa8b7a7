//! Near-duplicates: texts that say the same in the same words.

use super::words::stems;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The words of a shingle.
const SHINGLE: usize = 3;
/// The share of common shingles from which two texts are the same.
const SAME: f64 = 0.9;

/// The shingles of a text: all runs of three words, or all words of a shorter text.
pub(super) struct Shingles(HashSet<u64>);

impl Shingles {
    pub(super) fn of(text: &str) -> Self {
        let words = stems(text);
        let hash = |words: &[String]| {
            let mut hasher = DefaultHasher::new();
            words.hash(&mut hasher);
            hasher.finish()
        };
        Self(match words.len() {
            0 => HashSet::new(),
            1..=SHINGLE => std::iter::once(hash(&words)).collect(),
            _ => words.windows(SHINGLE).map(hash).collect(),
        })
    }

    /// Whether two texts are near-duplicates: at least nine of ten shingles of both are the same (Jaccard).
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let common = self.common(other);
        let all = (self.0.len() + other.0.len()) as f64 - common;
        all > 0.0 && common / all >= SAME
    }

    /// Whether at least nine of ten shingles of this text are in the other one.
    pub(super) fn is_in(&self, other: &Self) -> bool {
        !self.0.is_empty() && self.common(other) / self.0.len() as f64 >= SAME
    }

    fn common(&self, other: &Self) -> f64 {
        self.0.intersection(&other.0).count() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_the_same_and_other_numbers_are_not() {
        let of = Shingles::of;
        let rule = "Invoices are kept for ten years and then deleted by the nightly job.";
        assert!(of(rule).is_same(&of(&rule.to_uppercase())));
        assert!(!of(rule).is_same(&of(&rule.replace("ten", "seven"))));
        let document =
            format!("# Retention\n\n{rule}\n\nBackups are kept for thirty days in another region.");
        assert!(of(rule).is_in(&of(&document)));
        assert!(!of(&document).is_in(&of(rule)));
        assert!(of("ten years").is_same(&of("Ten years!")));
        assert!(!of("").is_same(&of("")));
    }
}
