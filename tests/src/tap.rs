//! A tap between two processes: forwards every byte and keeps a copy.

use crate::http::{self, Headers};
use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// One request and its response on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Method and target, from the first line.
    pub line: String,
    /// The request's headers, names in lower case.
    pub headers: Headers,
    /// The request's body.
    pub body: Vec<u8>,
    /// The response's status.
    pub status: u16,
    /// The response's headers, names in lower case.
    pub answer_headers: Headers,
    /// The response's body, without its framing.
    pub answer: Vec<u8>,
}

/// A listener that forwards every connection and records both directions.
pub struct WireTap {
    port: u16,
    connections: Arc<Mutex<Vec<Connection>>>,
}

#[derive(Clone, Default)]
struct Connection {
    requests: Arc<Mutex<Vec<u8>>>,
    answers: Arc<Mutex<Vec<u8>>>,
}

impl WireTap {
    /// Starts a tap in front of `target`, a port on this machine.
    ///
    /// # Errors
    /// No port is available.
    pub fn before(target: u16) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let connections: Arc<Mutex<Vec<Connection>>> = Arc::default();
        let known = Arc::clone(&connections);
        // Stops with the test process: a test has few taps.
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(("127.0.0.1", target)) else {
                    continue;
                };
                let connection = Connection::default();
                lock(&known).push(connection.clone());
                let (Ok(near_reader), Ok(far_reader)) = (near.try_clone(), far.try_clone()) else {
                    continue;
                };
                thread::spawn(move || pass(near_reader, far, &connection.requests));
                thread::spawn(move || pass(far_reader, near, &connection.answers));
            }
        });
        Ok(Self { port, connections })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The base URL for the client to be tapped.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All messages so far, connection by connection.
    ///
    /// # Errors
    /// The recorded bytes are not HTTP.
    pub fn messages(&self) -> Result<Vec<Message>> {
        let mut messages = Vec::new();
        for connection in lock(&self.connections).iter() {
            let requests = lock(&connection.requests).clone();
            let answers = lock(&connection.answers).clone();
            messages.extend(parse(&requests, &answers)?);
        }
        Ok(messages)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pass(mut from: TcpStream, mut to: TcpStream, copy: &Mutex<Vec<u8>>) {
    let mut piece = [0; 16 * 1024];
    while let Ok(read) = from.read(&mut piece) {
        if read == 0 {
            break;
        }
        lock(copy).extend_from_slice(&piece[..read]);
        if to.write_all(&piece[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

fn parse(mut requests: &[u8], mut answers: &[u8]) -> Result<Vec<Message>> {
    let mut messages = Vec::new();
    while let Some((first, headers)) = http::read_head(&mut requests)? {
        let mut body = Vec::new();
        if let Some((_, length)) = headers.iter().find(|(name, _)| name == "content-length") {
            http::read_exactly(&mut requests, length.parse()?, &mut |piece| {
                body.extend_from_slice(piece)
            })?;
        } else if headers.iter().any(|(name, _)| name == "transfer-encoding") {
            http::read_chunks(&mut requests, &mut |piece| body.extend_from_slice(piece))?;
        }
        let line = first
            .rsplit_once(' ')
            .context("a request has no version")?
            .0
            .to_owned();
        let answer = if line.starts_with("HEAD ") {
            let (status, answer_headers) = http::read_head(&mut answers)?.context("no answer to HEAD")?;
            (http::status(&status)?, answer_headers, Vec::new())
        } else {
            let response = http::read_response(&mut answers, |_| {})?;
            (response.status, response.headers, response.body)
        };
        let (status, answer_headers, answer) = answer;
        messages.push(Message {
            line,
            headers,
            body,
            status,
            answer_headers,
            answer,
        });
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_are_paired() {
        let requests =
            b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\nPOST /a?b=c HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi";
        let answers =
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nHTTP/1.1 201 OK\r\nContent-Length: 3\r\n\r\nyes";
        let messages = parse(requests, answers).unwrap();
        let seen: Vec<(&str, u16, &[u8])> = messages
            .iter()
            .map(|message| (message.line.as_str(), message.status, &*message.answer))
            .collect();
        assert_eq!(seen, [("HEAD /", 200, &b""[..]), ("POST /a?b=c", 201, b"yes")]);
        assert_eq!(messages[1].body, b"hi");
    }
}
