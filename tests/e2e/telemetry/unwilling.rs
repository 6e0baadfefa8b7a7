//! Collectors that are dead, hang, fail or are slow: spans are lost and counted, and nothing else suffers.

use super::collector::Collector;
use super::{PROMPT, health, metrics};
use crate::judge::TestHome;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Request, eventually, exchange};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// The daemon ends this soon after it was told to: two seconds for the last spans, and what else it has to do.
const MOST_TO_STOP: Duration = Duration::from_secs(6);

fn daemon(home: &TestHome, collector: &Collector) -> Result<Daemon> {
    Daemon::on(&home.path(), &home.api.url())
        .env("GROV_OTLP_ENDPOINT", collector.url())
        .env("GROV_DRIFT_ENABLED", "false")
        .start()
}

/// The value of a counter in the metrics.
fn counter(daemon: &Daemon, name: &str) -> Result<u64> {
    let text = metrics(daemon)?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Ok(line.with_context(|| format!("no {name} in {text}"))?.parse()?)
}

fn stop(daemon: Daemon) -> Result<()> {
    let begun = Instant::now();
    assert_eq!(daemon.stop()?.code(), Some(0));
    assert!(begun.elapsed() < MOST_TO_STOP, "{:?}", begun.elapsed());
    Ok(())
}

#[test]
fn a_dead_hanging_or_failing_collector_loses_spans_and_no_request() -> Result<()> {
    for collector in [Collector::dead()?, Collector::hanging()?, Collector::failing()?] {
        let home = TestHome::new()?;
        let daemon = daemon(&home, &collector)?;
        let mut person = home.person(&daemon)?;
        for _ in 0..3 {
            person.types(PROMPT)?;
        }
        eventually("the spans to be lost", || {
            (counter(&daemon, "grov_trace_spans_failed_total").ok()? > 0).then_some(())
        })?;
        person.types(PROMPT)?;
        assert_eq!(counter(&daemon, "grov_trace_spans_sent_total")?, 0);
        let health = health(&daemon)?;
        assert_eq!(health["store"]["ok"], true, "{health}");
        assert_eq!(
            daemon.log().matches("accepts no spans").count(),
            1,
            "{}",
            daemon.log()
        );
        stop(daemon)?;
    }
    Ok(())
}

#[test]
fn a_stop_does_not_wait_for_a_collector_that_hangs() -> Result<()> {
    let collector = Collector::hanging()?;
    let home = TestHome::new()?;
    let daemon = daemon(&home, &collector)?;
    home.person(&daemon)?.types(PROMPT)?;
    eventually("the spans to be sent", || collector.is_asked().then_some(()))?;
    stop(daemon)
}

#[test]
fn a_slow_collector_gets_its_spans_and_delays_no_request() -> Result<()> {
    let collector = Collector::slow(Duration::from_secs(3))?;
    let home = TestHome::new()?;
    let daemon = daemon(&home, &collector)?;
    let mut person = home.person(&daemon)?;
    person.types(PROMPT)?;
    // The exporter waits for the collector now.
    eventually("the first spans to arrive", || {
        (!collector.spans().ok()?.is_empty()).then_some(())
    })?;
    let begun = Instant::now();
    person.types(PROMPT)?;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    eventually("the spans of both turns", || {
        (counter(&daemon, "grov_trace_spans_sent_total").ok()? >= 20).then_some(())
    })?;
    assert_eq!(counter(&daemon, "grov_trace_spans_failed_total")?, 0);
    stop(daemon)
}

#[test]
fn too_many_records_are_dropped_and_counted_with_bounded_memory() -> Result<()> {
    let collector = Collector::hanging()?;
    let home = TestHome::new()?;
    let daemon = daemon(&home, &collector)?;
    let port = daemon.port();
    let ask = move |count: usize| -> Result<()> {
        let text = "word ".repeat(2000);
        let body = serde_json::json!({
            "model": "claude-sonnet-4-5", "max_tokens": 1, "stream": true,
            "messages": [{"role": "user", "content": text}],
        });
        for _ in 0..count {
            let request = Request::new("POST", "/v1/messages")
                .header("content-type", "application/json")
                .header("anthropic-version", "2023-06-01")
                .header("x-api-key", "test")
                .body(body.to_string());
            let answer = exchange(port, &request)?;
            ensure!(answer.status == 200, "{}", answer.text());
        }
        Ok(())
    };
    ask(100)?;
    let before = resident(daemon.pid())?;
    let dropped = || counter(&daemon, "grov_trace_records_dropped_total");
    let begun = Instant::now();
    while dropped()? == 0 && begun.elapsed() < Duration::from_secs(120) {
        let askers: Vec<_> = (0..4).map(|_| thread::spawn(move || ask(100))).collect();
        for asker in askers {
            asker.join().map_err(|_| anyhow::anyhow!("a client panicked"))??;
        }
    }
    assert!(dropped()? > 0, "nothing was dropped");
    let grown = resident(daemon.pid())?.saturating_sub(before);
    assert!(grown < 100, "{grown} MiB");
    stop(daemon)
}

/// The memory of a process in MiB.
fn resident(process: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kibibytes.context("no VmRSS")?.trim().parse::<u64>()? / 1024)
}
