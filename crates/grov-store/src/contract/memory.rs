//! Team memory: search, import, listing and deletion.

use super::sample::{PROJECT, at, client, session, task};
use grov_domain::{
    CandidateOrder, FilePin, ImportReport, MemoryCandidates, MemoryQuestion, MemoryScope, MemoryStats,
    MemoryStore, Redacted, Store, Task, TaskId, TaskStatus, TermWeights, file_term, path_term,
};
use std::collections::HashSet;
use std::sync::Arc;

const BUDGET: u64 = 10_000;

fn scope() -> MemoryScope {
    MemoryScope {
        project_path: PROJECT.to_owned(),
        project_remote: None,
    }
}

fn task_with_text(id: &str, seconds: i64, text: &str) -> Task {
    Task {
        original_query: text.to_owned(),
        goal: None,
        reasoning_trace: Vec::new(),
        files_touched: Vec::new(),
        decisions: Vec::new(),
        constraints: Vec::new(),
        tags: Vec::new(),
        project_remote: None,
        parent_session_id: None,
        ..task(id, seconds)
    }
}

/// All memories that contain these terms, within the budget.
async fn candidates(
    store: &dyn Store,
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

/// Memories are screened again in portions, once for each version of the rules.
pub async fn memories_are_screened_again_once(store: Arc<dyn Store>) {
    for number in 0..5 {
        let task = task(&format!("t{number}"), number);
        store.save_task(&Redacted::of(&task)).await.unwrap();
    }
    for rules in [7, -8] {
        let mut seen = Vec::new();
        while let Some(tasks) = store.unscreened(rules, 2).await.unwrap() {
            let fingerprints: Vec<_> = tasks
                .iter()
                .map(|task| (task.id.clone(), (task.id.as_str() != "t3").then_some(rules)))
                .collect();
            store.save_screening(rules, &fingerprints).await.unwrap();
            seen.extend(tasks.into_iter().map(|task| task.id.to_string()));
        }
        assert_eq!(seen, ["t0", "t1", "t2", "t3", "t4"]);
        let fingerprint = async |id: &str| store.task(&TaskId::new(id)).await.unwrap().unwrap().screened;
        assert_eq!(
            (fingerprint("t0").await, fingerprint("t3").await),
            (Some(rules), None)
        );
    }
    assert_eq!(store.unscreened(-8, 2).await.unwrap(), None);
}

/// The number of memories of a scope, and of terms in them by field.
async fn extent(store: &dyn Store, scope: &MemoryScope) -> (u64, [u64; 4]) {
    let statistics = candidates(store, scope, &[], BUDGET).await.statistics;
    (statistics.documents, statistics.lengths)
}

/// The ids of the memories that contain a term, and its count by field, sorted by id.
async fn memories_with(store: &dyn Store, scope: &MemoryScope, term: &str) -> Vec<(String, [u16; 4])> {
    let answer = candidates(store, scope, &[term.to_owned()], BUDGET).await;
    let [statistics] = answer.statistics.terms[..] else {
        panic!("one answer for one term: {answer:?}");
    };
    assert!(statistics.is_read, "within the budget");
    assert_eq!(statistics.frequency, answer.found.len() as u64);
    let mut found: Vec<_> = answer
        .found
        .into_iter()
        .map(|found| (found.document.task_id.to_string(), found.counts[0].counts))
        .collect();
    found.sort();
    found
}

/// Every text of a task is found, each in its field.
pub async fn memory_search_finds_every_text_of_a_task(store: Arc<dyn Store>) {
    store.save_task(&Redacted::of(&task("t", 1))).await.unwrap();
    let found = async |term: &str| memories_with(store.as_ref(), &scope(), term).await;
    let t = |counts| vec![("t".to_owned(), counts)];
    // In the prompt, the goal and the path.
    assert_eq!(found("limit").await, t([2, 0, 1, 0]));
    assert_eq!(found("buffer").await, t([1, 0, 0, 0]), "of a constraint");
    assert_eq!(found("count").await, t([1, 0, 0, 0]), "of a decision");
    assert_eq!(found("moved").await, []);
    assert_eq!(found("mov").await, t([0, 1, 0, 0]), "of the record");
    assert_eq!(found(&file_term("limit.rs")).await, t([0, 0, 0, 1]));
    assert_eq!(
        found(&path_term("/home/dev/projects/relay/src/limit.rs")).await,
        t([0, 0, 0, 1])
    );
    assert_eq!(found("nowhere").await, []);
}

/// Indexed terms are found by their beginning, in the scope alone.
pub async fn terms_are_found_by_their_beginning(store: Arc<dyn Store>) {
    let texts = ["kündigung kündigungen", "kündigen", "kundig", "kündigt künstlich"];
    for (number, text) in (0..).zip(texts) {
        let task = task_with_text(&format!("t{number}"), number, text);
        store.save_task(&Redacted::of(&task)).await.unwrap();
    }
    let scope = MemoryScope {
        project_path: task("t0", 0).project_path,
        project_remote: None,
    };
    let beginnings = ["kündig".to_owned(), "none".to_owned(), "künst".to_owned()];
    let found = |limit| store.terms_beginning(&scope, &beginnings, limit);
    let expected = [
        (0, "kündigen"),
        (0, "kündigt"),
        (0, "kündigung"),
        (0, "kündigungen"),
        (2, "künstlich"),
    ];
    let all = found(9).await.unwrap();
    let all: Vec<(usize, &str)> = all.iter().map(|(place, term)| (*place, term.as_str())).collect();
    assert_eq!(all, expected);
    assert_eq!(found(2).await.unwrap().len(), 3, "at most two for each");
    let elsewhere = MemoryScope {
        project_path: "/elsewhere".to_owned(),
        project_remote: None,
    };
    let none = store.terms_beginning(&elsewhere, &beginnings, 9).await.unwrap();
    assert_eq!(none, []);
}

/// A memory that is saved again is found by its new text, and counted once.
pub async fn memory_follows_a_replaced_task(store: Arc<dyn Store>) {
    let of_session = |id: &str, seconds, text| Task {
        client_session_id: Some(client("c")),
        session_id: Some(session("s")),
        ..task_with_text(id, seconds, text)
    };
    store
        .save_task(&Redacted::of(&of_session("first", 1, "old words")))
        .await
        .unwrap();
    store
        .save_task(&Redacted::of(&of_session("second", 2, "new words")))
        .await
        .unwrap();
    assert_eq!(memories_with(store.as_ref(), &scope(), "old").await, []);
    assert_eq!(
        memories_with(store.as_ref(), &scope(), "new").await,
        [("first".to_owned(), [1, 0, 0, 0])]
    );
    assert_eq!(extent(&*store, &scope()).await, (1, [2, 0, 0, 0]));
}

/// A search finds memories of its project and of projects with the same remote, and no others.
pub async fn memory_keeps_projects_apart(store: Arc<dyn Store>) {
    let elsewhere = |id: &str, project: &str, remote: Option<&str>| Task {
        project_path: project.to_owned(),
        project_remote: remote.map(str::to_owned),
        ..task_with_text(id, 1, "the limit")
    };
    let shared = Some("git.example.com/dev/relay");
    for task in [
        elsewhere("mine", PROJECT, None),
        elsewhere("mine-too", PROJECT, shared),
        elsewhere("teammate", "/elsewhere/relay", shared),
        elsewhere("other", "/elsewhere/other", Some("git.example.com/dev/other")),
        elsewhere("nameless", "/elsewhere/nameless", None),
    ] {
        store.save_task(&Redacted::of(&task)).await.unwrap();
    }
    let ids = async |scope: &MemoryScope| {
        let found = memories_with(store.as_ref(), scope, "limit").await;
        found.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&scope()).await, ["mine", "mine-too"]);
    let with_remote = MemoryScope {
        project_remote: shared.map(str::to_owned),
        ..scope()
    };
    assert_eq!(ids(&with_remote).await, ["mine", "mine-too", "teammate"]);
    let unknown = MemoryScope {
        project_path: "/nowhere".to_owned(),
        project_remote: Some(String::new()),
    };
    assert_eq!(ids(&unknown).await, Vec::<String>::new());
    assert_eq!(extent(&*store, &with_remote).await.0, 3);
    assert_eq!(store.memory_stats(Some(&with_remote)).await.unwrap().memories, 3);
    assert_eq!(store.export(Some(&with_remote), None, 10).await.unwrap().len(), 3);
    assert_eq!(store.memory_stats(None).await.unwrap().memories, 5);
}

