//! Tests of ranking with a store in memory.

use crate::{Query, Ranking, Signal, search};
use async_trait::async_trait;
use grov_domain::{
    CandidateOrder, MemoryCandidate, MemoryCandidates, MemoryDocument, MemoryQuestion, MemoryScope,
    MemorySearch, MemoryStatistics, StoreError, Task, TaskId, TaskStatus, TermCount, TermStatistics,
    file_term, path_term, path_words, words,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use time::{Duration, OffsetDateTime};

/// A memory with its text, its files and the minute it was saved.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) id: &'static str,
    pub(crate) text: String,
    pub(crate) files: Vec<&'static str>,
    pub(crate) minute: i64,
    pub(crate) status: TaskStatus,
    /// The memory that supersedes it.
    pub(crate) by: Option<&'static str>,
    /// Its client session.
    pub(crate) session: Option<&'static str>,
}

pub(crate) fn memory(id: &'static str, minute: i64, text: &str, files: &[&'static str]) -> Memory {
    Memory {
        id,
        text: text.to_owned(),
        files: files.to_vec(),
        minute,
        status: TaskStatus::Complete,
        by: None,
        session: None,
    }
}

pub(crate) fn at(minute: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::minutes(minute)
}

/// A store that reads all memories for each query.
pub(crate) struct Shelf(pub(crate) Vec<Memory>);

impl Shelf {
    fn terms(memory: &Memory) -> [Vec<String>; 4] {
        let paths = memory.files.iter().flat_map(|file| path_words(file)).collect();
        let files = memory
            .files
            .iter()
            .flat_map(|file| [file_term(file), path_term(file)])
            .collect();
        [words(&memory.text, 999), Vec::new(), paths, files]
    }
}

