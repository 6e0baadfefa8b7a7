//! Opening a database.

use crate::support::{Home, PATIENCE, exchanges};
use grov_domain::{
    Applied, ClientSessionId, ExchangeId, ExchangeStore, HistoryKey, LedgerEntry, LedgerStore, Lineage,
    MaintenanceStore, MemoryStore, Move, NewLineage, OrchestrationStore, Redacted, SessionFilter, SessionId,
    SessionStore, StoreError, SwitchScope, SwitchStore, TaskId, TaskStore, TaskTransition,
};
use grov_store::{OpenOptions, SqliteStore};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, Row};
use std::fs;
use std::path::Path;
use std::time::Instant;
use time::OffsetDateTime;

/// The schema version of a new database.
async fn newest_schema() -> i64 {
    Home::new().open().await.stats().await.unwrap().schema_version
}

pub(crate) async fn raw(path: &Path) -> sqlx::SqliteConnection {
    SqliteConnectOptions::new()
        .filename(path)
        .connect()
        .await
        .unwrap()
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn new_folder_and_files_are_private() {
    let home = Home::new();
    let folder = home.path().join("made/for/grov");
    let store = SqliteStore::open(&folder.join("grov.db"), &OpenOptions::default())
        .await
        .unwrap();
    store.append(&Redacted::each(&exchanges("a", 1))).await.unwrap();
    assert_eq!((mode(&folder), mode(&home.path().join("made"))), (0o700, 0o700));
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["grov.db", "grov.db-shm", "grov.db-wal", "grov.db.lock"]);
}

#[cfg(unix)]
#[tokio::test]
async fn open_tightens_the_file_and_leaves_the_folder() {
    let home = Home::new();
    home.open().await.close().await.unwrap();
    set_mode(&home.database(), 0o644);
    set_mode(home.path(), 0o755);
    home.open().await;
    assert_eq!((mode(&home.database()), mode(home.path())), (0o600, 0o755));
}

#[tokio::test]
async fn records_survive_reopening() {
    let home = Home::new();
    let store = home.open().await;
    store.append(&Redacted::each(&exchanges("a", 3))).await.unwrap();
    store.close().await.unwrap();
    store
        .append(&Redacted::each(&exchanges("b", 1)))
        .await
        .expect("a closed store opens again");
    drop(store);
    assert_eq!(
        home.open()
            .await
            .sessions(&SessionFilter::default())
            .await
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn database_is_shared_and_checked() {
    let home = Home::new();
    home.open().await;
    let mut connection = raw(&home.database()).await;
    let pragma = async |connection: &mut sqlx::SqliteConnection, text: &'static str| -> String {
        connection
            .fetch_one(text)
            .await
            .unwrap()
            .try_get_unchecked(0)
            .unwrap()
    };
    assert_eq!(pragma(&mut connection, "PRAGMA journal_mode").await, "wal");
    assert_eq!(pragma(&mut connection, "PRAGMA auto_vacuum").await, "2");
    assert_eq!(
        pragma(&mut connection, "PRAGMA user_version").await,
        newest_schema().await.to_string()
    );
    assert_eq!(pragma(&mut connection, "PRAGMA integrity_check").await, "ok");
}

#[tokio::test]
async fn existing_database_is_opened_read_only() {
    let home = Home::new();
    let options = OpenOptions::default();
    let open = async || {
        SqliteStore::open_existing(&home.database(), &options)
            .await
            .unwrap()
    };
    assert!(open().await.is_none(), "there is none");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "and none was made");
    assert!(
        SqliteStore::open_existing(&home.path().join("no/where"), &options)
            .await
            .unwrap()
            .is_none()
    );

    fs::write(home.database(), "").unwrap();
    assert!(open().await.is_none(), "another process is just creating it");

    home.open()
        .await
        .append(&Redacted::each(&exchanges("a", 2)))
        .await
        .unwrap();
    let store = open().await.expect("it is there");
    assert_eq!(
        store.sessions(&SessionFilter::default()).await.unwrap()[0].exchanges,
        2
    );
    assert!(store.stats().await.unwrap().bytes > 0);
    let refused = store
        .append(&Redacted::each(&exchanges("b", 1)))
        .await
        .unwrap_err();
    assert!(matches!(refused, StoreError::NotWritable(_)), "{refused}");
    home.open()
        .await
        .append(&Redacted::each(&exchanges("b", 1)))
        .await
        .unwrap();
    assert_eq!(
        store.sessions(&SessionFilter::default()).await.unwrap().len(),
        2,
        "it sees what others write"
    );
}

