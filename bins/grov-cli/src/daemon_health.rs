//! Whether the daemon of a home answers.

use crate::format::plural;
use crate::output::Style;
use crate::table::one_line;
use grov_runtime::port::{Listener, connect, fetch_health, listener_at};
use grov_runtime::{Home, daemon};
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use time::OffsetDateTime;

/// The current state of a home's proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ProxyView {
    pub(crate) running: bool,
    pub(crate) state: ProxyState,
    pub(crate) url: Option<String>,
    /// The base URL for clients on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
    pub(crate) pid: Option<u32>,
    pub(crate) version: Option<String>,
    /// The running responses that it waits for before it ends; `None` unless it was asked to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopping: Option<u64>,
    /// `None` for a daemon of an older version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) judge: Option<LiveJudge>,
    /// `None` for a daemon of an older version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) store: Option<LiveStore>,
    /// `None` for a daemon of an older version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access: Option<LiveAccess>,
    /// `None` for a daemon of an older version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<LiveMemory>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProxyState {
    /// It answers.
    Running,
    /// Its process holds the home's lock but does not answer: stopped, out of connections, overloaded or starting.
    NotAnswering,
    #[default]
    NotRunning,
}

impl ProxyView {
    /// The problem and its fix, for a daemon that does not answer.
    pub(crate) fn not_answering(&self) -> Option<(String, String)> {
        if self.state != ProxyState::NotAnswering {
            return None;
        }
        let Some(pid) = self.pid else {
            let problem = "grov-proxyd is starting, or has not recorded its address";
            return Some((problem.to_owned(), "try again in a moment".to_owned()));
        };
        let url = self.url.as_deref().unwrap_or("its address");
        if let Some(responses) = self.stopping.filter(|_| !daemon::is_stopped(pid)) {
            let problem = format!("grov-proxyd (pid {pid}) is stopping: {}", waits_for(responses));
            return Some((problem, "a second `grov proxy stop` ends it at once".to_owned()));
        }
        Some(match daemon::is_stopped(pid) {
            true => (
                format!("grov-proxyd (pid {pid}) is stopped and does not answer at {url}"),
                format!("kill -CONT {pid} resumes it"),
            ),
            false => (
                format!("grov-proxyd (pid {pid}) is running but does not answer at {url}"),
                "see its log: it may be overloaded or out of connections; `grov proxy restart` replaces it"
                    .to_owned(),
            ),
        })
    }
}

/// What a daemon waits for that was asked to stop.
pub(crate) fn waits_for(responses: u64) -> String {
    match responses {
        0 => "it ends its background work".to_owned(),
        _ => format!(
            "it waits for {} to end",
            plural(responses, "running response", "running responses")
        ),
    }
}

/// Whether the daemon can record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveStore {
    pub(crate) ok: bool,
    pub(crate) last_error: Option<String>,
    #[serde(default)]
    pub(crate) lost: u64,
}

/// Whether memory was in time for the prompts since the daemon started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveMemory {
    /// Prompts for which it was searched.
    #[serde(rename(deserialize = "memory_asked"))]
    pub(crate) prompts: u64,
    /// Prompts whose memory came too late for their request.
    #[serde(rename(deserialize = "memory_late"))]
    pub(crate) late: u64,
    /// Of these, those that got it later in the same turn.
    #[serde(rename(deserialize = "memory_added_later"))]
    pub(crate) told_later: u64,
}

impl LiveMemory {
    /// Prompts that did not get their memory at all.
    pub(crate) fn lost(&self) -> u64 {
        self.late.saturating_sub(self.told_later)
    }

    /// How often memory came too late, for a person; `None` if it was always in time.
    pub(crate) fn lateness(&self) -> Option<String> {
        if self.late == 0 {
            return None;
        }
        let prompts = plural(self.prompts, "prompt", "prompts");
        let what = format!(
            "memory came too late for {} of {prompts} since the proxy started",
            self.late
        );
        Some(match (self.told_later, self.lost()) {
            (_, 0) => format!("{what}; it was told later in the turn"),
            (0, _) => format!("{what}, which did not get it"),
            (later, lost) => format!("{what}: {later} got it later in the turn, {lost} not at all"),
        })
    }
}

