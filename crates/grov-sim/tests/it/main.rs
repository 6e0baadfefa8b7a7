//! The simulation and the scripted client over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail the test"
)]

mod binary;
mod endpoints;
mod faults;
mod judge;
mod play;
mod properties;

use grov_sim::wire::{Frame, Head, Wire};
use grov_sim::{Sim, SimConfig};
use tokio::net::TcpStream;

/// A simulation on a free port.
async fn sim() -> Sim {
    Sim::start(SimConfig::default()).await.expect("start")
}

/// A connection to it.
async fn connect(sim: &Sim) -> Wire<TcpStream> {
    Wire::new(TcpStream::connect(sim.addr()).await.expect("connect"))
}

/// A request to `/v1/messages` with all required headers.
fn messages_request(body: &str, headers: &str) -> String {
    format!(
        "POST /v1/messages?beta=true HTTP/1.1\r\nHost: sim\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
         {headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A body with this prompt, streaming or not.
fn ask(prompt: &str, stream: bool) -> String {
    format!(
        r#"{{"model":"claude-opus-4-8","max_tokens":100,"messages":[{{"role":"user","content":"{prompt}"}}],"stream":{stream}}}"#
    )
}

/// A response as received.
struct Answer {
    head: Head,
    frames: Vec<Vec<u8>>,
    trailers: Vec<(String, String)>,
}

impl Answer {
    fn status(&self) -> u16 {
        self.head.status().expect("status")
    }

    fn text(&self) -> String {
        String::from_utf8(self.frames.concat()).expect("UTF-8")
    }
}

/// Sends bytes and reads one whole response.
async fn exchange(wire: &mut Wire<TcpStream>, request: &str) -> Answer {
    wire.send(request.as_bytes()).await.expect("send");
    let head = wire.read_head().await.expect("head").expect("a response");
    let framing = head
        .response_framing(request.starts_with("HEAD"))
        .expect("framing");
    let mut body = wire.body(framing);
    let mut frames = Vec::new();
    let trailers = loop {
        match body.frame().await.expect("frame") {
            Frame::Data(data) => frames.push(data.to_vec()),
            Frame::End(trailers) => break trailers,
        }
    };
    Answer {
        head,
        frames,
        trailers,
    }
}
