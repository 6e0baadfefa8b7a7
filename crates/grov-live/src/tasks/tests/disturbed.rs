//! Interrupted, repeated and late turns, and restarts.

use super::*;

#[tokio::test]
async fn an_interrupted_turn_stays_in_its_task() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.handle(Some("now rewrite everything"), &["all.rs"], false)
        .await;
    work.turn("no, fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let expected = [
        row("add dark mode", "main", "active", (3, 2, 2)),
        row("no, fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn a_repeated_request_is_not_judged_again() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.handle(None, &[], true).await;
    assert_eq!(work.judge.task_questions.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn after_a_restart_finished_tasks_do_not_continue() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    work.restart();
    work.turn("fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let task_questions = work.judge.task_questions.lock().unwrap();
    assert_eq!(task_questions[1].current, None);
    assert_eq!(task_questions[1].others[0].goal, "add dark mode");
}

#[tokio::test]
async fn after_a_restart_the_open_task_continues() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    work.restart();
    work.turn("and log it", "log.rs", verdict(TaskAction::Continue))
        .await;
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("now fix the login bug", "main", "active", (4, 2, 2)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn records_stored_after_the_verdict_move_with_their_turn() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let (first, first_event) = work.exchange(Some("fix the login bug"), &["login.rs"], false);
    let (second, second_event) = work.exchange(None, &[], true);
    work.next_verdict(verdict(TaskAction::NewTask));
    let store = Arc::clone(&work.store);
    let late = async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        store.append(&Redacted::each(&[first, second])).await.unwrap();
    };
    let handle = async {
        work.session.on_exchange(&first_event).await.unwrap();
        work.session.on_exchange(&second_event).await.unwrap();
    };
    tokio::join!(late, handle);
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn an_interrupted_first_prompt_does_not_set_the_goal() {
    let mut work = TestSession::begin().await;
    work.handle(Some("rewrite everything"), &["all.rs"], false).await;
    work.turn(
        "no, only fix the login bug",
        "login.rs",
        verdict(TaskAction::NewTask),
    )
    .await;
    assert_eq!(work.overview().await[0].0, "no, only fix the login bug");
}

#[tokio::test]
async fn a_turn_interrupted_after_a_finished_task_joins_the_next_one() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    work.handle(Some("now fix the login bug"), &["login.rs"], false)
        .await;
    work.turn("use argon2 for it", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let tasks = work.overview().await;
    assert_eq!((tasks[0].3, tasks[0].5), (2, 1), "{tasks:?}");
}

#[tokio::test]
async fn a_subagent_that_outlives_its_turn_stays_in_its_task() {
    let mut work = TestSession::begin().await;
    work.handle(Some("add dark mode"), &["theme.css"], false).await;
    work.handle_subagent("a1", "first.css").await;
    work.next_verdict(verdict(TaskAction::NewTask));
    work.handle(None, &[], true).await;
    work.handle(Some("now fix the login bug"), &["login.rs"], false)
        .await;
    work.handle_subagent("a1", "second.css").await;
    work.next_verdict(verdict(TaskAction::NewTask));
    work.handle(None, &[], true).await;
    let expected = [
        row("add dark mode", "main", "active", (4, 1, 3)),
        row("now fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn an_unjudged_first_turn_keeps_its_task_after_a_restart() {
    let mut work = TestSession::begin().await;
    work.handle(Some("add dark mode"), &["theme.css"], false).await;
    work.record_turn_end().await;
    work.restart();
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let tasks = work.overview().await;
    assert_eq!(tasks[0].0, "add dark mode", "{tasks:?}");
}
