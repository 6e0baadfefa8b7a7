//! `grov proxy restart`, stop and logs: a restart hands the port over, and no request fails.

use crate::turn;
use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Grov, Request, Response, eventually, exchange, open, read_response, signal};
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests of the test under load. `GROV_TEST_REQUESTS` sets another number.
fn request_count() -> usize {
    let set = std::env::var("GROV_TEST_REQUESTS").ok();
    set.and_then(|number| number.parse().ok()).unwrap_or(600)
}

/// Stops the daemon that took over, also if the test fails.
struct Stopped<'a>(&'a Grov);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let _ = self.0.run(&["proxy", "stop"]);
    }
}

/// A client that keeps its connection as long as the server does.
struct Kept {
    port: u16,
    stream: Option<BufReader<TcpStream>>,
}

impl Kept {
    fn exchange(&mut self, request: &Request) -> Result<Response> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(open(self.port)?),
        };
        stream.get_mut().write_all(&request.bytes(self.port))?;
        let answer = read_response(&mut stream, |_| {})?;
        if answer.header("connection") != Some("close") {
            self.stream = Some(stream);
        }
        Ok(answer)
    }
}

/// Waits until a process of this one has ended. Its standard error is open longer, because its successor has inherited it.
fn has_ended(pid: u32) -> Result<()> {
    eventually("the old process to end", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    })
}

fn restarted(grov: &Grov) -> Result<u32> {
    let answer = grov.run_json(&["proxy", "restart"])?;
    ensure!(answer.code == Some(0), "{}", answer.json);
    ensure!(answer.json["handed_over"] == true, "{}", answer.json);
    let pid = answer.json["pid"].as_u64().context("no pid")?;
    Ok(u32::try_from(pid)?)
}

#[test]
fn no_request_fails_during_restarts() -> Result<()> {
    const CLIENTS: usize = 8;
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let first = Daemon::on(&home, &upstream.url()).start()?;
    let port = first.port();
    let grov = Grov::on(&home);
    let _stopped = Stopped(&grov);
    let count = request_count();
    let next = AtomicUsize::new(0);
    let faults: Mutex<Vec<String>> = Mutex::default();
    let pids = std::thread::scope(|scope| -> Result<Vec<u32>> {
        for client in 0..CLIENTS {
            let (next, faults) = (&next, &faults);
            scope.spawn(move || {
                let mut kept = Kept { port, stream: None };
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let request = turn::prompt(&turn::session(number), "[[scenario:tools]]");
                    // Half of the clients keep their connections.
                    let answer = match client % 2 {
                        0 => kept.exchange(&request),
                        _ => exchange(port, &request),
                    };
                    let fault = match answer {
                        Ok(answer) if answer.status != 200 || !answer.complete => {
                            format!("{} {}", answer.status, answer.text())
                        }
                        Ok(answer) if !answer.text().contains("message_stop") => "no end".to_owned(),
                        Ok(_) => continue,
                        Err(error) => format!("{error:#}"),
                    };
                    faults.lock().unwrap().push(format!("request {number}: {fault}"));
                }
            });
        }
        let mut pids = Vec::new();
        for part in 1..4 {
            eventually("the load to go on", || {
                (next.load(Ordering::Relaxed) >= count * part / 5).then_some(())
            })?;
            pids.push(restarted(&grov)?);
        }
        Ok(pids)
    })?;
    let faults = faults.into_inner().unwrap();
    assert!(
        faults.is_empty(),
        "{} of {count} requests failed: {faults:?}",
        faults.len()
    );
    assert!(next.load(Ordering::Relaxed) >= count);
    let status = grov.run_json(&["proxy", "status"])?;
    assert_eq!(
        status.json["proxy"]["pid"].as_u64(),
        pids.last().map(|pid| u64::from(*pid))
    );
    has_ended(first.pid())?;
    // Every one is recorded, by one of the four processes.
    eventually("all sessions to be recorded", || {
        (grov.sessions().ok()?.len() == count).then_some(())
    })?;
    Ok(())
}

