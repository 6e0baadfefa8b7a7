//! The memory index returns the same as reading all tasks, after any sequence of changes.

use crate::support::Home;
use grov_domain::{
    CandidateOrder, ClientSessionId, MemoryCandidate, MemoryCandidates, MemoryDocument, MemoryQuestion,
    MemoryScope, MemorySearch, MemoryStore, PerField, Redacted, SessionId, Task, TaskId, TaskStore,
    file_term, path_term, path_words, words,
};
use grov_store::SqliteStore;
use grov_store::contract::empty_task;
use proptest::prelude::*;
use sqlx::Executor;
use std::collections::BTreeMap;
use time::{Duration, OffsetDateTime};

const PROJECTS: [&str; 2] = ["/p", "/q"];
const REMOTE: &str = "git.example.com/dev/p";
const WORDS: [&str; 6] = [
    "limit",
    "the limits of limiting",
    "parseHTTPUrl",
    "修复缓存",
    "odd NEAR(b) \"c\" -d*",
    "buffers and caches",
];
const FILES: [&str; 4] = ["src/limit.rs", "src/Limit.rs", "a \"b' c\n.rs", "字.txt"];

/// A task generated from a few numbers.
#[derive(Clone, Debug)]
struct Made {
    id: u16,
    /// Of a session that may have a task under another id.
    session: Option<u8>,
    words: Vec<usize>,
    files: Vec<usize>,
    project: usize,
    remote: bool,
    minute: i64,
}

impl Made {
    fn task(&self) -> Task {
        let word = |place: usize| {
            let place = self.words.get(place).copied().unwrap_or(place);
            WORDS[place % WORDS.len()].to_owned()
        };
        Task {
            project_path: PROJECTS[self.project].to_owned(),
            project_remote: self.remote.then(|| REMOTE.to_owned()),
            client_session_id: self.session.map(|_| ClientSessionId::new("c")),
            session_id: self.session.map(|number| SessionId::new(format!("s{number}"))),
            original_query: word(0),
            goal: Some(word(1)),
            reasoning_trace: self.words.iter().map(|place| WORDS[*place].repeat(2)).collect(),
            files_touched: self.files.iter().map(|place| FILES[*place].to_owned()).collect(),
            constraints: self
                .words
                .iter()
                .skip(2)
                .map(|place| WORDS[*place].to_owned())
                .collect(),
            tags: vec![word(5)],
            created_at: OffsetDateTime::UNIX_EPOCH + Duration::minutes(self.minute),
            ..empty_task(&format!("t{}", self.id))
        }
    }
}

fn made(ids: std::ops::Range<u16>) -> impl Strategy<Value = Made> {
    let words = prop::collection::vec(0..WORDS.len(), 0..6);
    let files = prop::collection::vec(0..FILES.len(), 0..4);
    (
        ids,
        prop::option::weighted(0.2, 0..3_u8),
        words,
        files,
        0..10_usize,
        any::<bool>(),
        0..500_i64,
    )
        .prop_map(|(id, session, words, files, project, remote, minute)| Made {
            id,
            session,
            words,
            files,
            project: usize::from(project == 0),
            remote,
            minute,
        })
}

#[derive(Clone, Debug)]
enum Act {
    Save(Made),
    Import(Vec<Made>),
    /// Small tasks, enough to fill more than one part of a posting list.
    ImportMany(u16),
    Forget(Vec<u16>),
    ForgetEvery(u16),
    Replace(u16, Option<u16>),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => made(0..12).prop_map(Act::Save),
        3 => prop::collection::vec(made(0..40), 0..30).prop_map(Act::Import),
        2 => (300..700_u16).prop_map(Act::ImportMany),
        2 => prop::collection::vec(0..40_u16, 1..5).prop_map(Act::Forget),
        1 => (2..9_u16).prop_map(Act::ForgetEvery),
        1 => (0..12_u16, prop::option::of(0..12_u16)).prop_map(|(old, by)| Act::Replace(old, by)),
    ]
}

