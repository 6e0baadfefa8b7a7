//! Turns that break off, come twice, come late or go on without their session.

use super::*;

#[tokio::test]
async fn an_interrupted_turn_stays_where_it_was() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.hears(Some("now rewrite everything"), &["all.rs"], false)
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
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.hears(None, &[], true).await;
    assert_eq!(work.judge.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn after_a_restart_no_task_goes_on_where_all_are_done() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    work.restart();
    work.turn("fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let asked = work.judge.asked.lock().unwrap();
    assert_eq!(asked[1].current, None);
    assert_eq!(asked[1].others[0].goal, "add dark mode");
}

#[tokio::test]
async fn after_a_restart_the_open_task_goes_on() {
    let mut work = Work::begin().await;
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
async fn records_that_arrive_after_the_verdict_go_with_their_turn() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let (first, told_first) = work.exchange(Some("fix the login bug"), &["login.rs"], false);
    let (second, told_second) = work.exchange(None, &[], true);
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::NewTask));
    let store = Arc::clone(&work.store);
    let late = async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        store.append(&Redacted::each(&[first, second])).await.unwrap();
    };
    let hears = async {
        work.session.on_exchange(&told_first).await.unwrap();
        work.session.on_exchange(&told_second).await.unwrap();
    };
    tokio::join!(late, hears);
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn an_interrupted_first_prompt_does_not_set_the_goal() {
    let mut work = Work::begin().await;
    work.hears(Some("rewrite everything"), &["all.rs"], false).await;
    work.turn(
        "no, only fix the login bug",
        "login.rs",
        verdict(TaskAction::NewTask),
    )
    .await;
    assert_eq!(work.overview().await[0].0, "no, only fix the login bug");
}

#[tokio::test]
async fn what_was_interrupted_after_a_finished_task_goes_with_the_next_one() {
    let mut work = Work::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    work.hears(Some("now fix the login bug"), &["login.rs"], false)
        .await;
    work.turn("use argon2 for it", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let tasks = work.overview().await;
    assert_eq!((tasks[0].3, tasks[0].5), (2, 1), "{tasks:?}");
}

#[tokio::test]
async fn a_subagent_that_outlives_its_turn_works_for_its_task() {
    let mut work = Work::begin().await;
    work.hears(Some("add dark mode"), &["theme.css"], false).await;
    work.hears_agent("a1", "first.css").await;
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::NewTask));
    work.hears(None, &[], true).await;
    work.hears(Some("now fix the login bug"), &["login.rs"], false)
        .await;
    work.hears_agent("a1", "second.css").await;
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .push_back(verdict(TaskAction::NewTask));
    work.hears(None, &[], true).await;
    let expected = [
        row("add dark mode", "main", "active", (4, 1, 3)),
        row("now fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn a_first_turn_that_was_not_judged_before_a_restart_keeps_its_task() {
    let mut work = Work::begin().await;
    work.hears(Some("add dark mode"), &["theme.css"], false).await;
    work.hears_quietly().await;
    work.restart();
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let tasks = work.overview().await;
    assert_eq!(tasks[0].0, "add dark mode", "{tasks:?}");
}
