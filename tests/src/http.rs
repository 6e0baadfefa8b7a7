//! A plain HTTP/1.1 client that sends exactly the given bytes and returns exactly the received ones.

use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The timeout of every socket operation.
const READ_LIMIT: Duration = Duration::from_secs(60);

/// A request to send.
#[derive(Clone, Debug)]
pub struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    /// A request with this method and target.
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            head: format!("{method} {target} HTTP/1.1\r\n"),
            body: Vec::new(),
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The body.
    pub fn payload(&self) -> &[u8] {
        &self.body
    }

    /// The bytes of the request as sent to `port` on this machine.
    pub fn bytes(&self, port: u16) -> Vec<u8> {
        let mut bytes = self.head.clone().into_bytes();
        if !self.head.to_ascii_lowercase().contains("\r\nhost:") {
            bytes.extend(format!("Host: 127.0.0.1:{port}\r\n").bytes());
        }
        if !self.body.is_empty() {
            bytes.extend(format!("Content-Length: {}\r\n", self.body.len()).bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(&self.body);
        bytes
    }
}

/// A response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Vec<u8>,
    /// Whether the body is complete according to its framing.
    pub complete: bool,
}

impl Response {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Opens a connection to `port` on this machine.
///
/// # Errors
/// No process listens on the port.
pub fn open(port: u16) -> Result<TcpStream> {
    let stream =
        TcpStream::connect(("127.0.0.1", port)).with_context(|| format!("cannot connect to port {port}"))?;
    stream.set_read_timeout(Some(READ_LIMIT))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends one request on a new connection and reads the whole response.
///
/// # Errors
/// The response is not HTTP.
pub fn exchange(port: u16, request: &Request) -> Result<Response> {
    let mut stream = open(port)?;
    stream.write_all(&request.bytes(port))?;
    read_response(&mut BufReader::new(stream), |_| {})
}

/// Reads one response. Calls `seen` with every piece of the body as it arrives.
///
/// # Errors
/// The response is not HTTP. A body that ends early is not an error; the response is then incomplete.
pub fn read_response(stream: &mut impl BufRead, mut seen: impl FnMut(&[u8])) -> Result<Response> {
    let (line, headers) = read_head(stream)?.context("the connection ended before an answer")?;
    let status = status(&line)?;
    let mut body = Vec::new();
    let complete = read_body(stream, &headers, &mut |piece: &[u8]| {
        seen(piece);
        body.extend_from_slice(piece);
    })?;
    Ok(Response {
        status,
        headers,
        body,
        complete,
    })
}

/// The status code in the first line of a response.
pub(crate) fn status(line: &str) -> Result<u16> {
    line.split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .with_context(|| format!("no status: {line}"))
}

/// Headers in order, names in lower case.
pub type Headers = Vec<(String, String)>;

/// Reads a head: its first line and its headers, names in lower case. `None` at the end of the stream.
pub(crate) fn read_head(stream: &mut impl BufRead) -> Result<Option<(String, Headers)>> {
    let Some(line) = read_line(stream)? else {
        return Ok(None);
    };
    let mut headers = Vec::new();
    while let Some(header) = read_line(stream)? {
        if header.is_empty() {
            return Ok(Some((line, headers)));
        }
        let (name, value) = header
            .split_once(':')
            .with_context(|| format!("no header: {header}"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    bail!("the head ended early")
}

fn read_line(stream: &mut impl BufRead) -> Result<Option<String>> {
    let mut line = Vec::new();
    if stream.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    ensure!(
        line.ends_with(b"\r\n"),
        "a line ended early: {:?}",
        String::from_utf8_lossy(&line)
    );
    line.truncate(line.len() - 2);
    Ok(Some(String::from_utf8(line).context("a head is not UTF-8")?))
}

/// Reads a response's body by its framing. Returns whether it was complete.
fn read_body(stream: &mut impl BufRead, headers: &Headers, seen: &mut impl FnMut(&[u8])) -> Result<bool> {
    let value = |name: &str| {
        headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    if value("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return read_chunks(stream, seen);
    }
    if let Some(length) = value("content-length") {
        return read_exactly(
            stream,
            length.parse().context("a content-length is not a number")?,
            seen,
        );
    }
    read_exactly(stream, u64::MAX, seen)?;
    Ok(true)
}

pub(crate) fn read_chunks(stream: &mut impl BufRead, seen: &mut impl FnMut(&[u8])) -> Result<bool> {
    loop {
        let Ok(Some(line)) = read_line(stream) else {
            return Ok(false);
        };
        let digits = line.split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(digits, 16).with_context(|| format!("no chunk size: {line}"))?;
        if size == 0 {
            while let Ok(Some(trailer)) = read_line(stream) {
                if trailer.is_empty() {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        if !read_exactly(stream, size, seen)? || !matches!(read_line(stream), Ok(Some(_))) {
            return Ok(false);
        }
    }
}

/// Reads up to `length` bytes. Returns whether all of them arrived.
pub(crate) fn read_exactly(
    stream: &mut impl BufRead,
    length: u64,
    seen: &mut impl FnMut(&[u8]),
) -> Result<bool> {
    let mut left = length;
    let mut piece = [0; 16 * 1024];
    while left > 0 {
        let room = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match stream.read(&mut piece[..room]) {
            Ok(0) => return Ok(false),
            Ok(read) => {
                seen(&piece[..read]);
                left -= read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return Ok(false),
            Err(error) => return Err(error).context("reading a body"),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_by_their_framing() {
        let read = |text: &str| read_response(&mut text.as_bytes(), |_| {}).unwrap();
        let chunked =
            read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n");
        assert_eq!(
            (chunked.status, chunked.text().as_str(), chunked.complete),
            (200, "abcde", true)
        );
        let counted = read("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nabcd");
        assert_eq!(
            (counted.status, counted.text().as_str(), counted.complete),
            (404, "ab", true)
        );
        let cut = read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc");
        assert_eq!((cut.text().as_str(), cut.complete), ("abc", false));
    }
}
