//! Messages that no client should send, over standard input and over HTTP: each gets its error, or the server ends in order, with
//! bounded memory.

use super::Remembered;
use crate::hooks::QUESTION;
use crate::upstream::NOWHERE;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, McpClient, Request, Response, exchange, open};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// JSON that is no message of the protocol.
fn no_messages() -> [String; 7] {
    [
        json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}).to_string(),
        json!({"id": 1, "method": "ping"}).to_string(),
        json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]).to_string(),
        json!({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "method": 7}).to_string(),
        "[]".to_owned(),
        "7".to_owned(),
    ]
}

/// A field of `/proc/PID/status` in MiB.
fn memory(process: u32, field: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kibibytes.context("no such field")?.trim().parse::<u64>()? / 1024)
}

fn ping(client: &mut McpClient) -> Result<()> {
    let answer = client.request("ping", json!({}))?;
    ensure!(answer["result"].is_object(), "{answer}");
    Ok(())
}

#[test]
fn json_that_is_no_message_is_an_invalid_request() -> Result<()> {
    let remembered = Remembered::new()?;
    for mut client in [
        McpClient::start(remembered.grov().command(&["mcp"])?)?,
        remembered.client()?,
    ] {
        for message in no_messages() {
            client.send(&message)?;
            let answer = client.receive()?;
            assert_eq!(answer["error"]["code"], INVALID_REQUEST, "{message}: {answer}");
        }
        ping(&mut client)?;
    }
    Ok(())
}

#[test]
fn an_error_has_the_id_of_its_request_and_says_what_is_wrong() -> Result<()> {
    let remembered = Remembered::new()?;
    let mut client = remembered.client()?;
    for (message, code, part) in [
        (
            json!({"jsonrpc": "2.0", "id": 11, "method": "tools/call", "params": [1]}),
            INVALID_PARAMS,
            "parameters of tools/call",
        ),
        (json!({"id": 11}), INVALID_REQUEST, "method"),
        (
            json!({"jsonrpc": "2.0", "id": 11, "method": 7}),
            INVALID_REQUEST,
            "method",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 11, "method": "tools/call"}),
            INVALID_PARAMS,
            "parameters of tools/call",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 11, "method": "initialize", "params": {}}),
            INVALID_PARAMS,
            "parameters of initialize",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 11, "method": "tools/frob", "params": {}}),
            METHOD_NOT_FOUND,
            "no method",
        ),
    ] {
        client.send(&message.to_string())?;
        let answer = client.receive()?;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(11), &json!(code)),
            "{answer}"
        );
        let said = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains(part), "{said}");
    }
    // Nobody waits for an answer to a notification.
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": [1]}).to_string())?;
    ping(&mut client)
}

#[test]
fn a_line_that_is_no_json_is_skipped() -> Result<()> {
    let remembered = Remembered::new()?;
    let mut client = remembered.client()?;
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}",
        "[".repeat(100_000)
    );
    for line in [
        "{",
        "{\"jsonrpc\": \"2.0\", \"id\": 1,",
        "nothing",
        "\u{feff}",
        deep.as_str(),
    ] {
        client.send(line)?;
    }
    client.send_bytes(b"\xff\xfe{\"jsonrpc\":\"2.0\"}\n\n\r\n")?;
    ping(&mut client)?;
    let unknown = client.request("tools/frobnicate", json!({}))?;
    assert_eq!(unknown["error"]["code"], METHOD_NOT_FOUND, "{unknown}");
    assert_eq!(client.end()?, Some(0));
    Ok(())
}

#[test]
fn a_first_message_that_is_no_request_ends_the_server_with_the_reason() -> Result<()> {
    let remembered = Remembered::new()?;
    let mut client = McpClient::start(remembered.grov().command(&["mcp"])?)?;
    let reason = "x".repeat(4 << 20);
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": reason}})
            .to_string(),
    )?;
    let (code, log) = client.end_with_log()?;
    assert_eq!(code, Some(2));
    assert!(
        log.contains("first message is no request") && log.len() < 1000,
        "{log:.1000}"
    );
    Ok(())
}

#[test]
fn a_line_of_100_megabytes_takes_no_memory() -> Result<()> {
    let remembered = Remembered::new()?;
    let mut client = remembered.client()?;
    let piece = vec![b'x'; 1 << 20];
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"")?;
    for _ in 0..100 {
        client.send_bytes(&piece)?;
    }
    client.send_bytes(b"\"}}\n")?;
    ping(&mut client)?;
    let peak = memory(client.pid(), "VmHWM")?;
    assert!(peak < 100, "{peak} MiB");
    assert_eq!(client.end()?, Some(0));
    Ok(())
}

#[test]
fn a_client_that_writes_and_does_not_read_takes_no_memory() -> Result<()> {
    let remembered = Remembered::new()?;
    let mut command = remembered.grov().command(&["mcp"])?;
    let mut server = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = server.stdin.take().context("no input")?;
    let mut output = BufReader::new(server.stdout.take().context("no output")?);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    writeln!(input, "{begin}")?;
    output.read_line(&mut String::new())?;
    let before = memory(server.id(), "VmRSS")?;
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = Arc::clone(&is_gone);
    let writer = thread::spawn(move || {
        // Until the pipe is full because the server reads no further.
        let requests = (1..200_000).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
        let mut requests = requests.take_while(|_| !gone.load(Ordering::Relaxed));
        requests.all(|message| writeln!(input, "{message}").is_ok())
    });
    thread::sleep(Duration::from_secs(3));
    let grown = memory(server.id(), "VmRSS")?.saturating_sub(before);
    let is_held = !writer.is_finished();
    is_gone.store(true, Ordering::Relaxed);
    drop(output);
    drop(writer.join());
    let code = server.wait()?.code();
    assert!(is_held, "the server read everything");
    assert!(grown < 30, "{grown} MiB");
    assert_eq!(code, Some(0));
    Ok(())
}

