//! Many clients at once.

use crate::turn;
use crate::upstream::Upstream;
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Request, Response, WireTap, eventually, exchange, open, read_response};
use serde_json::Value;
use std::io::{BufReader, Write};
use std::sync::Barrier;
use std::thread;

const STREAMS: usize = 200;

fn request(number: usize) -> Request {
    turn::prompt(
        &turn::session(number),
        "[[scenario:tools]] [[sim:event-delay=20]]",
    )
}

/// Runs one stream per session, all open at the same time.
fn streams(port: u16) -> Result<Vec<Response>> {
    let everybody = Barrier::new(STREAMS);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..STREAMS)
            .map(|number| {
                let everybody = &everybody;
                scope.spawn(move || {
                    let connection = open(port);
                    everybody.wait();
                    let mut connection = connection?;
                    connection.write_all(&request(number).bytes(port))?;
                    read_response(&mut BufReader::new(connection), |_| {})
                })
            })
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().ok().context("a client panicked")?)
            .collect()
    })
}

#[test]
fn two_hundred_concurrent_streams_arrive_completely_and_are_recorded() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let upstream = Upstream::start()?;
    let tap = WireTap::before(upstream.port())?;
    let daemon = Daemon::on(&home, &tap.url()).start()?;
    let relayed = streams(daemon.port())?;
    let messages = tap.messages()?;
    for (number, relayed) in relayed.iter().enumerate() {
        let sent = request(number);
        let message = messages
            .iter()
            .find(|message| sent.bytes(0).ends_with(&message.body));
        let message = message.with_context(|| format!("request {number} did not cross unchanged"))?;
        assert!(
            relayed.complete && relayed.text().contains("message_stop"),
            "stream {number} was cut"
        );
        assert_eq!(relayed.body, message.answer, "stream {number} is another");
    }
    let grov = Grov::on(&home);
    let stored = |sessions: &[Value]| sessions.iter().filter(|session| session["steps"] == 1).count();
    let mut sessions = Vec::new();
    eventually("all steps to be stored", || {
        sessions = grov.sessions().ok()?;
        (stored(&sessions) == STREAMS).then_some(())
    })
    .with_context(|| {
        let health =
            exchange(daemon.port(), &Request::new("GET", "/_grov/health")).map(|answer| answer.text());
        format!(
            "{} of {} sessions have their step; {health:?}; {}",
            stored(&sessions),
            sessions.len(),
            daemon.log()
        )
    })
}
