//! A store in memory with the index of the real one, so that a table of thousands of questions takes seconds.

use async_trait::async_trait;
use grov_domain::{
    MemoryDocument, MemoryExtent, MemoryScope, MemorySearch, Posting, StoreError, Task, TaskId, TermMatch,
    TermMatches, file_term, path_term, path_words, words,
};
use std::collections::HashMap;
use time::OffsetDateTime;

/// Terms of a field that are indexed, as in the real store.
const TERMS_OF_A_FIELD: usize = 8192;

/// The memories of one project.
#[derive(Default)]
pub(crate) struct Shelf {
    tasks: Vec<Task>,
    lengths: Vec<[u32; 4]>,
    places: HashMap<String, Vec<Posting>>,
    sums: [u64; 4],
}

impl Shelf {
    /// Memories, oldest first.
    pub(crate) fn of(mut tasks: Vec<Task>) -> Self {
        tasks.sort_by_key(|task| task.created_at);
        let mut shelf = Self::default();
        for (document, task) in (0..).zip(tasks) {
            let fields = terms(&task);
            let mut counts: HashMap<&str, [u16; 4]> = HashMap::new();
            for (field, terms) in fields.iter().enumerate() {
                for term in terms {
                    counts.entry(term).or_default()[field] += 1;
                }
            }
            for (term, counts) in counts {
                let posting = Posting { document, counts };
                shelf.places.entry(term.to_owned()).or_default().push(posting);
            }
            let lengths = fields
                .each_ref()
                .map(|terms| u32::try_from(terms.len()).unwrap_or(u32::MAX));
            for (sum, length) in shelf.sums.iter_mut().zip(lengths) {
                *sum += u64::from(length);
            }
            shelf.lengths.push(lengths);
            shelf.tasks.push(task);
        }
        shelf
    }

    fn older(&self, document: i64, before: Option<OffsetDateTime>) -> Option<(&Task, &[u32; 4])> {
        let place = usize::try_from(document).ok()?;
        let task = self.tasks.get(place)?;
        let is_older = before.is_none_or(|before| task.created_at < before);
        is_older.then_some((task, self.lengths.get(place)?))
    }
}

fn terms(task: &Task) -> [Vec<String>; 4] {
    let mut text = vec![task.original_query.as_str()];
    text.extend(task.goal.as_deref().filter(|goal| *goal != task.original_query));
    for decision in &task.decisions {
        text.extend([decision.choice.as_str(), &decision.reason]);
    }
    text.extend(task.constraints.iter().chain(&task.tags).map(String::as_str));
    let trace = task.reasoning_trace.iter().map(String::as_str);
    let field = |texts: &mut dyn Iterator<Item = &str>| {
        let mut terms: Vec<String> = texts.flat_map(|text| words(text, TERMS_OF_A_FIELD)).collect();
        terms.truncate(TERMS_OF_A_FIELD);
        terms
    };
    let files = &task.files_touched;
    [
        field(&mut text.into_iter()),
        field(&mut trace.into_iter()),
        files
            .iter()
            .flat_map(|path| path_words(path))
            .take(TERMS_OF_A_FIELD)
            .collect(),
        files
            .iter()
            .flat_map(|path| [file_term(path), path_term(path)])
            .collect(),
    ]
}

#[async_trait]
impl MemorySearch for Shelf {
    async fn lookup(
        &self,
        _: &MemoryScope,
        terms: &[String],
        budget: u64,
    ) -> Result<TermMatches, StoreError> {
        let mut found = TermMatches {
            extent: MemoryExtent {
                documents: self.tasks.len() as u64,
                lengths: self.sums,
            },
            terms: vec![TermMatch::default(); terms.len()],
        };
        let of = |place: &usize| self.places.get(&terms[*place]).map_or(&[][..], Vec::as_slice);
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_by_key(|place| of(place).len());
        let mut left = budget;
        for place in order {
            let postings = of(&place);
            found.terms[place].frequency = postings.len() as u64;
            if postings.len() as u64 > left {
                left = 0;
                continue;
            }
            left -= postings.len() as u64;
            found.terms[place].postings = Some(postings.to_vec());
        }
        Ok(found)
    }

    async fn documents(
        &self,
        documents: &[i64],
        before: Option<OffsetDateTime>,
    ) -> Result<Vec<MemoryDocument>, StoreError> {
        let found = documents.iter().filter_map(|document| {
            let (task, lengths) = self.older(*document, before)?;
            Some(MemoryDocument {
                document: *document,
                task_id: task.id.clone(),
                created_at: task.created_at,
                status: task.status,
                lengths: *lengths,
                files: task.files_touched.clone(),
                superseded_by: task.superseded_by.clone(),
            })
        });
        Ok(found.collect())
    }

    async fn newest(
        &self,
        _: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        let all = (0..i64::try_from(self.tasks.len()).unwrap_or(0)).rev();
        Ok(all
            .filter(|document| self.older(*document, before).is_some())
            .take(limit as usize)
            .collect())
    }

    async fn memories(&self, tasks: &[TaskId]) -> Result<Vec<Task>, StoreError> {
        let of = |id: &TaskId| self.tasks.iter().find(|task| task.id == *id).cloned();
        Ok(tasks.iter().filter_map(of).collect())
    }
}