/// Rare terms are read completely; frequent ones not at all or, if there are no others, newest first. All are counted.
pub async fn memory_reads_no_more_than_the_budget(store: Arc<dyn Store>) {
    let tasks: Vec<Task> = (0..6)
        .map(|number| {
            task_with_text(
                &format!("t{number}"),
                number,
                if number == 0 { "common odd" } else { "common" },
            )
        })
        .collect();
    store.import(&Redacted::each(&tasks)).await.unwrap();
    let terms = ["common".to_owned(), "odd".to_owned(), "never".to_owned()];
    let seen = async |terms: &[String], budget| -> Vec<(u64, Option<usize>)> {
        let answer = candidates(&*store, &scope(), terms, budget).await;
        let read = |place| {
            answer
                .found
                .iter()
                .filter(move |found| found.counts.iter().any(|count| count.term == place))
        };
        let terms = answer.statistics.terms.iter().enumerate();
        terms
            .map(|(place, term)| (term.frequency, term.is_read.then(|| read(place).count())))
            .collect()
    };
    assert_eq!(seen(&terms, 7).await, [(6, Some(6)), (1, Some(1)), (0, Some(0))]);
    assert_eq!(seen(&terms, 6).await, [(6, Some(5)), (1, Some(1)), (0, Some(0))]);
    assert_eq!(seen(&terms, 0).await, [(6, None), (1, None), (0, Some(0))]);
    let answer = candidates(&*store, &scope(), &terms[..1], 4).await;
    let newest = store.newest(&scope(), None, 4).await.unwrap();
    let read: HashSet<i64> = answer.found.iter().map(|found| found.document.document).collect();
    assert_eq!(read, newest.into_iter().collect());
}

