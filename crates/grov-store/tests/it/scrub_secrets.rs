//! Databases from before schema 10, which cut words out of texts before redaction.

use crate::open::raw;
use crate::support::{Home, exchanges};
use grov_domain::Redacted;
use grov_store::{OpenOptions, SqliteStore};
use sqlx::{AssertSqlSafe, Connection, Executor, Row};
use std::fs;

const PIECES: [&str; 4] = ["tr0ub4dor", "staples", "swordf1sh", "kobold77"];

/// A home with a database of version 9 that has parts of secrets in derived columns.
async fn dirty() -> Home {
    let home = Home::new();
    home.open().await.close().await.unwrap();
    let mut database = raw(&home.database()).await;
    for statement in [
        "DROP TABLE cleaning",
        "DROP TABLE read_limits",
        "DROP TRIGGER task_text_changed",
        "DROP INDEX tasks_unjudged",
        "ALTER TABLE tasks DROP COLUMN model_screening",
        "ALTER TABLE tasks DROP COLUMN judging_tries",
        "ALTER TABLE tasks DROP COLUMN judging_until",
        "ALTER TABLE tasks DROP COLUMN screened",
        "ALTER TABLE exchanges DROP COLUMN edits",
        "ALTER TABLE tasks DROP COLUMN edits",
        "DROP TABLE screening",
        "DROP TABLE routed_usage",
        "DROP TABLE session_ends",
        "ALTER TABLE hook_sessions DROP COLUMN turn_ended_at",
        "ALTER TABLE hook_sessions DROP COLUMN prompt_readings",
        "ALTER TABLE drift_log DROP COLUMN outcome",
        "ALTER TABLE goal_edits DROP COLUMN since_prompt",
        "ALTER TABLE steps DROP COLUMN outcome",
        "DROP TABLE context_readings",
        "DROP TABLE prepared_summaries",
        "DROP TABLE compactions",
        "DROP TABLE ledger_cuts",
        "DROP TABLE ledger_trims",
        "DROP TRIGGER link_task_added",
        "DROP TRIGGER link_task_changed",
        "DROP TRIGGER link_task_removed",
        "DROP INDEX hook_sessions_by_update",
        "DROP INDEX session_states_by_update",
        "DROP TABLE memory_items",
        "DROP TABLE inbox_notices",
        "DROP TABLE finding_marks",
        "DROP TABLE links",
        "DROP TABLE link_outbox",
        "DROP TABLE link_records",
        "ALTER TABLE tasks DROP COLUMN item",
        "PRAGMA user_version = 9",
        "INSERT INTO session_states (session_id, client_session_id, start_time, last_update, original_goal, expected_scope, \
         constraints, keywords) VALUES ('s', 's', 1, 1, 'Run mysql with tr0ub4dor-and-3-staples', \
         '[\"tr0ub4dor-and-3-staples\"]', '[\"never print swordf1sh\", \"keep it short\"]', '[\"tr0ub4dor\", \"staples\"]')",
        "INSERT INTO prompts (session_id, exchange_id, ordinal, client_session_id, text, queued, at) \
         VALUES ('s', 'x', 0, 's', 'Run mysql -p[redacted:command-password] and read src/a.rs', 0, 1)",
        "INSERT INTO steps (session_id, id, exchange_id, tool, action_type, files, keywords, command, effects, timestamp) \
         VALUES ('s', 'st', 'x', 'Bash', 'bash', '[\"/p/me:tr0ub4dor-and-3-staples\"]', '[\"staples\"]', \
         'curl -u me:[redacted:command-password] https://x', \
         '[{\"kind\":\"network\",\"paths\":[\"/p/tr0ub4dor\"]}]', 1)",
        "INSERT INTO step_files (path, timestamp, session_id, step_id) \
         VALUES ('/p/me:tr0ub4dor-and-3-staples', 1, 's', 'st')",
        "INSERT INTO hook_sessions (client_session_id, project_path, working_directory, read_to, escalation, prompts, \
         actions, memories_told, started_at, updated_at, revision, contract) VALUES ('h', '/p', '/p', 9, 0, 1, 1, 0, 1, 1, 1, \
         '{\"goal\":\"Send the header\",\"instructions\":[\"Send X-Api-Key: swordf1sh99 to it\"],\"scope\":[\"swordf1sh99\"],\
         \"allowed\":[],\"forbidden\":[],\"constraints\":[],\"keywords\":[\"swordf1sh99\"]}')",
        "INSERT INTO hook_courses (client_session_id, course) VALUES ('h', '{\"version\":1,\"files\":[\"kobold77\"]}')",
        "INSERT INTO tasks (id, project_path, client_session_id, session_id, original_query, goal, constraints, tags, \
         files_touched, status, created_at) VALUES ('t', '/p', 's', 's', 'Run mysql -p[redacted:command-password]', \
         'Run it with tr0ub4dor-and-3-staples', '[\"keep it short\"]', '[\"staples\", \"mysql\"]', \
         '[\"src/a.rs\", \"me:kobold77\"]', 'complete', 1)",
        "INSERT INTO task_files (path, task_id) VALUES ('src/a.rs', 't'), ('me:kobold77', 't')",
        "UPDATE steps SET findings = '[{\"reason\":\"swordf1sh\"}]', correction_given = 'swordf1sh'",
        "UPDATE hook_sessions SET contract = json_set(contract, '$.allowed', json('[\"src/v2/**\",\"kobold77\"]'), \
         '$.forbidden', json('[\"kobold77\"]'), '$.constraints', json('[\"Leave kobold77\"]'))",
        "INSERT INTO goal_edits (client_session_id, id, kind, text, at) VALUES ('h', 'e', 'allow', 'src/v2/**', 1)",
        "INSERT INTO drift_log (id, session_id, client_session_id, timestamp, reason, findings, correction_given, recovery_plan) \
         VALUES ('d', 's', 's', 1, 'swordf1sh', '[{\"reason\":\"swordf1sh\"}]', 'swordf1sh', '[{\"action\":\"swordf1sh\"}]')",
        "INSERT INTO drift_states (client_session_id, state, updated_at) VALUES ('s', \
         '{\"correction\":{\"text\":\"swordf1sh\"}}', 1)",
        "INSERT INTO corrections (client_session_id, id, session_id, level, score, reason, text, recovery_plan, made_at) \
         VALUES ('s', 'c', 's', 'nudge', 5, 'swordf1sh', 'swordf1sh', '[{\"action\":\"swordf1sh\"}]', 1), \
         ('far', 'c', 'far', 'nudge', 5, 'off us-east-1', 'Back to us-east-1', NULL, 1)",
        "INSERT INTO hook_steps (client_session_id, id, tool, action_type, findings, prompt, timestamp) \
         VALUES ('h', 'st', 'Bash', 'bash', '[{\"reason\":\"kobold77\"}]', 1, 1)",
        "INSERT INTO hook_checks (client_session_id, id, actions, score, reason, files, recovery_plan, correction, at) VALUES \
         ('h', 'k', 1, 5, 'kobold77', '[\"kobold77\"]', '[{\"action\":\"kobold77\"}]', 'kobold77', 1)",
        "INSERT INTO hook_guards (client_session_id, tool_use_id, verdict, subject, reason, ran, at) \
         VALUES ('h', 'g', 'ask', 'kobold77', 'kobold77', 0, 1)",
        "INSERT INTO memory_scopes (id, project_path, project_remote) VALUES (1, '/p', '')",
        "INSERT INTO memory_postings (scope, term, part, documents, postings) VALUES (1, 'staples', 0, 0, x'')",
    ] {
        database.execute(statement).await.unwrap();
    }
    database.close().await.unwrap();
    home
}

