//! Whether the daemon of a home answers.

use grov_runtime::port::{Listener, listener_at};
use grov_runtime::{Home, ProxySettings, Url, daemon};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// On one machine a connection is made at once or never.
const CONNECT_PATIENCE: Duration = Duration::from_millis(300);
/// A machine under load may let a daemon wait for its turn; one that hangs shall not hold anybody up.
const PATIENCE: Duration = Duration::from_secs(1);
/// The answer is a few hundred bytes.
const LENGTH_LIMIT: usize = 64 * 1024;

/// The proxy of a home, as it answers now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ProxyView {
    pub(crate) running: bool,
    pub(crate) url: Option<String>,
    pub(crate) pid: Option<u32>,
    pub(crate) version: Option<String>,
    /// How its judge stands; a daemon of an older version does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) judge: Option<LiveJudge>,
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
}

/// Asks the daemon that the home's record names. A record whose daemon does not answer, or in whose place another one
/// does, is left over from one that was killed.
pub(crate) fn ask(home: &Home) -> ProxyView {
    let Some(record) = daemon::read(home) else {
        return ProxyView::default();
    };
    match health(&record.url) {
        Some(health) if health.status == "ok" && health.pid.is_none_or(|pid| pid == record.pid) => {
            ProxyView {
                running: true,
                url: Some(record.url),
                pid: Some(record.pid),
                version: Some(health.version.unwrap_or(record.version)),
                judge: health.judge,
            }
        }
        _ => ProxyView::default(),
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
    let deadline = Instant::now() + PATIENCE;
    let address = (url.host(), url.port())
        .to_socket_addrs()?
        .next()
        .ok_or(io::ErrorKind::NotFound)?;
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // In one piece: a server may answer, and hang up, as soon as it has seen the first line.
    let port = url.port();
    let request =
        format!("GET /_grov/health HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while answer.len() < LENGTH_LIMIT {
        // Each wait gets what is left, so that a trickle cannot stretch it.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer)? {
            0 => break,
            length => answer.extend_from_slice(&buffer[..length]),
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;
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