/// Memories with the most valuable terms come first. Of known memories only counts are returned; the others come newest
/// first.
pub async fn memory_is_searched_in_order(store: Arc<dyn Store>) {
    let tasks = [
        task_with_text("twice", 1, "odd odd word"),
        task_with_text("once", 2, "odd and much else"),
        task_with_text("common", 3, "word"),
        task_with_text("other", 4, "word"),
    ];
    store.import(&Redacted::each(&tasks)).await.unwrap();
    let terms = ["word".to_owned(), "odd".to_owned()];
    let scope = scope();
    let weights = TermWeights {
        saturation: 1.2,
        fields: [1.0; 4],
    };
    let question = |order, limit| MemoryQuestion {
        scope: &scope,
        terms: &terms,
        before: Some(at(4)),
        order,
        limit,
        budget: BUDGET,
    };
    let ids = |answer: &MemoryCandidates| -> Vec<String> {
        let mut ids: Vec<String> = answer
            .found
            .iter()
            .map(|found| found.document.task_id.to_string())
            .collect();
        ids.sort();
        ids
    };
    let best = question(CandidateOrder::Worth(weights), 2);
    let best = store.candidates(&best).await.unwrap();
    assert_eq!(ids(&best), ["once", "twice"]);
    let known: Vec<i64> = best.found.iter().map(|found| found.document.document).collect();
    let rest = question(CandidateOrder::Newest { known: &known }, 9);
    let rest = store.candidates(&rest).await.unwrap();
    assert_eq!(ids(&rest), ["common"], "the other one is not older");
    let mut again: Vec<_> = best
        .found
        .into_iter()
        .map(|found| (found.document.document, found.counts))
        .collect();
    again.sort_by_key(|(document, _)| *document);
    let mut known = rest.known;
    known.sort_by_key(|(document, _)| *document);
    assert_eq!(known, again);
}

