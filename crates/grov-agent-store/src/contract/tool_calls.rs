//! Tool calls and reports about them.

use super::Store;
use super::sample::{self, NOW, call, page, report, turn};
use grov_agent::{
    AgentStoreError, ReportRefused, ToolCall, ToolCallFilter, ToolCallId, ToolCallStatus, ToolReport,
};
use grov_redact::Redacted;
use serde_json::json;
use time::Duration;

async fn stored(store: &Store) -> ToolCall {
    let project = sample::project(&**store).await;
    let mut turn = turn(project);
    let call = call(project, Some(turn.thread));
    turn.tool_calls.push(Redacted::of(&call));
    store.store_turn(&turn).await.unwrap();
    call
}

/// See the name.
pub async fn a_call_is_reported_step_by_step(store: Store) {
    let call = stored(&store).await;
    let approved = report(ToolCallStatus::Approved);
    let reported = store
        .report(call.id, &approved, &[1; 32], &[], NOW)
        .await
        .unwrap();
    assert_eq!(reported.call.status, ToolCallStatus::Approved);
    assert_eq!(reported.call.decided_by.as_deref(), Some("anna"));
    let result = Redacted::of(&ToolReport {
        status: ToolCallStatus::Succeeded,
        result: Some(json!({"sent": [1, 2.5, null], "ok": true})),
        error: None,
        decided_by: None,
    });
    let event = sample::event(call.project_id, "{}");
    let reported = store
        .report(call.id, &result, &[2; 32], std::slice::from_ref(&event), NOW)
        .await
        .unwrap();
    assert!(!reported.is_repeat);
    let now = store.tool_call(call.id, NOW).await.unwrap().unwrap();
    assert_eq!(now, reported.call);
    assert_eq!(now.result, result.result);
    assert_eq!(now.decided_by.as_deref(), Some("anna"));
    let events = store
        .take_events(5, std::time::Duration::from_secs(60), NOW)
        .await
        .unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].id, event.id);
    let unknown = store
        .report(ToolCallId::fresh(), &approved, &[1; 32], &[], NOW)
        .await;
    assert!(matches!(unknown, Err(AgentStoreError::NotFound(_))));
}

/// See the name.
pub async fn the_same_report_changes_nothing(store: Store) {
    let call = stored(&store).await;
    let approved = report(ToolCallStatus::Approved);
    let event = sample::event(call.project_id, "{}");
    let events = std::slice::from_ref(&event);
    store
        .report(call.id, &approved, &[1; 32], events, NOW)
        .await
        .unwrap();
    let failed = report(ToolCallStatus::Failed);
    store.report(call.id, &failed, &[2; 32], &[], NOW).await.unwrap();
    for (body, fingerprint) in [(&approved, [1; 32]), (&failed, [2; 32])] {
        let later = NOW + Duration::days(3);
        let again = store
            .report(call.id, body, &fingerprint, events, later)
            .await
            .unwrap();
        assert!(again.is_repeat);
        assert_eq!(again.call.status, ToolCallStatus::Failed);
    }
    let lease = std::time::Duration::from_secs(60);
    assert_eq!(store.take_events(5, lease, NOW).await.unwrap().len(), 1);
}

/// See the name.
pub async fn a_repeated_report_about_an_expired_call_answers_that_it_expired(store: Store) {
    let call = stored(&store).await;
    let approved = report(ToolCallStatus::Approved);
    for (at, status) in [
        (NOW, ToolCallStatus::Approved),
        (call.expires_at, ToolCallStatus::Expired),
    ] {
        let reported = store.report(call.id, &approved, &[1; 32], &[], at).await.unwrap();
        assert_eq!(reported.call.status, status);
    }
}

