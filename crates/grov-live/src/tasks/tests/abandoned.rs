//! Inactive tasks are saved as abandoned and can be resumed.

use super::*;

#[tokio::test]
async fn an_abandoned_task_is_saved_and_can_be_resumed() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(120);
    let (handle, orchestration) = TaskOrchestrator::new(
        Arc::clone(&work.judge) as Arc<_>,
        Arc::clone(&work.store) as Arc<_>,
        Arc::clone(&work.clock) as Arc<_>,
        HOUR,
    );
    // Found at startup, before any exchange of the session.
    let store = Arc::clone(&work.store);
    let session = ClientSessionId::new("s1");
    // Spawned, because a future that holds a store connection and is not polled blocks all other users of the store.
    let mut waiting = tokio::task::JoinSet::new();
    waiting.spawn(async move {
        while store.client_session(&session).await.unwrap()[0].state.status == SessionStatus::Active {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let saved = async { waiting.join_next().await.unwrap().unwrap() };
    orchestration.run(saved).await;
    drop(handle);
    let saved = work.memory().await;
    assert_eq!(
        (saved[0].status, saved[0].trigger_reason),
        (TaskStatus::Abandoned, Some(TriggerReason::Abandoned))
    );
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "abandoned", (2, 1, 1))]
    );
    work.restart();
    let mut back = verdict(TaskAction::TaskComplete);
    back.task_id = Some(SessionId::new("s1"));
    work.turn("finish dark mode", "theme.css", back).await;
    let again = work.memory().await;
    assert_eq!(
        (again.len(), again[0].status, &again[0].id),
        (1, TaskStatus::Complete, &saved[0].id)
    );
    drop(work.home);
}

#[tokio::test]
async fn proxied_work_that_looks_finished_is_complete_in_memory_as_on_hooks() {
    let looks_finished = |action, looks_finished| TaskAnalysis {
        looks_finished,
        ..verdict(action)
    };
    let mut work = TestSession::begin().await;
    for (prompt, action, is_finished, status) in [
        ("add dark mode", TaskAction::NewTask, true, TaskStatus::Complete),
        (
            "now the toggle",
            TaskAction::Continue,
            false,
            TaskStatus::Abandoned,
        ),
        (
            "finish the toggle",
            TaskAction::Continue,
            true,
            TaskStatus::Complete,
        ),
    ] {
        work.turn(prompt, "theme.css", looks_finished(action, is_finished))
            .await;
        let saved = work.memory().await;
        assert_eq!((saved.len(), saved[0].status), (1, status), "{prompt}");
        assert_eq!(work.overview().await[0].2, "active", "{prompt}");
    }
    let asked: Vec<bool> = work
        .judge
        .task_questions
        .lock()
        .unwrap()
        .iter()
        .map(|q| q.is_remembered_complete)
        .collect();
    assert_eq!(asked, [false, true, false]);
    // Idle, and also after a restart: it is over, and no longer abandoned.
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(120);
    work.restart();
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    let saved = work.memory().await;
    assert_eq!(
        (saved.len(), saved[0].status, saved[0].trigger_reason),
        (1, TaskStatus::Complete, Some(TriggerReason::Complete))
    );
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "completed", (6, 3, 3))]
    );
}

#[tokio::test]
async fn a_task_that_became_active_is_not_abandoned() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    assert_eq!(
        work.overview().await,
        [row("add dark mode", "main", "active", (2, 1, 1))]
    );
}

#[tokio::test]
async fn a_resumed_first_task_keeps_its_id() {
    let mut work = TestSession::begin().await;
    work.handle(Some("add dark mode"), &["theme.css"], false).await;
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(120);
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    let mut back = verdict(TaskAction::Continue);
    back.task_id = Some(SessionId::new("s1"));
    work.turn("back to dark mode", "theme.css", back).await;
    work.turn("now fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let tasks = work.overview().await;
    assert_eq!(tasks.len(), 2, "{tasks:?}");
}

#[tokio::test]
async fn a_task_is_not_abandoned_while_its_subtask_is_active() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("first fix the build", "b.rs", verdict(TaskAction::Subtask))
        .await;
    work.exchanges += 61;
    work.turn("go on", "b.rs", verdict(TaskAction::Continue)).await;
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    let statuses: Vec<_> = work
        .tasks()
        .await
        .into_iter()
        .map(|task| task.state.status)
        .collect();
    assert_eq!(statuses, [SessionStatus::Active; 2]);
}