/// Creates a database with the schema of an older version.
pub(crate) async fn of_schema(home: &Home, schema: usize) -> sqlx::SqliteConnection {
    const MIGRATIONS: [&str; 3] = [
        include_str!("../../../../migrations/sqlite/0001_records.sql"),
        include_str!("../../../../migrations/sqlite/0002_understanding.sql"),
        include_str!("../../../../migrations/sqlite/0003_memory.sql"),
    ];
    fs::write(home.database(), "").unwrap();
    let mut connection = raw(&home.database()).await;
    connection.execute("PRAGMA journal_mode = WAL").await.unwrap();
    for migration in &MIGRATIONS[..schema] {
        connection.execute(*migration).await.unwrap();
    }
    connection
        .execute(AssertSqlSafe(format!("PRAGMA user_version = {schema}")))
        .await
        .unwrap();
    connection
}

/// A database of the first schema version with a row in each table.
async fn of_schema_1(home: &Home) {
    let mut connection = of_schema(home, 1).await;
    connection
        .execute(
            "INSERT INTO session_states (session_id, client_session_id, project_path, original_goal, start_time, \
             last_update, last_step_id, last_step_at, prompt_count, step_count, exchange_count, tokens_output) \
             VALUES ('a', 'a', '/p', 'old goal', 1000, 2000, 'e-000', 2000, 1, 1, 1, 7); \
             INSERT INTO exchanges VALUES ('a', 'e', NULL, 'main', 'm', 'end_turn', 'complete', 1000, 2000, \
             1, 2, 3, 4, 5, 7); \
             INSERT INTO prompts VALUES ('a', 'e', 0, 'a', 'old prompt', 0, 1000); \
             INSERT INTO steps (session_id, id, exchange_id, tool, action_type, files, reasoning, timestamp) \
             VALUES ('a', 'e-000', 'e', 'Edit', 'edit', '[\"/p/f\"]', 'because', 2000); \
             INSERT INTO step_files VALUES ('/p/f', 2000, 'a', 'e-000'); \
             INSERT INTO tasks (id, project_path, client_session_id, session_id, original_query, status, created_at) \
             VALUES ('t', '/p', 'a', 'a', 'old query', 'complete', 3000); \
             INSERT INTO task_files VALUES ('/p/f', 't'); \
             INSERT INTO drift_log (id, session_id, timestamp) VALUES ('d', 'a', 2000); \
             INSERT INTO file_reasoning (id, project_path, file_path, reasoning, created_at) \
             VALUES ('r', '/p', '/p/f', 'because', 2000)",
        )
        .await
        .unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn database_of_the_first_schema_keeps_its_records() {
    for only_to_read in [false, true] {
        let home = Home::new();
        of_schema_1(&home).await;
        let store = if only_to_read {
            SqliteStore::open_existing(&home.database(), &OpenOptions::default())
                .await
                .unwrap()
                .expect("it is there")
        } else {
            home.open().await
        };
        let stats = store.stats().await.unwrap();
        assert_eq!(stats.schema_version, newest_schema().await);
        let later = [
            "llm_calls",
            "task_embeddings",
            "ledger_lineages",
            "ledger_entries",
            "ledger_memories",
            "ledger_tips",
            "ledger_cuts",
            "ledger_trims",
            "switched_off",
            "drift_states",
            "corrections",
            "goal_edits",
            "hook_sessions",
            "hook_courses",
            "hook_steps",
            "hook_checks",
            "hook_guards",
            "forgotten",
            "session_ends",
            "context_readings",
            "prepared_summaries",
            "read_limits",
            "compactions",
            "memory_items",
            "inbox_notices",
            "finding_marks",
            "links",
            "link_outbox",
            "link_records",
        ];
        for table in &stats.tables {
            let is_later = later.contains(&table.table.as_str());
            assert_eq!(table.rows, u64::from(!is_later), "{table:?}");
        }
        let summary = store.sessions(&SessionFilter::default()).await.unwrap().remove(0);
        assert_eq!(summary.state.original_goal.as_deref(), Some("old goal"));
        assert_eq!(
            (&summary.state.working_directory, &summary.state.head_at_start),
            (&None, &None)
        );
        assert_eq!((summary.exchanges, summary.tokens.output), (1, 7));
        assert_eq!(summary.last_action.unwrap().reasoning.as_deref(), Some("because"));
        let task = store.tasks_for_project("/p", 5).await.unwrap().remove(0);
        assert_eq!(
            (task.original_query.as_str(), task.parent_session_id),
            ("old query", None)
        );

        // Old records can still be moved.
        let mut next = summary.state.clone();
        next.session_id = SessionId::new("a2");
        let transition = TaskTransition {
            sessions: vec![next],
            moves: Some(Move {
                client_session_id: summary.state.client_session_id,
                exchanges: vec![ExchangeId::new("e")],
                to: SessionId::new("a2"),
                all_or_nothing: true,
            }),
            ..TaskTransition::default()
        };
        assert_eq!(
            store.apply(&Redacted::of(&transition)).await.unwrap(),
            Applied::Done { missing: Vec::new() }
        );
        assert_eq!(store.steps(&SessionId::new("a2")).await.unwrap().len(), 1);
        assert_eq!(
            store.prompts(&SessionId::new("a2"), None).await.unwrap()[0].text,
            "old prompt"
        );
    }
}

#[tokio::test]
async fn database_without_a_ledger_gets_one() {
    let home = Home::new();
    let mut connection = of_schema(&home, 3).await;
    connection
        .execute(
            "INSERT INTO tasks (id, project_path, original_query, files_touched, status, created_at) \
             VALUES ('t', '/p', 'old query', '[\"/p/f\"]', 'complete', 3000), \
             ('u', '/p', 'other query', NULL, 'partial', 4000); \
             INSERT INTO task_files VALUES ('/p/f', 't'); \
             INSERT INTO llm_calls VALUES ('l', 'analyze_task_context', 'p', 'm', NULL, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
             'answered')",
        )
        .await
        .unwrap();
    connection.close().await.unwrap();
    let store = home.open().await;
    let task = store.task(&TaskId::new("t")).await.unwrap().unwrap();
    assert_eq!(task.original_query, "old query");
    assert_eq!((task.file_pins.len(), &task.superseded_by), (0, &None));
    assert!(
        store
            .supersede(&TaskId::new("t"), Some(&TaskId::new("u")))
            .await
            .unwrap()
    );
    let lineage = Lineage {
        session: ClientSessionId::new("c"),
        agent: None,
    };
    let new = NewLineage {
        lineage: lineage.clone(),
        project_path: "/p".to_owned(),
        model: "m".to_owned(),
        history: vec![HistoryKey(1)],
        at: OffsetDateTime::UNIX_EPOCH,
    };
    store.adopt(&new).await.unwrap();
    let entry = LedgerEntry {
        anchor: HistoryKey(1),
        block: Some("{}".to_owned()),
        memories: vec![TaskId::new("t")],
        decided_at: OffsetDateTime::UNIX_EPOCH,
    };
    let until = Instant::now() + PATIENCE;
    assert!(store.decide(&lineage, &entry.redacted(), until).await.unwrap());
    assert_eq!(store.uses(&[TaskId::new("t")]).await.unwrap().len(), 1);
    let revision = store.revision().await.unwrap();
    store
        .switch(&SwitchScope::Project("/p".to_owned()), false)
        .await
        .unwrap();
    assert_ne!(store.revision().await.unwrap(), revision);
}