/// See the name.
pub async fn a_finished_call_refuses_another_report(store: Store) {
    let call = stored(&store).await;
    let rejected = report(ToolCallStatus::Rejected);
    store
        .report(call.id, &rejected, &[1; 32], &[], NOW)
        .await
        .unwrap();
    let approved = report(ToolCallStatus::Approved);
    let refused = store.report(call.id, &approved, &[2; 32], &[], NOW).await;
    assert!(
        matches!(
            refused,
            Err(AgentStoreError::ReportRefused(ReportRefused::Finished(
                ToolCallStatus::Rejected
            )))
        ),
        "{refused:?}"
    );
    let again = store.report(call.id, &approved, &[2; 32], &[], NOW).await;
    assert!(again.is_err(), "a refused report is not remembered");
}

/// See the name.
pub async fn a_call_expires(store: Store) {
    let call = stored(&store).await;
    let end = call.expires_at;
    let before = store
        .tool_call(call.id, end - Duration::microseconds(1))
        .await
        .unwrap();
    assert_eq!(before.unwrap().status, ToolCallStatus::AwaitingApproval);
    let after = store.tool_call(call.id, end).await.unwrap();
    assert_eq!(after.unwrap().status, ToolCallStatus::Expired);
    let approved = report(ToolCallStatus::Approved);
    let refused = store.report(call.id, &approved, &[1; 32], &[], end).await;
    assert!(matches!(
        refused,
        Err(AgentStoreError::ReportRefused(ReportRefused::Expired))
    ));
    for (status, found) in [
        (ToolCallStatus::Expired, 1),
        (ToolCallStatus::AwaitingApproval, 0),
    ] {
        let filter = ToolCallFilter {
            projects: Vec::new(),
            status: Some(status),
        };
        let listed = store.tool_calls(&filter, &page(5), end).await.unwrap().items;
        assert_eq!(listed.len(), found, "{status}");
        assert!(listed.iter().all(|call| call.status == status));
    }
    assert_eq!(store.expire_tool_calls(end).await.unwrap(), 1);
    assert_eq!(store.expire_tool_calls(end).await.unwrap(), 0);
    let stays = store.tool_call(call.id, NOW).await.unwrap();
    assert_eq!(stays.unwrap().status, ToolCallStatus::Expired);
}

/// See the name.
pub async fn of_two_approvers_at_once_one_decides(store: Store) {
    let call = stored(&store).await;
    let (approved, rejected) = (report(ToolCallStatus::Approved), report(ToolCallStatus::Rejected));
    let (first, second) = tokio::join!(
        store.report(call.id, &approved, &[1; 32], &[], NOW),
        store.report(call.id, &rejected, &[2; 32], &[], NOW),
    );
    assert_eq!(
        u8::from(first.is_ok()) + u8::from(second.is_ok()),
        1,
        "{first:?} {second:?}"
    );
    let winner = if first.is_ok() { first } else { second };
    let now = store.tool_call(call.id, NOW).await.unwrap().unwrap();
    assert_eq!(winner.unwrap().call, now);
}

/// See the name.
pub async fn calls_are_listed_by_project_and_state(store: Store) {
    let (first, second) = (stored(&store).await, stored(&store).await);
    store
        .report(second.id, &report(ToolCallStatus::Rejected), &[1; 32], &[], NOW)
        .await
        .unwrap();
    let listed = async |projects: Vec<_>, status| {
        let filter = ToolCallFilter { projects, status };
        let listed = store.tool_calls(&filter, &page(5), NOW).await.unwrap();
        listed.items.into_iter().map(|call| call.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(Vec::new(), None).await.len(), 2);
    assert_eq!(listed(vec![first.project_id], None).await, [first.id]);
    let rejected = Some(ToolCallStatus::Rejected);
    assert_eq!(listed(Vec::new(), rejected).await, [second.id]);
    assert!(listed(vec![first.project_id], rejected).await.is_empty());
    let waiting = Some(ToolCallStatus::AwaitingApproval);
    assert_eq!(
        listed(vec![first.project_id, second.project_id], waiting).await,
        [first.id]
    );
}
