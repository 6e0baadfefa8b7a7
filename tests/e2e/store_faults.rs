//! The store fails while clients work: they do not notice, and everything that can be recorded later is.

use crate::turn;
use crate::upstream::Upstream;
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Request, eventually, exchange};
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::time::Instant;

fn health(daemon: &Daemon) -> Result<Value> {
    let answer = exchange(daemon.port(), &Request::new("GET", "/_grov/health"))?;
    serde_json::from_slice(&answer.body).context("the health answer is not JSON")
}

fn work(daemon: &Daemon, sessions: std::ops::Range<usize>) -> Result<()> {
    for number in sessions {
        let answer = exchange(
            daemon.port(),
            &turn::prompt(&turn::session(number), "[[scenario:tools]]"),
        )?;
        assert!(
            answer.status == 200 && answer.text().contains("message_stop"),
            "{}",
            answer.text()
        );
    }
    Ok(())
}

/// Another process's lock on the whole database, like that of a backup tool or a stuck editor plug-in.
pub struct Hold {
    runtime: tokio::runtime::Runtime,
    connection: SqliteConnection,
}

impl Hold {
    pub fn on(database: &Path) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let mut connection = runtime.block_on(SqliteConnectOptions::new().filename(database).connect())?;
        runtime.block_on(connection.execute("BEGIN EXCLUSIVE"))?;
        Ok(Self { runtime, connection })
    }

    /// Runs a statement in the transaction.
    pub fn run(mut self, sql: &'static str) -> Result<Self> {
        self.runtime.block_on(self.connection.execute(sql))?;
        Ok(self)
    }

    pub fn release(mut self) -> Result<()> {
        self.runtime.block_on(self.connection.execute("COMMIT"))?;
        self.runtime.block_on(self.connection.close())?;
        Ok(())
    }
}

#[test]
fn a_locked_database_delays_no_answer_and_loses_no_step() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    work(&daemon, 0..1)?;
    let grov = Grov::on(&home);
    grov.wait_for_steps(&turn::session(0), 1)?;

    let hold = Hold::on(&home.join("grov.db"))?;
    let start = Instant::now();
    work(&daemon, 1..21)?;
    let took = start.elapsed();
    // If each answer waited for the lock only once, this would take at least 20 times the store's busy timeout.
    assert!(
        took.as_secs() < 10,
        "20 answers took {took:?} with a locked database"
    );
    assert_eq!(health(&daemon)?["status"], "ok");

    hold.release()?;
    for number in 1..21 {
        assert_eq!(grov.wait_for_steps(&turn::session(number), 1)?.len(), 1);
    }
    Ok(())
}

#[test]
fn a_database_locked_until_after_shutdown_loses_no_step() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    work(&daemon, 0..1)?;
    let grov = Grov::on(&home);
    grov.wait_for_steps(&turn::session(0), 1)?;

    let hold = Hold::on(&home.join("grov.db"))?;
    work(&daemon, 1..11)?;
    daemon.stop()?;
    hold.release()?;
    let _again = Daemon::on(&home, &upstream.url()).start()?;
    for number in 1..11 {
        assert_eq!(grov.wait_for_steps(&turn::session(number), 1)?.len(), 1);
    }
    Ok(())
}

#[test]
fn a_full_disk_stops_no_client_and_is_reported_by_health() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    // Enough for the schema, not for the records.
    let daemon = Daemon::on(&home, &upstream.url()).max_file_blocks(600).start()?;
    let mut sessions = 0;
    eventually("the disk to be full", || {
        work(&daemon, sessions..sessions + 20).unwrap();
        sessions += 20;
        let health = health(&daemon).unwrap();
        (health["store"]["ok"] == false).then_some(())
    })?;
    work(&daemon, sessions..sessions + 5)?;
    daemon.stop()?;

    // With free space again, the home works normally.
    let again = Daemon::on(&home, &upstream.url()).start()?;
    let fresh = 1_000_000;
    work(&again, fresh..fresh + 1)?;
    assert_eq!(Grov::on(&home).wait_for_steps(&turn::session(fresh), 1)?.len(), 1);
    Ok(())
}

#[test]
fn a_database_removed_under_the_daemon_stops_no_client() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    work(&daemon, 0..1)?;
    Grov::on(&home).wait_for_steps(&turn::session(0), 1)?;
    fs::remove_dir_all(&home)?;
    work(&daemon, 1..10)?;
    assert_eq!(health(&daemon)?["status"], "ok");
    Ok(())
}

#[test]
fn a_database_corrupted_under_the_daemon_stops_no_client_and_is_set_aside() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    work(&daemon, 0..5)?;
    let grov = Grov::on(&home);
    grov.wait_for_steps(&turn::session(4), 1)?;
    for name in ["grov.db", "grov.db-wal"] {
        let file = home.join(name);
        if let Ok(metadata) = fs::metadata(&file) {
            let file = fs::OpenOptions::new().write(true).open(&file)?;
            file.write_all_at(&vec![0x5a; usize::try_from(metadata.len())?], 0)?;
        }
    }
    work(&daemon, 5..15)?;
    assert_eq!(health(&daemon)?["status"], "ok");
    daemon.stop()?;
    let again = Daemon::on(&home, &upstream.url()).start()?;
    work(&again, 15..16)?;
    assert_eq!(grov.wait_for_steps(&turn::session(15), 1)?.len(), 1);
    Ok(())
}

/// Sets the permissions of a folder and of everything in it.
fn permit(folder: &Path, folders: u32, files: u32) -> Result<()> {
    // Open first: a closed folder cannot be listed.
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            permit(&path, folders, files)?;
        } else {
            fs::set_permissions(&path, fs::Permissions::from_mode(files))?;
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(folders))?;
    Ok(())
}

