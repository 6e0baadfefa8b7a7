//! A server that embeds: it keeps the requests, and returns the same vector for every text.

use anyhow::Result;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

pub struct Embedder {
    port: u16,
    requests: Arc<Mutex<Vec<u8>>>,
}

impl Embedder {
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that disconnects early is not an error.
                let _ = answer(stream, &kept);
            }
        });
        Ok(Self { port, requests })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The bodies of all requests so far.
    pub fn requests(&self) -> Vec<u8> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn answer(mut stream: TcpStream, requests: &Mutex<Vec<u8>>) -> Result<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let body = loop {
        let count = stream.read(&mut buffer)?;
        request.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            anyhow::ensure!(count > 0, "half a head");
            continue;
        };
        let length = head.to_lowercase();
        let length = length
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.map_or(Ok(0), |length| length.trim().parse())?;
        if body.len() >= length || count == 0 {
            break body.to_owned();
        }
    };
    requests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend_from_slice(body.as_bytes());
    let asked: serde_json::Value = serde_json::from_str(&body)?;
    let texts = asked["input"].as_array().map_or(1, Vec::len);
    let data: Vec<_> = (0..texts)
        .map(|index| serde_json::json!({"index": index, "object": "embedding", "embedding": [1.0, 0.0, 0.0, 0.0]}))
        .collect();
    let answer = serde_json::json!({"object": "list", "data": data, "model": "simulated", "usage": {"prompt_tokens": 1, "total_tokens": 1}});
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        answer.len()
    );
    stream.write_all((head + &answer).as_bytes())?;
    Ok(())
}
