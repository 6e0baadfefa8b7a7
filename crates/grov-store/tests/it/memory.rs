//! Team memory in SQLite: forgotten text is in no file, and older tasks are indexed.

use crate::support::{Home, files_with};
use grov_domain::{
    CandidateOrder, ClientSessionId, Correction, CorrectionId, CorrectionLevel, Decision, DriftEvent,
    DriftEventId, DriftState, DriftStore, Effect, EffectKind, ExchangeRecord, ExchangeStore, FilePin,
    FileReasoning, FileReasoningStore, Finding, GoalEdit, GoalEditId, GoalEditKind, GoalStore, HistoryKey,
    JudgedBy, LedgerEntry, LedgerStore, Lineage, LineageTip, MemoryQuestion, MemoryScope, MemorySearch,
    MemoryStore, Prompt, RecoveryStep, Redacted, Rule, SessionId, SessionStatus, SessionStore, StepVerdict,
    Task, TaskId, TaskStore,
};
use grov_store::contract::{empty_task, sample_exchange};
use grov_store::{OpenOptions, SqliteStore};
use sqlx::Executor;
use time::OffsetDateTime;

fn task(id: &str, seconds: i64, text: &str) -> Task {
    Task {
        original_query: text.to_owned(),
        reasoning_trace: vec![format!("{text} in the record")],
        files_touched: vec![format!("/p/{text}.rs")],
        decisions: vec![Decision {
            choice: text.to_owned(),
            reason: "because".to_owned(),
        }],
        created_at: OffsetDateTime::from_unix_timestamp(1_760_000_000 + seconds).unwrap(),
        ..empty_task(id)
    }
}

fn scope(project: &str) -> MemoryScope {
    MemoryScope {
        project_path: project.to_owned(),
        project_remote: None,
    }
}

/// The number of memories of a project that contain each term.
async fn frequencies(store: &dyn MemorySearch, project: &str, terms: &[String]) -> Vec<u64> {
    let question = MemoryQuestion {
        scope: &scope(project),
        terms,
        before: None,
        order: CandidateOrder::Newest { known: &[] },
        limit: 0,
        budget: 1000,
    };
    let answer = store.candidates(&question).await.unwrap();
    answer
        .statistics
        .terms
        .iter()
        .map(|term| term.frequency)
        .collect()
}

async fn frequency(store: &dyn MemorySearch, project: &str, term: &str) -> u64 {
    frequencies(store, project, &[term.to_owned()]).await[0]
}

#[tokio::test]
async fn forgotten_memory_is_in_no_file() {
    let home = Home::new();
    let store = home.open().await;
    let filler: Vec<Task> = (0..300)
        .map(|number| task(&format!("t{number}"), number, "filler words"))
        .collect();
    store.import(&Redacted::each(&filler[..150])).await.unwrap();
    store
        .import(&Redacted::each(&[task("wanted", 500, "zyxwvutsr")]))
        .await
        .unwrap();
    // Written twice, so that an older version remains somewhere, and moved by later rows.
    store
        .import(&Redacted::each(&[task("wanted", 501, "zyxwvutsr")]))
        .await
        .unwrap();
    let about = FileReasoning {
        id: "r".to_owned(),
        task_id: Some(TaskId::new("wanted")),
        project_path: "/p".to_owned(),
        file_path: "/p/f".to_owned(),
        anchor: None,
        line_start: None,
        line_end: None,
        code_hash: None,
        change_type: None,
        reasoning: "zyxwvutsr again".to_owned(),
        created_at: OffsetDateTime::UNIX_EPOCH,
    };
    store.save_file_reasoning(&Redacted::of(&about)).await.unwrap();
    for portion in filler[150..].chunks(10) {
        store.import(&Redacted::each(portion)).await.unwrap();
    }
    assert!(!files_with(home.path(), "zyxwvutsr").is_empty());
    store.forget(&[TaskId::new("wanted")]).await.unwrap();
    assert_eq!(
        files_with(home.path(), "zyxwvutsr"),
        Vec::<std::path::PathBuf>::new()
    );
    assert_eq!(frequency(&store, "/p", "filler").await, 300);
    store.close().await.unwrap();
    assert_eq!(
        files_with(home.path(), "zyxwvutsr"),
        Vec::<std::path::PathBuf>::new()
    );
}

