//! Proposals for memory, and what a decision about them does.

use super::*;

#[tokio::test]
async fn proposals_are_items_with_evidence_and_a_call_that_decides_them() {
    let world = World::new("Assistant.").await;
    let chunk = world
        .add_document(
            "Tides",
            Category::Facts,
            "# Tides\n\nThe spring tide closes pier 4.\n",
        )
        .await;
    let old = world
        .add_item(
            MemoryType::Fact,
            MemoryStatus::Accepted,
            "Mooring at pier 4 costs 38 EUR per day.",
            None,
        )
        .await;
    let answer = proposing(json!([
        {"type": "fact", "content": "Mooring at pier 4 costs 45 EUR per day.", "evidence": [
            {"kind": "message", "id": "wrong", "quote": "mooring at pier 4 costs 45 EUR per day"},
            {"kind": "message", "id": "x", "quote": "never said"},
            {"kind": "document", "id": chunk, "quote": "The spring tide closes pier 4."}]},
        {"type": "event", "content": "The price of pier 4 was raised."},
        {"type": "metric", "content": "Pier 4 has 12 boats.", "ttl_seconds": 3600},
        {"type": "fact", "content": "mooring at pier 4 costs 45 EUR per day"},
    ]));
    let message = "From now on mooring at pier 4 costs 45 EUR per day, also at spring tide.";
    let (answer, _) = chat(&world, &[&answer], message).await;
    let items = &answer.response.memory_proposals;
    let states: Vec<(MemoryType, MemoryStatus)> = items.iter().map(|item| (item.kind, item.status)).collect();
    assert_eq!(
        states,
        [
            (MemoryType::Fact, MemoryStatus::Proposed),
            (MemoryType::Event, MemoryStatus::Active),
            (MemoryType::Metric, MemoryStatus::Accepted),
        ],
        "the repetition is left out"
    );
    let fact = &items[0];
    assert_eq!(fact.contradicts, [old]);
    let user = world.store.messages(answer.thread, &page()).await.unwrap().items[0]
        .id
        .to_string();
    let evidence: Vec<(EvidenceKind, &str, &str)> = fact
        .evidence
        .iter()
        .map(|evidence| (evidence.kind, evidence.id.as_str(), evidence.quote.as_str()))
        .collect();
    assert_eq!(
        evidence,
        [
            (
                EvidenceKind::Message,
                user.as_str(),
                "mooring at pier 4 costs 45 EUR per day"
            ),
            (
                EvidenceKind::Document,
                chunk.as_str(),
                "The spring tide closes pier 4."
            ),
        ]
    );
    assert_eq!(
        (items[1].evidence.len(), items[1].evidence[0].quote.as_str()),
        (1, message)
    );
    assert_eq!(
        items[2].expires_at,
        Some(items[2].created_at + Duration::hours(1))
    );

    let waiting = stored_calls(&world).await;
    let [call] = &waiting[..] else {
        panic!("one call: {waiting:?}")
    };
    assert_eq!(
        (call.name.as_str(), call.status, call.memory_item_id),
        (
            "memory.propose_add",
            ToolCallStatus::AwaitingApproval,
            Some(fact.id)
        )
    );
    decide(&world, call, ToolCallStatus::Approved).await;
    let accepted = world.store.item(world.project, fact.id).await.unwrap().unwrap();
    assert_eq!(accepted.status, MemoryStatus::Accepted);
}

async fn decide(world: &World, call: &ToolCall, status: ToolCallStatus) {
    let report = ToolReport {
        status,
        result: None,
        error: None,
        decided_by: Some("ada".to_owned()),
    };
    world
        .store
        .report(
            call.id,
            &Redacted::of(&report),
            &[2; 32],
            &[],
            OffsetDateTime::now_utc(),
        )
        .await
        .unwrap();
}

