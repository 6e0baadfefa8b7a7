//! More clients than the daemon may have files open.

use crate::turn;
use crate::upstream::Upstream;
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Request, eventually, exchange, open};
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;

fn health(daemon: &Daemon) -> Result<Value> {
    let answer = exchange(daemon.port(), &Request::new("GET", "/_grov/health"))?;
    anyhow::ensure!(answer.status == 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).context("the health answer is not JSON")
}

/// Opens `count` connections; the daemon may close them again.
fn connected(daemon: &Daemon, count: usize, say: &str) -> Result<Vec<TcpStream>> {
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = open(daemon.port())?;
        let _ = client.write_all(say.as_bytes());
        clients.push(client);
    }
    Ok(clients)
}

fn open_files_limit(daemon: &Daemon) -> Result<(u64, u64)> {
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", daemon.pid()))?;
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    let mut numbers = line
        .context("no limit")?
        .split_whitespace()
        .filter_map(|word| word.parse().ok());
    numbers.next().zip(numbers.next()).context("no numbers")
}

#[test]
fn the_daemon_raises_its_limit_of_open_files_to_the_maximum() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&folder.path().join("grov"), &upstream.url())
        .open_files(200, 600)
        .start()?;
    assert_eq!(open_files_limit(&daemon)?, (600, 600));
    Ok(())
}

#[test]
fn idle_clients_beyond_the_limit_of_open_files_block_no_new_client() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).open_files(256, 256).start()?;
    let mut clients = Vec::new();
    for say in [
        "",
        "POST /v1/messages HTTP/1.1\r\nHo",
        "GET /_grov/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ] {
        clients.extend(connected(&daemon, 150, say)?);
    }
    let state = health(&daemon)?;
    assert_eq!(state["connections"]["not_accepted"], 0, "{state}");
    // The daemon relays and records, and a new process finds it.
    let session = turn::session(1);
    let answer = exchange(daemon.port(), &turn::prompt(&session, "[[scenario:tools]]"))?;
    assert!(
        answer.status == 200 && answer.complete,
        "{} {}",
        answer.status,
        answer.text()
    );
    assert_eq!(Grov::on(&home).wait_for_steps(&session, 1)?.len(), 1);
    drop(clients);
    Ok(())
}

#[test]
fn while_all_connections_are_busy_health_answers_and_new_requests_get_503() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&folder.path().join("grov"), &upstream.url())
        .open_files(256, 256)
        .start()?;
    let most = health(&daemon)?["connections"]["most"]
        .as_u64()
        .context("no limit")?;
    let half = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf";
    let busy = connected(&daemon, usize::try_from(most)?, half)?;
    // The earlier health check has closed its connection, or makes room.
    eventually("a refusal", || {
        let answer = exchange(
            daemon.port(),
            &turn::prompt(&turn::session(1), "[[scenario:tools]]"),
        )
        .ok()?;
        (answer.status == 503 && answer.header("retry-after") == Some("1")).then_some(())
    })?;
    let state = health(&daemon)?;
    assert_eq!(state["connections"]["not_accepted"], 0, "{state}");
    assert_ne!(state["connections"]["refused"], 0, "{state}");
    drop(busy);
    eventually("the way to be free", || {
        let answer = exchange(
            daemon.port(),
            &turn::prompt(&turn::session(2), "[[scenario:tools]]"),
        )
        .ok()?;
        (answer.status == 200).then_some(())
    })
}

#[test]
fn running_out_of_files_is_logged_once_and_the_daemon_keeps_serving() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    // Fewer files than the daemon needs for its minimum number of clients.
    let daemon = Daemon::on(&folder.path().join("grov"), &upstream.url())
        .open_files(80, 80)
        .start()?;
    let half = "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf";
    let clients = connected(&daemon, 120, half)?;
    eventually("the log to say so", || {
        daemon.log().contains("cannot accept clients").then_some(())
    })?;
    drop(clients);
    let state = health(&daemon)?;
    assert_ne!(state["connections"]["not_accepted"], 0, "{state}");
    assert!(state["connections"]["last_error"].is_string(), "{state}");
    assert_eq!(
        daemon.log().matches("cannot accept clients").count(),
        1,
        "{}",
        daemon.log()
    );
    Ok(())
}