#[tokio::test]
async fn migration_that_fails_leaves_the_database_as_it_was() {
    let home = Home::new();
    of_schema_1(&home).await;
    let mut connection = raw(&home.database()).await;
    connection
        .execute("CREATE TABLE llm_calls (in_the_way)")
        .await
        .unwrap();
    for _ in 0..2 {
        SqliteStore::open(&home.database(), &OpenOptions::default())
            .await
            .unwrap_err();
    }
    let version = connection.fetch_one("PRAGMA user_version").await.unwrap();
    assert_eq!(version.get::<i64, _>(0), 1);
    connection
        .execute("SELECT moved_to FROM exchanges")
        .await
        .unwrap_err();
    connection.execute("DROP TABLE llm_calls").await.unwrap();
    assert_eq!(
        home.open().await.stats().await.unwrap().schema_version,
        newest_schema().await
    );
}

#[tokio::test]
async fn newer_schema_is_left_alone() {
    let newest = newest_schema().await;
    let home = Home::new();
    home.open().await.close().await.unwrap();
    let mut connection = raw(&home.database()).await;
    connection
        .execute("PRAGMA user_version = 99; CREATE TABLE from_the_future (x)")
        .await
        .unwrap();
    connection.close().await.unwrap();
    let before = fs::read(home.database()).unwrap();

    let error = SqliteStore::open(&home.database(), &OpenOptions::default())
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::NewerSchema { found: 99, known } if known == newest),
        "{error}"
    );
    assert!(error.to_string().contains("update Grov"), "{error}");
    let error = SqliteStore::open_existing(&home.database(), &OpenOptions::default())
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { .. }), "{error}");
    assert_eq!(fs::read(home.database()).unwrap(), before);
}

