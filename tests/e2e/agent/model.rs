//! A scripted server with OpenAI's chat completions.

use anyhow::Result;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What the server answers to one request.
#[derive(Clone, Debug)]
pub enum Say {
    /// This content.
    Content(String),
    /// This content in pieces, with pauses.
    Slowly(String, Duration),
    /// An error.
    Status(u16),
}

/// The server. It answers in the order of the script, and then with the last answer again.
pub struct Model {
    port: u16,
    state: Arc<State>,
}

struct State {
    script: Mutex<VecDeque<Say>>,
    requests: Mutex<Vec<Value>>,
    /// Connections that the client closed before the answer was complete.
    hung_up: Mutex<usize>,
}

impl Model {
    pub fn start(script: impl IntoIterator<Item = Say>) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            script: Mutex::new(script.into_iter().collect()),
            requests: Mutex::default(),
            hung_up: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || {
                    let _ = state.answer(stream);
                });
            }
        });
        Ok(Self { port, state })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        locked(&self.state.requests).clone()
    }

    pub fn hung_up(&self) -> usize {
        *locked(&self.state.hung_up)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn answer(&self, stream: TcpStream) -> Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut writer = stream;
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let request: Value = serde_json::from_slice(&body)?;
        let wants_stream = request["stream"] == true;
        locked(&self.requests).push(request);
        let say = {
            let mut script = locked(&self.script);
            let next = match script.len() {
                1 => script.front().cloned(),
                _ => script.pop_front(),
            };
            next.unwrap_or(Say::Status(500))
        };
        let written = match say {
            Say::Status(status) => write!(
                writer,
                "HTTP/1.1 {status} No\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
            ),
            Say::Content(content) if wants_stream => stream_of(&mut writer, &content, Duration::ZERO),
            Say::Slowly(content, pause) => stream_of(&mut writer, &content, pause),
            Say::Content(content) => {
                let body = json!({
                    "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 20}
                })
                .to_string();
                write!(
                    writer,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                )
            }
        };
        if written.is_err() {
            *locked(&self.hung_up) += 1;
        }
        Ok(())
    }
}

fn stream_of(writer: &mut TcpStream, content: &str, pause: Duration) -> std::io::Result<()> {
    write!(
        writer,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    )?;
    let characters: Vec<char> = content.chars().collect();
    for piece in characters.chunks(7) {
        let piece: String = piece.iter().collect();
        let event = json!({"choices": [{"delta": {"content": piece}}]});
        write!(writer, "data: {event}\n\n")?;
        writer.flush()?;
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}});
    write!(writer, "data: {end}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
}

/// An answer that requests a ticket.
pub fn ticket(summary: &str) -> String {
    json!({
        "decision": "ACT", "message": "I request a ticket.", "citations": [], "memory_proposals": [],
        "tool_calls": [{
            "name": "jira.create_ticket", "arguments": {"summary": summary, "project": "SHOP"},
            "reason": "the user asked for it"
        }]
    })
    .to_string()
}

/// An answer without a tool.
pub fn noop(answer: &str) -> String {
    json!({"decision": "NOOP", "answer": answer, "citations": [], "memory_proposals": []}).to_string()
}