/// An exchange with `text` in every column.
fn exchange(session: &str, number: i64, text: &str) -> ExchangeRecord {
    let mut record = sample_exchange(session, number);
    record.prompts = vec![Prompt {
        text: text.to_owned(),
        queued: false,
    }];
    for step in &mut record.steps {
        step.action.files = vec![format!("/p/{text}.rs")];
        step.action.folders = vec![format!("/p/{text}")];
        step.action.command = Some(format!("cat {text}"));
        step.action.effects = vec![Effect {
            kind: EffectKind::Delete,
            paths: vec![format!("/p/{text}")],
        }];
        step.reasoning = Some(text.to_owned());
        step.keywords = vec![text.to_owned()];
    }
    record
}

/// Saves a drift event, a correction and the reasoning about a file, with `text` in every column.
async fn save_reasons(store: &SqliteStore, number: i64, text: &str) {
    let event = DriftEvent {
        id: DriftEventId::new(format!("d{number}")),
        session_id: SessionId::new("c"),
        timestamp: OffsetDateTime::UNIX_EPOCH,
        action_type: None,
        files: vec![text.to_owned()],
        drift_score: Some(3),
        level: None,
        reason: Some(text.to_owned()),
        correction_given: Some(text.to_owned()),
        recovery_plan: vec![text.to_owned()],
        client_session_id: None,
        step_id: None,
        tool_use_id: None,
        command: None,
        findings: Vec::new(),
        judged_by: None,
        outcome: None,
    };
    store.append_drift(&Redacted::of(&event)).await.unwrap();
    watched(store, number, text).await;
    let about = FileReasoning {
        id: format!("r{number}"),
        task_id: Some(TaskId::new("wanted")),
        project_path: "/p".to_owned(),
        file_path: format!("/p/{text}"),
        anchor: Some(text.to_owned()),
        line_start: None,
        line_end: None,
        code_hash: None,
        change_type: None,
        reasoning: text.to_owned(),
        created_at: OffsetDateTime::UNIX_EPOCH,
    };
    store.save_file_reasoning(&Redacted::of(&about)).await.unwrap();
}

