//! Memory items: proposals, decisions of a person, and the memories that items are.

use super::sample::{PROJECT, at, empty_task};
use grov_domain::{
    CandidateOrder, Changed, InboxItem, ItemFilter, MemoryChange, MemoryItem, MemoryItemId, MemoryQuestion,
    MemoryScope, MemoryStatus, MemoryType, NOTICE_INTERVAL, ProposalOutcome, Redacted, Retention, Store,
    TaskProposals, TaskTransition, derived_item_id, local_project_id,
};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};

pub(super) fn scope() -> MemoryScope {
    MemoryScope {
        project_path: PROJECT.to_owned(),
        project_remote: None,
    }
}

/// A proposal.
pub(super) fn proposal(content: &str) -> InboxItem {
    let scope = scope();
    let project_id = local_project_id(&scope);
    let item = MemoryItem {
        id: derived_item_id(project_id, MemoryType::Rule, content),
        project_id,
        kind: MemoryType::Rule,
        status: MemoryStatus::Proposed,
        content: content.to_owned(),
        evidence: Vec::new(),
        contradicts: Vec::new(),
        supersedes: None,
        superseded_by: None,
        expires_at: None,
        created_at: at(0),
        updated_at: at(0),
        decided_by: None,
        reason: None,
    };
    InboxItem {
        item,
        scope,
        task_id: None,
    }
}

pub(super) async fn change(store: &dyn Store, id: MemoryItemId, change: MemoryChange) -> Changed {
    change_at(store, id, change, at(10)).await
}

async fn change_at(
    store: &dyn Store,
    id: MemoryItemId,
    change: MemoryChange,
    now: OffsetDateTime,
) -> Changed {
    let by = Redacted::of(&"Ada".to_owned());
    store
        .change_item(id, &Redacted::of(&change), &by, now)
        .await
        .unwrap()
}

pub(super) fn approve() -> MemoryChange {
    MemoryChange::Approve { content: None }
}

/// Stores an item that a person approved.
pub(super) async fn accepted(store: &dyn Store, content: &str) -> MemoryItemId {
    let proposed = proposal(content);
    let outcome = store.propose_item(&Redacted::of(&proposed)).await.unwrap();
    assert_eq!(outcome, ProposalOutcome::Proposed);
    let changed = change(store, proposed.item.id, approve()).await;
    assert!(matches!(changed, Changed::Done(_)), "{changed:?}");
    proposed.item.id
}

/// The memories that contain a word.
pub(super) async fn found(store: &dyn Store, word: &str) -> Vec<String> {
    let (scope, terms) = (scope(), [word.to_owned()]);
    let question = MemoryQuestion {
        scope: &scope,
        terms: &terms,
        before: None,
        order: CandidateOrder::Newest { known: &[] },
        limit: 100,
        budget: 10_000,
    };
    let found = store.candidates(&question).await.unwrap().found;
    found
        .into_iter()
        .map(|one| one.document.task_id.to_string())
        .collect()
}

/// See the name.
pub async fn an_item_is_a_memory_while_it_is_accepted(store: Arc<dyn Store>) {
    let store = &*store;
    let proposed = proposal("Format dates with datelib.");
    let id = proposed.item.id;
    store.propose_item(&Redacted::of(&proposed)).await.unwrap();
    assert_eq!(found(store, "datelib").await, Vec::<String>::new());
    change(store, id, approve()).await;
    assert_eq!(found(store, "datelib").await, [id.to_string()]);
    let item = store.item(id).await.unwrap().unwrap().item;
    assert_eq!(
        (item.status, item.decided_by.as_deref()),
        (MemoryStatus::Accepted, Some("Ada"))
    );

    let edit = MemoryChange::Edit {
        content: Some("Format dates with chronolib.".to_owned()),
        expires_at: None,
    };
    change(store, id, edit).await;
    assert_eq!(found(store, "datelib").await, Vec::<String>::new());
    assert_eq!(found(store, "chronolib").await, [id.to_string()]);
    let refused = change(store, id, approve()).await;
    assert!(matches!(refused, Changed::Refused(_)), "{refused:?}");
}

