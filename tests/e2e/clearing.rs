//! Clears in conversations that the real client cannot be made to have: refused cuts, restarts, images, huge turns.

use crate::turn::request_in;
use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Grov, eventually, exchange};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

const SESSION: &str = "00000000-0000-4000-8000-000000000024";

/// The beginning of the block that stands for what is left out.
const SUMMARY: &str = "<grov-context source=\\\"session\\\">";

/// The window in tokens, at four bytes a token.
const WINDOW: &str = "40000";

/// The API as far as a test needs it: it counts a token for four bytes, and refuses cut requests if told so.
struct Plain {
    port: u16,
    bodies: Arc<Mutex<Vec<(u16, String)>>>,
}

impl Plain {
    fn start(refuses_cuts: bool) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let bodies: Arc<Mutex<Vec<(u16, String)>>> = Arc::default();
        let seen = Arc::clone(&bodies);
        // Ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || while answer(&stream, refuses_cuts, &seen).is_some() {});
            }
        });
        Ok(Self { port, bodies })
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Status and body of the requests so far.
    fn seen(&self) -> Vec<(u16, String)> {
        self.bodies
            .lock()
            .map(|bodies| bodies.clone())
            .unwrap_or_default()
    }
}

/// Answers one request. Returns `None` at the end of the connection.
fn answer(mut stream: &TcpStream, refuses_cuts: bool, seen: &Mutex<Vec<(u16, String)>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    let is_refused = refuses_cuts && body.contains(SUMMARY);
    let status = if is_refused { 400 } else { 200 };
    let answer = match is_refused {
        true => json!({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}),
        false => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-8",
            "content": [{"type": "text", "text": "On."}], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": body.len() / 4, "output_tokens": 2},
        }),
    };
    seen.lock().ok()?.push((status, body));
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        answer.len()
    );
    stream.write_all(format!("{head}{answer}").as_bytes()).ok()
}

/// A conversation that grows by a tool call and its result with each request.
struct Conversation {
    directory: String,
    messages: Vec<Value>,
    model: &'static str,
    steps: usize,
}

impl Conversation {
    fn starting_with(folder: &Path, content: Value) -> Self {
        Self {
            directory: folder.display().to_string(),
            messages: vec![json!({"role": "user", "content": content})],
            model: "claude-opus-4-8",
            steps: 0,
        }
    }

    fn start(folder: &Path) -> Self {
        Self::starting_with(
            folder,
            json!([{"type": "text", "text": "Count the stars. Never skip one."}]),
        )
    }

    /// Adds a call with a result of so many bytes.
    fn grow(&mut self, bytes: usize) {
        self.steps += 1;
        self.call(self.steps, 1, bytes);
    }

    /// Adds a message with so many calls, and one with their results.
    fn call(&mut self, number: usize, count: usize, bytes: usize) {
        let id = |at: usize| format!("toolu_{number:04}_{at:03}");
        let calls = (0..count).map(|at| {
            json!({"type": "tool_use", "id": id(at), "name": "Bash", "input": {"command": format!("count {number} {at}")}})
        });
        let results = (0..count).map(
            |at| json!({"type": "tool_result", "tool_use_id": id(at), "content": "* ".repeat(bytes / 2)}),
        );
        self.messages
            .push(json!({"role": "assistant", "content": calls.collect::<Vec<_>>()}));
        self.messages
            .push(json!({"role": "user", "content": results.collect::<Vec<_>>()}));
    }

    fn send(&self, daemon: &Daemon) -> Result<()> {
        let request = request_in(&self.directory, SESSION, &self.messages);
        let bytes = request.bytes(0);
        let text = String::from_utf8(bytes)?;
        let (_, body) = text.split_once("\r\n\r\n").context("no body")?;
        let mut body: Value = serde_json::from_str(body)?;
        body["model"] = self.model.into();
        let response = exchange(daemon.port(), &request.body(body.to_string()))?;
        ensure!(response.status == 200, "{}: {}", response.status, response.text());
        Ok(())
    }

    /// Grows by 1,000 tokens a step until a request was cut, as the upstream sees it.
    fn grow_until(&mut self, daemon: &Daemon, is_cut: impl Fn() -> bool) -> Result<()> {
        for _ in 0..60 {
            self.grow(4000);
            self.send(daemon)?;
            if is_cut() {
                return Ok(());
            }
            // Summaries are prepared, and cuts decided, in the background.
            std::thread::sleep(Duration::from_millis(100));
        }
        anyhow::bail!("no request was cut\n{}", daemon.log())
    }
}

struct Scene {
    folder: TempDir,
    url: String,
}

impl Scene {
    fn before(url: String) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        Ok(Self { folder, url })
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("grov")
    }

    fn daemon(&self, window: &str) -> Result<Daemon> {
        Daemon::on(&self.home(), &self.url)
            .env("GROV_CONTEXT_CLEAR", "true")
            .env("GROV_CONTEXT_WINDOW", window)
            .start()
    }
}

