//! The guard while the database or the machine is busy: it asks about a forbidden action, however long that takes.

use crate::upstream::NOWHERE;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Ended, Grov, Request, exchange};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Longer than the timeout of older versions of the guard.
const LOCK_TIME: Duration = Duration::from_millis(200);

/// Busy threads per core, and the size of the transcript, while the guard is asked.
const BUSY_THREADS: usize = 6;
const TRANSCRIPT_BYTES: usize = 30 * 1024 * 1024;

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
fn a_prompt_that_arrives_while_others_write_keeps_its_limit() -> Result<()> {
    let scene = Scene::begun()?;
    let hold = Hold::on(&scene.database(), "BEGIN IMMEDIATE")?;
    let prompt = scene.input(json!({"prompt": "And don't touch src/other.rs"}));
    thread::scope(|scope| {
        let typed = scope.spawn(|| scene.grov.hook("UserPromptSubmit", &prompt));
        thread::sleep(LOCK_TIME);
        hold.release()?;
        typed.join().ok().context("the hook's thread panicked")?
    })?;
    let file = scene.folder.path().join("work/src/other.rs");
    let call =
        json!({"tool_name": "Write", "tool_input": {"file_path": file, "content": "x"}, "tool_use_id": "t"});
    let ended = scene.grov.hook("PreToolUse", &scene.input(call))?;
    assert_eq!(decision(&ended.stdout)?, "ask", "{ended:?}");
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

/// A transcript of a long session, most of which no hook has read.
fn write_transcript(path: &Path, directory: &Path) -> Result<()> {
    use std::io::Write;
    let mut file = std::io::BufWriter::new(File::create(path)?);
    let output = "a line of output\n".repeat(60);
    let mut size = 0;
    for number in 0.. {
        let common =
            json!({"sessionId": "s", "cwd": directory, "isSidechain": false, "userType": "external"});
        let call = json!({"type": "tool_use", "id": format!("old{number}"), "name": "Bash", "input": {"command": "cargo test"}});
        let result = json!({"type": "tool_result", "tool_use_id": format!("old{number}"), "content": output});
        for (kind, role, block) in [("assistant", "assistant", call), ("user", "user", result)] {
            let mut line = common.clone();
            line["type"] = kind.into();
            line["uuid"] = format!("{kind}-{number}").into();
            line["timestamp"] = "2026-01-01T00:00:00.000Z".into();
            line["message"] = json!({"role": role, "content": [block]});
            let line = line.to_string();
            size += line.len() + 1;
            writeln!(file, "{line}")?;
        }
        if size >= TRANSCRIPT_BYTES {
            break;
        }
    }
    Ok(file.flush()?)
}

#[test]
fn the_guard_asks_about_a_forbidden_edit_on_a_busy_machine_with_a_long_transcript() -> Result<()> {
    let scene = Scene::begun()?;
    let work = scene.folder.path().join("work");
    let transcript = scene.folder.path().join("s.jsonl");
    write_transcript(&transcript, &work)?;
    let is_over = AtomicBool::new(false);
    let cores = thread::available_parallelism()?.get();
    thread::scope(|scope| {
        for _ in 0..cores * BUSY_THREADS {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let asked = (0..5).map(|number| {
            let mut input = scene.forbidden(&format!("t{number}"));
            input["transcript_path"] = json!(transcript);
            decision(&scene.grov.hook("PreToolUse", &input)?.stdout)
        });
        let asked: Result<Vec<String>> = asked.collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(asked?, ["ask"; 5]);
        Ok(())
    })
}

#[test]
fn a_fault_of_the_guard_is_shown_to_the_user_once_a_session() -> Result<()> {
    let scene = Scene::begun()?;
    fs::write(scene.folder.path().join("grov/config.toml"), "[guard\nmode = 1\n")?;
    let input = scene.forbidden("t");
    let first = scene.grov.hook("PreToolUse", &input)?;
    assert_eq!(first.code(), Some(0));
    let reply: Value = serde_json::from_str(&first.stdout).with_context(|| format!("{first:?}"))?;
    let message = reply["systemMessage"]
        .as_str()
        .context("no message to the user")?;
    assert!(
        message.contains("could not check a call") && message.contains("grov doctor"),
        "{message}"
    );
    assert!(
        reply.get("hookSpecificOutput").is_none(),
        "the call is not decided: {reply}"
    );
    assert_eq!(scene.grov.hook("PreToolUse", &input)?.stdout, "");
    let mut other = input.clone();
    other["session_id"] = "another".into();
    assert!(
        scene
            .grov
            .hook("PreToolUse", &other)?
            .stdout
            .contains("systemMessage")
    );
    Ok(())
}