/// One word in every column of a task, many times, with other rows between them so that pages split: SQLite leaves
/// copies when it moves rows.
#[tokio::test]
async fn no_word_of_a_forgotten_task_is_in_any_file() {
    const WORD: &str = "zyxwvutsr";
    let home = Home::new();
    let store = home.open().await;
    let words = |number: i64| format!("{WORD} {number} {}", "x".repeat((number as usize * 997) % 3000));
    let lineage = Lineage {
        session: ClientSessionId::new("c"),
        agent: None,
    };
    let tip = LineageTip {
        lineage: lineage.clone(),
        project_path: "/p".to_owned(),
        model: "m".to_owned(),
        tip: Some(HistoryKey(1)),
        nothing_at: Vec::new(),
        at: OffsetDateTime::UNIX_EPOCH,
    };
    store.note_tips(&[tip]).await.unwrap();
    for number in 0..60 {
        let text = words(number);
        store
            .append(&Redacted::each(&[
                exchange("c", number, &text),
                exchange("other", number, &text.replace(WORD, "harmless")),
            ]))
            .await
            .unwrap();
        let block = |id: &str, text: &str| LedgerEntry {
            anchor: HistoryKey((number as u128) << 64 | id.len() as u128),
            block: Some(format!("{{\"text\":\"{text}\"}}")),
            memories: vec![TaskId::new(id)],
            decided_at: OffsetDateTime::UNIX_EPOCH,
        };
        for entry in [
            block("wanted", &text),
            block("other", &"y".repeat(number as usize * 31)),
        ] {
            let until = std::time::Instant::now() + crate::support::PATIENCE;
            assert!(store.decide(&lineage, &entry.redacted(), until).await.unwrap());
        }
        save_reasons(&store, number, &text).await;
        let mut state = store.session(&SessionId::new("c")).await.unwrap().unwrap().state;
        state.original_goal = Some(text.clone());
        state.expected_scope = vec![text.clone()];
        state.constraints = vec![text.clone()];
        state.keywords = vec![text.clone()];
        // The user's requirements are kept while a task is active.
        state.status = SessionStatus::Completed;
        store.save_session(&Redacted::of(&state)).await.unwrap();
        let wanted = Task {
            client_session_id: Some(ClientSessionId::new("c")),
            session_id: Some(SessionId::new("c")),
            goal: Some(text.clone()),
            constraints: vec![text.clone()],
            tags: vec![text.clone()],
            file_pins: vec![FilePin {
                path: text.clone(),
                hash: None,
            }],
            ..task("wanted", number, &text)
        };
        store
            .import(&Redacted::each(&[
                wanted,
                task(&format!("t{number}"), number, "filler"),
            ]))
            .await
            .unwrap();
    }
    // Spooled by a process that found the store busy.
    home.spool()
        .append(&Redacted::each(&[exchange("c", 99, &words(99))]))
        .unwrap();
    assert_eq!(files_with(home.path(), WORD).len(), 3, "database, its log, spool");
    assert_eq!(
        store.forget(&[TaskId::new("wanted")]).await.unwrap(),
        [TaskId::new("wanted")]
    );
    assert_eq!(files_with(home.path(), WORD), Vec::<std::path::PathBuf>::new());
    assert_eq!(store.steps(&SessionId::new("c")).await.unwrap().len(), 92);
    store
        .append(&Redacted::each(&[exchange("c", 100, "harmless")]))
        .await
        .unwrap();
    store.close().await.unwrap();
    assert_eq!(files_with(home.path(), WORD), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn forgetting_during_a_read_reports_remaining_traces() {
    let home = Home::new();
    let store = home.open().await;
    store
        .import(&Redacted::each(&[task("t", 1, "zyxwvutsr")]))
        .await
        .unwrap();
    let mut reader = crate::open::raw(&home.database()).await;
    reader.execute("BEGIN; SELECT count(*) FROM tasks").await.unwrap();
    let error = store.forget(&[TaskId::new("t")]).await.unwrap_err();
    assert!(error.to_string().contains("the memories are deleted"), "{error}");
    assert_eq!(store.task(&TaskId::new("t")).await.unwrap(), None);
    reader.execute("COMMIT").await.unwrap();
    store.forget(&[TaskId::new("t")]).await.unwrap();
    assert_eq!(
        files_with(home.path(), "zyxwvutsr"),
        Vec::<std::path::PathBuf>::new()
    );
}

#[tokio::test]
async fn tasks_older_than_the_index_are_found() {
    let home = Home::new();
    let mut connection = crate::open::of_schema(&home, 2).await;
    connection
        .execute(
            "WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers LIMIT 600) \
             INSERT INTO tasks (id, project_path, original_query, status, created_at) \
             SELECT 't' || number, '/p', 'early words', 'complete', number FROM numbers",
        )
        .await
        .unwrap();
    sqlx::Connection::close(connection).await.unwrap();
    let store = home.open().await;
    assert_eq!(frequency(&store, "/p", "word").await, 600);
}

#[tokio::test]
async fn memory_moves_with_its_task_when_the_project_becomes_known() {
    let home = Home::new();
    let store = home.open().await;
    let mut unknown = sample_exchange("c", 1);
    unknown.project = grov_domain::Project::default();
    store.append(&Redacted::each(&[unknown])).await.unwrap();
    let homeless = Task {
        project_path: String::new(),
        client_session_id: Some(ClientSessionId::new("c")),
        session_id: Some(SessionId::new("c")),
        ..task("t", 2, "words")
    };
    store.save_task(&Redacted::of(&homeless)).await.unwrap();
    assert_eq!(frequency(&store, "", "word").await, 1);
    let known = sample_exchange("c", 3);
    store.append(&[Redacted::of(&known)]).await.unwrap();
    assert_eq!(frequency(&store, "", "word").await, 0);
    assert_eq!(frequency(&store, known.project.key(), "word").await, 1);
}

#[tokio::test]
async fn any_text_can_be_indexed_and_searched() {
    let home = Home::new();
    let store = home.open().await;
    let texts = [
        "\"a* NEAR(b, 2) -c AND OR NOT ^d {text}: e + f",
        "tabs\tand\0zeros\u{202e}and\u{200f}marks",
        "修复缓存 キャッシュ हिन्दी עברית",
        "😀😀",
        "",
    ];
    for (number, text) in (0..).zip(texts) {
        let files = vec![format!("/p/{text}"), "/p/a \"b' c\n.rs".to_owned()];
        let odd = Task {
            files_touched: files,
            ..task(&format!("t{number}"), number, text)
        };
        store.save_task(&Redacted::of(&odd)).await.unwrap();
    }
    let huge = task("huge", 99, &"many words ".repeat(100_000));
    store.save_task(&Redacted::of(&huge)).await.unwrap();
    for text in texts {
        let terms = grov_domain::words(text, 99);
        let found = frequencies(&store, "/p", &terms).await;
        assert!(
            found.iter().all(|frequency| *frequency > 0),
            "{text:?}: {terms:?} {found:?}"
        );
        let file = grov_domain::path_term(&format!("/p/{text}"));
        assert!(frequency(&store, "/p", &file).await > 0, "{text:?}");
        // Raw text that is not a term is ignored.
        frequency(&store, "/p", text).await;
    }
    let file = grov_domain::file_term("/p/a \"b' c\n.rs");
    assert_eq!(frequency(&store, "/p", &file).await, 5);
}

/// Adds the word in verdicts, corrections and edits of the task.
async fn watched(store: &SqliteStore, number: i64, text: &str) {
    let correction = Correction {
        id: CorrectionId::new(format!("k{number}")),
        client_session_id: ClientSessionId::new("c"),
        session_id: SessionId::new("c"),
        step_id: None,
        tool_use_id: None,
        level: CorrectionLevel::Correct,
        score: 5,
        reason: text.to_owned(),
        text: text.to_owned(),
        recovery_plan: vec![RecoveryStep {
            file: Some(text.to_owned()),
            action: text.to_owned(),
        }],
        made_at: OffsetDateTime::UNIX_EPOCH,
        delivered_at: None,
        outcome: None,
    };
    let verdict = |score| StepVerdict {
        score,
        by: JudgedBy::Model,
        findings: vec![Finding::new(Rule::Judge, score, Some(text), text)],
        level: None,
        correction: Some(text.to_owned()),
        recovery_plan: correction.recovery_plan.clone(),
    };
    // Half of the steps stay, the others move to the log.
    let step = sample_exchange("c", number).steps[0].id.clone();
    let score = if number % 2 == 0 { 3 } else { 6 };
    let judged = [(step, Redacted::of(&verdict(score)))];
    let judged = store.judge_steps(&ClientSessionId::new("c"), &judged).await;
    assert_eq!(judged.unwrap(), 1);
    let at = OffsetDateTime::UNIX_EPOCH;
    let state = DriftState {
        correction: Some(correction),
        ..DriftState::new(ClientSessionId::new("c"), at)
    };
    store
        .save_drift_state(&Redacted::of(&state), &SessionId::new("c"))
        .await
        .unwrap();
    let edit = GoalEdit {
        id: GoalEditId::new(format!("e{number}")),
        client_session_id: ClientSessionId::new("c"),
        kind: GoalEditKind::Constraint,
        text: text.to_owned(),
        at,
        since_prompt: None,
    };
    store.edit_goal(&Redacted::of(&edit)).await.unwrap();
}

#[tokio::test]
async fn memory_saved_during_a_listing_is_listed_once() {
    let home = Home::new();
    let store = home.open().await;
    for (id, seconds) in [("a", 1), ("b", 2)] {
        store
            .save_task(&Redacted::of(&task(id, seconds, "retry")))
            .await
            .unwrap();
    }
    let (mut listed, database) = (Vec::new(), home.database());
    let mut visit = |seen: Task| {
        if listed.is_empty() {
            // Another process writes before the listing continues.
            let database = database.clone();
            let saves = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    let other = SqliteStore::open(&database, &OpenOptions::default())
                        .await
                        .unwrap();
                    other
                        .save_task(&Redacted::of(&task("a", 3, "retry twice")))
                        .await
                        .unwrap();
                });
            });
            saves.join().unwrap();
        }
        listed.push((seen.id.to_string(), seen.created_at.unix_timestamp()));
        std::ops::ControlFlow::Continue(())
    };
    store.each_memory(&scope("/p"), &mut visit).await.unwrap();
    let ids: Vec<&str> = listed.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    let mut last = Vec::new();
    let mut keep = |seen: Task| {
        last.push(seen.id.to_string());
        std::ops::ControlFlow::Continue(())
    };
    store.each_memory(&scope("/p"), &mut keep).await.unwrap();
    assert_eq!(last, ["b", "a"]);
}
