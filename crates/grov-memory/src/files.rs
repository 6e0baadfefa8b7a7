//! File signals: files that the query names, and files that the best results touched.

use crate::candidates::{Candidate, Candidates};
use crate::{Ranking, Signal, Terms};
use grov_domain::{MemoryStatistics, TermCount, path_term};
use std::collections::{BTreeMap, HashMap};

/// The number of memories of a file that halves its weight.
const COMMON: f64 = 10.0;
/// Maximum number of files taken from the best results.
const MAX_FILES: usize = 96;

/// A file that the best results touched; other memories that touched it gain score.
#[derive(Clone, Debug, PartialEq)]
pub struct CoChangedFile {
    /// The term of its path.
    pub term: String,
    /// The summed weight of the results it comes from.
    pub weight: f64,
}

impl Candidates {
    /// Adds score for touching files that the query names: once for the file name, once more if the folders match as far as
    /// both paths go.
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

    /// The files of the best results. Better results, and results with few files, weigh more.
    pub fn co_changed_files(&self, ranking: &Ranking) -> Vec<CoChangedFile> {
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        if ranking.co_change_weight > 0.0 {
            for candidate in self.in_order().into_iter().take(ranking.co_change_sources) {
                let files = &candidate.document.files;
                let weight = candidate.score().powi(2) / (files.len().max(1) as f64).sqrt();
                for file in files {
                    *weights.entry(path_term(file)).or_default() += weight;
                }
            }
        }
        let mut files: Vec<CoChangedFile> = weights
            .into_iter()
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(term, weight)| CoChangedFile { term, weight })
            .collect();
        files.sort_by(|one, other| {
            other
                .weight
                .total_cmp(&one.weight)
                .then_with(|| one.term.cmp(&other.term))
        });
        files.truncate(MAX_FILES);
        files
    }

    /// Adds score for touching those files. `touching` lists which of the files each memory touched.
    pub fn add_co_changed(
        &mut self,
        files: &[CoChangedFile],
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
        // Squared, because a file that most memories touch says little.
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
                candidate.add(Signal::CoChange, ranking.co_change_weight * worth / best);
            }
        }
    }
}

/// Whether one path ends with the other, and the shorter one has at least one folder.
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
