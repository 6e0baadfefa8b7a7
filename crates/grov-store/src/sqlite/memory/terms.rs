//! Extracts the search terms of a task.

use super::postings::Posting;
use grov_domain::{PerField, Task, file_term, path_term, path_words, words};
use std::collections::HashMap;

/// Maximum number of indexed terms per field: a field of a megabyte is not prose.
const MAX_FIELD_TERMS: usize = 8192;
/// Maximum number of indexed files per task.
const MAX_FILES: usize = 1024;

/// The terms of a task by field, including repetitions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::sqlite) struct Terms(PerField<Vec<String>>);

impl Terms {
    /// Extracts the terms of a redacted task. They depend only on its texts and files.
    pub(in crate::sqlite) fn of(task: &Task) -> Self {
        // The goal often repeats the prompt, which must not count twice.
        let goal = task.goal.iter().filter(|goal| **goal != task.original_query);
        let decisions = task
            .decisions
            .iter()
            .flat_map(|decision| [&decision.choice, &decision.reason]);
        let text = std::iter::once(&task.original_query)
            .chain(goal)
            .chain(decisions)
            .chain(&task.constraints)
            .chain(&task.tags);
        let files = task.files_touched.iter().take(MAX_FILES);
        let path = files.clone().flat_map(|path| path_words(path));
        Self([
            words_of(text),
            words_of(task.reasoning_trace.iter()),
            path.take(MAX_FIELD_TERMS).collect(),
            files
                .flat_map(|path| [file_term(path), path_term(path)])
                .collect(),
        ])
    }

    /// Returns the number of terms by field.
    pub(super) fn lengths(&self) -> PerField<i64> {
        self.0
            .each_ref()
            .map(|terms| i64::try_from(terms.len()).unwrap_or(i64::MAX))
    }
}

fn words_of<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut found = Vec::new();
    for text in texts {
        let room = MAX_FIELD_TERMS - found.len();
        if room == 0 {
            break;
        }
        found.append(&mut words(text, room));
    }
    found
}

/// The postings of each term, in ascending order of documents.
#[derive(Debug, Default)]
pub(super) struct TermPostings(HashMap<String, Vec<Posting>>);

impl TermPostings {
    /// Adds a document with a larger number than the previous ones.
    pub(super) fn add(&mut self, document: i64, terms: Terms) {
        for (field, terms) in terms.0.into_iter().enumerate() {
            for term in terms {
                let postings = match self.0.get_mut(&term) {
                    Some(postings) => postings,
                    None => self.0.entry(term).or_default(),
                };
                match postings.last_mut() {
                    Some(posting) if posting.document == document => {
                        if let Some(count) = posting.counts.get_mut(field) {
                            *count = count.saturating_add(1);
                        }
                    }
                    _ => {
                        let mut counts = [0; 4];
                        if let Some(count) = counts.get_mut(field) {
                            *count = 1;
                        }
                        postings.push(Posting { document, counts });
                    }
                }
            }
        }
    }

    /// Returns the postings in table order, so that each page is visited once.
    pub(super) fn in_order(self) -> Vec<(String, Vec<Posting>)> {
        let mut postings: Vec<(String, Vec<Posting>)> = self.0.into_iter().collect();
        postings.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        postings
    }
}