#[tokio::test]
async fn memory_tools_propose_and_an_approval_changes_what_they_name() {
    let world = World::new("Assistant.").await;
    let words = world
        .add_item(
            MemoryType::Decision,
            MemoryStatus::Accepted,
            "The pier is painted green.",
            None,
        )
        .await;
    let open = world
        .add_item(
            MemoryType::OpenLoop,
            MemoryStatus::Accepted,
            "Ada orders paint.",
            None,
        )
        .await;
    let answer = act(json!([
        {"name": "memory.propose_update", "arguments": {"id": words, "content": "The pier is painted blue."}, "reason": "The user said so."},
        {"name": "memory.propose_update", "arguments": {"id": open, "status": "done"}},
        {"name": "memory.propose_add", "arguments": {"type": "event", "content": "The paint arrived."}},
        {"name": "memory.propose_add", "arguments": {"type": "open_loop", "content": "ada orders paint"}},
    ]));
    let (answer, _) = chat(&world, &[&answer], "The paint arrived; the pier becomes blue.").await;
    let [update, done, event, known] = calls(&answer) else {
        panic!("four calls")
    };
    use ToolCallStatus::{AwaitingApproval, Succeeded};
    assert_eq!(
        [update.status, done.status, event.status, known.status],
        [AwaitingApproval, AwaitingApproval, Succeeded, Succeeded]
    );
    assert_eq!(
        known.result,
        Some(json!({"memory_item_id": open, "status": "known"}))
    );
    assert_eq!(
        answer.response.memory_proposals.len(),
        2,
        "new words and the event"
    );
    let new = &answer.response.memory_proposals[0];
    assert_eq!(
        (new.supersedes, new.kind, update.memory_item_id),
        (Some(words), MemoryType::Decision, Some(new.id))
    );
    assert_eq!(done.memory_item_id, Some(open));

    decide(&world, update, ToolCallStatus::Approved).await;
    decide(&world, done, ToolCallStatus::Approved).await;
    let item = async |id| world.store.item(world.project, id).await.unwrap().unwrap();
    assert_eq!(item(words).await.superseded_by, Some(new.id));
    assert_eq!(item(new.id).await.status, MemoryStatus::Accepted);
    assert_eq!(item(open).await.status, MemoryStatus::Done);
}

#[tokio::test]
async fn an_update_of_what_cannot_be_changed_is_not_proposed() {
    let world = World::new("Assistant.").await;
    let event = world
        .add_item(MemoryType::Event, MemoryStatus::Active, "The gate failed.", None)
        .await;
    let done = world
        .add_item(
            MemoryType::OpenLoop,
            MemoryStatus::Done,
            "Ada orders paint.",
            None,
        )
        .await;
    for (id, change) in [(event, json!("content")), (done, json!("done"))] {
        let mut arguments = json!({"id": id});
        match change.as_str() {
            Some("content") => arguments["content"] = json!("The gate never failed."),
            _ => arguments["status"] = json!("done"),
        }
        let answer = act(json!([{"name": "memory.propose_update", "arguments": arguments}]));
        let (answer, _) = chat(&world, &[&answer, &answer], "Change it").await;
        assert!(matches!(answer.response.decision, Decision::Ask { .. }));
    }
    assert!(stored_calls(&world).await.is_empty());
}

#[tokio::test]
async fn two_changes_of_one_item_in_an_answer_are_corrected_and_do_not_lose_the_turn() {
    let world = World::new("Assistant.").await;
    let load = world
        .add_item(MemoryType::Metric, MemoryStatus::Accepted, "The load is 5.", None)
        .await;
    let update =
        |words: &str| json!({"name": "memory.propose_update", "arguments": {"id": load, "content": words}});
    let twice = act(json!([update("The load is 6."), update("The load is 7.")]));
    let once = act(json!([update("The load is 7.")]));
    let (answer, _) = chat(&world, &[&twice, &once], "The load is 7 now").await;
    let [call] = calls(&answer) else {
        panic!("one call")
    };
    assert_eq!(call.status, ToolCallStatus::Succeeded);
    let item = world.store.item(world.project, load).await.unwrap().unwrap();
    assert_eq!(item.superseded_by, call.memory_item_id);
}

#[tokio::test]
async fn a_rejected_status_leaves_the_item() {
    let world = World::new("Assistant.").await;
    let open = world
        .add_item(
            MemoryType::OpenLoop,
            MemoryStatus::Accepted,
            "Ada orders paint.",
            None,
        )
        .await;
    let answer =
        act(json!([{"name": "memory.propose_update", "arguments": {"id": open, "status": "blocked"}}]));
    let (answer, _) = chat(&world, &[&answer], "The paint is sold out").await;
    decide(&world, &calls(&answer)[0], ToolCallStatus::Rejected).await;
    let item = world.store.item(world.project, open).await.unwrap().unwrap();
    assert_eq!(item.status, MemoryStatus::Accepted);
    let change = Redacted::of(&MemoryChange::Done);
    let by = Redactor::shared().text("ada");
    world
        .store
        .change_item(world.project, open, &change, &by, OffsetDateTime::now_utc())
        .await
        .unwrap();
}
