//! What machines share, in the order of its changes.

use super::Store;
use super::sample::{self, NOW, item, text};
use futures_util::future::join_all;
use grov_agent::{
    FeedChange, MemoryChange, MemoryItem, MemoryStatus, MemoryType, ProjectId, Put, SharedRecord,
};
use grov_domain::{SharedKind, Task};
use grov_redact::Redacted;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use time::Duration;

fn task(id: &str, goal: &str) -> Redacted<Task> {
    Redacted::of(&Task {
        goal: Some(goal.to_owned()),
        ..Task::new(id, "", "Work on the shop")
    })
}

fn decision(project: ProjectId, content: &str) -> MemoryItem {
    item(project, MemoryType::Decision, MemoryStatus::Accepted, content)
}

async fn put(store: &Store, item: &MemoryItem, base: Option<i64>) -> Put {
    store.put_item(&Redacted::of(item), base, NOW).await.unwrap()
}

/// The revision of an item that was taken.
async fn stored(store: &Store, item: &MemoryItem, base: Option<i64>) -> i64 {
    match put(store, item, base).await {
        Put::Stored { revision, .. } => revision,
        Put::Conflict => panic!("{item:?} was refused"),
    }
}

/// All changes after a revision, read page by page as a replica reads them.
async fn read(store: &Store, project: ProjectId, mut after: i64) -> Vec<FeedChange> {
    let mut all = Vec::new();
    loop {
        let page = store.feed(project, after, 2).await.unwrap();
        assert!(page.changes.len() <= 2);
        let Some(last) = page.changes.last() else {
            return all;
        };
        after = last.revision;
        assert!(after <= page.latest);
        all.extend(page.changes);
    }
}

fn ids(changes: &[FeedChange]) -> Vec<String> {
    changes.iter().map(|change| change.id.clone()).collect()
}

/// See the name.
pub async fn the_feed_has_the_last_change_of_each_record_in_order(store: Store) {
    let project = sample::project(&*store).await;
    assert_eq!(store.latest_revision(project).await.unwrap(), 0);
    let (one, two) = (
        decision(project, "Prices are in cents."),
        decision(project, "Shops are open."),
    );
    let first = stored(&store, &one, None).await;
    stored(&store, &two, None).await;
    store
        .put_task(project, &task("t1", "Format dates"))
        .await
        .unwrap();
    let later = MemoryItem {
        content: "Prices are in euros.".to_owned(),
        ..one.clone()
    };
    let last = stored(&store, &later, Some(first)).await;

    let changes = read(&store, project, 0).await;
    assert_eq!(
        ids(&changes),
        [two.id.to_string(), "t1".to_owned(), one.id.to_string()]
    );
    let revisions: Vec<i64> = changes.iter().map(|change| change.revision).collect();
    assert!(revisions.is_sorted_by(|one, other| one < other), "{revisions:?}");
    assert_eq!(revisions.last(), Some(&last));
    assert_eq!(store.latest_revision(project).await.unwrap(), last);
    match &changes[2].record {
        Some(SharedRecord::Item(item)) => assert_eq!(item.content, later.content),
        other => panic!("{other:?}"),
    }
    match &changes[1].record {
        Some(SharedRecord::Task(task)) => assert_eq!(task.goal.as_deref(), Some("Format dates")),
        other => panic!("{other:?}"),
    }
    assert_eq!(read(&store, project, last).await, []);
}

/// See the name.
pub async fn the_same_record_again_is_no_change(store: Store) {
    let project = sample::project(&*store).await;
    let one = decision(project, "Prices are in cents.");
    let first = stored(&store, &one, None).await;
    // Whatever revision the sender knows.
    assert_eq!(stored(&store, &one, None).await, first);
    assert_eq!(stored(&store, &one, Some(first)).await, first);
    let of_task = store
        .put_task(project, &task("t1", "Format dates"))
        .await
        .unwrap();
    assert_eq!(
        store
            .put_task(project, &task("t1", "Format dates"))
            .await
            .unwrap(),
        of_task
    );
    assert_eq!(store.latest_revision(project).await.unwrap(), of_task);
    let changed = store
        .put_task(project, &task("t1", "Format all dates"))
        .await
        .unwrap();
    assert!(changed > of_task);
}

/// See the name.
pub async fn an_item_that_others_changed_is_not_overwritten(store: Store) {
    let project = sample::project(&*store).await;
    let one = decision(project, "Prices are in cents.");
    let first = stored(&store, &one, None).await;
    let of_ada = MemoryItem {
        content: "Prices are in euros.".to_owned(),
        ..one.clone()
    };
    let of_ben = MemoryItem {
        content: "Prices are in pence.".to_owned(),
        ..one.clone()
    };
    let second = stored(&store, &of_ada, Some(first)).await;
    for base in [None, Some(first)] {
        assert_eq!(put(&store, &of_ben, base).await, Put::Conflict, "{base:?}");
    }
    let found = store.item(project, one.id).await.unwrap().unwrap();
    assert_eq!(found.content, of_ada.content);
    assert_eq!(store.latest_revision(project).await.unwrap(), second);
    assert!(stored(&store, &of_ben, Some(second)).await > second);
}