async fn perform(store: &SqliteStore, act: &Act) {
    let id = |number: &u16| TaskId::new(format!("t{number}"));
    match act {
        Act::Save(made) => store.save_task(&Redacted::of(&made.task())).await.unwrap(),
        Act::Import(made) => {
            let tasks: Vec<Task> = made.iter().map(Made::task).collect();
            let report = store.import(&Redacted::each(&tasks)).await.unwrap();
            let taken = report.added + report.replaced + report.unchanged;
            assert_eq!(taken + report.refused.len() as u64, tasks.len() as u64);
        }
        Act::ImportMany(many) => {
            let small = (100..100 + many).map(|id| Made {
                id,
                session: None,
                words: vec![usize::from(id % 3), usize::from(id % 2)],
                files: vec![usize::from(id % 4)],
                project: 0,
                remote: id % 2 == 0,
                minute: i64::from(id),
            });
            let tasks: Vec<Task> = small.map(|made| made.task()).collect();
            store.import(&Redacted::each(&tasks)).await.unwrap();
        }
        Act::Forget(ids) => {
            store
                .forget(&ids.iter().map(id).collect::<Vec<_>>())
                .await
                .unwrap();
        }
        Act::ForgetEvery(step) => {
            let ids: Vec<TaskId> = (100..800)
                .step_by(usize::from(*step))
                .map(|number| id(&number))
                .collect();
            store.forget(&ids).await.unwrap();
        }
        Act::Replace(old, by) => {
            store
                .supersede(&id(old), by.as_ref().map(id).as_ref())
                .await
                .unwrap();
        }
    }
}

/// The terms of a task with their counts by field.
fn terms(task: &Task) -> (BTreeMap<String, PerField<u16>>, PerField<u64>) {
    let all = |texts: &[String]| -> Vec<String> { texts.iter().flat_map(|text| words(text, 9999)).collect() };
    let mut text = words(&task.original_query, 9999);
    if let Some(goal) = task.goal.as_ref().filter(|goal| **goal != task.original_query) {
        text.extend(words(goal, 9999));
    }
    text.extend(all(&task.constraints));
    text.extend(all(&task.tags));
    let fields = [
        text,
        all(&task.reasoning_trace),
        task.files_touched
            .iter()
            .flat_map(|file| path_words(file))
            .collect(),
        task.files_touched
            .iter()
            .flat_map(|file| [file_term(file), path_term(file)])
            .collect(),
    ];
    let mut counts: BTreeMap<String, PerField<u16>> = BTreeMap::new();
    for (field, terms) in fields.iter().enumerate() {
        for term in terms {
            counts.entry(term.clone()).or_default()[field] += 1;
        }
    }
    (counts, fields.map(|terms| terms.len() as u64))
}

/// Compares every result for a scope with its tasks.
async fn check(store: &SqliteStore, scope: &MemoryScope) {
    let tasks = store.export(Some(scope), None, u32::MAX).await.unwrap();
    let mut expected: BTreeMap<String, BTreeMap<String, PerField<u16>>> = BTreeMap::new();
    let mut lengths = [0; 4];
    for task in &tasks {
        let (counts, of_task) = terms(task);
        for (term, counts) in counts {
            expected
                .entry(term)
                .or_default()
                .insert(task.id.to_string(), counts);
        }
        lengths
            .iter_mut()
            .zip(of_task)
            .for_each(|(sum, length)| *sum += length);
    }
    let mut asked: Vec<String> = expected.keys().cloned().collect();
    asked.push("nowhere".to_owned());
    let answer = asked_for(store, scope, &asked, u64::MAX).await;
    let statistics = &answer.statistics;
    assert_eq!(
        (statistics.documents, statistics.lengths),
        (tasks.len() as u64, lengths)
    );

    let numbers = store.newest(scope, None, u32::MAX).await.unwrap();
    assert_eq!(numbers.len(), tasks.len());
    for MemoryCandidate { document, .. } in &answer.found {
        let task = tasks.iter().find(|task| task.id == document.task_id).unwrap();
        assert_eq!(
            (&document.files, &document.superseded_by, document.created_at),
            (&task.files_touched, &task.superseded_by, task.created_at)
        );
        assert_eq!(document.lengths.map(u64::from), terms(task).1);
    }
    for (place, term) in asked.iter().enumerate() {
        let standing = memories_with(&answer, place);
        let by_task: BTreeMap<String, PerField<u16>> = standing
            .iter()
            .map(|(document, counts)| (document.task_id.to_string(), *counts))
            .collect();
        assert_eq!(by_task, expected.get(term).cloned().unwrap_or_default(), "{term}");
        let found = statistics.terms[place];
        assert_eq!(
            (found.is_read, found.frequency),
            (true, standing.len() as u64),
            "{term}"
        );
    }
    // Within a budget: a term completely or not at all; of a single term that exceeds it, the newest postings.
    for budget in [1, 7, 900, 1500] {
        let within = asked_for(store, scope, &asked, budget).await;
        let read: usize = within.found.iter().map(|found| found.counts.len()).sum();
        assert!(read as u64 <= budget);
        for (place, found) in within.statistics.terms.iter().enumerate() {
            assert_eq!(found.frequency, statistics.terms[place].frequency);
            let numbers = |answer| -> Vec<i64> {
                let standing = memories_with(answer, place);
                let mut numbers: Vec<i64> = standing.iter().map(|(document, _)| document.document).collect();
                numbers.sort_unstable_by(|one, other| other.cmp(one));
                numbers
            };
            let some = numbers(&within);
            assert!(found.is_read || some.is_empty());
            assert_eq!(some, numbers(&answer)[..some.len()]);
        }
    }
}