#[async_trait]
impl MemorySearch for Shelf {
    async fn candidates(&self, question: &MemoryQuestion<'_>) -> Result<MemoryCandidates, StoreError> {
        let mut statistics = MemoryStatistics {
            terms: vec![TermStatistics::default(); question.terms.len()],
            ..MemoryStatistics::default()
        };
        let (mut found, mut known) = (Vec::new(), Vec::new());
        for (document, memory) in (0..).zip(&self.0) {
            let held = Self::terms(memory);
            statistics.documents += 1;
            for (sum, terms) in statistics.lengths.iter_mut().zip(&held) {
                *sum += terms.len() as u64;
            }
            let mut counts = Vec::new();
            for (term, asked) in question.terms.iter().enumerate() {
                let of_field =
                    |terms: &Vec<String>| u16::try_from(terms.iter().filter(|term| *term == asked).count());
                let of_fields = held.each_ref().map(|terms| of_field(terms).unwrap());
                statistics.terms[term].is_read = true;
                if of_fields != [0; 4] {
                    statistics.terms[term].frequency += 1;
                    counts.push(TermCount {
                        term,
                        counts: of_fields,
                    });
                }
            }
            let is_known =
                matches!(question.order, CandidateOrder::Newest { known } if known.contains(&document));
            let is_older = question.before.is_none_or(|before| at(memory.minute) < before);
            if is_known {
                known.push((document, counts));
            } else if is_older && !counts.is_empty() {
                let document = MemoryDocument {
                    document,
                    task_id: TaskId::new(memory.id),
                    created_at: at(memory.minute),
                    status: memory.status,
                    lengths: held.map(|terms| u32::try_from(terms.len()).unwrap()),
                    files: memory.files.iter().map(ToString::to_string).collect(),
                    superseded_by: memory.by.map(TaskId::new),
                };
                found.push(MemoryCandidate { document, counts });
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
        let terms = self.0.iter().flat_map(Self::terms).flatten();
        let terms: BTreeSet<String> = terms.collect();
        let mut found = Vec::new();
        for (place, beginning) in beginnings.iter().enumerate() {
            let begins = terms.iter().filter(|term| term.starts_with(beginning.as_str()));
            found.extend(begins.take(limit as usize).map(|term| (place, term.clone())));
        }
        Ok(found)
    }

    async fn newest(
        &self,
        _: &MemoryScope,
        before: Option<OffsetDateTime>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        let mut order: Vec<(i64, i64)> = (0..)
            .zip(&self.0)
            .map(|(document, memory)| (memory.minute, document))
            .collect();
        order.retain(|(minute, _)| before.is_none_or(|before| at(*minute) < before));
        order.sort_by(|one, other| other.cmp(one));
        Ok(order
            .into_iter()
            .take(limit as usize)
            .map(|(_, document)| document)
            .collect())
    }

    async fn memories(&self, tasks: &[TaskId]) -> Result<Vec<Task>, StoreError> {
        let of = |id: &TaskId| self.0.iter().find(|memory| memory.id == id.as_str());
        let task = |memory: &Memory| Task {
            project_path: String::new(),
            created_at: at(memory.minute),
            superseded_by: memory.by.map(TaskId::new),
            client_session_id: memory.session.map(grov_domain::ClientSessionId::new),
            ..crate::render::sample(memory.id, &memory.text)
        };
        Ok(tasks.iter().filter_map(of).map(task).collect())
    }
}

pub(crate) fn query(text: &str) -> Query {
    Query {
        scope: MemoryScope::default(),
        text: text.to_owned(),
        files: Vec::new(),
        before: None,
        limit: 10,
    }
}

fn found(shelf: &Shelf, query: &Query) -> Vec<crate::Found> {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(search(shelf, query, &Ranking::default()))
        .unwrap()
}

fn ids(found: &[crate::Found]) -> Vec<&str> {
    found.iter().map(|found| found.task_id.as_str()).collect()
}

fn signals(found: &crate::Found) -> Vec<Signal> {
    found.shares.iter().map(|share| share.signal).collect()
}

/// Adds unrelated memories, a day apart, so that rare words are rare and no memories are neighbours.
pub(crate) fn shelf(memories: &[Memory]) -> Shelf {
    const FILLER: [&str; 8] = [
        "alpha", "bravo", "charlie", "delta", "foxtrot", "golf", "hotel", "juliett",
    ];
    let filler = FILLER
        .iter()
        .zip(1..)
        .map(|(id, day)| memory(id, day * 1440, id, &[]));
    Shelf(filler.chain(memories.iter().cloned()).collect())
}

#[test]
fn the_memory_with_more_of_the_question_comes_first() {
    let shelf = shelf(&[
        memory("one", 100_000, "retry the upload", &[]),
        memory("both", 200_000, "retry the upload with a backoff", &[]),
        memory("none", 300_000, "paint the shed", &[]),
    ]);
    let found = found(&shelf, &query("upload retries with backoff"));
    assert_eq!(ids(&found), ["both", "one"]);
    assert!((found[0].coverage - 1.0).abs() < 1e-9, "{found:?}");
    assert!(found[1].coverage < 0.9, "{found:?}");
}

#[test]
fn a_path_is_found_by_its_words_and_a_file_by_its_name() {
    let shelf = shelf(&[
        memory("path", 100_000, "tidy", &["src/rateLimiter.rs"]),
        memory("other", 200_000, "tidy", &["lib/rate_limiter.rs"]),
    ]);
    let by_words = found(&shelf, &query("the rate limiter"));
    assert_eq!(by_words.len(), 2);
    assert!(signals(&by_words[0]).contains(&Signal::Path));
    let by_file = found(
        &shelf,
        &Query {
            files: vec!["/home/dev/relay/src/rateLimiter.rs".to_owned()],
            ..query("")
        },
    );
    assert_eq!(ids(&by_file), ["path"]);
    assert!(signals(&by_file[0]).contains(&Signal::File));
}

#[test]
fn co_changed_memories_share_files_and_no_word() {
    let shelf = shelf(&[
        memory("asked", 100_000, "histogram buckets", &["storage/series.go"]),
        memory("companion", 200_000, "fix a race", &["storage/series.go"]),
        memory("stranger", 300_000, "fix a race", &["web/page.ts"]),
    ]);
    let found = found(&shelf, &query("histogram"));
    assert_eq!(ids(&found), ["asked", "companion"]);
    assert_eq!(signals(&found[1])[0], Signal::CoChange);
    assert!(!signals(&found[1]).contains(&Signal::Text));
}

#[test]
fn recency_decides_for_short_questions_as_of_a_time() {
    let shelf = shelf(&[
        memory("old", 100_000, "fix the flaky build", &[]),
        memory("new", 200_000, "fix the flaky build", &[]),
        memory("later", 300_000, "fix the flaky build", &[]),
    ]);
    let asked_then = Query {
        before: Some(at(250_000)),
        ..query("flaky build")
    };
    let then = found(&shelf, &asked_then);
    assert_eq!(ids(&then), ["new", "old"]);
    let share = |found: &crate::Found| {
        let recency = found.shares.iter().find(|share| share.signal == Signal::Recency);
        recency.map_or(0.0, |share| share.value) / found.score
    };
    let long = Query {
        text: format!(
            "flaky build {}",
            "with many other words that nobody has ever said before here ".repeat(3)
        ),
        ..asked_then
    };
    let wordy: String = ('a'..='z').map(|letter| format!(" q{letter}{letter}")).collect();
    let long = Query {
        text: long.text + &wordy,
        ..long
    };
    assert!(share(&found(&shelf, &long)[0]) < share(&then[0]) / 2.0);
    let timeless = found(&shelf, &query("flaky build"));
    assert_eq!(timeless.len(), 3);
    assert!(
        timeless
            .iter()
            .all(|found| !signals(found).contains(&Signal::Recency))
    );
}

#[test]
fn memories_saved_within_minutes_gain_score() {
    let shelf = shelf(&[
        memory("near", 100_001, "we saw a heron", &[]),
        memory("good", 100_000, "lake trip by canoe last heron", &[]),
        memory("far", 900_000, "we saw a heron", &[]),
    ]);
    let found = found(&shelf, &query("lake canoe heron"));
    assert_eq!(ids(&found), ["good", "near", "far"]);
    assert!(signals(&found[1]).contains(&Signal::Neighbour));
}

#[test]
fn abandoned_work_ranks_lower() {
    let mut given_up = memory("given-up", 200_000, "cache the index", &[]);
    given_up.status = TaskStatus::Abandoned;
    let shelf = shelf(&[given_up, memory("done", 100_000, "cache the index", &[])]);
    assert_eq!(ids(&found(&shelf, &query("index cache"))), ["done", "given-up"]);
}

#[test]
fn nothing_below_the_floor_is_returned() {
    let shelf = shelf(&[memory("slightly", 100_000, "a new logo", &[])]);
    let strict = Ranking {
        floor: 0.5,
        ..Ranking::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let asked = query("new database with vectors and an index of terms");
    assert_eq!(ids(&found(&shelf, &asked)), ["slightly"]);
    assert_eq!(runtime.block_on(search(&shelf, &asked, &strict)).unwrap(), []);
}

#[test]
fn a_floor_does_not_change_results_above_it() {
    let shelf = shelf(&[
        memory(
            "near",
            100_000,
            "limit retries of the http client",
            &["src/client.rs"],
        ),
        memory("beside", 100_002, "a new logo", &["src/client.rs"]),
        memory("far", 200_000, "retries", &["src/logo.rs"]),
    ]);
    let asked = Query {
        before: Some(at(300_000)),
        ..query("limit retries of the http client in src/client.rs")
    };
    let all = found(&shelf, &asked);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut sizes = Vec::new();
    for floor in [0.0, 0.5, 1.0, 2.0, 4.0, 1_000.0] {
        let ranking = Ranking {
            floor,
            ..Ranking::default()
        };
        let above: Vec<_> = all
            .iter()
            .filter(|found| found.relevance >= floor)
            .cloned()
            .collect();
        sizes.push(above.len());
        assert_eq!(
            runtime.block_on(search(&shelf, &asked, &ranking)).unwrap(),
            above,
            "{floor}"
        );
    }
    assert!(
        sizes.first() > sizes.last() && sizes.contains(&1) && sizes.last() == Some(&0),
        "{sizes:?}"
    );
}

#[test]
fn an_empty_question_finds_nothing() {
    let shelf = shelf(&[]);
    for text in ["", "   ", "the of and", "\"*\" ^ : ()"] {
        assert_eq!(found(&shelf, &query(text)), [], "{text:?}");
    }
}

proptest! {
    /// Any query over any memories: results are deterministic and unique, sorted by score, and shares add up to the
    /// score.
    #[test]
    fn ranking_is_deterministic_and_sorted(
        texts in proptest::collection::vec(("[a-e ]{0,12}|\\PC{0,20}", 0i64..5, 0usize..3), 0..20),
        asked in "[a-e ]{0,12}|\\PC{0,40}",
        before in proptest::option::of(0i64..6),
        limit in 0usize..30,
    ) {
        const IDS: [&str; 20] = [
            "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t",
        ];
        const FILES: [&str; 3] = ["a/b.rs", "b.rs", "c"];
        let memories = texts.iter().zip(IDS).map(|((text, minute, files), id)| memory(id, *minute, text, &FILES[..*files]));
        let shelf = Shelf(memories.collect());
        let query = Query { files: vec!["b.rs".to_owned()], before: before.map(at), limit, ..query(&asked) };
        let first = found(&shelf, &query);
        prop_assert_eq!(&first, &found(&shelf, &query));
        prop_assert!(first.len() <= limit);
        for result in &first {
            let sum: f64 = result.shares.iter().map(|share| share.value).sum();
            prop_assert!(result.score > 0.0 && result.score.is_finite() && (sum - result.score).abs() < 1e-9);
            prop_assert!(result.coverage >= 0.0 && result.coverage <= 1.0 + 1e-9);
        }
        prop_assert!(first.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let mut ids = ids(&first);
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), first.len());
    }
}
