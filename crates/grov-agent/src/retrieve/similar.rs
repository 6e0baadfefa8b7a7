//! Near-duplicates: texts that say the same in the same words.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The words of a shingle.
const SHINGLE: usize = 3;
/// The share of common shingles from which two texts are the same.
const SAME: f64 = 0.9;

/// The distinct shingles of a text: all runs of three words, or all words of a shorter text.
#[derive(Clone, Debug)]
pub(super) struct Shingles(Vec<u64>);

impl Shingles {
    /// The shingles of a text with these words.
    pub(super) fn of(words: &[String]) -> Self {
        let hash = |words: &[String]| {
            let mut hasher = DefaultHasher::new();
            words.hash(&mut hasher);
            hasher.finish()
        };
        let mut hashes: Vec<u64> = match words.len() {
            0 => Vec::new(),
            1..=SHINGLE => vec![hash(words)],
            _ => words.windows(SHINGLE).map(hash).collect(),
        };
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }
}

/// How two texts are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sameness {
    /// At least nine of ten shingles of both are the same (Jaccard).
    Same,
    /// At least nine of ten shingles of the new text are in the known one.
    NewInKnown,
    /// At least nine of ten shingles of the known text are in the new one.
    KnownInNew,
}

/// Texts that were seen, by their shingles: a new text is compared with those that share some.
#[derive(Default)]
pub(super) struct Seen {
    sizes: Vec<usize>,
    places: HashMap<u64, Vec<usize>>,
}

impl Seen {
    /// Adds a text and returns its number, from 0.
    pub(super) fn add(&mut self, shingles: &Shingles) -> usize {
        let number = self.sizes.len();
        self.sizes.push(shingles.0.len());
        for shingle in &shingles.0 {
            self.places.entry(*shingle).or_default().push(number);
        }
        number
    }

    /// The texts that are the same as a new one, in the order in which they were added.
    pub(super) fn like(&self, shingles: &Shingles) -> Vec<(usize, Sameness)> {
        let mut common: HashMap<usize, usize> = HashMap::new();
        for number in shingles
            .0
            .iter()
            .filter_map(|shingle| self.places.get(shingle))
            .flatten()
        {
            *common.entry(*number).or_default() += 1;
        }
        let size = shingles.0.len() as f64;
        let sameness = |(number, common): (usize, usize)| {
            let (its, common) = (self.sizes[number] as f64, common as f64);
            let how = if common / (size + its - common) >= SAME {
                Sameness::Same
            } else if common / size >= SAME {
                Sameness::NewInKnown
            } else if common / its >= SAME {
                Sameness::KnownInNew
            } else {
                return None;
            };
            Some((number, how))
        };
        let mut like: Vec<(usize, Sameness)> = common.into_iter().filter_map(sameness).collect();
        like.sort_unstable_by_key(|(number, _)| *number);
        like
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::stems;
    use super::*;

    #[test]
    fn the_same_words_are_the_same_and_other_numbers_are_not() {
        let like = |known: &str, new: &str| {
            let mut seen = Seen::default();
            seen.add(&Shingles::of(&stems(known)));
            seen.like(&Shingles::of(&stems(new))).pop().map(|(_, how)| how)
        };
        let rule = "Invoices are kept for ten years and then deleted by the nightly job.";
        let document =
            format!("# Retention\n\n{rule}\n\nBackups are kept for thirty days in another region.");
        for (known, new, expected) in [
            (rule, rule.to_uppercase().as_str(), Some(Sameness::Same)),
            (rule, &rule.replace("ten", "seven"), None),
            (&document, rule, Some(Sameness::NewInKnown)),
            (rule, &document, Some(Sameness::KnownInNew)),
            ("ten years", "Ten years!", Some(Sameness::Same)),
            ("", "", None),
        ] {
            assert_eq!(like(known, new), expected, "{new}");
        }
    }
}