#[test]
fn a_read_only_home_stops_no_client_and_is_reported_by_health() -> Result<()> {
    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    work(&daemon, 0..1)?;
    let grov = Grov::on(&home);
    grov.wait_for_steps(&turn::session(0), 1)?;
    daemon.stop()?;

    permit(&home, 0o555, 0o444)?;
    let daemon = Daemon::on(&home, &upstream.url()).unprivileged().start()?;
    work(&daemon, 1..5)?;
    eventually("the health answer to tell", || {
        (health(&daemon).ok()?["store"]["ok"] != true).then_some(())
    })?;
    assert!(
        daemon.log().contains(&home.display().to_string()),
        "{}",
        daemon.log()
    );
    daemon.stop()?;

    permit(&home, 0o700, 0o600)?;
    assert_eq!(grov.steps(&turn::session(0))?.len(), 1);
    let again = Daemon::on(&home, &upstream.url()).start()?;
    work(&again, 5..6)?;
    assert_eq!(grov.wait_for_steps(&turn::session(5), 1)?.len(), 1);
    Ok(())
}

/// Records a turn, applies `harm` to the home, records more turns, and kills the daemon. Returns the records that the
/// next process finds.
fn recorded_around(harm: fn(&Path) -> Result<()>) -> Result<(tempfile::TempDir, Grov)> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    work(&daemon, 0..3)?;
    let grov = Grov::on(&home);
    grov.wait_for_steps(&turn::session(2), 1)?;
    harm(&home)?;
    work(&daemon, 3..6)?;
    grov.wait_for_steps(&turn::session(5), 1)?;
    eventually("the store to be well again", || {
        (health(&daemon).ok()?["store"]["ok"] == true).then_some(())
    })?;
    daemon.kill()?;
    Ok((folder, grov))
}

#[test]
fn a_write_ahead_log_removed_under_the_daemon_loses_no_step() -> Result<()> {
    let (_folder, grov) = recorded_around(|home| {
        for name in ["grov.db-wal", "grov.db-shm"] {
            fs::remove_file(home.join(name))?;
        }
        Ok(())
    })?;
    for number in 0..6 {
        assert_eq!(grov.steps(&turn::session(number))?.len(), 1, "session {number}");
    }
    Ok(())
}

#[test]
fn a_write_ahead_log_overwritten_under_the_daemon_loses_no_later_step_and_is_reported_by_doctor() -> Result<()>
{
    let (_folder, grov) = recorded_around(|home| {
        let log = home.join("grov.db-wal");
        let file = fs::OpenOptions::new().write(true).open(&log)?;
        file.write_all_at(&vec![0x5a; usize::try_from(fs::metadata(&log)?.len())?], 0)?;
        Ok(())
    })?;
    for number in 3..6 {
        assert_eq!(grov.steps(&turn::session(number))?.len(), 1, "session {number}");
    }
    let doctor = grov.run_json(&["doctor"])?;
    let checks = doctor.json["checks"].as_array().context("no checks")?;
    assert!(
        checks
            .iter()
            .any(|check| check["name"] == "databases set aside" && check["ok"] == false),
        "{}",
        doctor.json
    );
    Ok(())
}

#[test]
fn a_second_daemon_is_refused_after_the_home_was_removed() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    work(&daemon, 0..1)?;
    Grov::on(&home).wait_for_steps(&turn::session(0), 1)?;
    fs::remove_dir_all(&home)?;
    eventually("the daemon to take its home again", || {
        home.join("daemon.json").exists().then_some(())
    })?;
    let refused = Daemon::on(&home, &upstream.url()).refuse()?;
    assert!(
        refused.stderr.contains(&daemon.pid().to_string()),
        "{}",
        refused.stderr
    );
    work(&daemon, 1..2)?;
    assert_eq!(Grov::on(&home).wait_for_steps(&turn::session(1), 1)?.len(), 1);
    Ok(())
}

#[test]
fn a_suspended_daemon_is_reported_as_not_answering() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    let grov = Grov::on(&home);
    daemon.signal("STOP")?;
    let status = grov.run(&["proxy-status"])?;
    let proxy = grov.run_json(&["proxy-status"])?.json["proxy"].clone();
    let doctor = grov.run_json(&["doctor"])?.json;
    // A session start that would otherwise wait for the daemon forever.
    let begun = Grov::on(&home)
        .env("ANTHROPIC_BASE_URL", &daemon.url())
        .run(&["hook", "SessionStart"])?;
    let noted = fs::read_to_string(home.join("logs/hooks.log")).unwrap_or_default();
    daemon.signal("CONT")?;
    assert_eq!(begun.code(), Some(0));
    let output = begun.stdout + &noted;
    assert!(output.contains("is stopped"), "{output}");
    assert!(status.stdout.contains("not answering"), "{}", status.stdout);
    assert!(status.stdout.contains("kill -CONT"), "{}", status.stdout);
    assert_eq!(
        (&proxy["running"], &proxy["state"], &proxy["pid"]),
        (&false.into(), &"not_answering".into(), &daemon.pid().into())
    );
    let checks = doctor["checks"].as_array().context("no checks")?;
    let evidence = checks
        .iter()
        .find(|check| check["name"] == "proxy")
        .map(|check| &check["evidence"]);
    assert!(
        evidence.is_some_and(|text| text.to_string().contains("is stopped")),
        "{doctor}"
    );
    eventually("the daemon to answer again", || {
        (grov.run_json(&["proxy-status"]).ok()?.json["proxy"]["running"] == true).then_some(())
    })
}
