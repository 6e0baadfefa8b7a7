//! Governed memory.

use super::Store;
use super::sample::{self, NOW, item, page, report, stored_item, stored_proposal};
use grov_agent::{
    AgentStoreError, ChangeRefused, KeyId, MemoryChange, MemoryFilter, MemoryItem, MemoryItemId,
    MemoryStatus, MemoryType, PROPOSE_UPDATE, Proposal, ToolCall, ToolCallStatus,
};
use grov_redact::Redacted;
use serde_json::json;
use time::Duration;

async fn change(
    store: &Store,
    item: &MemoryItem,
    change: MemoryChange,
) -> Result<MemoryItem, AgentStoreError> {
    store
        .change_item(
            item.project_id,
            item.id,
            &Redacted::of(&change),
            &sample::text("bert"),
            NOW,
        )
        .await
}

fn approve() -> MemoryChange {
    MemoryChange::Approve { content: None }
}

async fn now(store: &Store, item: &MemoryItem) -> MemoryItem {
    store.item(item.project_id, item.id).await.unwrap().unwrap()
}

async fn status(store: &Store, call: &ToolCall) -> ToolCallStatus {
    store.tool_call(call.id, NOW).await.unwrap().unwrap().status
}

/// See the name.
pub async fn a_change_keeps_its_answer_in_its_own_transaction(store: Store) {
    let project = sample::project(&*store).await;
    let (item, _) = stored_proposal(&*store, project, "The shop opens at ten.").await;
    let owner = KeyId::fresh();
    let answer = sample::replay(owner, "approve");
    let change = async |change: MemoryChange| {
        let (change, by) = (Redacted::of(&change), sample::text("bert"));
        let replay = |_: &MemoryItem| Some(answer.clone());
        store
            .change_item_once(project, item.id, &change, &by, &replay, NOW)
            .await
    };
    change(approve()).await.unwrap();
    let kept = store.replay(owner, &answer.key, NOW).await.unwrap();
    assert_eq!(kept.unwrap().body, answer.body);
    // The key was used: the second change is not made.
    let second = change(MemoryChange::Block {
        reason: Some("waits for the supplier".to_owned()),
    })
    .await;
    assert!(matches!(second, Err(AgentStoreError::Conflict(_))), "{second:?}");
    assert_eq!(now(&store, &item).await.status, MemoryStatus::Accepted);
}

/// See the name.
pub async fn approving_the_call_accepts_the_item(store: Store) {
    let project = sample::project(&*store).await;
    let (item, call) = stored_proposal(&*store, project, "The shop opens at nine.").await;
    let approved = report(ToolCallStatus::Approved);
    let reported = store
        .report(call.id, &approved, &[1; 32], &[], NOW)
        .await
        .unwrap();
    assert_eq!(reported.call.status, ToolCallStatus::Succeeded);
    let item = now(&store, &item).await;
    assert_eq!(item.status, MemoryStatus::Accepted);
    assert_eq!(item.decided_by.as_deref(), Some("anna"));
    let again = store
        .report(call.id, &approved, &[1; 32], &[], NOW)
        .await
        .unwrap();
    assert!(again.is_repeat);
}

/// See the name.
pub async fn rejecting_the_call_rejects_the_item(store: Store) {
    let project = sample::project(&*store).await;
    let (item, call) = stored_proposal(&*store, project, "The shop opens at nine.").await;
    let rejected = report(ToolCallStatus::Rejected);
    store
        .report(call.id, &rejected, &[1; 32], &[], NOW)
        .await
        .unwrap();
    assert_eq!(status(&store, &call).await, ToolCallStatus::Rejected);
    assert_eq!(now(&store, &item).await.status, MemoryStatus::Rejected);
}