async fn asked_for(
    store: &SqliteStore,
    scope: &MemoryScope,
    terms: &[String],
    budget: u64,
) -> MemoryCandidates {
    let question = MemoryQuestion {
        scope,
        terms,
        before: None,
        order: CandidateOrder::Newest { known: &[] },
        limit: usize::MAX,
        budget,
    };
    store.candidates(&question).await.unwrap()
}

/// The memories that contain the term at this position.
fn memories_with(answer: &MemoryCandidates, place: usize) -> Vec<(&MemoryDocument, PerField<u16>)> {
    let of = |found: &'_ MemoryCandidate| {
        let mut counts = found.counts.iter();
        counts.find(|count| count.term == place).map(|count| count.counts)
    };
    let found = answer.found.iter();
    found
        .filter_map(|found| Some((&found.document, of(found)?)))
        .collect()
}

fn scopes() -> Vec<MemoryScope> {
    let scope = |path: &str, remote: Option<&str>| MemoryScope {
        project_path: path.to_owned(),
        project_remote: remote.map(str::to_owned),
    };
    vec![
        scope(PROJECTS[0], None),
        scope(PROJECTS[1], None),
        scope(PROJECTS[0], Some(REMOTE)),
        scope("/nowhere", None),
    ]
}

fn run(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 40, ..ProptestConfig::default() })]
    #[test]
    fn the_index_finds_the_same_as_reading_all_tasks(
        acts in prop::collection::vec((any::<bool>(), act()), 1..12)
    ) {
        run(async {
            let home = Home::new();
            let stores = [home.open().await, home.open().await];
            for (second, act) in &acts {
                perform(&stores[usize::from(*second)], act).await;
            }
            for scope in scopes() {
                check(&stores[0], &scope).await;
            }
        });
    }
}

fn small(id: u16, words: Vec<usize>) -> Task {
    Made {
        id,
        session: None,
        words,
        files: vec![0],
        project: 0,
        remote: false,
        minute: i64::from(id),
    }
    .task()
}

#[tokio::test]
async fn removing_a_manually_changed_task_leaves_no_posting() {
    let home = Home::new();
    let store = home.open().await;
    store
        .import(&Redacted::each(&[small(1, vec![0, 2]), small(2, vec![0])]))
        .await
        .unwrap();
    let mut other = crate::open::raw(&home.database()).await;
    other
        .execute("UPDATE tasks SET original_query = 'limit parseHTTPUrl', goal = 'others' WHERE id = 't1'")
        .await
        .unwrap();
    store.forget(&[TaskId::new("t1")]).await.unwrap();
    let scope = &scopes()[0];
    check(&store, scope).await;
    let gone = asked_for(&store, scope, &words("parseHTTPUrl", 9), 99).await;
    assert!(
        gone.statistics.terms.iter().all(|term| term.frequency == 0),
        "{gone:?}"
    );
}

#[tokio::test]
async fn deleting_an_indexed_task_without_the_index_fails() {
    let home = Home::new();
    let store = home.open().await;
    store.import(&Redacted::each(&[small(1, vec![0])])).await.unwrap();
    let mut other = crate::open::raw(&home.database()).await;
    other.execute("DELETE FROM tasks").await.unwrap_err();
}