/// Only memories older than a time are found, newest first.
pub async fn memory_is_searched_as_of_a_time(store: Arc<dyn Store>) {
    let tasks: Vec<Task> = (1..=4)
        .map(|number| task_with_text(&format!("t{number}"), number, "word"))
        .collect();
    store.import(&Redacted::each(&tasks)).await.unwrap();
    let newest = store.newest(&scope(), None, 10).await.unwrap();
    assert_eq!(newest.len(), 4);
    assert_eq!(store.newest(&scope(), None, 2).await.unwrap(), newest[..2]);
    let before = Some(at(3));
    assert_eq!(store.newest(&scope(), before, 10).await.unwrap(), newest[2..]);
    let question = MemoryQuestion {
        scope: &scope(),
        terms: &["word".to_owned()],
        before,
        order: CandidateOrder::Newest { known: &[] },
        limit: 10,
        budget: BUDGET,
    };
    let found = store.candidates(&question).await.unwrap().found;
    let mut older: Vec<_> = found.into_iter().map(|found| found.document).collect();
    older.sort_by_key(|document| document.created_at);
    let ids: Vec<&str> = older.iter().map(|document| document.task_id.as_str()).collect();
    assert_eq!(ids, ["t1", "t2"]);
    assert_eq!(older[0].lengths, [1, 0, 0, 0]);
    assert_eq!(older[0].status, TaskStatus::Complete);
}

/// An import changes only tasks of its own project, identified by id or by session.
pub async fn memory_import_never_changes_another_project(store: Arc<dyn Store>) {
    let session = |task: Task| Task {
        client_session_id: Some(grov_domain::ClientSessionId::new("client")),
        session_id: Some(grov_domain::SessionId::new("session")),
        ..task
    };
    let theirs = [task("by id", 1), session(task("by session", 2))];
    store.import(&Redacted::each(&theirs)).await.unwrap();
    let elsewhere = |task: Task| Task {
        project_path: "/another".to_owned(),
        ..task
    };
    let changed = elsewhere(task_with_text("by id", 3, "overwritten"));
    let same_work = elsewhere(session(task_with_text("new id", 4, "overwritten")));
    let new = elsewhere(task("new", 5));
    let report = store
        .import(&Redacted::each(&[changed, same_work, new.clone()]))
        .await
        .unwrap();
    assert_eq!((report.added, report.replaced, report.unchanged), (1, 0, 0));
    let refused: Vec<_> = report
        .refused
        .iter()
        .map(|refused| (refused.id.as_str(), refused.project_path.as_str()))
        .collect();
    let path = theirs[0].project_path.as_str();
    assert_eq!(refused, [("by id", path), ("new id", path)]);
    let [first, second] = theirs;
    assert_eq!(store.export(None, None, 10).await.unwrap(), [first, second, new]);
}

/// An imported task that replaces the task of its session is counted as replaced, also within one import.
pub async fn memory_import_counts_another_task_of_a_session_as_replaced(store: Arc<dyn Store>) {
    let session = |task: Task| Task {
        client_session_id: Some(grov_domain::ClientSessionId::new("client")),
        session_id: Some(grov_domain::SessionId::new("session")),
        ..task
    };
    store
        .import(&Redacted::each(&[session(task("first", 1))]))
        .await
        .unwrap();
    let again = [
        session(task("second", 2)),
        session(task("third", 3)),
        task("d", 4),
    ];
    let report = store.import(&Redacted::each(&again)).await.unwrap();
    assert_eq!((report.added, report.replaced), (1, 2));
    assert_eq!(store.export(None, None, 10).await.unwrap().len(), 2);
}

