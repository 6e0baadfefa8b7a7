//! A collector of OpenTelemetry traces, which reads just enough of protobuf to see the spans.

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A span as it arrived.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace: Vec<u8>,
    pub id: Vec<u8>,
    pub parent: Vec<u8>,
    pub name: String,
    pub start: u64,
    pub end: u64,
}

/// A collector on a port of this machine.
pub struct Collector {
    port: u16,
    bodies: Arc<Mutex<Vec<Vec<u8>>>>,
    /// Connections of a collector that hangs.
    held: Arc<Mutex<Vec<TcpStream>>>,
}

impl Collector {
    /// Accepts spans.
    pub fn accepting() -> Result<Self> {
        Self::listening(Some((200, Duration::ZERO)))
    }

    /// Takes requests and never answers.
    pub fn hanging() -> Result<Self> {
        Self::listening(None)
    }

    /// Answers with an error.
    pub fn failing() -> Result<Self> {
        Self::listening(Some((500, Duration::ZERO)))
    }

    /// Answers after this time.
    pub fn slow(delay: Duration) -> Result<Self> {
        Self::listening(Some((200, delay)))
    }

    /// Nobody listens.
    pub fn dead() -> Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        Ok(Self {
            port,
            bodies: Arc::default(),
            held: Arc::default(),
        })
    }

    /// Answers with this status after this time, or never.
    fn listening(answer: Option<(u16, Duration)>) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let collector = Self {
            port: listener.local_addr()?.port(),
            bodies: Arc::default(),
            held: Arc::default(),
        };
        let (bodies, held) = (Arc::clone(&collector.bodies), Arc::clone(&collector.held));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(answer) = answer else {
                    held.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
                    continue;
                };
                let bodies = Arc::clone(&bodies);
                thread::spawn(move || serve(stream, &bodies, answer));
            }
        });
        Ok(collector)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Whether a request arrived at a collector that hangs.
    pub fn is_asked(&self) -> bool {
        !self
            .held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    fn bodies(&self) -> Vec<Vec<u8>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All bodies as text, with what is no text replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bodies().concat()).into_owned()
    }

    /// The spans so far.
    pub fn spans(&self) -> Result<Vec<Span>> {
        let mut spans = Vec::new();
        for body in self.bodies() {
            for (_, resource) in messages(&body, 1)? {
                for (_, scope) in messages(resource, 2)? {
                    for (_, span) in messages(scope, 2)? {
                        spans.push(Span::read(span)?);
                    }
                }
            }
        }
        Ok(spans)
    }
}

/// Answers requests until the connection ends.
fn serve(stream: TcpStream, bodies: &Mutex<Vec<Vec<u8>>>, (status, delay): (u16, Duration)) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line == "\r\n" {
                break;
            }
            head.push(line.trim_end().to_ascii_lowercase());
        }
        let length = head
            .iter()
            .find_map(|line| line.strip_prefix("content-length: "))?;
        let mut body = vec![0; length.parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        let is_trace = head.first()?.starts_with("post /v1/traces ")
            && head.contains(&"content-type: application/x-protobuf".to_owned());
        let status = if is_trace { status } else { 400 };
        if is_trace {
            bodies.lock().unwrap_or_else(PoisonError::into_inner).push(body);
        }
        thread::sleep(delay);
        write!(writer, "HTTP/1.1 {status} Simulated\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}

/// A field of a message: its number, and its content or its number of eight bytes.
enum Field<'a> {
    Bytes(&'a [u8]),
    Fixed(u64),
    Other,
}

fn fields(mut message: &[u8]) -> Result<Vec<(u64, Field<'_>)>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let field = match key & 7 {
            0 => {
                varint(&mut message)?;
                Field::Other
            }
            1 => Field::Fixed(u64::from_le_bytes(take(&mut message, 8)?.try_into()?)),
            2 => {
                let length = usize::try_from(varint(&mut message)?)?;
                Field::Bytes(take(&mut message, length)?)
            }
            kind => bail!("unexpected wire type {kind}"),
        };
        fields.push((key >> 3, field));
    }
    Ok(fields)
}

/// The messages in the fields with this number.
fn messages(message: &[u8], number: u64) -> Result<Vec<(u64, &[u8])>> {
    let all = fields(message)?.into_iter();
    let of_number = all.filter_map(|(key, field)| match field {
        Field::Bytes(bytes) if key == number => Some((key, bytes)),
        _ => None,
    });
    Ok(of_number.collect())
}

fn take<'a>(message: &mut &'a [u8], length: usize) -> Result<&'a [u8]> {
    let (taken, rest) = message
        .split_at_checked(length)
        .context("the message ends early")?;
    *message = rest;
    Ok(taken)
}

fn varint(message: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for place in 0..10 {
        let byte = take(message, 1)?[0];
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    bail!("a number is too long")
}

impl Span {
    fn read(message: &[u8]) -> Result<Self> {
        let mut span = Self {
            trace: Vec::new(),
            id: Vec::new(),
            parent: Vec::new(),
            name: String::new(),
            start: 0,
            end: 0,
        };
        for (number, field) in fields(message)? {
            match (number, field) {
                (1, Field::Bytes(id)) => span.trace = id.to_vec(),
                (2, Field::Bytes(id)) => span.id = id.to_vec(),
                (4, Field::Bytes(id)) => span.parent = id.to_vec(),
                (5, Field::Bytes(name)) => span.name = String::from_utf8(name.to_vec())?,
                (7, Field::Fixed(time)) => span.start = time,
                (8, Field::Fixed(time)) => span.end = time,
                _ => {}
            }
        }
        ensure!(span.trace.len() == 16 && span.id.len() == 8, "{span:?}");
        Ok(span)
    }
}