/// See the name.
pub async fn deciding_the_item_decides_the_call(store: Store) {
    let project = sample::project(&*store).await;
    let (accepted, its_call) = stored_proposal(&*store, project, "One.").await;
    let edited = MemoryChange::Edit {
        content: Some("One, in other words.".to_owned()),
        expires_at: None,
    };
    change(&store, &accepted, edited).await.unwrap();
    assert_eq!(status(&store, &its_call).await, ToolCallStatus::AwaitingApproval);
    change(&store, &accepted, approve()).await.unwrap();
    assert_eq!(status(&store, &its_call).await, ToolCallStatus::Succeeded);
    assert_eq!(now(&store, &accepted).await.content, "One, in other words.");
    let (rejected, its_call) = stored_proposal(&*store, project, "Two.").await;
    change(&store, &rejected, MemoryChange::Reject { reason: None })
        .await
        .unwrap();
    assert_eq!(status(&store, &its_call).await, ToolCallStatus::Rejected);
    let late = store
        .report(its_call.id, &report(ToolCallStatus::Approved), &[1; 32], &[], NOW)
        .await;
    assert!(matches!(late, Err(AgentStoreError::ReportRefused(_))), "{late:?}");
    let again = change(&store, &rejected, approve()).await;
    assert!(
        matches!(again, Err(AgentStoreError::ChangeRefused(_))),
        "{again:?}"
    );
    assert_eq!(now(&store, &rejected).await.status, MemoryStatus::Rejected);
}

/// See the name.
pub async fn a_proposed_change_of_state_is_made_with_its_call(store: Store) {
    let project = sample::project(&*store).await;
    let open = item(
        project,
        MemoryType::OpenLoop,
        MemoryStatus::Accepted,
        "Write the report.",
    );
    stored_item(&*store, &open).await;
    let call = ToolCall {
        name: PROPOSE_UPDATE.to_owned(),
        arguments: json!({"id": open.id.to_string(), "status": "done"}),
        memory_item_id: Some(open.id),
        ..sample::call(project, None)
    };
    let mut turn = sample::turn(project);
    turn.tool_calls.push(Redacted::of(&call));
    store.store_turn(&turn).await.unwrap();
    let approved = report(ToolCallStatus::Approved);
    store
        .report(call.id, &approved, &[1; 32], &[], NOW)
        .await
        .unwrap();
    assert_eq!(now(&store, &open).await.status, MemoryStatus::Done);
    assert_eq!(status(&store, &call).await, ToolCallStatus::Succeeded);
}

/// See the name.
pub async fn decisions_from_both_sides_at_once_do_not_block(store: Store) {
    let project = sample::project(&*store).await;
    for round in 0_u8..5 {
        let (item, call) = stored_proposal(&*store, project, &format!("The shop opens at {round}.")).await;
        let fingerprint = [round; 32];
        let approved = report(ToolCallStatus::Approved);
        let (by_call, by_item) = tokio::join!(
            store.report(call.id, &approved, &fingerprint, &[], NOW),
            change(&store, &item, MemoryChange::Reject { reason: None }),
        );
        let one = u8::from(by_call.is_ok()) + u8::from(by_item.is_ok());
        assert_eq!(one, 1, "{by_call:?} {by_item:?}");
        let expected = if by_call.is_ok() {
            (MemoryStatus::Accepted, ToolCallStatus::Succeeded)
        } else {
            (MemoryStatus::Rejected, ToolCallStatus::Rejected)
        };
        assert_eq!(
            (now(&store, &item).await.status, status(&store, &call).await),
            expected
        );
    }
}

/// See the name.
pub async fn approving_an_item_supersedes_the_one_it_names(store: Store) {
    let project = sample::project(&*store).await;
    let old = item(
        project,
        MemoryType::Fact,
        MemoryStatus::Accepted,
        "The shop opens at nine.",
    );
    stored_item(&*store, &old).await;
    let mut new = item(
        project,
        MemoryType::Fact,
        MemoryStatus::Proposed,
        "The shop opens at ten.",
    );
    new.supersedes = Some(old.id);
    stored_item(&*store, &new).await;
    assert_eq!(now(&store, &old).await.superseded_by, None);
    change(&store, &new, approve()).await.unwrap();
    let old = now(&store, &old).await;
    assert_eq!(old.superseded_by, Some(new.id));
    assert_eq!(old.content, "The shop opens at nine.", "it is kept");
}

fn proposal(content: &str) -> Proposal {
    Proposal {
        kind: MemoryType::Fact,
        content: content.to_owned(),
        evidence: Vec::new(),
        ttl: None,
        supersedes: None,
    }
}