/// An import is counted, and repeating it changes nothing.
pub async fn memory_import_is_idempotent(store: Arc<dyn Store>) {
    let tasks = [task("a", 1), task_with_text("b", 2, "words")];
    let report = |added, unchanged| ImportReport {
        added,
        unchanged,
        ..ImportReport::default()
    };
    assert_eq!(store.import(&Redacted::each(&tasks)).await.unwrap(), report(2, 0));
    let exported = store.export(None, None, 10).await.unwrap();
    assert_eq!(exported, tasks);
    assert_eq!(
        store.import(&Redacted::each(&exported)).await.unwrap(),
        report(0, 2)
    );
    assert_eq!(store.export(None, None, 10).await.unwrap(), tasks);
    assert_eq!(extent(&*store, &scope()).await.0, 2);
    let last = store.export(None, None, 1).await.unwrap().remove(0);
    let rest = store
        .export(None, Some((last.created_at, last.id)), 10)
        .await
        .unwrap();
    assert_eq!(rest, tasks[1..]);
    let stats = store.memory_stats(None).await.unwrap();
    let expected = MemoryStats {
        memories: 2,
        complete: 2,
        partial: 0,
        abandoned: 0,
        files: 1,
        oldest: Some(at(1)),
        newest: Some(at(2)),
    };
    assert_eq!(stats, expected);
}

/// A forgotten memory is in no list, file or index. Unknown ids are not reported.
pub async fn memory_forgets(store: Arc<dyn Store>) {
    store
        .import(&Redacted::each(&[task("gone", 1), task("kept", 2)]))
        .await
        .unwrap();
    let ids = [TaskId::new("gone"), TaskId::new("never")];
    assert_eq!(MemoryStore::forget(store.as_ref(), &ids).await.unwrap(), ids[..1]);
    assert_eq!(store.task(&ids[0]).await.unwrap(), None);
    assert_eq!(
        memories_with(store.as_ref(), &scope(), "limit").await,
        [("kept".to_owned(), [2, 0, 1, 0])]
    );
    let files = ["/home/dev/projects/relay/src/limit.rs".to_owned()];
    assert_eq!(store.tasks_by_files(PROJECT, &files, 10).await.unwrap().len(), 1);
    assert_eq!(MemoryStore::forget(store.as_ref(), &ids).await.unwrap(), []);
    assert_eq!(MemoryStore::forget(store.as_ref(), &[]).await.unwrap(), []);
    assert_eq!(extent(&*store, &scope()).await.0, 1);
}

