//! The current task is saved when the context of its session is cleared, and goes on.

use super::*;

#[tokio::test]
async fn a_task_is_saved_when_the_context_is_cleared() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.handle(Some("and the toggle"), &["toggle.ts"], false).await;
    work.session.save_at_threshold().await.unwrap();
    let saved = work.memory().await;
    assert_eq!(
        (saved.len(), saved[0].status, saved[0].trigger_reason),
        (1, TaskStatus::Abandoned, Some(TriggerReason::Threshold))
    );
    assert_eq!(saved[0].files_touched.len(), 2);
    assert_eq!(work.overview().await[0].2, "active");
    work.next_verdict(verdict(TaskAction::TaskComplete));
    work.handle(None, &[], true).await;
    let again = work.memory().await;
    assert_eq!(
        (again.len(), again[0].status, &again[0].id),
        (1, TaskStatus::Complete, &saved[0].id)
    );
}

#[tokio::test]
async fn the_first_turn_is_saved_before_its_verdict() {
    let mut work = TestSession::begin().await;
    work.session.save_at_threshold().await.unwrap();
    assert!(work.memory().await.is_empty(), "nothing is recorded");
    work.handle(Some("add dark mode"), &["theme.css"], false).await;
    work.session.save_at_threshold().await.unwrap();
    let saved = work.memory().await;
    assert_eq!(
        (saved.len(), saved[0].trigger_reason),
        (1, Some(TriggerReason::Threshold))
    );
    work.next_verdict(verdict(TaskAction::NewTask));
    work.handle(None, &[], true).await;
    assert_eq!(work.overview().await.len(), 1);
    let again = work.memory().await;
    assert_eq!((again.len(), &again[0].id), (1, &saved[0].id));
}
