//! What of a finished task is saved to team memory.

use super::*;

#[tokio::test]
async fn a_commit_made_during_the_task_is_linked() {
    let mut work = TestSession::begin().await;
    let directory = work.project.path().to_owned();
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(arguments)
            .current_dir(&directory)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "git {arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    git(&["commit", "-q", "--allow-empty", "-m", "two"]);
    work.turn("commit it", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let saved = work.memory().await;
    let head = grov_project::ProjectLocation::locate(&directory).head().commit;
    assert!(head.is_some());
    assert_eq!(saved[0].linked_commit, head);
    // No commit was made during the next task.
    work.turn("look around", "x.rs", verdict(TaskAction::NewTask))
        .await;
    work.turn("done", "x.rs", verdict(TaskAction::TaskComplete)).await;
    let saved = work.memory().await;
    let second = saved
        .iter()
        .find(|task| task.goal.as_deref() == Some("look around"))
        .unwrap();
    assert_eq!(second.linked_commit, None);
}

#[tokio::test]
async fn ignored_files_are_not_saved() {
    let mut work = TestSession::begin().await;
    std::fs::write(work.project.path().join(".grovignore"), "secret/\n").unwrap();
    std::fs::create_dir(work.project.path().join("secret")).unwrap();
    std::fs::write(work.project.path().join("theme.css"), "a {}").unwrap();
    work.turn("add dark mode", "secret/key.css", verdict(TaskAction::NewTask))
        .await;
    work.turn("and finish it", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    let saved = work.memory().await;
    assert_eq!(saved[0].files_touched, ["theme.css"]);
    let pins: Vec<_> = saved[0]
        .file_pins
        .iter()
        .map(|pin| (pin.path.as_str(), pin.hash.is_some()))
        .collect();
    assert_eq!(pins, [("theme.css", true)]);
}

#[tokio::test]
async fn records_of_the_next_turn_are_not_saved_with_a_finished_task() {
    let mut work = TestSession::begin().await;
    work.handle(Some("add dark mode"), &["theme.css"], false).await;
    let (end, end_event) = work.exchange(None, &[], true);
    // The next turn starts before the first is judged.
    let (next, next_event) = work.exchange(Some("fix the login bug"), &["login.rs"], false);
    let (last, last_event) = work.exchange(None, &[], true);
    work.store
        .append(&Redacted::each(&[end, next, last]))
        .await
        .unwrap();
    work.judge
        .verdicts
        .lock()
        .unwrap()
        .extend([verdict(TaskAction::TaskComplete), verdict(TaskAction::NewTask)]);
    for event in [end_event, next_event, last_event] {
        work.session.on_exchange(&event).await.unwrap();
    }
    let saved = work.memory().await;
    let finished = saved
        .iter()
        .find(|task| task.status == TaskStatus::Complete)
        .unwrap();
    assert_eq!(
        (saved.len(), &finished.files_touched[..]),
        (2, &["theme.css".to_owned()][..])
    );
    assert_eq!(
        work.judge.reasoning_questions.lock().unwrap()[0].prompts,
        ["add dark mode"]
    );
    let expected = [
        row("add dark mode", "main", "completed", (2, 1, 1)),
        row("fix the login bug", "main", "active", (2, 1, 1)),
    ];
    assert_eq!(work.overview().await, expected);
}

#[tokio::test]
async fn the_judge_is_not_shown_the_answer_of_an_earlier_turn() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let (record, mut event) = work.exchange(Some("now the toggle"), &["t.rs"], true);
    event.answer = None;
    work.store.append(&Redacted::each(&[record])).await.unwrap();
    work.next_verdict(verdict(TaskAction::Continue));
    work.session.on_exchange(&event).await.unwrap();
    assert_eq!(work.judge.task_questions.lock().unwrap()[1].answer, "");
}

#[tokio::test]
async fn the_answer_of_another_task_is_not_saved() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    work.exchanges += 70;
    let (record, mut event) = work.exchange(Some("login bug"), &["t.rs"], true);
    event.answer = Some("Fixed the login bug in t.rs.".to_owned());
    work.store.append(&Redacted::each(&[record])).await.unwrap();
    work.next_verdict(verdict(TaskAction::NewTask));
    work.session.on_exchange(&event).await.unwrap();
    *work.clock.0.lock().unwrap() += HOUR + Duration::from_secs(1);
    work.session.abandon(&SessionId::new("s1")).await.unwrap();
    let saved = work.memory().await;
    let first = saved.iter().find(|task| task.original_query == "add dark mode");
    let first = format!("{:?}", first.unwrap());
    assert!(!first.contains("login"), "{first}");
}