/// See the name.
pub async fn of_two_equal_proposals_at_once_one_is_stored(store: Store) {
    let project = sample::project(&*store).await;
    let propose = || {
        let id = MemoryItemId::fresh();
        grov_agent::propose(
            &*store,
            project,
            id,
            proposal("The shop opens at nine."),
            false,
            NOW,
        )
    };
    let results = tokio::join!(propose(), propose(), propose());
    let stored = [results.0.is_ok(), results.1.is_ok(), results.2.is_ok()];
    assert_eq!(stored.iter().filter(|is_ok| **is_ok).count(), 1, "{stored:?}");
    let all = MemoryFilter {
        types: Vec::new(),
        statuses: Vec::new(),
    };
    assert_eq!(store.items(project, &all, &page(5)).await.unwrap().items.len(), 1);
}

/// See the name.
pub async fn the_same_request_to_propose_twice_at_once_is_answered_twice(store: Store) {
    let project = sample::project(&*store).await;
    let id = MemoryItemId::fresh();
    let propose = || {
        grov_agent::propose(
            &*store,
            project,
            id,
            proposal("The shop opens at nine."),
            false,
            NOW,
        )
    };
    let (first, second) = tokio::join!(propose(), propose());
    assert_eq!(first.unwrap().item, second.unwrap().item);
    assert_eq!(propose().await.unwrap().item.id, id);
}

/// See the name.
pub async fn an_event_and_a_metric_do_not_replace_a_rule(store: Store) {
    let project = sample::project(&*store).await;
    let rule = item(
        project,
        MemoryType::Rule,
        MemoryStatus::Accepted,
        "Never on Sunday.",
    );
    let load = item(project, MemoryType::Metric, MemoryStatus::Accepted, "Load is 5.");
    stored_item(&*store, &rule).await;
    stored_item(&*store, &load).await;
    for (kind, status, replaced, is_replaced) in [
        (MemoryType::Event, MemoryStatus::Active, &rule, false),
        (MemoryType::Metric, MemoryStatus::Accepted, &rule, false),
        (MemoryType::Metric, MemoryStatus::Accepted, &load, true),
    ] {
        let mut new = item(project, kind, status, "Load is 7.");
        new.supersedes = Some(replaced.id);
        stored_item(&*store, &new).await;
        assert_eq!(
            now(&store, replaced).await.superseded_by,
            is_replaced.then_some(new.id),
            "{kind}"
        );
    }
}

/// See the name.
pub async fn two_measurements_that_replace_the_same_one_are_stored(store: Store) {
    let project = sample::project(&*store).await;
    let load = item(project, MemoryType::Metric, MemoryStatus::Accepted, "Load is 5.");
    stored_item(&*store, &load).await;
    let mut turn = sample::turn(project);
    for content in ["Load is 6.", "Load is 7."] {
        let mut new = item(project, MemoryType::Metric, MemoryStatus::Accepted, content);
        new.supersedes = Some(load.id);
        turn.memory_items.push(Redacted::of(&new));
    }
    store.store_turn(&turn).await.unwrap();
    let [first, second] = turn.memory_items.as_slice() else {
        unreachable!()
    };
    assert_eq!(now(&store, &load).await.superseded_by, Some(first.id));
    assert_eq!(now(&store, first).await.superseded_by, Some(second.id));
    assert_eq!(now(&store, second).await.superseded_by, None);
}

/// See the name.
pub async fn a_proposal_for_an_item_that_was_superseded_meanwhile_replaces_the_current_one(store: Store) {
    let project = sample::project(&*store).await;
    let old = item(project, MemoryType::Fact, MemoryStatus::Accepted, "Nine.");
    stored_item(&*store, &old).await;
    let mut proposed = item(project, MemoryType::Fact, MemoryStatus::Proposed, "Eleven.");
    proposed.supersedes = Some(old.id);
    stored_item(&*store, &proposed).await;
    let current = item(project, MemoryType::Fact, MemoryStatus::Accepted, "Ten.");
    stored_item(&*store, &current).await;
    change(&store, &old, MemoryChange::SupersededBy(current.id))
        .await
        .unwrap();
    change(&store, &proposed, approve()).await.unwrap();
    assert_eq!(now(&store, &current).await.superseded_by, Some(proposed.id));
    assert_eq!(now(&store, &old).await.superseded_by, Some(current.id));
}