/// Who can use a running daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveAccess {
    /// Whether other machines can reach it.
    pub(crate) reachable: bool,
    /// Whether they can although TLS or tokens are missing.
    pub(crate) insecure: bool,
    pub(crate) tls: Option<LiveTls>,
    pub(crate) tokens: Option<LiveTokens>,
    /// Requests a minute.
    pub(crate) rate_limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveTls {
    pub(crate) fingerprint: String,
    #[serde(with = "time::serde::rfc3339")]
    pub(crate) not_after: OffsetDateTime,
    pub(crate) self_signed: bool,
    /// Why renewed files are not in use.
    pub(crate) last_error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveTokens {
    pub(crate) active: usize,
}

impl LiveAccess {
    /// Describes it on one line.
    pub(crate) fn summary(&self) -> String {
        let whom = match (self.reachable, self.insecure) {
            (false, _) => "this machine only",
            (true, false) => "other machines can reach it",
            (true, true) => "insecure: other machines can reach it",
        };
        let tls = if self.tls.is_some() { "TLS" } else { "no TLS" };
        let tokens = match &self.tokens {
            Some(tokens) => format!("{} active token(s)", tokens.active),
            None => "no tokens".to_owned(),
        };
        let limit = self
            .rate_limit
            .map(|limit| format!(", {limit} requests a minute"));
        format!("{whom}; {tls}, {tokens}{}", limit.unwrap_or_default())
    }
}

/// The judge of a running daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveJudge {
    /// `anthropic`, `openai`, `claude_cli` or `offline`; `None` from an older daemon.
    #[serde(default)]
    pub(crate) provider: Option<String>,
    /// `model` or `rules`.
    pub(crate) answering: String,
    /// Why rules answer.
    pub(crate) why_rules: Option<String>,
    pub(crate) answers_by_model: u64,
    pub(crate) answers_by_rules: u64,
}

impl LiveJudge {
    /// Why rules answer, and what to do, in words; `None` if the model answers, or none is set up.
    pub(crate) fn trouble(&self) -> Option<String> {
        let reason = match self.why_rules.as_deref() {
            Some("offline") => return None,
            Some(reason) => reason,
            None => {
                return self
                    .is_useless()
                    .then(|| format!("no usable answer to {} questions", self.answers_by_rules));
            }
        };
        Some(match reason {
            "client_missing" => {
                "the client `claude` is not installed, or not in the PATH of grov-proxyd".to_owned()
            }
            "logged_out" => "the client `claude` is not logged in: run `claude` and log in".to_owned(),
            "provider_down" => "the model gave no usable answer several times in a row".to_owned(),
            other => other.replace('_', " "),
        })
    }

    /// Whether the daemon was started with another provider than the configured one.
    pub(crate) fn is_outdated(&self, configured: &str) -> bool {
        self.provider
            .as_deref()
            .is_some_and(|running| running != configured)
    }

    /// Lines about the judge of a running daemon, for a person: what it did, and what is wrong.
    pub(crate) fn lines(&self, configured: &str, style: Style) -> Vec<String> {
        let mut lines: Vec<String> = self.done().into_iter().collect();
        if self.is_outdated(configured) {
            let running = self.provider.as_deref().unwrap_or_default();
            let stale = format!(
                "the running proxy was started with {}: grov proxy restart",
                one_line(running)
            );
            lines.push(style.red(&stale));
        } else if let Some(reason) = self.trouble() {
            lines.push(format!("rules answer now: {}", style.red(&one_line(&reason))));
        }
        lines
    }

    /// Whether the model was asked and never gave a usable answer.
    fn is_useless(&self) -> bool {
        self.answers_by_model == 0 && self.answers_by_rules >= FEW_QUESTIONS
    }

    /// How many questions were answered since the daemon started; `None` if none was asked of a model.
    pub(crate) fn done(&self) -> Option<String> {
        let (by_model, by_rules) = (self.answers_by_model, self.answers_by_rules);
        if self.why_rules.as_deref() == Some("offline") || by_model + by_rules == 0 {
            return None;
        }
        let answered = plural(by_model, "question", "questions");
        Some(match by_rules {
            0 => format!("{answered} answered since the proxy started"),
            left => format!("{answered} answered since the proxy started, {left} left to rules"),
        })
    }
}

/// Questions without one usable answer that make a fault of the model likely.
const FEW_QUESTIONS: u64 = 3;

/// The fields of `/_grov/health` that are used here.
#[derive(Debug, Deserialize)]
struct Health {
    status: String,
    version: Option<String>,
    pid: Option<u32>,
    judge: Option<LiveJudge>,
    store: Option<LiveStore>,
    access: Option<LiveAccess>,
    /// Other counters, too.
    context: Option<serde_json::Value>,
}

impl Health {
    fn memory(&self) -> Option<LiveMemory> {
        LiveMemory::deserialize(self.context.as_ref()?).ok()
    }
}