#[test]
fn a_stream_that_is_running_ends_in_the_old_process() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let first = Daemon::on(&home, &upstream.url()).start()?;
    let (port, old) = (first.port(), first.pid());
    let grov = Grov::on(&home);
    let _stopped = Stopped(&grov);
    let mut stream = BufReader::new(open(port)?);
    let request = turn::prompt(&turn::session(1), "[[scenario:tools]] [[sim:event-delay=100]]");
    stream.get_mut().write_all(&request.bytes(port))?;
    std::io::BufRead::fill_buf(&mut stream).context("no answer began")?;
    assert_ne!(restarted(&grov)?, old);
    let answer = read_response(&mut stream, |_| {})?;
    assert!(
        answer.complete && answer.text().contains("message_stop"),
        "{}",
        answer.text()
    );
    // The new process has the home: another daemon cannot start there.
    let second = Daemon::on(&home, NOWHERE).refuse()?;
    assert_eq!(second.code(), Some(2), "{}", second.stderr);
    has_ended(old)?;
    let second = Daemon::on(&home, NOWHERE).refuse()?;
    assert_eq!(
        second.code(),
        Some(2),
        "the old one took the lock along: {}",
        second.stderr
    );
    Ok(())
}

#[test]
fn a_configuration_that_does_not_start_leaves_the_old_process() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let daemon = Daemon::on(&home, &upstream.url()).start()?;
    std::fs::write(home.join("config.toml"), "[proxy]\nidle_timeout = \"never\"\n")?;
    let grov = Grov::on(&home);
    let ended = grov.run(&["proxy", "restart"])?;
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("the old one goes on") && ended.stderr.contains("idle_timeout"),
        "{}",
        ended.stderr
    );
    std::fs::remove_file(home.join("config.toml"))?;
    let answer = exchange(
        daemon.port(),
        &turn::prompt(&turn::session(1), "[[scenario:tools]]"),
    )?;
    assert_eq!(answer.status, 200);
    let status = grov.run_json(&["proxy", "status"])?;
    assert_eq!(status.json["proxy"]["pid"], daemon.pid());
    assert_eq!(daemon.stop()?.code(), Some(0));
    Ok(())
}

#[test]
fn a_hung_daemon_is_reported_and_replaced() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let grov = Grov::on(&home)
        .env("ANTHROPIC_TARGET", &upstream.url())
        .env("GROV_PROXY_PORT", "0");
    let _stopped = Stopped(&grov);
    let started = grov.run_json(&["proxy", "start"])?;
    assert_eq!(started.code, Some(0), "{}", started.json);
    let pid = u32::try_from(started.json["pid"].as_u64().context("no pid")?)?;
    signal(pid, "STOP")?;
    let status = grov.run_json(&["proxy", "status"])?;
    assert_eq!(
        (status.code, status.json["proxy"]["state"].as_str()),
        (Some(1), Some("not_answering")),
        "{}",
        status.json
    );
    let again = grov.run_json(&["proxy", "restart"])?;
    assert_eq!(again.code, Some(0), "{}", again.json);
    assert_ne!(again.json["pid"], pid);
    assert_eq!(grov.run(&["proxy", "status"])?.code(), Some(0));
    Ok(())
}

#[test]
fn start_stop_status_and_logs() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let grov = Grov::on(&home).env("GROV_PROXY_PORT", "0");
    let _stopped = Stopped(&grov);
    assert_eq!(grov.run(&["proxy", "status"])?.code(), Some(1));
    let nothing = grov.run_json(&["proxy", "stop"])?;
    assert_eq!((nothing.code, &nothing.json["stopped"]), (Some(0), &false.into()));
    assert_eq!(grov.run(&["proxy", "logs"])?.code(), Some(1), "no log yet");
    let started = grov.run_json(&["proxy", "start", "--log-level", "debug"])?;
    assert_eq!(
        (started.code, &started.json["started"]),
        (Some(0), &true.into()),
        "{}",
        started.json
    );
    let again = grov.run_json(&["proxy", "start"])?;
    assert_eq!(again.json["started"], false);
    assert_eq!(again.json["pid"], started.json["pid"]);
    // The options are kept.
    let pid = restarted(&grov)?;
    let logs = eventually("the log", || {
        let logs = grov.run_json(&["proxy", "logs", "-n", "1000"]).ok()?;
        let lines = logs.json["lines"].as_array()?.clone();
        let of_new = format!("[s{pid}] ");
        let is_new = |line: &serde_json::Value| line.as_str().is_some_and(|line| line.starts_with(&of_new));
        lines.iter().any(is_new).then_some(logs)
    })?;
    assert_eq!(logs.code, Some(0));
    let path = logs.json["path"].as_str().context("no path")?;
    assert!(path.ends_with("logs/proxy.log"), "{path}");
    let stopped = grov.run_json(&["proxy", "stop"])?;
    assert_eq!((stopped.code, &stopped.json["pid"]), (Some(0), &pid.into()));
    assert_eq!(grov.run(&["proxy", "status"])?.code(), Some(1));
    Ok(())
}
