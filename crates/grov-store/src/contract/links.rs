//! Links: what waits to be sent, and what arrived.

use super::items::{accepted, approve, change, found, proposal, scope};
use super::sample::{PROJECT, at, task};
use grov_domain::{
    Incoming, Link, LinkCounts, LinkState, LocalRecord, MemoryChange, MemoryItem, MemoryItemId, MemoryScope,
    MemoryStatus, Outgoing, ProjectId, Redacted, RemoteRecord, SharedKind, Store, Task, TaskId, TaskStatus,
};
use std::sync::Arc;

fn link() -> Link {
    Link {
        scope: scope(),
        url: "https://agent.example.org".to_owned(),
        remote_project: "00000000-0000-4000-8000-000000000001".parse().unwrap(),
        cursor: 0,
        state: LinkState::On,
        fault: None,
        last_sync: None,
        linked_at: at(1),
    }
}

async fn linked(store: &dyn Store) -> Link {
    let link = link();
    store.save_link(&Redacted::of(&link)).await.unwrap();
    link
}

async fn outgoing(store: &dyn Store) -> Vec<Outgoing> {
    store.outgoing(PROJECT, 100).await.unwrap()
}

/// The ids that wait to be sent, sorted.
async fn waiting(store: &dyn Store) -> Vec<String> {
    let mut ids: Vec<String> = outgoing(store).await.into_iter().map(|one| one.id).collect();
    ids.sort();
    ids
}

/// Sends everything; the service answers with these revisions.
async fn send_all(store: &dyn Store, first: i64) {
    for (revision, one) in (first..).zip(outgoing(store).await) {
        store.sent(PROJECT, &one, Some(revision)).await.unwrap();
    }
    assert_eq!(waiting(store).await, Vec::<String>::new());
}

fn incoming(revision: i64, item: &MemoryItem) -> Redacted<Incoming> {
    Redacted::of(&Incoming {
        revision,
        kind: SharedKind::Item,
        id: item.id.to_string(),
        record: Some(RemoteRecord::Item(Box::new(item.clone()))),
    })
}

async fn receive(store: &dyn Store, link: &Link, revision: i64, change: Redacted<Incoming>) {
    store.receive(link, &[change], revision, at(20)).await.unwrap();
    let cursor = store.links().await.unwrap()[0].cursor;
    assert_eq!(cursor, revision);
}

/// An accepted item of a teammate.
fn foreign(content: &str) -> MemoryItem {
    MemoryItem {
        project_id: ProjectId::fresh(),
        status: MemoryStatus::Accepted,
        decided_by: Some("Ben".to_owned()),
        ..proposal(content).item
    }
}

async fn content(store: &dyn Store, id: MemoryItemId) -> String {
    store.item(id).await.unwrap().unwrap().item.content
}

/// See the name.
pub async fn a_link_is_loaded_as_saved(store: Arc<dyn Store>) {
    let store = &*store;
    let link = linked(store).await;
    assert_eq!(store.links().await.unwrap(), [link]);
    let fault = Redacted::of(&"the key was revoked".to_owned());
    store
        .note_link(PROJECT, LinkState::Stopped, Some(&fault), Some(at(5)))
        .await
        .unwrap();
    let noted = &store.links().await.unwrap()[0];
    assert_eq!(
        (noted.state, noted.fault.as_deref()),
        (LinkState::Stopped, Some("the key was revoked"))
    );
    store.note_link(PROJECT, LinkState::On, None, None).await.unwrap();
    let noted = &store.links().await.unwrap()[0];
    assert_eq!(
        (noted.state, noted.fault.clone(), noted.last_sync),
        (LinkState::On, None, Some(at(5)))
    );
    assert!(store.remove_link(PROJECT).await.unwrap());
    assert!(!store.remove_link(PROJECT).await.unwrap());
    assert_eq!(store.links().await.unwrap(), []);
}

/// What was decided and finished before and after the link waits to be sent, and nothing else.
pub async fn what_others_do_not_have_waits_to_be_sent(store: Arc<dyn Store>) {
    let store = &*store;
    let before = accepted(store, "Accepted before.").await;
    linked(store).await;
    let after = accepted(store, "Accepted after.").await;
    store
        .propose_item(&Redacted::of(&proposal("Only proposed.")))
        .await
        .unwrap();
    let finished = Task {
        status: TaskStatus::Complete,
        ..task("finished", 1)
    };
    let abandoned = Task {
        status: TaskStatus::Abandoned,
        ..task("abandoned", 2)
    };
    for saved in [&finished, &abandoned] {
        store.save_task(&Redacted::of(saved)).await.unwrap();
    }
    let mut expected = [before.to_string(), after.to_string(), "finished".to_owned()];
    expected.sort();
    assert_eq!(waiting(store).await, expected);
    assert_eq!(
        store.link_counts(PROJECT).await.unwrap(),
        LinkCounts {
            pending_out: 3,
            conflicts: 0
        }
    );
    send_all(store, 1).await;
    // The same link again has nothing new to send, except what it is asked to send again.
    store.restart_link(PROJECT).await.unwrap();
    assert_eq!(waiting(store).await, expected);
}