#[tokio::test]
async fn an_abandoned_task_is_resumed_the_next_day() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(120);
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    work.restart();
    work.turn("go on", "theme.css", verdict(TaskAction::Continue))
        .await;
    let tasks = work.overview().await;
    assert_eq!(tasks.len(), 1, "{tasks:?}");
}

#[tokio::test]
async fn inactive_sessions_do_not_count_against_the_limit() {
    let mut work = TestSession::begin().await;
    let mut sessions = crate::tasks::Sessions {
        context: Arc::clone(&work.context),
        mailboxes: std::collections::HashMap::new(),
        running: tokio::task::JoinSet::new(),
    };
    for n in 0..crate::tasks::MAX_SESSIONS {
        let id = format!("idle{n}");
        sessions.send(
            ClientSessionId::new(&*id),
            crate::tasks::Event::Idle(SessionId::new(&*id)),
        );
    }
    while sessions.running.join_next().await.is_some() {}
    sessions.mailboxes.retain(|_, mailbox| !mailbox.is_closed());
    let (_, event) = work.exchange(Some("live work"), &["a.rs"], false);
    sessions.send(
        event.client_session_id.clone(),
        crate::tasks::Event::Recorded(Box::new(event)),
    );
    assert!(
        sessions.mailboxes.contains_key(&ClientSessionId::new("s1")),
        "{}",
        sessions.mailboxes.len()
    );
}

#[tokio::test]
async fn unfinished_work_is_saved_at_the_end_of_its_turn() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let saved = work.memory().await;
    assert_eq!(
        (saved.len(), saved[0].status, &saved[0].files_touched[..]),
        (1, TaskStatus::Abandoned, &["theme.css".to_owned()][..])
    );
    work.turn("and the toggle", "toggle.ts", verdict(TaskAction::TaskComplete))
        .await;
    let again = work.memory().await;
    assert_eq!(
        (again.len(), again[0].status, &again[0].id),
        (1, TaskStatus::Complete, &saved[0].id)
    );
    let mut more = verdict(TaskAction::Continue);
    more.task_id = Some(SessionId::new("s1"));
    work.turn("and the icon", "icon.svg", more).await;
    let again = work.memory().await;
    assert_eq!(
        (again.len(), again[0].status),
        (1, TaskStatus::Complete),
        "it stays finished"
    );
    assert_eq!(again[0].files_touched.len(), 3);
}

#[tokio::test]
async fn a_turn_that_changes_nothing_is_not_saved_before_its_task_ends() {
    let mut work = TestSession::begin().await;
    work.handle(Some("how does dark mode work?"), &[], false).await;
    work.next_verdict(verdict(TaskAction::NewTask));
    work.handle(None, &[], true).await;
    assert!(work.memory().await.is_empty());
}

#[tokio::test]
async fn the_model_reads_saved_work_once_when_it_becomes_idle() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    // Unfinished work is read by rules.
    assert_eq!(work.judge.reasoning_questions.lock().unwrap().len(), 0);
    assert_eq!(work.memory().await.len(), 1);
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(120);
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    assert_eq!(work.judge.reasoning_questions.lock().unwrap().len(), 1);
    assert_eq!(work.memory().await.len(), 1);
    assert_eq!(work.overview().await[0].2, "abandoned");
}

#[tokio::test]
async fn a_restart_loses_no_recorded_decision() {
    let mut work = TestSession::begin().await;
    let decision = |choice: &str| Decision {
        choice: choice.to_owned(),
        reason: "it is faster".to_owned(),
    };
    let (record, mut event) = work.exchange(Some("add dark mode"), &["theme.css"], true);
    event.answer =
        Some("Done. I chose a media query over a script because it needs no JavaScript.".to_owned());
    work.store.append(&Redacted::each(&[record])).await.unwrap();
    work.next_verdict(verdict(TaskAction::NewTask));
    work.session.on_exchange(&event).await.unwrap();
    let first = work.memory().await[0].decisions.clone();
    assert_eq!(first.len(), 1);
    work.restart();
    // The texts with the first decision are no longer in memory.
    *work.judge.decisions.lock().unwrap() = vec![decision("store the choice in a cookie")];
    work.turn("and remember it", "cookie.ts", verdict(TaskAction::TaskComplete))
        .await;
    let saved = work.memory().await;
    let both = [first, vec![decision("store the choice in a cookie")]].concat();
    assert_eq!((saved.len(), &saved[0].decisions), (1, &both));
}
