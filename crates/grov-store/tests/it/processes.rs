//! Several processes on one database, and processes that die.
//!
//! The other processes run this test binary with an environment variable that names their role.

use crate::support::{Home, PATIENCE, exchanges, ids, step_ids};
use grov_domain::{ExchangeStore, RecordSink, Redacted};
use grov_store::contract::sample_exchange;
use grov_store::{BatchWriter, OnCorruption, OpenOptions, Spool, SqliteStore, WriterOptions, drain_spool};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor, Row};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

const PART: &str = "GROV_STORE_TEST_PART";
const DATABASE: &str = "GROV_STORE_TEST_DATABASE";

/// Another process, killed when the test ends.
struct Other {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(part: &str, home: &Home) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::other_process", "--ignored", "--nocapture"])
            .env(PART, part)
            .env(DATABASE, home.database())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Returns the next line of the other process, without lines of the test harness.
    fn read_line(&mut self) -> Option<String> {
        self.lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("say ").map(str::to_owned))
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn print_line(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "say {text}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "the part of another process, started by the tests of this module"]
fn other_process() {
    let Ok(part) = std::env::var(PART) else { return };
    let database = PathBuf::from(std::env::var_os(DATABASE).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        match part.as_str() {
            "write for ever" => write_forever(&database).await,
            "hold the lock" => hold_the_lock(&database).await,
            writer => write_some(&database, writer).await,
        }
    });
}

/// Submits records one by one and prints the number of each stored one.
async fn write_forever(database: &Path) {
    let store = SqliteStore::reopening(database, &OpenOptions::default(), OnCorruption::Fail);
    let writer =
        BatchWriter::start(Arc::new(store), WriterOptions::new(Spool::for_database(database))).unwrap();
    for number in 0.. {
        writer.submit(Redacted::of(&sample_exchange("killed", number)));
        writer.submit(Redacted::of(&sample_exchange("killed too", number)));
        if number % 7 == 0 {
            assert!(writer.flush(PATIENCE).await);
            print_line(&number.to_string());
        }
    }
}

async fn hold_the_lock(database: &Path) {
    let mut connection = SqliteConnectOptions::new()
        .filename(database)
        .connect()
        .await
        .unwrap();
    connection.execute("BEGIN EXCLUSIVE").await.unwrap();
    print_line("held");
    std::future::pending().await
}

async fn write_some(database: &Path, name: &str) {
    let store = SqliteStore::open(database, &OpenOptions::default())
        .await
        .unwrap();
    print_line("open");
    for record in exchanges(name, 200) {
        assert_eq!(store.append(&Redacted::each(&[record])).await.unwrap(), 1);
    }
    print_line("done");
}

async fn is_sound(path: &Path) -> bool {
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .connect()
        .await
        .unwrap();
    connection
        .fetch_one("PRAGMA integrity_check")
        .await
        .unwrap()
        .get::<String, _>(0)
        == "ok"
}

#[tokio::test]
async fn killed_writer_loses_nothing_it_acknowledged() {
    let home = Home::new();
    // The database is created, killed, recovered and killed again at different moments.
    for round in 1..=4 {
        let mut other = Other::start("write for ever", &home);
        let mut last = 0;
        for _ in 0..round * 8 {
            last = other.read_line().expect("the writer goes on").parse().unwrap();
        }
        other.kill();
        while let Some(said) = other.read_line() {
            last = said.parse().unwrap();
        }
        let store = home.open().await;
        let spooled = drain_spool(&store, &home.spool()).await.unwrap();
        assert_eq!(spooled.rejected, 0);
        let expected: BTreeSet<_> = ["killed", "killed too"]
            .into_iter()
            .flat_map(|name| exchanges(name, last + 1))
            .flat_map(|record| record.steps)
            .map(|step| step.id.to_string())
            .collect();
        let kept = step_ids(&store, &["killed", "killed too"]).await;
        assert!(
            kept.is_superset(&expected),
            "{} of {} steps",
            kept.len(),
            expected.len()
        );
        assert!(is_sound(&home.database()).await);
    }
}

#[tokio::test]
async fn processes_share_one_database() {
    let home = Home::new();
    let names = ["one", "two", "three"];
    // They do not wait for each other: they also race to create the database.
    let mut others: Vec<_> = names.iter().map(|name| Other::start(name, &home)).collect();
    let own = home.open().await;
    for record in exchanges("own", 100) {
        own.append(&Redacted::each(&[record])).await.unwrap();
    }
    for other in &mut others {
        assert_eq!(other.read_line().as_deref(), Some("open"));
        assert_eq!(other.read_line().as_deref(), Some("done"));
    }
    let expected: BTreeSet<_> = names
        .iter()
        .flat_map(|name| exchanges(name, 200))
        .chain(exchanges("own", 100))
        .flat_map(|record| record.steps)
        .map(|step| step.id.to_string())
        .collect();
    assert_eq!(step_ids(&own, &["one", "two", "three", "own"]).await, expected);
    assert!(is_sound(&home.database()).await);
}

#[tokio::test]
async fn lock_of_a_killed_process_is_gone() {
    let home = Home::new();
    home.open().await;
    let mut other = Other::start("hold the lock", &home);
    assert_eq!(other.read_line().as_deref(), Some("held"));
    let brief = SqliteStore::open(&home.database(), &OpenOptions::brief())
        .await
        .unwrap();
    let records = exchanges("a", 3);
    assert!(
        brief
            .append(&Redacted::each(&records))
            .await
            .unwrap_err()
            .is_transient()
    );
    home.spool().append(&Redacted::each(&records)).unwrap();
    other.kill();
    assert_eq!(drain_spool(&brief, &home.spool()).await.unwrap().drained, 3);
    let stored: BTreeSet<_> = step_ids(&brief, &["a"]).await;
    assert_eq!(stored.len(), 2 * ids(&records).len());
}
