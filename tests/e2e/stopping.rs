//! How the daemon stops: gracefully, immediately, or by a crash, and what is on disk afterwards.

use crate::turn;
use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Request, eventually, exchange, open, read_response};
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The daemon's own grace period is 30 seconds. A daemon that ends sooner ended for another reason.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Opens a stream and reads until the first piece of the body has arrived.
fn started(daemon: &Daemon, prompt: &str) -> Result<BufReader<TcpStream>> {
    let mut stream = open(daemon.port())?;
    stream.write_all(&turn::prompt(&turn::session(1), prompt).bytes(daemon.port()))?;
    let mut stream = BufReader::new(stream);
    std::io::BufRead::fill_buf(&mut stream).context("no answer began")?;
    Ok(stream)
}

#[test]
fn the_daemon_completes_a_running_stream_before_it_stops() -> Result<()> {
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir()?;
        let home = folder.path().join("grov");
        let upstream = Upstream::start()?;
        let daemon = Daemon::on(&home, &upstream.url()).start()?;
        let port = daemon.port();
        let mut stream = started(&daemon, "[[scenario:tools]] [[sim:event-delay=100]]")?;
        daemon.signal(signal)?;
        eventually("the port to be closed", || {
            TcpStream::connect(("127.0.0.1", port)).err()
        })?;
        let answer = read_response(&mut stream, |_| {})?;
        assert!(
            answer.complete && answer.text().contains("message_stop"),
            "{signal}: {}",
            answer.text()
        );
        let ended = daemon.ended(AT_ONCE)?;
        assert_eq!(ended.code(), Some(0), "{signal}: {}", ended.stderr);
        // The last stream was recorded before the daemon ended: in the database, or in the spool if the database was
        // slow.
        let _again = Daemon::on(&home, NOWHERE).start()?;
        assert_eq!(
            Grov::on(&home).wait_for_steps(&turn::session(1), 1)?.len(),
            1,
            "{signal}"
        );
    }
    Ok(())
}

#[test]
fn a_partial_request_body_does_not_delay_shutdown() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&folder.path().join("grov"), &upstream.url())
        // Longer than any timeout in this test.
        .env("GROV_PROXY_SHUTDOWN_GRACE", "10m")
        .start()?;
    let port = daemon.port();
    let mut stream = started(&daemon, "[[scenario:tools]] [[sim:event-delay=100]]")?;
    let mut halves = Vec::new();
    for path in ["/v1/messages", "/v1/files", "/_grov/hook/Stop"] {
        let mut half = open(port)?;
        write!(
            half,
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{{\"half\":"
        )?;
        halves.push(half);
    }
    // The daemon answers this request after it has accepted the others, so those are in progress.
    assert_eq!(exchange(port, &Request::new("GET", "/_grov/health"))?.status, 200);
    daemon.signal("TERM")?;
    let answer = read_response(&mut stream, |_| {})?;
    assert!(
        answer.complete && answer.text().contains("message_stop"),
        "{}",
        answer.text()
    );
    assert_eq!(daemon.ended(AT_ONCE)?.code(), Some(0));
    drop(halves);
    Ok(())
}

#[test]
fn a_second_signal_stops_the_daemon_immediately() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&folder.path().join("grov"), &upstream.url()).start()?;
    let port = daemon.port();
    let mut stream = started(&daemon, "[[scenario:tools]] [[sim:stall-events=2]]")?;
    daemon.signal("TERM")?;
    eventually("the port to be closed", || {
        TcpStream::connect(("127.0.0.1", port)).err()
    })?;
    daemon.signal("TERM")?;
    daemon.ended(AT_ONCE)?;
    let answer = read_response(&mut stream, |_| {});
    assert!(
        answer.is_err() || answer.is_ok_and(|answer| !answer.complete),
        "the stalled stream cannot be whole"
    );
    Ok(())
}

#[test]
fn a_stalled_stream_delays_shutdown_by_the_grace_period_at_most() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    let home = folder.path().join("grov");
    let daemon = Daemon::on(&home, &upstream.url())
        .env("GROV_PROXY_SHUTDOWN_GRACE", "1s")
        .start()?;
    let stream = started(&daemon, "[[scenario:tools]] [[sim:stall-events=2]]")?;
    let start = Instant::now();
    daemon.signal("TERM")?;
    daemon.ended(AT_ONCE)?;
    assert!(
        start.elapsed() >= Duration::from_secs(1),
        "the stream was given no time"
    );
    drop(stream);
    Ok(())
}

#[test]
fn an_idle_daemon_stops_immediately_and_releases_its_home() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let daemon = Daemon::on(&home, NOWHERE).start()?;
    // A client that keeps its connection open for the next request does not count as busy.
    let idle = open(daemon.port())?;
    daemon.signal("TERM")?;
    assert_eq!(daemon.ended(AT_ONCE)?.code(), Some(0));
    drop(idle);
    Daemon::on(&home, NOWHERE).start()?;
    Ok(())
}

#[test]
fn after_a_crash_under_load_every_step_older_than_a_second_is_stored() -> Result<()> {
    const CLIENTS: usize = 8;
    const BEFORE_THE_CRASH: usize = 60;
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    let port = daemon.port();
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Sessions whose answers arrived completely, and when.
    let received: Mutex<Vec<(usize, Instant)>> = Mutex::default();
    let crash = thread::scope(|scope| -> Result<Instant> {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let answer = exchange(port, &turn::prompt(&turn::session(number), "[[scenario:tools]]"));
                    if answer.is_ok_and(|answer| answer.complete && answer.text().contains("message_stop")) {
                        received.lock().unwrap().push((number, Instant::now()));
                    }
                }
            });
        }
        eventually("load", || {
            (received.lock().unwrap().len() >= BEFORE_THE_CRASH).then_some(())
        })?;
        // Every step must be stored within one second; wait that long for the newest ones.
        thread::sleep(Duration::from_secs(1));
        let crash = Instant::now();
        let ended = daemon.kill();
        over.store(true, Ordering::Relaxed);
        ended.map(|_| crash)
    })?;
    let received = received.into_inner().unwrap();
    let settled = |at: Instant| {
        crash
            .checked_duration_since(at)
            .is_some_and(|age| age >= Duration::from_secs(1))
    };
    let owed: Vec<usize> = received
        .iter()
        .filter(|(_, at)| settled(*at))
        .map(|(number, _)| *number)
        .collect();
    assert!(
        owed.len() >= BEFORE_THE_CRASH,
        "only {} of {} were old enough",
        owed.len(),
        received.len()
    );

    // Reads the database directly: no daemon has replayed a spool since.
    let grov = Grov::on(&home);
    let stored = grov.sessions()?;
    let is_stored = |number: &&usize| {
        let id = turn::session(**number);
        stored
            .iter()
            .any(|session| session["client_session_id"] == id.as_str() && session["steps"] == 1)
    };
    let missing: Vec<&usize> = owed.iter().filter(|number| !is_stored(number)).collect();
    assert!(
        missing.is_empty(),
        "{} of {} sessions were not in the database: {missing:?}",
        missing.len(),
        owed.len()
    );

    // The home is intact: the next daemon starts on it and records.
    let again = Daemon::on(&home, &upstream.url()).start()?;
    let fresh = turn::session(1_000_000);
    assert_eq!(
        exchange(again.port(), &turn::prompt(&fresh, "[[scenario:tools]]"))?.status,
        200
    );
    assert_eq!(grov.wait_for_steps(&fresh, 1)?.len(), 1);
    Ok(())
}