#[tokio::test]
async fn schema_that_becomes_newer_under_an_open_store_stops_its_writes() {
    let newest = newest_schema().await;
    let home = Home::new();
    let store = home.open().await;
    store.append(&Redacted::each(&exchanges("a", 1))).await.unwrap();
    raw(&home.database())
        .await
        .execute("PRAGMA user_version = 99")
        .await
        .unwrap();
    for _ in 0..2 {
        let error = store
            .append(&Redacted::each(&exchanges("a", 2)))
            .await
            .unwrap_err();
        assert!(
            matches!(error, StoreError::NewerSchema { found: 99, known } if known == newest),
            "{error}"
        );
    }
    raw(&home.database())
        .await
        .execute(AssertSqlSafe(format!("PRAGMA user_version = {newest}")))
        .await
        .unwrap();
    assert_eq!(
        store.append(&Redacted::each(&exchanges("a", 2))).await.unwrap(),
        1
    );
}

#[tokio::test]
async fn many_open_a_new_database_at_once() {
    let home = Home::new();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let path = home.database();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    let store = SqliteStore::open(&path, &OpenOptions::default()).await.unwrap();
                    store
                        .append(&Redacted::each(&exchanges(&format!("s{number}"), 1)))
                        .await
                        .unwrap();
                });
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(
        home.open()
            .await
            .sessions(&SessionFilter::default())
            .await
            .unwrap()
            .len(),
        8
    );
}

#[tokio::test]
async fn unusable_path_is_named_in_the_error() {
    let home = Home::new();
    fs::create_dir(home.database()).unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [home.database(), file.join("grov.db")] {
        let error = SqliteStore::open(&path, &OpenOptions::default())
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::NotWritable(_)), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
}

#[tokio::test]
async fn integrity_check_reports_damage_and_the_newest_time() {
    let home = Home::new();
    let store = home.open().await;
    let empty = store.check_integrity().await.unwrap();
    assert_eq!(
        (empty.faults, empty.newest, empty.edits_disabled),
        (Vec::new(), None, 0)
    );
    assert_eq!(empty.schema_version, newest_schema().await);
    let records = exchanges("a", 3);
    store.append(&Redacted::each(&records)).await.unwrap();
    let found = store.check_integrity().await.unwrap();
    assert_eq!(found.faults, Vec::<String>::new());
    assert!(found.newest.is_some());
    store.close().await.unwrap();
    // An index that does not match its table.
    let mut connection = raw(&home.database()).await;
    let damage = "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = \
         (SELECT rootpage FROM sqlite_schema WHERE name = 'task_files') WHERE name = 'tasks_by_project'";
    connection.execute(damage).await.unwrap();
    connection.close().await.unwrap();
    let faults = home
        .open()
        .await
        .check_integrity()
        .await
        .map(|found| found.faults);
    assert!(
        faults.as_ref().is_err() || !faults.as_ref().unwrap().is_empty(),
        "{faults:?}"
    );
}