#[test]
fn a_refused_cut_goes_out_whole_and_is_the_last() -> Result<()> {
    let upstream = Plain::start(true)?;
    let scene = Scene::before(upstream.url())?;
    let daemon = scene.daemon(WINDOW)?;
    let mut conversation = Conversation::start(scene.folder.path());
    let refused = || {
        upstream
            .seen()
            .iter()
            .filter(|(status, _)| *status == 400)
            .count()
    };
    conversation.grow_until(&daemon, || refused() == 1)?;
    let seen = upstream.seen();
    let at = seen
        .iter()
        .position(|(status, _)| *status == 400)
        .context("none refused")?;
    let whole = &seen[at + 1];
    assert!(whole.0 == 200 && !whole.1.contains(SUMMARY));
    assert!(whole.1.len() > seen[at].1.len(), "the original");
    for _ in 0..3 {
        conversation.grow(4000);
        conversation.send(&daemon)?;
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(refused(), 1, "no further cut");
    // Also not by another process.
    daemon.stop()?;
    let daemon = scene.daemon(WINDOW)?;
    for _ in 0..3 {
        conversation.grow(4000);
        conversation.send(&daemon)?;
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(refused(), 1, "no further cut after a restart");
    Ok(())
}

/// The parts of a cut request that must not change: everything up to the last message.
fn cut_beginning(body: &str) -> Result<Vec<String>> {
    let body: Value = serde_json::from_str(body)?;
    let messages = body["messages"].as_array().context("no messages")?;
    Ok(messages.iter().map(Value::to_string).collect())
}

#[test]
fn a_cut_survives_a_restart_before_the_next_request() -> Result<()> {
    let upstream = Plain::start(false)?;
    let scene = Scene::before(upstream.url())?;
    let daemon = scene.daemon(WINDOW)?;
    let mut conversation = Conversation::start(scene.folder.path());
    let last = || upstream.seen().pop().map(|(_, body)| body).unwrap_or_default();
    conversation.grow_until(&daemon, || last().contains(SUMMARY))?;
    let before = last();
    daemon.stop()?;
    let daemon = scene.daemon(WINDOW)?;
    conversation.grow(400);
    conversation.send(&daemon)?;
    let after = last();
    let (before, after) = (cut_beginning(&before)?, cut_beginning(&after)?);
    assert_eq!(after.len(), before.len() + 2);
    assert_eq!(after[..before.len()], before[..], "byte for byte");
    Ok(())
}

#[test]
fn images_documents_and_five_hundred_results_are_cut_legally() -> Result<()> {
    let script = json!({"scenarios": {}});
    let upstream = Upstream::with(&script)?;
    let scene = Scene::before(upstream.url())?;
    let daemon = scene.daemon(WINDOW)?;
    let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": pixel}});
    let document =
        json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "A map."}});
    let prompt = json!([image, document, {"type": "text", "text": "Count the stars on this map."}]);
    let mut conversation = Conversation::starting_with(scene.folder.path(), prompt);
    conversation.call(9001, 500, 40);
    let last = conversation.messages.len() - 1;
    conversation.messages[last]["content"][7]["content"] = json!([{"type": "text", "text": "seen"}, image]);
    conversation.send(&daemon)?;
    let is_cut = || {
        let requests = upstream.sim().messages();
        requests
            .last()
            .is_some_and(|last| String::from_utf8_lossy(&last.body).contains(SUMMARY))
    };
    conversation.grow_until(&daemon, is_cut)?;
    // The turn with five hundred results after a cut.
    conversation.call(9002, 500, 40);
    conversation.send(&daemon)?;
    conversation.grow(4000);
    conversation.send(&daemon)?;
    // The simulation refuses what the API would refuse.
    for record in upstream.sim().messages() {
        let status = eventually("the response", || record.delivery()?.status)?;
        assert_eq!(status, 200, "request {}", record.number);
    }
    assert!(is_cut());
    Ok(())
}

#[test]
fn a_model_with_an_unknown_window_is_not_cleared() -> Result<()> {
    let upstream = Plain::start(false)?;
    let scene = Scene::before(upstream.url())?;
    let daemon = Daemon::on(&scene.home(), &scene.url)
        .env("GROV_CONTEXT_CLEAR", "true")
        .start()?;
    let mut conversation = Conversation::start(scene.folder.path());
    conversation.model = "claude-nova-9";
    for _ in 0..19 {
        conversation.grow(40_000);
        conversation.send(&daemon)?;
    }
    std::thread::sleep(Duration::from_millis(500));
    conversation.grow(400);
    conversation.send(&daemon)?;
    let seen = upstream.seen();
    assert!(seen.last().is_some_and(|(_, body)| body.len() > 4 * 185_000));
    assert!(seen.iter().all(|(_, body)| !body.contains(SUMMARY)));
    let status = eventually("the session", || {
        let answer = Grov::on(&scene.home())
            .run_json(&["context", "status", SESSION])
            .ok()?;
        (answer.code == Some(0)).then_some(answer.json)
    })?;
    assert_eq!(status["window_source"], "assumed", "{status}");
    assert!(
        status["percent"].as_u64().is_some_and(|percent| percent > 90),
        "{status}"
    );
    Ok(())
}