/// Returns a verdict on an action off the goal.
fn off_goal(score: u8, level: CorrectionLevel) -> StepVerdict {
    StepVerdict {
        score,
        by: JudgedBy::Rules,
        findings: vec![Finding::new(
            Rule::Tangent,
            score,
            None,
            "theme.css has nothing to do with the login",
        )],
        level: Some(level),
        correction: Some("Go back.".to_owned()),
        recovery_plan: Vec::new(),
    }
}

#[tokio::test]
async fn drift_is_saved_with_its_own_task_only() {
    let mut work = TestSession::begin().await;
    let (mut record, event) = work.exchange(Some("fix the login"), &["login.rs", "theme.css"], false);
    record.steps[1].verdict = Some(off_goal(2, CorrectionLevel::Halt));
    work.store.append(&Redacted::each(&[record])).await.unwrap();
    work.session.on_exchange(&event).await.unwrap();
    let done = verdict(TaskAction::TaskComplete);
    work.next_verdict(done);
    work.handle(None, &[], true).await;
    let mut next = verdict(TaskAction::NewTask);
    next.finished = true;
    work.turn("rename the button", "button.rs", next).await;

    let mut memory = work.memory().await;
    memory.sort_by_key(|task| task.created_at);
    assert_eq!(memory[0].tags, ["had-drift", "needs-review"]);
    assert_eq!(memory[0].status, TaskStatus::Partial);
    assert_eq!(
        memory[0].reasoning_trace,
        [
            "login.rs",
            "Warning (halt): theme.css has nothing to do with the login"
        ]
    );
    assert_eq!(memory[0].files_touched, ["login.rs"]);
    assert_eq!(
        (memory[1].tags.as_slice(), memory[1].status),
        (&[][..], TaskStatus::Complete)
    );
    assert_eq!(
        work.overview().await[0],
        row("fix the login", "main", "completed", (2, 1, 1))
    );
}

#[tokio::test]
async fn a_memory_forgotten_during_a_question_stays_forgotten() {
    for question in [JudgeQuestion::WhichTask, JudgeQuestion::WhatToRemember] {
        let mut work = TestSession::begin().await;
        let done = || TaskAnalysis {
            task_id: Some(SessionId::new("s1")),
            ..verdict(TaskAction::TaskComplete)
        };
        work.turn(
            "about the aardvark",
            "aardvark.rs",
            verdict(TaskAction::TaskComplete),
        )
        .await;
        work.handle(Some("more of the aardvark"), &["aardvark_too.rs"], false)
            .await;
        let memory: Vec<TaskId> = work.memory().await.into_iter().map(|task| task.id).collect();
        assert_eq!(memory.len(), 1);
        *work.judge.forget_during.lock().unwrap() = Some(Forgotten {
            at: question,
            tasks: memory,
            store: Arc::clone(&work.store),
        });
        let verdicts = if question == JudgeQuestion::WhichTask {
            2
        } else {
            1
        };
        let task_questions = work.judge.task_questions.lock().unwrap().len();
        work.judge
            .verdicts
            .lock()
            .unwrap()
            .extend(std::iter::repeat_with(done).take(verdicts));
        work.handle(None, &[], true).await;
        assert!(work.judge.forget_during.lock().unwrap().is_none());
        assert_eq!(
            work.judge.task_questions.lock().unwrap().len(),
            task_questions + verdicts,
            "{question:?}"
        );

        assert_eq!(work.memory().await, [], "{question:?}");
        for file in ["grov.db", "grov.db-wal"] {
            let bytes = std::fs::read(work.home.path().join(file)).unwrap_or_default();
            let holds_it = bytes
                .windows(8)
                .any(|word| word.eq_ignore_ascii_case(b"aardvark"));
            assert!(!holds_it, "{question:?}: {file} holds it");
        }
    }
}

/// A turn without edits.
async fn turn_without_edits(work: &mut TestSession, question: &str) {
    work.handle(Some(question), &[], false).await;
    let answered = verdict(TaskAction::TaskComplete);
    work.next_verdict(answered);
    work.handle(None, &[], true).await;
}

#[tokio::test]
async fn turns_without_edits_or_decisions_are_not_saved() {
    let mut work = TestSession::begin().await;
    work.turn("add paging", "page.rs", verdict(TaskAction::TaskComplete))
        .await;
    for _ in 0..9 {
        turn_without_edits(&mut work, "how does paging work?").await;
    }
    let saved = work.memory().await;
    let goals: Vec<_> = saved.iter().map(|task| task.goal.as_deref()).collect();
    assert_eq!(goals, [Some("add paging")]);
    let statuses: Vec<_> = work.overview().await.iter().map(|task| task.2).collect();
    assert!(
        statuses.iter().all(|status| *status == "completed"),
        "{statuses:?}"
    );
}