/// See the name.
pub async fn an_item_is_superseded_only_once(store: Store) {
    let project = sample::project(&*store).await;
    let old = item(project, MemoryType::Fact, MemoryStatus::Accepted, "Nine.");
    stored_item(&*store, &old).await;
    let mut proposals = Vec::new();
    for content in ["Ten.", "Eleven."] {
        let mut new = item(project, MemoryType::Fact, MemoryStatus::Proposed, content);
        new.supersedes = Some(old.id);
        stored_item(&*store, &new).await;
        proposals.push(new);
    }
    let (first, second) = tokio::join!(
        change(&store, &proposals[0], approve()),
        change(&store, &proposals[1], approve()),
    );
    first.unwrap();
    second.unwrap();
    let in_force = MemoryFilter {
        types: Vec::new(),
        statuses: vec![MemoryStatus::Accepted],
    };
    let items = store.items(project, &in_force, &page(5)).await.unwrap().items;
    assert_eq!(
        items.iter().filter(|item| item.superseded_by.is_none()).count(),
        1
    );
}

/// See the name.
pub async fn items_do_not_supersede_each_other(store: Store) {
    let project = sample::project(&*store).await;
    let one = item(project, MemoryType::Fact, MemoryStatus::Accepted, "One.");
    let other = item(project, MemoryType::Fact, MemoryStatus::Accepted, "Other.");
    let proposed = item(project, MemoryType::Fact, MemoryStatus::Proposed, "Proposed.");
    for item in [&one, &other, &proposed] {
        stored_item(&*store, item).await;
    }
    let itself = change(&store, &one, MemoryChange::SupersededBy(one.id)).await;
    assert!(matches!(itself, Err(AgentStoreError::NotFound(_))), "{itself:?}");
    let by_proposed = change(&store, &one, MemoryChange::SupersededBy(proposed.id)).await;
    assert!(matches!(by_proposed, Err(AgentStoreError::ChangeRefused(_))));
    change(&store, &one, MemoryChange::SupersededBy(other.id))
        .await
        .unwrap();
    let back = change(&store, &other, MemoryChange::SupersededBy(one.id)).await;
    assert!(matches!(
        back,
        Err(AgentStoreError::ChangeRefused(ChangeRefused::Superseded))
    ));
    let elsewhere = sample::project(&*store).await;
    let foreign = item(elsewhere, MemoryType::Fact, MemoryStatus::Accepted, "Foreign.");
    stored_item(&*store, &foreign).await;
    let by_foreign = change(&store, &other, MemoryChange::SupersededBy(foreign.id)).await;
    assert!(matches!(by_foreign, Err(AgentStoreError::NotFound(_))));
}

/// See the name.
pub async fn an_event_is_never_changed(store: Store) {
    let project = sample::project(&*store).await;
    let event = item(
        project,
        MemoryType::Event,
        MemoryStatus::Active,
        "The shop opened.",
    );
    stored_item(&*store, &event).await;
    let edit = MemoryChange::Edit {
        content: Some("It did not.".to_owned()),
        expires_at: None,
    };
    let refused = change(&store, &event, edit).await;
    assert!(matches!(
        refused,
        Err(AgentStoreError::ChangeRefused(ChangeRefused::Event))
    ));
    assert_eq!(now(&store, &event).await, event);
}

