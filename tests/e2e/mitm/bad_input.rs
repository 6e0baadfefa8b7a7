//! Clients that send nonsense, nothing, or too much.

use super::{Intercepted, builder, connect_port, text};
use crate::upstream::{NOWHERE, Upstream};
use anyhow::{Context, Result};
use grov_tests::{Response, eventually, open, read_response};
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Sends bytes to the CONNECT proxy and reads one answer.
fn answer(port: u16, bytes: &str) -> Result<Response> {
    let mut stream = open(port)?;
    stream.write_all(bytes.as_bytes())?;
    read_response(&mut BufReader::new(stream), |_| {})
}

/// A connection whose CONNECT was accepted.
pub(super) fn connected(port: u16, target: &str) -> Result<TcpStream> {
    let mut stream = open(port)?;
    stream.write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes())?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).with_context(|| text(&head))?;
        head.push(byte[0]);
    }
    anyhow::ensure!(head.starts_with(b"HTTP/1.1 200 "), "{}", text(&head));
    Ok(stream)
}

#[test]
fn bad_targets_are_refused_with_a_reason() -> Result<()> {
    let work = Intercepted::start()?;
    let port = work.port()?;
    for (target, status, reason) in [
        ("localhost:0", 400, "port"),
        ("localhost", 400, "port"),
        ("localhost:", 400, ""),
        ("localhost:99999", 400, ""),
        ("user@localhost:443", 400, ""),
        ("::1:443", 400, ""),
        ("[::1", 400, ""),
        ("/path", 400, ""),
        ("*:443", 400, ""),
        ("127.0.0.1:9", 502, "cannot connect to 127.0.0.1:9"),
        ("[::1]:9", 502, "cannot connect to ::1:9"),
        (
            "nothing.invalid:443",
            502,
            "cannot connect to nothing.invalid:443",
        ),
    ] {
        let response = answer(port, &format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n"))
            .with_context(|| target.to_owned())?;
        assert_eq!(response.status, status, "{target}: {}", response.text());
        assert!(response.text().contains(reason), "{target}: {}", response.text());
    }
    // It still serves others.
    assert!(work.turn(1)?.contains("message_stop"));
    Ok(())
}

#[test]
fn ipv6_literals_are_tunnelled() -> Result<()> {
    let Ok(server) = TcpListener::bind("[::1]:0") else {
        eprintln!("SKIPPED: this machine has no IPv6");
        return Ok(());
    };
    let work = Intercepted::start()?;
    let mut client = connected(work.port()?, &format!("[::1]:{}", server.local_addr()?.port()))?;
    let (mut accepted, _) = server.accept()?;
    client.write_all(b"over")?;
    let mut got = [0; 4];
    accepted.read_exact(&mut got)?;
    assert_eq!(&got, b"over");
    Ok(())
}

#[test]
fn requests_in_other_forms_are_told_where_to_go() -> Result<()> {
    let work = Intercepted::start()?;
    let port = work.port()?;
    let origin = answer(
        port,
        "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
    )?;
    assert_eq!(origin.status, 400);
    assert!(origin.text().contains("HTTPS_PROXY"), "{}", origin.text());
    let secure = answer(
        port,
        "GET https://api.anthropic.com/ HTTP/1.1\r\nHost: api.anthropic.com\r\n\r\n",
    )?;
    assert_eq!(secure.status, 400);
    assert!(secure.text().contains("CONNECT"), "{}", secure.text());
    let own = answer(
        port,
        &format!("GET http://localhost:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    )?;
    assert_eq!(own.status, 502);
    assert!(own.text().contains("loop"), "{}", own.text());
    let dead = answer(port, "GET http://127.0.0.1:9/ HTTP/1.1\r\nHost: x\r\n\r\n")?;
    assert_eq!(dead.status, 502);
    Ok(())
}

#[test]
fn plain_http_after_connect_gets_a_readable_400() -> Result<()> {
    let work = Intercepted::start()?;
    let mut stream = connected(work.port()?, "api.anthropic.com:443")?;
    stream
        .write_all(b"POST /v1/messages HTTP/1.1\r\nHost: api.anthropic.com\r\nContent-Length: 2\r\n\r\n{}")?;
    let response = read_response(&mut BufReader::new(stream), |_| {})?;
    assert_eq!(response.status, 400);
    assert!(response.text().contains("TLS"), "{}", response.text());
    assert_eq!(work.upstream.sim().requests().len(), 0);
    Ok(())
}

#[test]
fn tls_that_is_sent_before_the_answer_to_connect_is_not_lost() -> Result<()> {
    let work = Intercepted::start()?;
    let mut stream = open(work.port()?)?;
    // The first byte of TLS, and a record that is none.
    stream.write_all(b"CONNECT api.anthropic.com:443 HTTP/1.1\r\nHost: x\r\n\r\n\x16\x03\x01\xff\xff")?;
    stream.write_all(&[0; 70_000])?;
    let mut rest = Vec::new();
    // The connection is closed, after the 200 and an alert.
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.starts_with(b"HTTP/1.1 200 "), "{}", text(&rest));
    eventually("the failed handshake", || {
        (work.counters().ok()?["failed_handshakes"] == 1).then_some(())
    })?;
    Ok(())
}

#[test]
fn clients_that_leave_in_the_handshake_do_no_harm() -> Result<()> {
    let work = Intercepted::start()?;
    for _ in 0..50 {
        let mut stream = connected(work.port()?, "api.anthropic.com:443")?;
        stream.write_all(b"\x16\x03\x01")?;
    }
    drop(connected(work.port()?, "api.anthropic.com:443")?);
    assert!(work.turn(1)?.contains("message_stop"));
    Ok(())
}

#[test]
fn ten_megabytes_before_the_request_line_are_refused_early() -> Result<()> {
    let work = Intercepted::start()?;
    let mut stream = open(work.port()?)?;
    let junk = vec![b'A'; 64 * 1024];
    let mut sent = 0;
    while sent < 10 * 1024 * 1024 {
        match stream.write(&junk) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    assert!(sent < 10 * 1024 * 1024, "it read everything");
    assert!(work.turn(1)?.contains("message_stop"));
    Ok(())
}

#[test]
fn too_many_connections_get_a_503() -> Result<()> {
    let work = Intercepted::with(Upstream::start()?, |builder| {
        builder.env("GROV_MITM_CONNECTIONS", "2")
    })?;
    let port = work.port()?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let target = server.local_addr()?.to_string();
    let tunnels = [connected(port, &target)?, connected(port, &target)?];
    let full = answer(port, &format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n"))?;
    assert_eq!(full.status, 503, "{}", full.text());
    assert!(full.text().contains("mitm.connections"), "{}", full.text());
    assert_eq!(full.header("retry-after"), Some("1"));
    drop(tunnels);
    // Both sides close.
    drop((server.accept()?, server.accept()?));
    eventually("room again", || connected(port, &target).ok().map(drop))?;
    Ok(())
}

#[test]
fn a_tunnel_passes_the_end_of_one_direction_on_and_keeps_the_other() -> Result<()> {
    let work = Intercepted::start()?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let mut client = connected(work.port()?, &server.local_addr()?.to_string())?;
    let (mut accepted, _) = server.accept()?;
    client.write_all(b"question")?;
    client.shutdown(std::net::Shutdown::Write)?;
    let mut question = String::new();
    accepted.read_to_string(&mut question)?;
    assert_eq!(question, "question");
    accepted.write_all(b"answer")?;
    drop(accepted);
    let mut answer = String::new();
    client.read_to_string(&mut answer)?;
    assert_eq!(answer, "answer");
    Ok(())
}

#[test]
fn a_peer_that_does_not_read_stops_the_other() -> Result<()> {
    let work = Intercepted::start()?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let mut client = connected(work.port()?, &server.local_addr()?.to_string())?;
    let (mut accepted, _) = server.accept()?;
    client.set_nonblocking(true)?;
    let piece = vec![7; 256 * 1024];
    let mut sent = 0;
    let mut waits = 0;
    // Until nothing more is taken for a while: the sockets' buffers are full.
    while waits < 20 {
        match client.write(&piece) {
            Ok(count) => {
                sent += count;
                waits = 0;
            }
            Err(_) => {
                waits += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        assert!(sent < 256 * 1024 * 1024, "nobody reads, and it is all taken");
    }
    client.set_nonblocking(false)?;
    client.shutdown(std::net::Shutdown::Write)?;
    let mut got = Vec::new();
    accepted.read_to_end(&mut got)?;
    assert_eq!(got.len(), sent);
    Ok(())
}

#[test]
fn open_tunnels_do_not_keep_a_daemon_from_stopping() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let daemon = builder(&folder.path().join("grov"), NOWHERE).start()?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let mut client = connected(connect_port(&daemon)?, &server.local_addr()?.to_string())?;
    let ended = daemon.stop()?;
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(client.read(&mut [0]).unwrap_or(0), 0);
    Ok(())
}