/// See the name.
pub async fn a_rejected_item_is_not_proposed_again(store: Arc<dyn Store>) {
    let store = &*store;
    let proposed = Redacted::of(&proposal("Format dates with datelib."));
    store.propose_item(&proposed).await.unwrap();
    change(store, proposed.item.id, MemoryChange::Reject { reason: None }).await;
    assert_eq!(
        store.propose_item(&proposed).await.unwrap(),
        ProposalOutcome::Known
    );
    let status = store.item(proposed.item.id).await.unwrap().unwrap().item.status;
    assert_eq!(status, MemoryStatus::Rejected);
    let scope = scope();
    let filter = ItemFilter {
        scope: Some(&scope),
        only_proposed: true,
        limit: 10,
    };
    assert_eq!(store.items(&filter).await.unwrap(), []);
}

/// See the name.
pub async fn a_task_that_is_saved_again_replaces_what_it_proposed(store: Arc<dyn Store>) {
    let task = empty_task("t1");
    let save = async |contents: &[&str]| {
        let transition = TaskTransition {
            proposals: vec![TaskProposals {
                task: task.id.clone(),
                items: contents.iter().map(|content| proposal(content)).collect(),
            }],
            finished: vec![task.clone()],
            ..TaskTransition::default()
        };
        store.apply(&Redacted::of(&transition)).await.unwrap();
        let filter = ItemFilter {
            scope: None,
            only_proposed: true,
            limit: 10,
        };
        let items = store.items(&filter).await.unwrap();
        let mut contents: Vec<String> = items.into_iter().map(|one| one.item.content).collect();
        contents.sort();
        contents
    };
    assert_eq!(save(&["One.", "Two."]).await, ["One.", "Two."]);
    assert_eq!(save(&["Two."]).await, ["Two."]);
    // At most three of a task, whatever it says.
    assert_eq!(save(&["A.", "B.", "C.", "D."]).await, ["A.", "B.", "C."]);
}

/// An item with an end is a memory until then.
pub async fn an_item_with_an_end_is_found_until_then(store: Arc<dyn Store>) {
    let store = &*store;
    let now = OffsetDateTime::now_utc();
    let mut ids = Vec::new();
    // Both are accepted while they are in force.
    for (content, end, approved) in [
        ("Freeze the lasting branch.", now + Duration::days(1), now),
        (
            "Freeze the ended branch.",
            now - Duration::days(1),
            now - Duration::days(2),
        ),
    ] {
        let mut proposed = proposal(content);
        proposed.item.expires_at = Some(end);
        store.propose_item(&Redacted::of(&proposed)).await.unwrap();
        let changed = change_at(store, proposed.item.id, approve(), approved).await;
        assert!(matches!(changed, Changed::Done(_)), "{changed:?}");
        ids.push(proposed.item.id);
    }
    assert_eq!(found(store, "branch").await, [ids[0].to_string()]);
    let listed = async || {
        let memories = store.export(Some(&scope()), None, 10).await.unwrap();
        memories
            .into_iter()
            .map(|task| task.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed().await.len(), 2);
    // Afterwards its memory is removed, and the item stays.
    store.prune(&Retention::default(), now, false).await.unwrap();
    assert_eq!(listed().await, [ids[0].to_string()]);
    assert!(store.item(ids[1]).await.unwrap().is_some());
}

/// See the name.
pub async fn waiting_proposals_are_mentioned_once_a_day(store: Arc<dyn Store>) {
    let scope = scope();
    let due = async |now| store.due_notice(&scope, now).await.unwrap();
    assert_eq!(due(at(0)).await, None);
    for content in ["One.", "Two."] {
        store
            .propose_item(&Redacted::of(&proposal(content)))
            .await
            .unwrap();
    }
    assert_eq!(due(at(1)).await, Some(2));
    assert_eq!(due(at(2)).await, None);
    assert_eq!(due(at(2) + NOTICE_INTERVAL).await, Some(2));
}