/// See the name.
pub async fn the_situation_has_what_is_in_force(store: Store) {
    let project = sample::project(&*store).await;
    let at = |mut item: MemoryItem, minutes: i64| {
        item.created_at = NOW + Duration::minutes(minutes);
        item
    };
    let mut events = Vec::new();
    for number in 0..7 {
        let event = item(
            project,
            MemoryType::Event,
            MemoryStatus::Active,
            &format!("Event {number}."),
        );
        events.push(at(event, number));
    }
    let rule_1 = at(
        item(project, MemoryType::Rule, MemoryStatus::Accepted, "Rule 1."),
        1,
    );
    let rule_2 = at(
        item(project, MemoryType::Rule, MemoryStatus::Accepted, "Rule 2."),
        2,
    );
    let mut expired = at(
        item(project, MemoryType::Rule, MemoryStatus::Accepted, "Expired."),
        3,
    );
    expired.expires_at = Some(NOW);
    let proposed = item(project, MemoryType::Rule, MemoryStatus::Proposed, "Proposed.");
    let loop_1 = at(
        item(project, MemoryType::OpenLoop, MemoryStatus::Accepted, "Loop 1."),
        1,
    );
    let loop_2 = at(
        item(project, MemoryType::OpenLoop, MemoryStatus::Blocked, "Loop 2."),
        2,
    );
    let done = item(project, MemoryType::OpenLoop, MemoryStatus::Done, "Done.");
    let idea = item(project, MemoryType::Idea, MemoryStatus::Accepted, "Idea.");
    let mut better = item(project, MemoryType::Idea, MemoryStatus::Accepted, "Better idea.");
    better.supersedes = Some(idea.id);
    let fact = item(project, MemoryType::Fact, MemoryStatus::Accepted, "Fact.");
    let elsewhere = sample::project(&*store).await;
    let foreign = item(elsewhere, MemoryType::Rule, MemoryStatus::Accepted, "Foreign.");
    let all = [
        &rule_2, &rule_1, &expired, &proposed, &loop_1, &loop_2, &done, &idea, &better, &fact, &foreign,
    ];
    for item in all.into_iter().chain(&events) {
        stored_item(&*store, item).await;
    }
    let situation = store.situation(project, NOW).await.unwrap();
    let contents =
        |items: &[MemoryItem]| -> Vec<String> { items.iter().map(|item| item.content.clone()).collect() };
    assert_eq!(contents(&situation.rules), ["Rule 1.", "Rule 2."]);
    assert_eq!(contents(&situation.open_loops), ["Loop 2.", "Loop 1."]);
    assert_eq!(contents(&situation.active_ideas), ["Better idea."]);
    assert_eq!(
        contents(&situation.recent_events),
        ["Event 6.", "Event 5.", "Event 4.", "Event 3.", "Event 2."]
    );
}

/// See the name.
pub async fn of_what_is_blocked_only_commitments_are_in_force(store: Store) {
    let project = sample::project(&*store).await;
    for kind in [MemoryType::OpenLoop, MemoryType::Rule, MemoryType::Idea] {
        let blocked = item(project, kind, MemoryStatus::Blocked, "Shop paint.");
        stored_item(&*store, &blocked).await;
        assert_eq!(blocked.is_in_force(NOW), kind == MemoryType::OpenLoop);
    }
    let situation = store.situation(project, NOW).await.unwrap();
    let counts = [&situation.open_loops, &situation.rules, &situation.active_ideas].map(Vec::len);
    assert_eq!(counts, [1, 0, 0]);
}

/// See the name.
pub async fn items_are_listed_by_type_and_state(store: Store) {
    let project = sample::project(&*store).await;
    for kind in [MemoryType::Fact, MemoryType::Rule, MemoryType::Idea] {
        for status in [MemoryStatus::Proposed, MemoryStatus::Accepted] {
            stored_item(&*store, &item(project, kind, status, "Content.")).await;
        }
    }
    for (types, statuses, expected) in [
        (vec![], vec![], 6),
        (vec![MemoryType::Fact, MemoryType::Idea], vec![], 4),
        (vec![], vec![MemoryStatus::Proposed], 3),
        (vec![MemoryType::Rule], vec![MemoryStatus::Accepted], 1),
        (vec![MemoryType::Event], vec![], 0),
    ] {
        let filter = MemoryFilter { types, statuses };
        let mut page = page(2);
        let mut seen = 0;
        loop {
            let listed = store.items(project, &filter, &page).await.unwrap();
            seen += listed.items.len();
            match listed.next {
                Some(next) => page.after = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{filter:?}");
    }
}