/// Ids are found by their beginning or end, without wildcards.
pub async fn memories_are_found_by_a_part_of_their_id(store: Arc<dyn Store>) {
    let elsewhere = Task {
        project_path: "elsewhere".to_owned(),
        ..task("ab%", 3)
    };
    let tasks = [task("abc", 1), task("xab", 2), elsewhere, task("axb", 4)];
    store.import(&Redacted::each(&tasks)).await.unwrap();
    let found = async |part: &str, limit: u32| {
        let ids = store.ids_like(part, limit).await.unwrap();
        ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    for (part, limit, expected) in [
        ("ab", 9, "ab% abc xab"),
        ("ab", 2, "ab% abc"),
        ("abc", 9, "abc"),
        ("%", 9, "ab%"),
        ("a%b", 9, ""),
        ("AB", 9, ""),
        ("b", 9, "axb xab"),
        ("longer than any id", 9, ""),
    ] {
        assert_eq!(found(part, limit).await, expected, "{part}");
    }
}

/// A task can supersede others, without cycles, and this can be reverted.
pub async fn memory_is_superseded_but_not_in_a_cycle(store: Arc<dyn Store>) {
    let ids = ["first", "second", "third"].map(TaskId::new);
    let [first, second, third] = &ids;
    let tasks = [task("second", 2), task("first", 1), task("third", 3)];
    store.import(&Redacted::each(&tasks)).await.unwrap();
    assert!(store.supersede(second, Some(third)).await.unwrap());
    assert!(store.supersede(first, Some(third)).await.unwrap());
    assert_eq!(
        store.replaced_by(third).await.unwrap(),
        [first.clone(), second.clone()]
    );
    assert!(store.supersede(first, Some(second)).await.unwrap());
    assert_eq!(
        store.replaced_by(third).await.unwrap(),
        std::slice::from_ref(second)
    );
    let unknown = TaskId::new("unknown");
    for (old, by) in [
        (third, first),
        (third, second),
        (third, third),
        (first, &unknown),
        (&unknown, first),
    ] {
        assert!(!store.supersede(old, Some(by)).await.unwrap(), "{old} by {by}");
    }
    let loaded = store.memories(&ids).await.unwrap();
    let links: Vec<_> = loaded.iter().map(|task| task.superseded_by.clone()).collect();
    assert_eq!(links, [Some(second.clone()), Some(third.clone()), None]);
    assert!(store.supersede(second, None).await.unwrap());
    assert_eq!(store.replaced_by(third).await.unwrap(), []);
    assert!(store.supersede(third, Some(first)).await.unwrap());
}

/// The index contains no secrets, and searching for one finds nothing.
pub async fn memory_holds_no_secrets(store: Arc<dyn Store>) {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    store
        .import(&Redacted::each(&[task_with_text(
            "t",
            1,
            &format!("push with {secret} please"),
        )]))
        .await
        .unwrap();
    assert_eq!(memories_with(store.as_ref(), &scope(), "push").await.len(), 1);
    for word in grov_domain::words(&secret, 99) {
        assert_eq!(memories_with(store.as_ref(), &scope(), &word).await, [], "{word}");
    }
}

/// Memories are returned in the requested order; unknown ids are skipped.
pub async fn memories_are_returned_in_the_requested_order(store: Arc<dyn Store>) {
    let tasks = [task("a", 1), task("b", 2), task("c", 3)];
    store.import(&Redacted::each(&tasks)).await.unwrap();
    let ids = |names: &[&str]| names.iter().map(|name| TaskId::new(*name)).collect::<Vec<_>>();
    let found = store.memories(&ids(&["c", "gone", "a", "b"])).await.unwrap();
    assert_eq!(found, [task("c", 3), task("a", 1), task("b", 2)]);
    assert_eq!(store.memories(&[]).await.unwrap(), []);
}

/// File pins and the superseding task are returned by every read.
pub async fn pins_and_replacement_are_loaded_as_saved(store: Arc<dyn Store>) {
    let pinned = Task {
        file_pins: vec![
            FilePin {
                path: "src/a \"b\".rs".to_owned(),
                hash: Some("99aa06d3014798d86001c324468d497f".to_owned()),
            },
            FilePin {
                path: "gone.rs".to_owned(),
                hash: None,
            },
        ],
        superseded_by: Some(TaskId::new("elsewhere")),
        ..task("t", 1)
    };
    store.save_task(&Redacted::of(&pinned)).await.unwrap();
    assert_eq!(store.task(&pinned.id).await.unwrap(), Some(pinned.clone()));
    assert_eq!(
        store.memories(std::slice::from_ref(&pinned.id)).await.unwrap(),
        std::slice::from_ref(&pinned)
    );
    assert_eq!(
        store.export(None, None, 9).await.unwrap(),
        std::slice::from_ref(&pinned)
    );
    let unpinned = Task {
        file_pins: Vec::new(),
        ..pinned
    };
    store.save_task(&Redacted::of(&unpinned)).await.unwrap();
    assert_eq!(store.task(&unpinned.id).await.unwrap(), Some(unpinned));
}

async fn replaced_by(store: &dyn Store, old: &str, by: Option<&str>) -> bool {
    store
        .supersede(&TaskId::new(old), by.map(TaskId::new).as_ref())
        .await
        .unwrap()
}

async fn replacement(store: &dyn Store, id: &str) -> Option<String> {
    let task = store.task(&TaskId::new(id)).await.unwrap().unwrap();
    task.superseded_by.map(|id| id.to_string())
}

/// A task can be marked as superseded, by another task later, and unmarked. Each change is stored and visible to a
/// search.
pub async fn replaced_knowledge_is_marked_and_unmarked(store: Arc<dyn Store>) {
    store
        .import(&Redacted::each(&[task("a", 1), task("b", 2), task("c", 3)]))
        .await
        .unwrap();
    assert!(replaced_by(&*store, "a", Some("b")).await);
    assert_eq!(replacement(&*store, "a").await.as_deref(), Some("b"));
    assert_eq!(replacement(&*store, "b").await, None);
    let all = candidates(&*store, &scope(), &["limit".to_owned()], BUDGET)
        .await
        .found;
    assert_eq!(all.len(), 3);
    let marked: Vec<_> = all
        .iter()
        .filter_map(|found| found.document.superseded_by.as_ref())
        .collect();
    assert_eq!(marked, [&TaskId::new("b")]);
    assert!(replaced_by(&*store, "a", Some("c")).await);
    assert_eq!(replacement(&*store, "a").await.as_deref(), Some("c"));
    assert!(replaced_by(&*store, "a", None).await);
    assert_eq!(replacement(&*store, "a").await, None);
    assert_eq!(store.export(None, None, 9).await.unwrap().len(), 3);
}

/// No task supersedes itself, directly or indirectly. Unknown tasks supersede nothing.
pub async fn replacement_chain_has_no_cycle(store: Arc<dyn Store>) {
    store
        .import(&Redacted::each(&[task("a", 1), task("b", 2), task("c", 3)]))
        .await
        .unwrap();
    assert!(!replaced_by(&*store, "a", Some("a")).await);
    assert!(!replaced_by(&*store, "a", Some("never")).await);
    assert!(!replaced_by(&*store, "never", Some("a")).await);
    assert!(!replaced_by(&*store, "never", None).await);
    assert!(replaced_by(&*store, "a", Some("b")).await);
    assert!(!replaced_by(&*store, "b", Some("a")).await);
    assert!(replaced_by(&*store, "b", Some("c")).await);
    assert!(!replaced_by(&*store, "c", Some("a")).await);
    for (id, by) in [("a", Some("b")), ("b", Some("c")), ("c", None)] {
        assert_eq!(replacement(&*store, id).await.as_deref(), by, "{id}");
    }
}

/// A task that is saved again stays superseded; so do references to its other id.
pub async fn replacement_survives_saving_the_task_again(store: Arc<dyn Store>) {
    let of_session = |id: &str| Task {
        client_session_id: Some(client("c")),
        session_id: Some(session("s")),
        ..task(id, 1)
    };
    store
        .save_task(&Redacted::of(&of_session("first")))
        .await
        .unwrap();
    store
        .import(&Redacted::each(&[task("b", 2), task("c", 3), task("second", 4)]))
        .await
        .unwrap();
    assert!(replaced_by(&*store, "first", Some("b")).await);
    store
        .save_task(&Redacted::of(&of_session("first")))
        .await
        .unwrap();
    assert_eq!(replacement(&*store, "first").await.as_deref(), Some("b"));
    assert!(replaced_by(&*store, "c", Some("second")).await);
    store
        .save_task(&Redacted::of(&of_session("second")))
        .await
        .unwrap();
    assert_eq!(replacement(&*store, "first").await.as_deref(), Some("b"));
    assert_eq!(replacement(&*store, "c").await.as_deref(), Some("first"));
}