/// See the name.
pub async fn another_end_of_an_item_is_shared(store: Store) {
    let project = sample::project(&*store).await;
    let one = decision(project, "Prices are in cents.");
    let first = stored(&store, &one, None).await;
    let ending = MemoryItem {
        expires_at: Some(NOW + Duration::days(7)),
        ..one.clone()
    };
    assert!(stored(&store, &ending, Some(first)).await > first);
    let found = store.item(project, one.id).await.unwrap().unwrap();
    assert_eq!(found.expires_at, ending.expires_at);
}

/// See the name.
pub async fn what_is_changed_in_the_service_is_in_the_feed(store: Store) {
    let project = sample::project(&*store).await;
    let waiting = item(
        project,
        MemoryType::Rule,
        MemoryStatus::Proposed,
        "Dates use date-fns.",
    );
    sample::stored_item(&*store, &waiting).await;
    let before = store.latest_revision(project).await.unwrap();
    let approve = Redacted::of(&MemoryChange::Approve { content: None });
    store
        .change_item(project, waiting.id, &approve, &text("bert"), NOW)
        .await
        .unwrap();
    let changes = read(&store, project, before).await;
    assert_eq!(ids(&changes), [waiting.id.to_string()]);
    match &changes[0].record {
        Some(SharedRecord::Item(item)) => {
            assert_eq!(
                (item.status, item.decided_by.as_deref()),
                (MemoryStatus::Accepted, Some("bert"))
            );
        }
        other => panic!("{other:?}"),
    }
}

/// See the name.
pub async fn a_deleted_record_is_in_the_feed_without_content(store: Store) {
    let project = sample::project(&*store).await;
    let one = decision(project, "Prices are in cents.");
    stored(&store, &one, None).await;
    let before = store
        .put_task(project, &task("t1", "Format dates"))
        .await
        .unwrap();
    let id = one.id.to_string();
    for (kind, id) in [(SharedKind::Item, id.as_str()), (SharedKind::Task, "t1")] {
        assert!(store.delete_shared(project, kind, id).await.unwrap());
        assert!(!store.delete_shared(project, kind, id).await.unwrap());
    }
    let changes = read(&store, project, before).await;
    assert_eq!(ids(&changes), [id, "t1".to_owned()]);
    assert!(
        changes.iter().all(|change| change.record.is_none()),
        "{changes:?}"
    );
    assert_eq!(store.item(project, one.id).await.unwrap(), None);
}

/// See the name.
pub async fn projects_share_nothing_with_each_other(store: Store) {
    let ours = sample::project(&*store).await;
    let theirs = sample::project_at(&*store, "Another", NOW).await;
    let one = decision(ours, "Prices are in cents.");
    stored(&store, &one, None).await;
    store.put_task(ours, &task("t1", "Format dates")).await.unwrap();
    assert_eq!(read(&store, theirs, 0).await, []);
    assert!(!store.delete_shared(theirs, SharedKind::Task, "t1").await.unwrap());
    // The same id of a task is another record there.
    store.put_task(theirs, &task("t1", "Other work")).await.unwrap();
    assert_eq!(read(&store, ours, 0).await.len(), 2);
    assert_eq!(read(&store, theirs, 0).await.len(), 1);
}

/// A reader that goes on after the last revision that it saw misses no change of writers at the same time.
pub async fn a_reader_misses_nothing_of_concurrent_writers(store: Store) {
    const WRITERS: usize = 4;
    const RECORDS: usize = 12;
    let project = sample::project(&*store).await;
    let running = AtomicUsize::new(WRITERS);
    let write = async |writer: usize| {
        for number in 0..RECORDS {
            let task = task(&format!("t-{writer}-{number}"), "Work");
            store.put_task(project, &task).await.unwrap();
        }
        running.fetch_sub(1, Ordering::Relaxed);
    };
    let read = async {
        let (mut seen, mut after) = (BTreeSet::new(), 0);
        loop {
            let are_over = running.load(Ordering::Relaxed) == 0;
            let page = store.feed(project, after, 5).await.unwrap();
            if let Some(last) = page.changes.last() {
                after = last.revision;
            } else if are_over {
                break seen;
            }
            for change in page.changes {
                assert!(seen.insert(change.id.clone()), "{} came twice", change.id);
            }
        }
    };
    let (_, seen) = tokio::join!(join_all((0..WRITERS).map(write)), read);
    assert_eq!(seen.len(), WRITERS * RECORDS);
}
