//! The guard while the database is busy: it asks about a forbidden action, however long that takes.

use crate::upstream::NOWHERE;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Ended, Grov, Request, exchange};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Longer than the timeout of older versions of the guard.
const LOCK_TIME: Duration = Duration::from_millis(200);

/// A project and a session with a constraint.
struct Scene {
    folder: tempfile::TempDir,
    grov: Grov,
}

impl Scene {
    fn begun() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::create_dir_all(folder.path().join("work/src/db"))?;
        let grov = Grov::on(&folder.path().join("grov"));
        let scene = Self { folder, grov };
        let prompt = json!({"prompt": "Fix the login. Do not touch src/db/."});
        let ended = scene.grov.hook("UserPromptSubmit", &scene.input(prompt))?;
        ensure!(ended.code() == Some(0) && ended.stdout.is_empty(), "{ended:?}");
        Ok(scene)
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("grov/grov.db")
    }

    fn input(&self, more: Value) -> Value {
        let mut input = json!({"session_id": "s", "cwd": self.folder.path().join("work")});
        if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
            input.extend(more);
        }
        input
    }

    /// The edit of a forbidden file.
    fn forbidden(&self, id: &str) -> Value {
        let file = self.folder.path().join("work/src/db/pool.rs");
        self.input(json!({
            "tool_name": "Write", "tool_input": {"file_path": file, "content": "x"}, "tool_use_id": id,
        }))
    }

    /// Runs the guard on the forbidden edit while a lock is held, and releases the lock later.
    fn guard_while_locked<H>(
        &self,
        id: &str,
        hold: H,
        release: impl FnOnce(H) -> Result<()>,
    ) -> Result<Ended> {
        let input = self.forbidden(id);
        thread::scope(|scope| {
            let asked = scope.spawn(|| self.grov.hook("PreToolUse", &input));
            thread::sleep(LOCK_TIME);
            release(hold)?;
            asked.join().ok().context("the hook's thread panicked")?
        })
    }
}

/// A connection that locks the database, against writers or against readers as well.
struct Hold {
    runtime: tokio::runtime::Runtime,
    connection: SqliteConnection,
}

impl Hold {
    fn on(database: &Path, statements: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let mut connection = runtime.block_on(SqliteConnectOptions::new().filename(database).connect())?;
        runtime.block_on(connection.execute(sqlx::AssertSqlSafe(statements)))?;
        Ok(Self { runtime, connection })
    }

    fn release(mut self) -> Result<()> {
        self.runtime.block_on(self.connection.execute("COMMIT"))?;
        self.runtime.block_on(self.connection.close())?;
        Ok(())
    }
}

fn decision(answer: &str) -> Result<String> {
    let answer: Value = serde_json::from_str(answer).with_context(|| format!("no answer: {answer:?}"))?;
    let decision = &answer["hookSpecificOutput"]["permissionDecision"];
    decision.as_str().map(str::to_owned).context("no decision")
}

#[test]
fn the_guard_asks_about_a_forbidden_edit_while_the_database_is_locked() -> Result<()> {
    let scene = Scene::begun()?;
    let holds = [
        "BEGIN IMMEDIATE",
        // In this mode readers wait, too.
        "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version",
    ];
    for (number, statements) in holds.into_iter().enumerate() {
        let hold = Hold::on(&scene.database(), statements)?;
        let ended = scene.guard_while_locked(&format!("t{number}"), hold, Hold::release)?;
        assert_eq!(decision(&ended.stdout)?, "ask", "{statements}: {ended:?}");
    }
    Ok(())
}

#[test]
fn the_guard_asks_about_a_forbidden_edit_while_the_database_cannot_be_opened() -> Result<()> {
    let scene = Scene::begun()?;
    let lock = File::open(scene.database().with_extension("db.lock"))?;
    lock.lock()?;
    let ended = scene.guard_while_locked("t", lock, |lock| Ok(lock.unlock()?))?;
    assert_eq!(decision(&ended.stdout)?, "ask", "{ended:?}");
    Ok(())
}

#[test]
fn a_waiting_guard_blocks_no_other_hook_over_http() -> Result<()> {
    let scene = Scene::begun()?;
    let daemon = Daemon::on(&scene.folder.path().join("grov"), NOWHERE).start()?;
    let token = "0123456789abcdef".repeat(4);
    fs::write(scene.folder.path().join("grov/hook-token"), &token)?;
    let lock = File::open(scene.database().with_extension("db.lock"))?;
    lock.lock()?;
    let post = |event: &str, input: &Value| {
        let request = Request::new("POST", &format!("/_grov/hook/{event}"))
            .header("x-grov-hook-token", &token)
            .header("content-type", "application/json")
            .body(input.to_string());
        exchange(daemon.port(), &request)
    };
    thread::scope(|scope| {
        // More than the limit for other events that are handled at the same time.
        let asked: Vec<_> = (0..12)
            .map(|number| {
                let input = scene.forbidden(&format!("t{number}"));
                scope.spawn(move || post("PreToolUse", &input))
            })
            .collect();
        // Answered while the guards wait.
        let other = post(
            "PostToolUse",
            &scene.input(json!({"tool_name": "Write", "tool_use_id": "x"})),
        )?;
        assert_eq!(other.status, 200);
        lock.unlock()?;
        for asked in asked {
            let answer = asked.join().ok().context("a thread panicked")??;
            assert_eq!(decision(&answer.text())?, "ask");
        }
        Ok(())
    })
}