/// Queries the daemon that the home's record names. A record whose daemon does not answer, or that another daemon answers
/// for, is stale unless a process holds the home's lock.
pub(crate) fn query(home: &Home) -> ProxyView {
    let record = daemon::read(home);
    if let Some(record) = &record
        && let Some(health) = health(record)
        && health.status == "ok"
        && health.pid.is_none_or(|pid| pid == record.pid)
    {
        let memory = health.memory();
        return ProxyView {
            running: true,
            state: ProxyState::Running,
            url: Some(record.url.clone()),
            base_url: Some(record.base_url()),
            pid: Some(record.pid),
            version: health.version.or_else(|| Some(record.version.clone())),
            stopping: record.stopping,
            memory,
            judge: health.judge,
            store: health.store,
            access: health.access,
        };
    }
    if !daemon::is_running(home) {
        return ProxyView::default();
    }
    // The record of a killed daemon remains until the next one publishes its own.
    let record = record.filter(|record| is_alive(record.pid));
    ProxyView {
        state: ProxyState::NotAnswering,
        url: record.as_ref().map(|record| record.url.clone()),
        stopping: record.as_ref().and_then(|record| record.stopping),
        pid: record.map(|record| record.pid),
        ..ProxyView::default()
    }
}

/// Queries the daemon that answers at an address as process `pid`, or as any process. For a daemon that could not record where
/// it listens.
pub(crate) fn query_at(address: SocketAddr, pid: Option<u32>) -> Option<ProxyView> {
    let health: Health = fetch_health(connect(address).ok()?)?;
    let is_wanted = health.pid.is_some() && pid.is_none_or(|pid| health.pid == Some(pid));
    if health.status != "ok" || !is_wanted {
        return None;
    }
    let is_secure = health.access.as_ref().is_some_and(|access| access.tls.is_some());
    let url = format!("{}://{address}", if is_secure { "https" } else { "http" });
    let memory = health.memory();
    Some(ProxyView {
        running: true,
        state: ProxyState::Running,
        base_url: Some(url.clone()),
        url: Some(url),
        pid: health.pid,
        version: health.version,
        stopping: None,
        memory,
        judge: health.judge,
        store: health.store,
        access: health.access,
    })
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // No permission means another user's process, which is not this home's daemon.
    pid.is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Describes the program that listens on an address, which is not this home's daemon; `None` if the port is free.
pub(crate) fn port_taken_by(address: SocketAddr) -> Option<String> {
    let port = address.port();
    match listener_at(address) {
        Listener::Nothing => None,
        Listener::Foreign { holder } => {
            let holder = holder.map_or_else(String::new, |holder| format!(": {holder}"));
            Some(format!("another program listens on port {port}{holder}"))
        }
        Listener::Hung { pid } => Some(format!(
            "the Grov daemon of another home (process {pid}) listens on port {port} and does not answer"
        )),
        Listener::Grov { pid } => Some(format!(
            "the Grov daemon of another home (process {pid}) listens on port {port}"
        )),
    }
}

/// A daemon with TLS answers programs of this machine in plain HTTP.
fn health(record: &daemon::Record) -> Option<Health> {
    fetch_health(connect(record.local_address()?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Answers one request with `answer`, then closes the connection.
    fn answering(answer: &'static str) -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer.as_bytes());
        });
        url
    }

    fn view(url: &str, pid: u32) -> ProxyView {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(directory.path()), &Environment::default()).unwrap();
        let record = format!(
            r#"{{"schema":1,"pid":{pid},"url":"{url}","version":"0.0.9","started_at":"2026-01-02T03:04:05Z"}}"#
        );
        std::fs::write(home.daemon_record(), record).unwrap();
        query(&home)
    }

    #[test]
    fn a_person_sees_what_the_judge_did_and_what_keeps_it_from_judging() {
        let lines = |running: &str, by_model, by_rules| {
            let judge = LiveJudge {
                provider: Some(running.to_owned()),
                answers_by_model: by_model,
                answers_by_rules: by_rules,
                ..LiveJudge::default()
            };
            judge.lines("claude_cli", Style::plain()).join("; ")
        };
        assert_eq!(lines("claude_cli", 0, 0), "");
        assert_eq!(
            lines("claude_cli", 1, 2),
            "1 question answered since the proxy started, 2 left to rules"
        );
        // The model answers, but nothing usable.
        assert!(lines("claude_cli", 0, FEW_QUESTIONS).contains("no usable answer to 3 questions"));
        // Switched on while the proxy was running.
        assert!(lines("offline", 0, 0).contains("started with offline: grov proxy restart"));
    }

    #[test]
    fn a_person_sees_that_memory_came_too_late_and_how_often() {
        let lateness = |prompts, late, told_later| {
            let memory = LiveMemory {
                prompts,
                late,
                told_later,
            };
            (memory.lateness().unwrap_or_default(), memory.lost())
        };
        assert_eq!(lateness(40, 0, 0), (String::new(), 0));
        for (late, told_later, ending) in [
            (
                1,
                1,
                "1 of 40 prompts since the proxy started; it was told later in the turn",
            ),
            (
                2,
                0,
                "2 of 40 prompts since the proxy started, which did not get it",
            ),
            (
                3,
                2,
                "3 of 40 prompts since the proxy started: 2 got it later in the turn, 1 not at all",
            ),
        ] {
            let (text, lost) = lateness(40, late, told_later);
            assert!(text.ends_with(ending), "{text}");
            assert_eq!(lost, late - told_later);
        }
        let health = |context: &str| {
            let health = format!(r#"{{"status":"ok","context":{context}}}"#);
            serde_json::from_str::<Health>(&health).unwrap().memory()
        };
        assert_eq!(health(r#"{"added":1}"#), None, "an older daemon");
        let counted = health(r#"{"added":1,"memory_asked":5,"memory_late":2,"memory_added_later":1}"#);
        assert_eq!(counted.map(|memory| memory.lost()), Some(1));
    }

    #[test]
    fn why_rules_answer_is_told_with_what_to_do() {
        let trouble = |reason: Option<&str>| {
            let judge = LiveJudge {
                why_rules: reason.map(str::to_owned),
                ..LiveJudge::default()
            };
            judge.trouble()
        };
        assert_eq!((trouble(None), trouble(Some("offline"))), (None, None));
        assert_eq!(trouble(Some("budget_spent")).as_deref(), Some("budget spent"));
        assert!(trouble(Some("logged_out")).is_some_and(|text| text.contains("log in")));
        assert!(trouble(Some("client_missing")).is_some_and(|text| text.contains("not installed")));
    }

    #[test]
    fn a_daemon_that_answers_is_running() {
        let url = answering(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"status\":\"ok\",\"version\":\"1.0.0\",\"pid\":7,\"judge\":{\"answering\":\"rules\",\"why_rules\":\"budget_spent\",\"answers_by_model\":3,\"answers_by_rules\":4,\"calls\":9}}",
        );
        let expected = ProxyView {
            running: true,
            state: ProxyState::Running,
            stopping: None,
            store: None,
            access: None,
            memory: None,
            base_url: Some(url.clone()),
            url: Some(url.clone()),
            pid: Some(7),
            version: Some("1.0.0".into()),
            judge: Some(LiveJudge {
                provider: None,
                answering: "rules".to_owned(),
                why_rules: Some("budget_spent".to_owned()),
                answers_by_model: 3,
                answers_by_rules: 4,
            }),
        };
        assert_eq!(view(&url, 7), expected);
        let chunked = answering(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nf\r\n{\"status\":\"ok\"}\r\n0\r\n\r\n",
        );
        assert_eq!(view(&chunked, 7).version.as_deref(), Some("0.0.9"));
    }

    #[test]
    fn a_daemon_that_holds_its_home_but_does_not_answer_is_not_answering() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(directory.path()), &Environment::default()).unwrap();
        let lock = daemon::Lock::acquire(&home).unwrap();
        let starting = query(&home);
        assert_eq!(
            (starting.running, starting.state),
            (false, ProxyState::NotAnswering)
        );
        assert!(
            starting
                .not_answering()
                .is_some_and(|(what, _)| what.contains("starting"))
        );
        // Accepts, by the system's queue, and never answers.
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let now = grov_domain::Clock::now(&grov_domain::SystemClock);
        lock.publish(&daemon::Record::of_this_process(&*url, "1.2.3", now))
            .unwrap();
        let silent = query(&home);
        assert_eq!((silent.running, silent.state), (false, ProxyState::NotAnswering));
        assert_eq!((silent.url, silent.pid), (Some(url), Some(std::process::id())));
        let mut stopping = daemon::Record::of_this_process("http://127.0.0.1:1", "1.2.3", now);
        stopping.stopping = Some(2);
        lock.publish(&stopping).unwrap();
        let (problem, fix) = query(&home).not_answering().unwrap();
        assert!(
            problem.contains("is stopping: it waits for 2 running responses"),
            "{problem}"
        );
        assert!(fix.contains("grov proxy stop"), "{fix}");
        drop(lock);
        assert_eq!(query(&home), ProxyView::default());
    }

    #[test]
    fn other_answers_are_not_from_the_daemon() {
        for answer in [
            "",
            "HTTP/1.1 404 Not Found\r\n\r\n{\"status\":\"ok\"}",
            "HTTP/1.1 200 OK\r\n\r\n<html>",
            "HTTP/1.1 200 OK\r\n\r\n}{",
            "HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ok\",\"pid\":8}",
            "SSH-2.0-OpenSSH",
        ] {
            assert_eq!(view(&answering(answer), 7), ProxyView::default(), "{answer:?}");
        }
    }

    #[test]
    fn a_stale_record_means_not_running() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        // Accepts, by the system's queue, and never answers.
        assert!(!view(&format!("http://127.0.0.1:{port}"), 7).running);
        drop(listener);
        assert!(!view(&format!("http://127.0.0.1:{port}"), 7).running);
        assert!(!view("http://192.0.2.1:1", 7).running);
        assert!(!view("nonsense", 7).running);
    }
}
