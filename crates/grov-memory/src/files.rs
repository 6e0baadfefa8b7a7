//! Files: those that the question names, and those that the best memories touched.

use crate::candidates::{Candidate, Candidates};
use crate::{Ranking, Signal, Terms};
use grov_domain::{MemoryStatistics, TermCount, path_term};
use std::collections::{BTreeMap, HashMap};

/// So many memories of a file make it half as telling.
const COMMON: f64 = 10.0;
/// Files of the best memories that are followed.
const MOST_FILES: usize = 96;

/// A file that speaks for whoever touched it.
#[derive(Clone, Debug, PartialEq)]
pub struct CompanionFile {
    /// The term of its path.
    pub term: String,
    /// How much the memories it comes from were worth.
    pub weight: f64,
}

impl Candidates {
    /// Adds what it is worth to have touched the files that the question names: by name, and once more when the folders
    /// agree as far as both paths go.
    pub fn add_files(&mut self, terms: &Terms, statistics: &MemoryStatistics, ranking: &Ranking) {
        let named = terms.files.iter().zip(terms.words.len()..);
        for (((path, _), place), term) in named.zip(statistics.terms.iter().skip(terms.words.len())) {
            let mut touched: Vec<(&mut Candidate, bool)> = self
                .list
                .iter_mut()
                .filter(|candidate| candidate.counts.iter().any(|count| count.term == place))
                .map(|candidate| {
                    let agrees = candidate.document.files.iter().any(|file| agree(file, path));
                    (candidate, agrees)
                })
                .collect();
            let agreeing = touched.iter().filter(|(_, agrees)| *agrees).count();
            let worth = |number: f64| ranking.file_weight / (1.0 + number / COMMON);
            for (candidate, agrees) in &mut touched {
                let exactly = if *agrees { worth(agreeing as f64) } else { 0.0 };
                candidate.add(Signal::File, worth(term.frequency as f64) + exactly);
            }
        }
    }

    /// The files that the best memories touched, those of the better ones and of those with few files weighing more.
    pub fn companion_files(&self, ranking: &Ranking) -> Vec<CompanionFile> {
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        if ranking.companion_weight > 0.0 {
            for candidate in self.in_order().into_iter().take(ranking.companion_sources) {
                let files = &candidate.document.files;
                let weight = candidate.score().powi(2) / (files.len().max(1) as f64).sqrt();
                for file in files {
                    *weights.entry(path_term(file)).or_default() += weight;
                }
            }
        }
        let mut files: Vec<CompanionFile> = weights
            .into_iter()
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(term, weight)| CompanionFile { term, weight })
            .collect();
        files.sort_by(|one, other| {
            other
                .weight
                .total_cmp(&one.weight)
                .then_with(|| one.term.cmp(&other.term))
        });
        files.truncate(MOST_FILES);
        files
    }

    /// Adds what it is worth to have touched those files. `touching` says which of them which memories touched, and
    /// `statistics` what these stand among.
    pub fn add_companions(
        &mut self,
        files: &[CompanionFile],
        touching: &[(i64, Vec<TermCount>)],
        statistics: &MemoryStatistics,
        ranking: &Ranking,
    ) {
        let mut touched = vec![0_u64; files.len()];
        for count in touching.iter().flat_map(|(_, counts)| counts) {
            if let Some(touched) = touched.get_mut(count.term) {
                *touched += 1;
            }
        }
        // Squared: what everybody touches says nothing. What came after the question does not count.
        let weights: Vec<f64> = files
            .iter()
            .zip(touched)
            .map(|(file, touched)| file.weight * statistics.rarity(touched).powi(2))
            .collect();
        let mut worth: HashMap<i64, f64> = HashMap::new();
        for (document, counts) in touching {
            if let Some(candidate) = self.get_mut(*document) {
                let files = candidate.document.files.len().max(1) as f64;
                let sum = counts.iter().filter_map(|count| weights.get(count.term));
                worth.insert(*document, sum.sum::<f64>() / files.sqrt());
            }
        }
        let best = worth.values().copied().fold(0.0, f64::max);
        if best <= 0.0 {
            return;
        }
        for (document, worth) in worth {
            if let Some(candidate) = self.get_mut(document) {
                candidate.add(Signal::Companion, ranking.companion_weight * worth / best);
            }
        }
    }
}

/// Whether two paths name the same file as far as both say: one ends with the other, which has a folder at least.
fn agree(one: &str, other: &str) -> bool {
    let clean = |path: &str| {
        path.trim_start_matches("./")
            .trim_start_matches('/')
            .to_lowercase()
    };
    let (one, other) = (clean(one), clean(other));
    let (long, short) = if one.len() >= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    short.contains('/')
        && long
            .strip_suffix(&short)
            .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_agree_as_far_as_both_go() {
        assert!(agree("/home/dev/relay/src/limit.rs", "src/limit.rs"));
        assert!(agree("./src/limit.rs", "src/Limit.rs"));
        assert!(!agree("/home/dev/relay/src/limit.rs", "limit.rs"));
        assert!(!agree("src/limit.rs", "c/limit.rs"));
        assert!(!agree("a/src/limit.rs", "b/src/limit.rs"));
    }
}
