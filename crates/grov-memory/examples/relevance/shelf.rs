//! A store in memory with the index of the real one, so that thousands of questions take seconds.

use async_trait::async_trait;
use grov_domain::{
    CandidateOrder, MemoryCandidate, MemoryCandidates, MemoryDocument, MemoryQuestion, MemoryScope,
    MemorySearch, MemoryStatistics, PerField, StoreError, Task, TaskId, TermCount, TermStatistics, file_term,
    path_term, path_words, words,
};
use std::collections::{BTreeMap, HashMap};
use time::OffsetDateTime;

/// Maximum number of indexed terms per field, as in the real store.
const TERMS_OF_A_FIELD: usize = 8192;

/// The memories of one project.
#[derive(Default)]
pub(crate) struct Shelf {
    tasks: Vec<Task>,
    lengths: Vec<[u32; 4]>,
    places: HashMap<String, Vec<(i64, PerField<u16>)>>,
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
                let places = shelf.places.entry(term.to_owned()).or_default();
                places.push((document, counts));
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
    async fn candidates(&self, question: &MemoryQuestion<'_>) -> Result<MemoryCandidates, StoreError> {
        let of = |term: &String| self.places.get(term).map_or(&[][..], Vec::as_slice);
        let mut statistics = MemoryStatistics {
            documents: self.tasks.len() as u64,
            lengths: self.sums,
            terms: vec![TermStatistics::default(); question.terms.len()],
        };
        let mut rarest_first: Vec<usize> = (0..question.terms.len()).collect();
        rarest_first.sort_by_key(|place| of(&question.terms[*place]).len());
        let mut left = question.budget;
        for place in rarest_first {
            let frequency = of(&question.terms[place]).len() as u64;
            let is_read = frequency <= left;
            left = if is_read { left - frequency } else { 0 };
            statistics.terms[place] = TermStatistics { frequency, is_read };
        }
        let mut counts: BTreeMap<i64, Vec<TermCount>> = BTreeMap::new();
        for (term, asked) in question.terms.iter().enumerate() {
            for (document, of_fields) in of(asked).iter().filter(|_| statistics.terms[term].is_read) {
                counts.entry(*document).or_default().push(TermCount {
                    term,
                    counts: *of_fields,
                });
            }
        }
        let mut known = Vec::new();
        let mut order: Vec<(f64, i64)> = Vec::new();
        for (document, counts) in &counts {
            match question.order {
                CandidateOrder::Newest { known: already } if already.contains(document) => {
                    known.push((*document, counts.clone()));
                }
                CandidateOrder::Newest { .. } => order.push((0.0, *document)),
                CandidateOrder::Worth(weights) => {
                    let worth = counts.iter().map(|count| {
                        let rarity = statistics.rarity(statistics.terms[count.term].frequency);
                        weights.worth(rarity, count.counts)
                    });
                    let worth = worth.sum::<f64>();
                    if worth > 0.0 {
                        order.push((worth, *document));
                    }
                }
            }
        }
        order.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        let is_by_worth = matches!(question.order, CandidateOrder::Worth(_));
        let mut found = Vec::new();
        for portion in order.chunks(question.limit.max(1)) {
            let older = portion.iter().filter_map(|(_, document)| {
                let (task, lengths) = self.older(*document, question.before)?;
                let document = MemoryDocument {
                    document: *document,
                    task_id: task.id.clone(),
                    created_at: task.created_at,
                    status: task.status,
                    lengths: *lengths,
                    files: task.files_touched.clone(),
                    superseded_by: task.superseded_by.clone(),
                };
                let counts = counts.get(&document.document).cloned().unwrap_or_default();
                Some(MemoryCandidate { document, counts })
            });
            found.extend(older);
            if !is_by_worth || found.len() * 2 >= question.limit {
                break;
            }
        }
        Ok(MemoryCandidates {
            statistics,
            found,
            known,
        })
    }

    async fn terms_beginning(
        &self,
        _: &MemoryScope,
        beginnings: &[String],
        limit: u32,
    ) -> Result<Vec<(usize, String)>, StoreError> {
        let mut found: Vec<(usize, String)> = Vec::new();
        for (place, beginning) in beginnings.iter().enumerate() {
            let begins = |term: &&String| term.starts_with(beginning.as_str());
            let mut terms: Vec<&String> = self.places.keys().filter(begins).collect();
            terms.sort_unstable();
            terms.truncate(limit as usize);
            found.extend(terms.into_iter().map(|term| (place, term.clone())));
        }
        Ok(found)
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
