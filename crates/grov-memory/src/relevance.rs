//! Whether a memory is about what the question is about at all, on a scale that means the same in every project, whatever its
//! size.
//!
//! Scores rank the memories of one search; the best of them may still be about something else. Relevance grows with what
//! the question and the memory share, each word by its rarity, and falls with what else the question says and how long
//! the memory is, because a long one has some of any words. In a store of few memories every word is rare, so rarity is
//! estimated as if [`BACKGROUND`] more were there, in which commonplace words are common and all others do not occur.

use crate::Terms;
use crate::candidates::Candidates;
use crate::commonplace::{is_commonplace, is_commonplace_file};
use grov_domain::{TermMatch, TermMatches, file_name};

/// Memories that are thought to be there besides those that are.
const BACKGROUND: f64 = 2000.0;
/// In what share of them a commonplace word stands.
const COMMON_SHARE: f64 = 0.1;
/// What a question says besides its words: keeps two commonplace words from being all of it.
const UNSAID: f64 = 5.0;
/// Terms of a memory at which its length begins to count.
const LENGTH: f64 = 100.0;
/// How strongly it does.
const LENGTH_POWER: f64 = 0.6;
/// What a word in the record or in a path is worth, compared with one in the prompt, the goal or a decision.
const BESIDE_TEXT: f64 = 0.8;
/// Words behind an identifier that can be parts of it.
const PARTS: usize = 6;

/// How telling a term is.
fn weight(term: &TermMatch, documents: u64, commonplace: bool) -> f64 {
    let share = if commonplace { COMMON_SHARE } else { 0.0 };
    let all = documents as f64 + BACKGROUND + 1.0;
    let with = term.frequency as f64 + BACKGROUND * share + 1.0;
    (all / with).ln().max(0.0)
}

impl Candidates {
    /// Says how relevant each memory is to the question.
    pub fn add_relevance(&mut self, terms: &Terms, matches: &TermMatches) {
        let documents = matches.extent.documents;
        let mut asked = UNSAID;
        for group in groups(terms) {
            // Of a name and its parts the most telling one counts: they say one thing.
            let mut most = 0.0_f64;
            let mut shared: Vec<(i64, f64)> = Vec::new();
            for place in group {
                let (Some(word), Some(term)) = (terms.words.get(place), matches.terms.get(place)) else {
                    continue;
                };
                let Some(postings) = &term.postings else { continue };
                let weight = weight(term, documents, is_commonplace(word));
                most = most.max(weight);
                let looked_at = postings.iter().filter(|posting| self.contains(posting.document));
                shared.extend(looked_at.map(|posting| {
                    let [text, trace, path, _] = posting.counts;
                    let worth = if text > 0 {
                        weight
                    } else if trace > 0 || path > 0 {
                        weight * BESIDE_TEXT
                    } else {
                        0.0
                    };
                    (posting.document, worth)
                }));
            }
            asked += most;
            self.share(shared);
        }
        let files = matches.terms.iter().skip(terms.words.len());
        for ((path, _), term) in terms.files.iter().zip(files) {
            let Some(postings) = &term.postings else { continue };
            let weight = weight(term, documents, is_commonplace_file(&file_name(path)));
            asked += weight;
            self.share(
                postings
                    .iter()
                    .map(|posting| (posting.document, weight))
                    .collect(),
            );
        }
        for candidate in &mut self.list {
            let length: u32 = candidate.document.lengths.iter().take(3).sum();
            let long = (1.0 + f64::from(length) / LENGTH).powf(LENGTH_POWER);
            candidate.relevance = candidate.shared.powi(2) / asked / long;
        }
    }

    /// Adds what memories share with the question in one thing that it says: the most of what is given for each.
    fn share(&mut self, mut shared: Vec<(i64, f64)>) {
        shared.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
        shared.dedup_by_key(|(document, _)| *document);
        for (document, weight) in shared {
            if let Some(candidate) = self.get_mut(document) {
                candidate.shared += weight;
            }
        }
    }
}

/// The words of a question in groups that say one thing each: a name of code and its parts behind it, or a word alone.
fn groups(terms: &Terms) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, word) in terms.words.iter().enumerate() {
        let whole = groups.last().and_then(|group| {
            let first = *group.first()?;
            let whole = terms.words.get(first)?;
            let near = place - first <= PARTS && terms.identifiers.contains(whole);
            (near && whole.len() > word.len() && whole.contains(word.as_str())).then_some(())
        });
        match (whole, groups.last_mut()) {
            (Some(()), Some(group)) => group.push(place),
            _ => groups.push(vec![place]),
        }
    }
    groups
}

#[cfg(test)]
mod tests;
