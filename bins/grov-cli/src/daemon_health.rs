//! Whether the daemon of a home answers.

use grov_runtime::port::{Listener, ask_health, listener_at};
use grov_runtime::{Home, ProxySettings, Url, daemon};
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// On one machine a connection is made at once or never.
const CONNECT_PATIENCE: Duration = Duration::from_millis(300);

/// The proxy of a home, as it answers now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ProxyView {
    pub(crate) running: bool,
    pub(crate) state: ProxyState,
    pub(crate) url: Option<String>,
    pub(crate) pid: Option<u32>,
    pub(crate) version: Option<String>,
    /// How its judge stands; a daemon of an older version does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) judge: Option<LiveJudge>,
    /// Whether it can record; a daemon of an older version does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) store: Option<LiveStore>,
}

/// Whether there is a daemon, and whether it can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProxyState {
    /// It answers.
    Running,
    /// Its process holds the home, and does not answer: stopped, out of connections, overloaded, or just starting.
    NotAnswering,
    /// There is none in this home.
    #[default]
    NotRunning,
}

impl ProxyView {
    /// What is wrong with a daemon that does not answer, and what to do about it; `None` for any other.
    pub(crate) fn no_answer(&self) -> Option<(String, String)> {
        if self.state != ProxyState::NotAnswering {
            return None;
        }
        let Some(pid) = self.pid else {
            let what = "grov-proxyd is just starting, or cannot say where it listens".to_owned();
            return Some((what, "ask again in a moment".to_owned()));
        };
        let url = self.url.as_deref().unwrap_or("its address");
        Some(match daemon::is_stopped(pid) {
            true => (
                format!("grov-proxyd (pid {pid}) is stopped and does not answer at {url}"),
                format!("kill -CONT {pid} lets it go on"),
            ),
            false => (
                format!("grov-proxyd (pid {pid}) is running and does not answer at {url}"),
                format!(
                    "see its log; it may be overloaded or out of connections. To start it anew: kill {pid}, \
                     then grov proxy --detach"
                ),
            ),
        })
    }
}

fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // Another user's process is one too, but not our daemon.
    pid.is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// What a running daemon says of its records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveStore {
    pub(crate) ok: bool,
    pub(crate) last_error: Option<String>,
    #[serde(default)]
    pub(crate) lost: u64,
}

/// The judge of a running daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LiveJudge {
    /// `model` or `rules`.
    pub(crate) answering: String,
    /// Why rules answer.
    pub(crate) why_rules: Option<String>,
    pub(crate) answers_by_model: u64,
    pub(crate) answers_by_rules: u64,
}

/// The part of `/_grov/health` that is of interest here.
#[derive(Debug, Deserialize)]
struct Health {
    status: String,
    version: Option<String>,
    pid: Option<u32>,
    judge: Option<LiveJudge>,
    store: Option<LiveStore>,
}

/// Asks the daemon that the home's record names. A record whose daemon does not answer, or in whose place another one
/// does, is left over from one that was killed, unless somebody holds the lock of the home.
pub(crate) fn ask(home: &Home) -> ProxyView {
    let Some(record) = daemon::read(home) else {
        return silent(home, None);
    };
    match health(&record.url) {
        Some(health) if health.status == "ok" && health.pid.is_none_or(|pid| pid == record.pid) => {
            ProxyView {
                running: true,
                state: ProxyState::Running,
                url: Some(record.url),
                pid: Some(record.pid),
                version: Some(health.version.unwrap_or(record.version)),
                judge: health.judge,
                store: health.store,
            }
        }
        _ => silent(home, Some(record)),
    }
}

/// The view of a daemon that does not answer.
fn silent(home: &Home, record: Option<daemon::Record>) -> ProxyView {
    if !daemon::is_at_work(home) {
        return ProxyView::default();
    }
    // A killed daemon leaves its record behind, and the next one may just be starting.
    let record = record.filter(|record| is_alive(record.pid));
    ProxyView {
        state: ProxyState::NotAnswering,
        url: record.as_ref().map(|record| record.url.clone()),
        pid: record.map(|record| record.pid),
        ..ProxyView::default()
    }
}

/// What listens on the port of the settings, where no daemon of this home does; `None` if the port is free.
pub(crate) fn taken(settings: &ProxySettings) -> Option<String> {
    taken_at(SocketAddr::new(settings.host, settings.port))
}

/// The same of any address.
pub(crate) fn taken_at(address: SocketAddr) -> Option<String> {
    let port = address.port();
    match listener_at(address) {
        Listener::Nothing => None,
        Listener::Foreign => Some(format!("another program listens on port {port}")),
        Listener::Grov { pid } => Some(format!(
            "the Grov daemon of another home (process {pid}) listens on port {port}"
        )),
    }
}

fn health(url: &str) -> Option<Health> {
    let url = Url::parse(url)
        .ok()
        .filter(|url| url.is_loopback() && !url.is_secure())?;
    let answer = get(&url).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.lines().next()?.split(' ').nth(1)?;
    // The object alone, whatever framing is around it.
    let json = body.get(body.find('{')?..=body.rfind('}')?)?;
    (status == "200").then(|| serde_json::from_str(json).ok())?
}

fn get(url: &Url) -> io::Result<String> {
    let address = (url.host(), url.port())
        .to_socket_addrs()?
        .next()
        .ok_or(io::ErrorKind::NotFound)?;
    let stream = TcpStream::connect_timeout(&address, CONNECT_PATIENCE)?;
    ask_health(stream, url.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Answers one request with `answer`, then hangs up.
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
        ask(&home)
    }

    #[test]
    fn a_daemon_that_answers_is_running() {
        let url = answering(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"status\":\"ok\",\"version\":\"1.0.0\",\"pid\":7,\"judge\":{\"answering\":\"rules\",\"why_rules\":\"budget_spent\",\"answers_by_model\":3,\"answers_by_rules\":4,\"calls\":9}}",
        );
        let expected = ProxyView {
            running: true,
            state: ProxyState::Running,
            store: None,
            url: Some(url.clone()),
            pid: Some(7),
            version: Some("1.0.0".into()),
            judge: Some(LiveJudge {
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
    fn a_daemon_that_holds_its_home_and_does_not_answer_is_not_called_not_running() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(directory.path()), &Environment::default()).unwrap();
        let lock = daemon::Lock::acquire(&home).unwrap();
        let starting = ask(&home);
        assert_eq!(
            (starting.running, starting.state),
            (false, ProxyState::NotAnswering)
        );
        assert!(
            starting
                .no_answer()
                .is_some_and(|(what, _)| what.contains("starting"))
        );
        // Accepts, by the system's queue, and never answers.
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let now = grov_domain::Clock::now(&grov_domain::SystemClock);
        lock.publish(&daemon::Record::of_this_process(&*url, "1.2.3", now))
            .unwrap();
        let silent = ask(&home);
        assert_eq!((silent.running, silent.state), (false, ProxyState::NotAnswering));
        assert_eq!((silent.url, silent.pid), (Some(url), Some(std::process::id())));
        drop(lock);
        assert_eq!(ask(&home), ProxyView::default());
    }

    #[test]
    fn whatever_else_answers_is_not_our_daemon() {
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
    fn a_record_that_was_left_over_means_not_running() {
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