/// See the name.
pub async fn a_change_while_a_record_is_sent_is_sent_too(store: Arc<dyn Store>) {
    let store = &*store;
    linked(store).await;
    let id = accepted(store, "Prices are in cents.").await;
    let one = outgoing(store).await.remove(0);
    let edit = |content: &str| MemoryChange::Edit {
        content: Some(content.to_owned()),
        expires_at: None,
    };
    change(store, id, edit("Prices are in euros.")).await;
    store.sent(PROJECT, &one, Some(7)).await.unwrap();
    let two = outgoing(store).await.remove(0);
    assert_eq!(two.base, Some(7));
    match &two.record {
        Some(LocalRecord::Item(item)) => assert_eq!(item.item.content, "Prices are in euros."),
        other => panic!("{other:?}"),
    }
    // A change that arrived meanwhile is this machine's own.
    store.sent(PROJECT, &two, Some(8)).await.unwrap();
    assert_eq!(waiting(store).await, Vec::<String>::new());
}

/// See the name.
pub async fn what_a_teammate_accepted_is_a_memory_and_not_sent_back(store: Arc<dyn Store>) {
    let store = &*store;
    let link = linked(store).await;
    let item = foreign("Format dates with datelib.");
    receive(store, &link, 3, incoming(3, &item)).await;
    assert_eq!(found(store, "datelib").await, [item.id.to_string()]);
    let here = store.item(item.id).await.unwrap().unwrap();
    assert_eq!(
        (here.scope, here.item.decided_by.as_deref()),
        (scope(), Some("Ben"))
    );
    assert_eq!(waiting(store).await, Vec::<String>::new());
    // Linking again does not send it either.
    store.restart_link(PROJECT).await.unwrap();
    assert_eq!(waiting(store).await, Vec::<String>::new());
    // A teammate's proposal is nothing here.
    let proposed = MemoryItem {
        status: MemoryStatus::Proposed,
        ..foreign("Not decided yet.")
    };
    receive(store, &link, 4, incoming(4, &proposed)).await;
    assert_eq!(store.item(proposed.id).await.unwrap(), None);
}

/// See the name.
pub async fn a_link_does_not_change_when_an_item_was_decided(store: Arc<dyn Store>) {
    let store = &*store;
    let id = accepted(store, "Prices are in cents.").await;
    let decided = store.item(id).await.unwrap().unwrap().item;
    // As the service has it: the time is that of its arrival there.
    let there = MemoryItem {
        updated_at: at(15),
        ..decided.clone()
    };
    let link = linked(store).await;
    send_all(store, 1).await;
    receive(store, &link, 1, incoming(1, &there)).await;
    assert!(store.remove_link(PROJECT).await.unwrap());
    let link = linked(store).await;
    receive(store, &link, 1, incoming(1, &there)).await;
    let here = store.item(id).await.unwrap().unwrap().item;
    assert_eq!(here.updated_at, decided.updated_at);
    let memory = store.task(&TaskId::new(id.to_string())).await.unwrap().unwrap();
    assert_eq!(memory.created_at, decided.updated_at);
    assert_eq!(waiting(store).await, Vec::<String>::new());
}

/// See the name.
pub async fn what_a_teammate_deletes_is_deleted_unless_it_is_our_own(store: Arc<dyn Store>) {
    let store = &*store;
    let link = linked(store).await;
    let own = accepted(store, "Our own.").await;
    send_all(store, 1).await;
    let item = foreign("Format dates with datelib.");
    receive(store, &link, 3, incoming(3, &item)).await;
    for (revision, id) in [(4, own), (5, item.id)] {
        let deleted = Redacted::of(&Incoming {
            revision,
            kind: SharedKind::Item,
            id: id.to_string(),
            record: None,
        });
        receive(store, &link, revision, deleted).await;
    }
    assert!(store.item(own).await.unwrap().is_some());
    assert_eq!(store.item(item.id).await.unwrap(), None);
    assert_eq!(found(store, "datelib").await, Vec::<String>::new());
}