/// The parts of secrets found in any file of the home.
fn found(home: &Home) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        let content = fs::read(&path).unwrap().to_ascii_lowercase();
        for piece in PIECES {
            if content
                .windows(piece.len())
                .any(|window| window == piece.as_bytes())
            {
                found.push(format!("{piece} in {}", path.display()));
            }
        }
    }
    found
}

async fn text(home: &Home, query: &str) -> String {
    let mut database = raw(&home.database()).await;
    let row = database.fetch_one(AssertSqlSafe(query)).await.unwrap();
    row.try_get::<Option<String>, _>(0).unwrap().unwrap_or_default()
}

#[tokio::test]
async fn scrubbing_removes_secrets_and_keeps_the_rest() {
    let home = dirty().await;
    assert!(found(&home).len() >= PIECES.len(), "{:?}", found(&home));
    let store = home.open().await;
    assert!(store.may_hold_secrets().await.unwrap());
    store.scrub_secrets().await.unwrap();
    assert!(!store.may_hold_secrets().await.unwrap());
    assert_eq!(found(&home), Vec::<String>::new());

    for (query, expected) in [
        (
            "SELECT concat(expected_scope, keywords, original_goal, constraints) FROM session_states",
            "",
        ),
        ("SELECT effects FROM steps", r#"[{"kind":"network"}]"#),
        ("SELECT course FROM hook_courses", ""),
        (
            "SELECT json_extract(contract, '$.allowed') FROM hook_sessions",
            r#"["src/v2/**"]"#,
        ),
        (
            "SELECT text FROM corrections WHERE client_session_id = 'far'",
            "Back to us-east-1",
        ),
        ("SELECT concat(tags, goal, constraints) FROM tasks", ""),
        ("SELECT files_touched FROM tasks", r#"["src/a.rs"]"#),
        ("SELECT path FROM task_files", "src/a.rs"),
        ("SELECT CAST(revision AS TEXT) FROM hook_sessions", "3"),
        ("SELECT CAST(count(*) AS TEXT) FROM memory_documents", "1"),
    ] {
        assert_eq!(text(&home, query).await, expected, "{query}");
    }
    let contract = text(&home, "SELECT contract FROM hook_sessions").await;
    assert!(contract.contains("X-Api-Key: [redacted:api-key]"), "{contract}");
}

#[tokio::test]
async fn memories_of_sessions_without_a_secret_are_not_changed() {
    let home = dirty().await;
    let mut database = raw(&home.database()).await;
    for statement in [
        "INSERT INTO tasks (id, project_path, client_session_id, session_id, original_query, goal, constraints, tags, \
         files_touched, status, created_at) VALUES ('plain', '/p', 'p', 'p', 'Deploy it', 'Deploy to us-east-1', \
         '[\"Never deploy to us-east-1\"]', '[\"eu4\"]', '[\"src/a:b.rs\"]', 'complete', 1)",
        "INSERT INTO tasks (id, project_path, original_query, goal, constraints, status, created_at) VALUES \
         ('imported', '/p', 'Use [redacted:password]', 'Deploy to us-east-1', '[\"Not us-east-1\"]', 'complete', 1)",
        "UPDATE tasks SET constraints = '[\"Never send swordf1sh to it\"]' WHERE id = 't'",
    ] {
        database.execute(statement).await.unwrap();
    }
    database.close().await.unwrap();
    let store = home.open().await;
    store.scrub_secrets().await.unwrap();
    let of = async |id: &str| {
        let columns = "coalesce(goal, '') || coalesce(constraints, '') || coalesce(tags, '') || coalesce(files_touched, '')";
        text(&home, &format!("SELECT {columns} FROM tasks WHERE id = '{id}'")).await
    };
    assert_eq!(
        of("plain").await,
        r#"Deploy to us-east-1["Never deploy to us-east-1"]["eu4"]["src/a:b.rs"]"#
    );
    assert_eq!(of("imported").await, r#"Deploy to us-east-1["Not us-east-1"]"#);
    assert_eq!(of("t").await, r#"["src/a.rs"]"#);
    assert_eq!(found(&home), Vec::<String>::new());
}

#[tokio::test]
async fn a_migration_only_notes_that_rows_may_hold_secrets() {
    let home = dirty().await;
    let store = SqliteStore::open(&home.database(), &OpenOptions::brief())
        .await
        .unwrap();
    assert!(store.may_hold_secrets().await.unwrap());
    assert!(
        !found(&home).is_empty(),
        "a migration does not wait for the scrubbing"
    );
    let new = Home::new();
    assert!(!new.open().await.may_hold_secrets().await.unwrap());
}

#[tokio::test]
async fn a_concurrent_reader_delays_the_rewrite_of_the_file() {
    let home = dirty().await;
    let store = home.open().await;
    let mut reader = raw(&home.database()).await;
    reader.execute("BEGIN").await.unwrap();
    reader.execute("SELECT * FROM prompts").await.unwrap();
    store.scrub_secrets().await.unwrap_err();
    assert!(store.may_hold_secrets().await.unwrap());
    assert_eq!(text(&home, "SELECT keywords FROM session_states").await, "");
    reader.execute("ROLLBACK").await.unwrap();
    reader.close().await.unwrap();
    store.scrub_secrets().await.unwrap();
    assert_eq!(found(&home), Vec::<String>::new());
}

#[tokio::test]
async fn a_database_that_was_set_aside_is_scrubbed_and_receives_no_records() {
    let home = dirty().await;
    let aside = grov_store::set_aside(&home.database()).await.unwrap();
    home.open().await.close().await.unwrap();
    home.spool()
        .append(&Redacted::each(&exchanges("waiting", 1)))
        .unwrap();
    assert_eq!(
        grov_store::set_aside_databases(&home.database()),
        std::slice::from_ref(&aside)
    );
    let options = OpenOptions::default();
    assert!(!SqliteStore::is_scrubbed(&aside, &options).await.unwrap());
    let store = SqliteStore::open(&aside, &options).await.unwrap();
    store.scrub_secrets().await.unwrap();
    store.close().await.unwrap();
    assert!(SqliteStore::is_scrubbed(&aside, &options).await.unwrap());
    assert_eq!(grov_store::set_aside_databases(&home.database()), [aside]);
    assert_eq!((found(&home), home.spool().waiting()), (Vec::new(), 1));
}

#[tokio::test]
async fn invalid_lines_of_the_spool_are_redacted_too() {
    let home = dirty().await;
    let rejected = home.path().join("spool.jsonl.rejected");
    fs::write(
        &rejected,
        "{\"a\": \"password=swordf1sh99\n{\"text\":\"password=swordf1sh99\"}\n",
    )
    .unwrap();
    let store = home.open().await;
    store.scrub_secrets().await.unwrap();
    let text = fs::read_to_string(&rejected).unwrap();
    assert_eq!(text.matches("[redacted:password]").count(), 2, "{text}");
    assert_eq!(found(&home), Vec::<String>::new());
}
