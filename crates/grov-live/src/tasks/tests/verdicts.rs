//! How verdicts assign turns to tasks.

use super::*;

#[tokio::test]
async fn the_first_turn_is_the_first_task() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "active", (2, 1, 1))]
    );
    assert_eq!(work.tasks().await[0].state.session_id.as_str(), "s1");
    assert_eq!(work.judge.task_questions.lock().unwrap()[0].current, None);
}

#[tokio::test]
async fn the_goal_is_known_before_the_first_turn_ends() {
    let mut work = TestSession::begin().await;
    work.handle(Some("add dark mode"), &[], false).await;
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "active", (1, 1, 0))]
    );
}

#[tokio::test]
async fn a_new_task_gets_its_whole_turn() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    work.turn("and log it", "login.rs", verdict(TaskAction::Continue))
        .await;
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("now fix the login bug", "main", "active", (4, 2, 2)),
    ];
    assert_eq!(work.overview().await, expected);
    let login = work.tasks().await[1].state.session_id.clone();
    let files: Vec<_> = work
        .store
        .steps(&login)
        .await
        .unwrap()
        .into_iter()
        .map(|step| step.files)
        .collect();
    assert_eq!(files.len(), 2);
    assert!(files.iter().all(|files| files[0].ends_with("login.rs")));
    let saved = work.memory().await;
    assert_eq!(saved.len(), 2);
    assert!(saved.iter().all(|task| task.status == TaskStatus::Abandoned));
    let task_questions = work.judge.task_questions.lock().unwrap();
    assert_eq!(
        task_questions[2].current.as_ref().unwrap().goal,
        "now fix the login bug"
    );
    assert_eq!(task_questions[2].others[0].goal, "add dark mode");
    assert_eq!(task_questions[2].actions[0].files, ["login.rs"]);
}

#[tokio::test]
async fn a_finished_subtask_returns_to_its_parent_and_is_linked_when_that_is_saved() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("first install deps", "package.json", verdict(TaskAction::Subtask))
        .await;
    work.turn("done?", "package.json", verdict(TaskAction::SubtaskComplete))
        .await;
    assert_eq!(work.memory().await.len(), 2, "the parent is saved as unfinished");
    work.turn("go on", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let expected = [
        row("add dark mode", "main", "completed", (4, 2, 2)),
        row("first install deps", "subtask", "completed", (4, 2, 2)),
    ];
    assert_eq!(work.overview().await, expected);
    let saved = work.memory().await;
    let parent = saved
        .iter()
        .find(|task| task.goal.as_deref() == Some("add dark mode"))
        .unwrap();
    let child = saved
        .iter()
        .find(|task| task.goal.as_deref() == Some("first install deps"))
        .unwrap();
    assert_eq!(child.parent_task_id.as_ref(), Some(&parent.id));
    assert_eq!(
        (parent.status, parent.trigger_reason),
        (TaskStatus::Complete, Some(TriggerReason::Complete))
    );
    assert_eq!(parent.original_query, "add dark mode");
    assert_eq!(parent.files_touched, ["theme.css"]);
    assert_eq!(parent.project_remote.as_deref(), Some("example.org/team/project"));
    let task_questions = work.judge.task_questions.lock().unwrap();
    assert_eq!(task_questions[3].current.as_ref().unwrap().goal, "add dark mode");
}

#[tokio::test]
async fn a_task_finished_in_one_turn_is_saved_at_once() {
    let mut work = TestSession::begin().await;
    let mut finished = verdict(TaskAction::NewTask);
    finished.finished = true;
    work.turn("rename it", "a.rs", finished).await;
    assert_eq!(
        work.overview().await,
        [row("rename it", "main", "completed", (2, 1, 1))]
    );
    assert_eq!(work.memory().await.len(), 1);
}

#[tokio::test]
async fn a_finished_parallel_task_leaves_the_main_one_current() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let mut beside = verdict(TaskAction::ParallelTask);
    beside.finished = true;
    work.turn("also update the tests", "test.rs", beside).await;
    work.turn("now the toggle", "toggle.rs", verdict(TaskAction::Continue))
        .await;
    let expected = [
        row("add dark mode", "main", "active", (4, 2, 2)),
        row("also update the tests", "parallel", "completed", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn a_task_that_completes_twice_is_one_memory() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let first = work.memory().await;
    let mut again = verdict(TaskAction::TaskComplete);
    again.task_id = Some(SessionId::new("s1"));
    work.turn("and the icons", "icons.svg", again).await;
    let second = work.memory().await;
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_eq!(second[0].id, first[0].id);
    assert_eq!(second[0].files_touched, ["theme.css", "icons.svg"]);
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "completed", (4, 2, 2))]
    );
}

#[tokio::test]
async fn a_question_about_finished_work_leaves_it_finished() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let before = work.memory().await;
    let mut about = verdict(TaskAction::Continue);
    about.task_id = Some(SessionId::new("s1"));
    work.handle(Some("why css?"), &[], false).await;
    work.next_verdict(about);
    work.handle(None, &[], true).await;
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "completed", (4, 2, 1))]
    );
    assert_eq!(work.memory().await, before);
    assert_eq!(work.judge.reasoning_questions.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_new_conversation_under_the_same_id_is_a_new_task() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let (record, mut event) = work.exchange(Some("hello again"), &[], true);
    event.begins = true;
    work.store.append(&Redacted::each(&[record])).await.unwrap();
    work.next_verdict(verdict(TaskAction::Continue));
    work.session.on_exchange(&event).await.unwrap();
    let expected = [
        row("add dark mode", "main", "active", (2, 1, 1)),
        row("hello again", "main", "active", (1, 1, 0)),
    ];
    assert_eq!(work.overview().await, expected);
}
