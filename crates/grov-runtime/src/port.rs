//! Identifies the program that listens on a local port: a Grov daemon that answers, one that does not, or another program.

mod holder;

pub use holder::{Holder, holder};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const HEALTH: &str = "/_grov/health";
/// A local connection is established at once or never.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);
/// A Grov daemon answers within this time even on a busy machine, so a slower program is not a Grov daemon.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum bytes of an answer that are read. A daemon's answer is shorter.
const MAX_ANSWER: usize = 64 * 1024;

/// The header by which a daemon with TLS recognises Grov's own programs on the same machine. It answers them in plain HTTP below
/// `/_grov/`, so that a hook needs neither TLS nor a certificate.
pub const LOCAL_HEADER: &str = "x-grov-local";

/// The name of the daemon's program.
const DAEMON: &str = "grov-proxyd";

/// The program that listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listener {
    /// No program.
    Nothing,
    /// A Grov daemon, of this home or another one.
    Grov {
        /// Its process id.
        pid: u32,
    },
    /// A Grov daemon that accepts connections and does not answer: stopped, overloaded or hung.
    Hung {
        /// Its process id.
        pid: u32,
    },
    /// Another program, which may or may not answer.
    Foreign {
        /// `None` if this user may not see it.
        holder: Option<Holder>,
    },
}

/// Identifies the program that listens at an address, in little more than a second.
pub fn listener_at(address: SocketAddr) -> Listener {
    /// The fields that distinguish a daemon's answer from another program's.
    #[derive(Deserialize)]
    struct Health {
        pid: u32,
        #[serde(rename = "exchanges_observed")]
        _exchanges: u64,
    }
    let Ok(stream) = connect(address) else {
        return Listener::Nothing;
    };
    if let Some(health) = fetch_health::<Health>(stream) {
        return Listener::Grov { pid: health.pid };
    }
    match holder(address.port()) {
        Some(daemon) if daemon.name.starts_with(DAEMON) => Listener::Hung { pid: daemon.pid },
        holder => Listener::Foreign { holder },
    }
}

/// Whether the program that listens at an address answers an HTTP request at all, within a second.
pub fn is_answering(address: SocketAddr) -> bool {
    let answered = || -> io::Result<bool> {
        let mut stream = connect(address)?;
        request(&mut stream, HEALTH)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(stream.read(&mut [0; 1])? > 0)
    };
    answered().unwrap_or(false)
}

/// Connects to a local address. Waits 300 ms at most.
///
/// # Errors
/// The system's error.
pub fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)
}

/// Requests `/_grov/health` over a connection and parses the JSON object of the answer. `None` for any other answer, after
/// an error, or after one second.
pub fn fetch_health<T: DeserializeOwned>(stream: TcpStream) -> Option<T> {
    let answer = get(stream, HEALTH).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?;
    // Skips the chunk sizes around the object, if there are any.
    let json = body.get(body.find('{')?..=body.rfind('}')?)?;
    (status == "200").then(|| serde_json::from_str(json).ok())?
}

/// Requests `/_grov/metrics` over a connection; the Prometheus text, or `None` as with [`fetch_health`].
pub fn fetch_metrics(stream: TcpStream) -> Option<String> {
    let answer = get(stream, "/_grov/metrics").ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    (head.split(' ').nth(1)? == "200").then(|| body.to_owned())
}

/// The whole response, head and body.
fn get(mut stream: TcpStream, path: &str) -> io::Result<String> {
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    request(&mut stream, path)?;
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while answer.len() < MAX_ANSWER {
        // Each read gets only the remaining time, so that a slow sender cannot extend it.
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

fn request(stream: &mut TcpStream, path: &str) -> io::Result<()> {
    let port = stream.peer_addr()?.port();
    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
    // Sent with one write: a server may answer and close the connection after the first line.
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\n{LOCAL_HEADER}: 1\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn answering(answer: &'static str) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer.as_bytes());
        });
        address
    }

    #[test]
    fn a_daemon_is_distinguished_from_other_programs() {
        let grov = "HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ok\",\"pid\":7,\"exchanges_observed\":0}";
        assert_eq!(listener_at(answering(grov)), Listener::Grov { pid: 7 });
        for foreign in [
            "",
            "SSH-2.0-OpenSSH\r\n",
            "HTTP/1.1 404 Not Found\r\n\r\n<html>",
            "HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ok\",\"pid\":7}",
        ] {
            let found = listener_at(answering(foreign));
            assert!(matches!(found, Listener::Foreign { .. }), "{foreign}: {found:?}");
        }
    }

    #[test]
    fn a_program_that_accepts_and_never_answers_is_foreign() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let found = listener_at(address);
        assert!(matches!(found, Listener::Foreign { .. }), "{found:?}");
        assert!(!is_answering(address));
        assert!(is_answering(answering("HTTP/1.1 404 Not Found\r\n\r\n")));
        drop(listener);
        assert_eq!(listener_at(address), Listener::Nothing);
    }
}