/// See the name.
pub async fn an_item_changed_on_both_sides_is_kept_until_it_is_settled(store: Arc<dyn Store>) {
    let store = &*store;
    let link = linked(store).await;
    let id = accepted(store, "Prices are in cents.").await;
    send_all(store, 1).await;
    let edit = |content: &str| MemoryChange::Edit {
        content: Some(content.to_owned()),
        expires_at: None,
    };
    let there = |content: &str| MemoryItem {
        id,
        ..foreign(content)
    };
    for (revision, keep_here) in [(10, true), (20, false)] {
        change(store, id, edit(&format!("Here {revision}."))).await;
        receive(
            store,
            &link,
            revision,
            incoming(revision, &there(&format!("There {revision}."))),
        )
        .await;
        let conflicts = store.conflicts(PROJECT).await.unwrap();
        assert_eq!(conflicts.len(), 1);
        assert_eq!(conflicts[0].here.item.content, format!("Here {revision}."));
        assert_eq!(conflicts[0].there.content, format!("There {revision}."));
        assert_eq!(content(store, id).await, format!("Here {revision}."));
        assert_eq!(
            store.link_counts(PROJECT).await.unwrap(),
            LinkCounts {
                pending_out: 0,
                conflicts: 1
            }
        );

        assert!(store.settle_conflict(id, keep_here, at(30)).await.unwrap());
        assert!(!store.settle_conflict(id, keep_here, at(30)).await.unwrap());
        let (kept, sent) = if keep_here {
            ("Here", vec![id.to_string()])
        } else {
            ("There", Vec::new())
        };
        assert_eq!(content(store, id).await, format!("{kept} {revision}."));
        assert_eq!(waiting(store).await, sent);
        for one in outgoing(store).await {
            // The service takes it, because its revision is known.
            assert_eq!(one.base, Some(revision));
            store.sent(PROJECT, &one, Some(revision + 1)).await.unwrap();
        }
    }
}

/// See the name.
pub async fn nothing_arrives_over_a_link_that_was_removed_or_started_again(store: Arc<dyn Store>) {
    let store = &*store;
    let old = linked(store).await;
    let again = Link {
        linked_at: at(2),
        ..link()
    };
    store.save_link(&Redacted::of(&again)).await.unwrap();
    let item = foreign("Format dates with datelib.");
    store
        .receive(&old, &[incoming(3, &item)], 3, at(20))
        .await
        .unwrap();
    assert_eq!(store.item(item.id).await.unwrap(), None);
    assert_eq!(store.links().await.unwrap()[0].cursor, 0);
    receive(store, &again, 3, incoming(3, &item)).await;
    store.remove_link(PROJECT).await.unwrap();
    let other = foreign("Another one.");
    store
        .receive(&again, &[incoming(4, &other)], 4, at(20))
        .await
        .unwrap();
    assert_eq!(store.item(other.id).await.unwrap(), None);
    // Memory stays.
    assert!(store.item(item.id).await.unwrap().is_some());
}

/// Items of other projects on the machine are neither sent nor changed.
pub async fn a_link_is_about_its_project_alone(store: Arc<dyn Store>) {
    let store = &*store;
    let link = linked(store).await;
    let mut elsewhere = proposal("A rule of another project.");
    elsewhere.scope = MemoryScope {
        project_path: "/home/dev/projects/other".to_owned(),
        project_remote: None,
    };
    let id = elsewhere.item.id;
    store.propose_item(&Redacted::of(&elsewhere)).await.unwrap();
    change(store, id, approve()).await;
    assert_eq!(waiting(store).await, Vec::<String>::new());
    receive(
        store,
        &link,
        3,
        incoming(
            3,
            &MemoryItem {
                id,
                ..foreign("Changed by a teammate.")
            },
        ),
    )
    .await;
    assert_eq!(content(store, id).await, "A rule of another project.");
}

/// What comes from a machine whose clock is ahead is found at once.
pub async fn a_record_of_a_clock_that_is_ahead_is_found(store: Arc<dyn Store>) {
    let store = &*store;
    let link = linked(store).await;
    let ahead = at(3600);
    let item = MemoryItem {
        created_at: ahead,
        updated_at: ahead,
        ..foreign("Format dates with datelib.")
    };
    let task = Task {
        created_at: ahead,
        ..task("of-ben", 1)
    };
    let record = Redacted::of(&Incoming {
        revision: 4,
        kind: SharedKind::Task,
        id: "of-ben".to_owned(),
        record: Some(RemoteRecord::Task(Box::new(task))),
    });
    receive(store, &link, 3, incoming(3, &item)).await;
    receive(store, &link, 4, record).await;
    let found = store.newest(&scope(), Some(at(21)), 10).await.unwrap();
    assert_eq!(found.len(), 2);
}