#[tokio::test]
async fn a_decision_with_a_reason_is_saved() {
    let mut work = TestSession::begin().await;
    let decision = |choice: &str, reason: &str| Decision {
        choice: choice.to_owned(),
        reason: reason.to_owned(),
    };
    *work.judge.decisions.lock().unwrap() = vec![decision("cursors", " ")];
    turn_without_edits(&mut work, "how should we page?").await;
    assert_eq!(
        work.memory().await,
        [],
        "a choice without a reason is no decision"
    );
    *work.judge.decisions.lock().unwrap() = vec![decision("cursors", "offsets skip rows")];
    turn_without_edits(&mut work, "and why?").await;
    assert_eq!(work.memory().await, [], "the rules took an answer for a decision");
    *work.judge.has_model.lock().unwrap() = true;
    turn_without_edits(&mut work, "and why not offsets?").await;
    assert_eq!(work.memory().await.len(), 1);
}

#[tokio::test]
async fn the_summary_of_a_compaction_states_no_decisions_of_a_later_task() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::TaskComplete))
        .await;
    work.turn("fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let (record, mut event) = work.exchange(None, &[], false);
    event.summary = Some("Dark mode uses a media query, because it needs no script.".to_owned());
    work.store.append(&Redacted::each(&[record])).await.unwrap();
    work.session.on_exchange(&event).await.unwrap();
    work.turn("go on", "login.rs", verdict(TaskAction::TaskComplete))
        .await;
    let questions = work.judge.reasoning_questions.lock().unwrap();
    let statements = &questions.last().unwrap().statements;
    assert!(
        statements
            .iter()
            .all(|one| one.source != StatementSource::Summary),
        "{statements:?}"
    );
}

#[tokio::test]
async fn what_a_person_changed_survives_the_next_save() {
    let mut work = TestSession::begin().await;
    work.turn("add dark mode", "theme.css", verdict(TaskAction::NewTask))
        .await;
    let before = work.memory().await.remove(0);
    let mut after = before.clone();
    after.goal = Some("Support dark mode".to_owned());
    after.edits = MemoryEdits::between(&before, &after);
    work.store.import(&[Redacted::of(&after)]).await.unwrap();
    work.turn("and the toggle", "toggle.rs", verdict(TaskAction::TaskComplete))
        .await;
    let saved = work.memory().await;
    let [memory] = saved.as_slice() else {
        panic!("{saved:?}")
    };
    assert_eq!(memory.goal.as_deref(), Some("Support dark mode"));
    assert_eq!(memory.status, TaskStatus::Complete);
    assert_eq!(memory.files_touched.len(), 2);
    assert_eq!(memory.screened, grov_memory::screened(memory.clone()).screened);
}

#[tokio::test]
async fn the_title_of_the_client_is_kept_with_the_first_task() {
    let mut work = TestSession::begin().await;
    work.handle(Some("add dark mode"), &["theme.css"], false).await;
    let (mut record, mut title) = work.exchange(None, &[], false);
    record.kind = ExchangeKind::Side(SideRequest::Title);
    work.store.append(&Redacted::each(&[record])).await.unwrap();
    title.kind = ExchangeKind::Side(SideRequest::Title);
    title.title = crate::tasks::title(r#"{"title": "Night colours"}"#);
    work.session.on_exchange(&title).await.unwrap();
    work.next_verdict(verdict(TaskAction::TaskComplete));
    work.handle(None, &[], true).await;
    work.turn("fix the login bug", "login.rs", verdict(TaskAction::NewTask))
        .await;
    let titles = |task: &Task| {
        let trace = task.reasoning_trace.iter();
        trace.filter(|line| line.ends_with("Night colours")).count()
    };
    let saved = work.memory().await;
    let found: Vec<_> = saved
        .iter()
        .map(|task| (task.goal.as_deref(), titles(task)))
        .collect();
    assert_eq!(
        found,
        [(Some("fix the login bug"), 0), (Some("add dark mode"), 1)]
    );
    assert_eq!(crate::tasks::title("no JSON"), None);
}

#[tokio::test]
async fn the_decision_of_a_subagent_that_wrote_is_remembered() {
    let mut work = TestSession::begin().await;
    work.handle(Some("describe the cache"), &["theme.css"], false)
        .await;
    work.handle_subagent("a1", "notes/cache.md").await;
    let decision = "I decided on ETag rather than Last-Modified because clocks differ between the nodes.";
    work.handle_subagent_step("a1", &[], Some(decision)).await;
    let found = "I decided on tabs rather than spaces because the linter wants them.";
    work.handle_subagent_step("a2", &[], Some(found)).await;
    work.next_verdict(verdict(TaskAction::TaskComplete));
    work.handle(None, &[], true).await;
    let questions = work.judge.reasoning_questions.lock().unwrap();
    let stated: Vec<&str> = questions[0]
        .statements
        .iter()
        .map(|statement| statement.text.as_str())
        .collect();
    assert_eq!(stated[0], decision, "{stated:?}");
    assert!(!stated.contains(&found), "{stated:?}");
}
