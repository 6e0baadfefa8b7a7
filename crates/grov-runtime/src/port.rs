//! Who listens on a port of this machine: a Grov daemon or another program.

use serde::Deserialize;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// On one machine a connection is made at once or never.
const CONNECT_PATIENCE: Duration = Duration::from_millis(300);
/// A daemon of ours answers within this time also on a busy machine. What does not answer is taken for another program.
const ANSWER_PATIENCE: Duration = Duration::from_secs(1);
/// The answer of a daemon is shorter.
const LENGTH_LIMIT: usize = 64 * 1024;

/// What listens on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// No program.
    Nothing,
    /// A Grov daemon, of this home or another one.
    Grov {
        /// Its process.
        pid: u32,
    },
    /// Another program, which may or may not answer.
    Foreign,
}

/// Finds out what listens at an address. It takes little more than a second, whatever the program there does.
pub fn listener_at(address: SocketAddr) -> Listener {
    let Ok(stream) = TcpStream::connect_timeout(&address, CONNECT_PATIENCE) else {
        return Listener::Nothing;
    };
    let answer = ask_health(stream, address.port()).ok();
    match answer.and_then(|answer| pid_of(&answer)) {
        Some(pid) => Listener::Grov { pid },
        None => Listener::Foreign,
    }
}

/// The process that an answer of `/_grov/health` names; `None` if it is no such answer.
fn pid_of(answer: &str) -> Option<u32> {
    /// What tells a daemon's answer from that of another program which says that it is well.
    #[derive(Deserialize)]
    struct Health {
        pid: u32,
        #[serde(rename = "exchanges_observed")]
        _exchanges: u64,
    }
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let json = body.get(body.find('{')?..=body.rfind('}')?)?;
    serde_json::from_str::<Health>(json).ok().map(|health| health.pid)
}

/// Asks the program at the other end of a connection for `/_grov/health` and returns its whole answer, head and body.
///
/// Waits a second at most, however the answer trickles in.
///
/// # Errors
/// Where the connection breaks, or the time is over.
pub fn ask_health(mut stream: TcpStream, port: u16) -> io::Result<String> {
    let deadline = Instant::now() + ANSWER_PATIENCE;
    stream.set_write_timeout(Some(ANSWER_PATIENCE))?;
    // In one piece: a server may answer, and hang up, as soon as it has seen the first line.
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
    fn a_daemon_is_told_from_other_programs() {
        let grov = "HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ok\",\"pid\":7,\"exchanges_observed\":0}";
        assert_eq!(listener_at(answering(grov)), Listener::Grov { pid: 7 });
        for foreign in [
            "",
            "SSH-2.0-OpenSSH\r\n",
            "HTTP/1.1 404 Not Found\r\n\r\n<html>",
            "HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ok\",\"pid\":7}",
        ] {
            assert_eq!(listener_at(answering(foreign)), Listener::Foreign, "{foreign}");
        }
    }

    #[test]
    fn a_program_that_accepts_and_never_answers_is_another_one() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(listener_at(address), Listener::Foreign);
        drop(listener);
        assert_eq!(listener_at(address), Listener::Nothing);
    }
}