#[test]
fn a_request_id_that_is_in_use_is_refused() -> Result<()> {
    let remembered = Remembered::new()?;
    let mut client = remembered.client()?;
    let call = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": QUESTION}}});
    // Both lines in one write: the second one arrives while the first one is in work.
    client.send(&format!("{call}\n{call}"))?;
    let answers = [client.receive()?, client.receive()?];
    assert!(answers.iter().all(|answer| answer["id"] == 5), "{answers:?}");
    let refused = |answer: &&Value| answer["error"]["code"] == INVALID_REQUEST;
    assert!(answers.iter().filter(refused).count() <= 1, "{answers:?}");
    ping(&mut client)?;
    Ok(())
}

/// A daemon with a token, and a client that posts to `/_grov/mcp`.
struct Posting {
    daemon: Daemon,
    token: String,
    project: String,
    _remembered: Remembered,
}

impl Posting {
    fn new() -> Result<Self> {
        let remembered = Remembered::new()?;
        let daemon = Daemon::on(&remembered.home(), NOWHERE).start()?;
        let token = "0123456789abcdef".repeat(4);
        fs::write(remembered.home().join("hook-token"), &token)?;
        let project = remembered.project();
        Ok(Self {
            daemon,
            token,
            project: project.to_str().context("the path is not UTF-8")?.to_owned(),
            _remembered: remembered,
        })
    }

    fn request(&self) -> Request {
        Request::new("POST", "/_grov/mcp")
            .header("authorization", &format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("x-grov-project-dir", &self.project)
    }

    fn post(&self, body: impl Into<Vec<u8>>) -> Result<Response> {
        exchange(self.daemon.port(), &self.request().body(body))
    }
}

fn error_code(answer: &Response) -> Result<Value> {
    ensure!(
        answer.header("content-type") == Some("application/json"),
        "{answer:?}"
    );
    let body: Value = serde_json::from_slice(&answer.body).with_context(|| answer.text())?;
    ensure!(
        body["jsonrpc"] == "2.0" && body["error"]["message"].is_string(),
        "{body}"
    );
    Ok(body["error"]["code"].clone())
}

#[test]
fn bad_messages_over_http_get_errors_of_the_protocol() -> Result<()> {
    let posting = Posting::new()?;
    for body in ["{", "nothing", "{\"jsonrpc\":\"2.0\",\"id\":1", "\u{feff}"] {
        let answer = posting.post(body)?;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        assert_eq!(error_code(&answer)?, PARSE_ERROR, "{body}");
    }
    assert_eq!(error_code(&posting.post(vec![0xff, 0xfe])?)?, PARSE_ERROR);
    for body in no_messages() {
        let answer = posting.post(body.clone())?;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        assert_eq!(error_code(&answer)?, INVALID_REQUEST, "{body}");
    }
    let unknown = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/frobnicate", "params": {}});
    assert_eq!(error_code(&posting.post(unknown.to_string())?)?, METHOD_NOT_FOUND);
    let wrong_kind = Request::new("POST", "/_grov/mcp")
        .header("authorization", &format!("Bearer {}", posting.token))
        .header("content-type", "text/plain")
        .header("accept", "application/json, text/event-stream")
        .body("{}");
    let answer = exchange(posting.daemon.port(), &wrong_kind)?;
    assert_eq!(
        (answer.status, error_code(&answer)?),
        (415, json!(INVALID_REQUEST))
    );
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    let answer = posting.post(cancelled.to_string())?;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": QUESTION}}});
    assert_eq!(posting.post(call.to_string())?.status, 200);
    Ok(())
}

#[test]
fn large_and_broken_bodies_over_http_leave_the_daemon_as_it_was() -> Result<()> {
    let posting = Posting::new()?;
    let port = posting.daemon.port();
    let before = memory(posting.daemon.pid(), "VmHWM")?;
    let large = posting
        .request()
        .header("transfer-encoding", "chunked")
        .bytes(port);
    let mut stream = open(port)?;
    stream.write_all(&large)?;
    let chunk = [
        format!("{:x}\r\n", 1 << 20).into_bytes(),
        vec![b'x'; 1 << 20],
        b"\r\n".to_vec(),
    ]
    .concat();
    for _ in 0..100 {
        // The daemon answers and closes before the end.
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    drop(stream);
    for _ in 0..20 {
        let whole = posting.request().body(vec![b'['; 100_000]).bytes(port);
        let mut stream = open(port)?;
        stream.write_all(&whole[..whole.len() - 50_000])?;
        drop(stream);
        // It goes away while its call is in work.
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": QUESTION}}});
        let mut stream = open(port)?;
        stream.write_all(&posting.request().body(call.to_string()).bytes(port))?;
        drop(stream);
    }
    let answer = posting.post(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string())?;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let grown = memory(posting.daemon.pid(), "VmHWM")?.saturating_sub(before);
    assert!(grown < 40, "{grown} MiB");
    Ok(())
}
