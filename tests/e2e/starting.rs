//! The daemon's start: it refuses invalid settings, and starts on any home it finds.

use crate::turn;
use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Request, exchange};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const BAD_USAGE: i32 = 64;

/// Asserts that the daemon serves a client, whatever happened to its store.
fn serves(daemon: &Daemon) -> Result<()> {
    let answer = exchange(
        daemon.port(),
        &turn::prompt(&turn::session(1), "[[scenario:tools]]"),
    )?;
    assert!(
        answer.status == 200 && answer.complete,
        "{} {}",
        answer.status,
        answer.text()
    );
    assert!(answer.text().contains("message_stop"), "{}", answer.text());
    Ok(())
}

fn health(daemon: &Daemon) -> Result<serde_json::Value> {
    let answer = exchange(daemon.port(), &Request::new("GET", "/_grov/health"))?;
    serde_json::from_slice(&answer.body).context("the health answer is not JSON")
}

#[test]
fn a_port_in_use_is_an_error_with_a_suggested_fix() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let other = TcpListener::bind(("127.0.0.1", 0))?;
    let port = other.local_addr()?.port().to_string();
    let ended = Daemon::bare(&folder.path().join("grov"))
        .arg("--port")
        .arg(&port)
        .refuse()?;
    assert_eq!(ended.code(), Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(&port) && ended.stderr.contains("--port"),
        "{}",
        ended.stderr
    );
    let holder = std::process::id().to_string();
    assert!(
        ended.stderr.contains(&holder),
        "says not that process {holder} has the port: {}",
        ended.stderr
    );
    Ok(())
}

#[test]
fn a_port_in_use_by_another_daemon_is_reported_as_such() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let first = Daemon::on(&folder.path().join("first"), NOWHERE).start()?;
    let second = Daemon::bare(&folder.path().join("second"))
        .arg("--port")
        .arg(first.port().to_string())
        .refuse()?;
    assert_eq!(second.code(), Some(2), "{}", second.stderr);
    assert!(
        second.stderr.contains("grov-proxyd") && second.stderr.contains("--port"),
        "{}",
        second.stderr
    );
    Ok(())
}

#[test]
fn a_second_daemon_on_the_same_home_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let first = Daemon::on(&home, &upstream.url()).start()?;
    let second = Daemon::on(&home, &upstream.url()).refuse()?;
    assert_eq!(second.code(), Some(2), "{}", second.stderr);
    assert!(
        second.stderr.contains(&first.url()),
        "says not where the first one is: {}",
        second.stderr
    );
    assert!(
        second.stderr.contains(&first.pid().to_string()),
        "says not who the first one is: {}",
        second.stderr
    );
    serves(&first)
}

#[test]
fn the_daemon_listens_on_loopback_addresses_unless_it_is_protected() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let flag = Daemon::on(&home, NOWHERE).arg("--host").arg("0.0.0.0").refuse()?;
    let variable = Daemon::on(&home, NOWHERE)
        .env("PROXY_HOST", "192.168.1.1")
        .refuse()?;
    for ended in [flag, variable] {
        assert_eq!(ended.code(), Some(BAD_USAGE), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("127.0.0.1"),
            "says not which address is allowed: {}",
            ended.stderr
        );
    }
    Ok(())
}

#[test]
fn bad_usage_and_bad_settings_exit_with_64() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    for arguments in [
        &["--port", "many"][..],
        &["--dance"],
        &["--upstream", "no address"],
    ] {
        let daemon = arguments
            .iter()
            .fold(Daemon::bare(&home), |daemon, argument| daemon.arg(argument));
        let ended = daemon.refuse()?;
        assert_eq!(ended.code(), Some(BAD_USAGE), "{arguments:?}: {}", ended.stderr);
        assert!(
            !ended.stderr.is_empty(),
            "{arguments:?} is refused without a word"
        );
    }
    fs::create_dir_all(&home)?;
    fs::write(home.join("config.toml"), "[proxy]\nport = \"many\"\n")?;
    let ended = Daemon::bare(&home).refuse()?;
    assert_eq!(ended.code(), Some(BAD_USAGE), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("config.toml") && ended.stderr.contains("port"),
        "{}",
        ended.stderr
    );
    Ok(())
}

#[test]
fn a_missing_home_is_created_readable_only_by_its_owner() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("deep/er/grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    serves(&daemon)?;
    Grov::on(&home).wait_for_steps(&turn::session(1), 1)?;
    let mode = |path: &Path| fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777);
    assert_eq!(mode(&home)?, 0o700);
    for entry in fs::read_dir(&home)? {
        let path = entry?.path();
        let allowed = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path)?, allowed, "{}", path.display());
    }
    Ok(())
}

#[test]
fn an_unusable_home_disables_recording_only() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("file");
    fs::write(&file, "in the way")?;
    let upstream = Upstream::start()?;
    // Neither can be created, not even by root.
    for home in [file.join("grov"), Path::new("/proc/grov").to_owned()] {
        let daemon = Daemon::on(&home, &upstream.url()).start()?;
        serves(&daemon)?;
        assert!(
            daemon.log().contains(&home.display().to_string()),
            "says nothing of the home: {}",
            daemon.log()
        );
    }
    Ok(())
}

#[test]
fn an_invalid_database_file_is_set_aside_and_recording_continues() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    fs::create_dir_all(&home)?;
    let garbage = "this is no database ".repeat(1000);
    fs::write(home.join("grov.db"), &garbage)?;
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    serves(&daemon)?;
    let steps = Grov::on(&home).wait_for_steps(&turn::session(1), 1)?;
    assert_eq!(steps.len(), 1);
    let kept = fs::read_dir(&home)?.flatten().any(|entry| {
        entry.file_name() != "grov.db"
            && fs::read(entry.path()).is_ok_and(|content| content == garbage.as_bytes())
    });
    assert!(kept, "the old file is gone");
    Ok(())
}

#[test]
fn a_directory_in_place_of_the_database_disables_recording_only() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    fs::create_dir_all(home.join("grov.db"))?;
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    serves(&daemon)?;
    assert_eq!(health(&daemon)?["status"], "ok");
    Ok(())
}

#[test]
fn short_environment_variable_names_are_accepted() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let daemon = Daemon::bare(&folder.path().join("grov"))
        .env("PROXY_PORT", "0")
        .env("ANTHROPIC_TARGET", upstream.url())
        .start()?;
    serves(&daemon)
}
