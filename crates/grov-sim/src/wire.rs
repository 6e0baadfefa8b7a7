//! A minimal HTTP/1.1 client and server codec that shows every byte: raw heads, bodies frame by frame.
//!
//! Strict where leniency would hide request smuggling: conflicting lengths, a length together with `chunked`, and
//! malformed chunk sizes are errors.

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Maximum size of a head, in bytes. Generous: a client may send long beta lists and cookies.
const MAX_HEAD: usize = 256 * 1024;
/// Buffer space reserved for every read.
const READ_SIZE: usize = 64 * 1024;
/// Maximum length of a chunk-size or trailer line, in bytes.
const MAX_LINE: usize = 16 * 1024;

/// Why a message cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The other side sent something that is not HTTP/1.1.
    #[error("malformed HTTP: {0}")]
    Malformed(&'static str),
    /// The connection ended inside a message.
    #[error("the connection ended inside a message")]
    Truncated,
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[from] std::io::Error),
}

/// The head of a request or a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The received bytes, including the final empty line.
    pub raw: Bytes,
    /// The first line, without its line end.
    pub line: String,
    /// Name and value of every header, in order and with the sender's case. Bytes that are not UTF-8 are replaced;
    /// `raw` has them.
    pub headers: Vec<(String, String)>,
}

impl Head {
    fn parse(raw: Bytes) -> Result<Self, WireError> {
        let text = String::from_utf8_lossy(&raw);
        let mut lines = text.split("\r\n");
        let line = lines.next().unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        for header in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = header
                .split_once(':')
                .ok_or(WireError::Malformed("header without colon"))?;
            if name.is_empty() || name.contains([' ', '\t']) {
                return Err(WireError::Malformed("header name with space"));
            }
            headers.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
        }
        Ok(Self { raw, line, headers })
    }

    /// The value of the first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The values of all headers of that name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Whether a comma-separated header contains that token, ignoring case.
    pub fn has_token(&self, name: &str, token: &str) -> bool {
        self.all(name)
            .flat_map(|value| value.split(','))
            .any(|part| part.trim().eq_ignore_ascii_case(token))
    }

    /// The status code, if this is a response.
    pub fn status(&self) -> Option<u16> {
        self.line.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
    }

    /// How the body of a request with this head is delimited.
    ///
    /// # Errors
    /// The head's lengths are contradictory.
    pub fn request_framing(&self) -> Result<Framing, WireError> {
        self.framing(Framing::Length(0))
    }

    /// How the body of a response with this head is delimited; `to_head` if it answers a `HEAD` request.
    ///
    /// # Errors
    /// The head's lengths are contradictory.
    pub fn response_framing(&self, to_head: bool) -> Result<Framing, WireError> {
        let status = self.status().ok_or(WireError::Malformed("status line"))?;
        if to_head || status == 204 || status == 304 || status < 200 {
            return Ok(Framing::Length(0));
        }
        self.framing(Framing::UntilClose)
    }

    fn framing(&self, without: Framing) -> Result<Framing, WireError> {
        let mut lengths = self.all("content-length");
        let length = lengths.next();
        if lengths.any(|other| Some(other) != length) {
            return Err(WireError::Malformed("conflicting content-length headers"));
        }
        let chunked = self.has_token("transfer-encoding", "chunked");
        match (length, chunked) {
            (Some(_), true) => Err(WireError::Malformed("content-length beside transfer-encoding")),
            (None, true) => Ok(Framing::Chunked),
            (Some(length), false) if length.bytes().all(|b| b.is_ascii_digit()) => {
                let length = length
                    .parse()
                    .map_err(|_| WireError::Malformed("content-length"))?;
                Ok(Framing::Length(length))
            }
            (Some(_), false) => Err(WireError::Malformed("content-length")),
            (None, false) if self.header("transfer-encoding").is_some() => {
                Err(WireError::Malformed("transfer-encoding other than chunked"))
            }
            (None, false) => Ok(without),
        }
    }
}

/// How a body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// This number of bytes.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
    /// Everything until the connection ends.
    UntilClose,
}

/// One piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Data: one HTTP chunk, or the data of one read.
    Data(Bytes),
    /// The end of the body, with the trailers.
    End(Vec<(String, String)>),
}

/// A connection with a read buffer.
#[derive(Debug)]
pub struct Wire<S> {
    stream: S,
    buffer: BytesMut,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Wraps a fresh connection.
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
        }
    }

    /// The connection itself.
    pub fn stream(&self) -> &S {
        &self.stream
    }

    /// Sends bytes and flushes them.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Ends the sending side.
    ///
    /// # Errors
    /// The connection failed.
    pub async fn finish(&mut self) -> std::io::Result<()> {
        self.stream.shutdown().await
    }

    /// Waits until the peer closes the connection. Bytes received meanwhile are kept for the next head.
    pub async fn gone(&mut self) {
        while let Ok(more) = self.read_more().await {
            if !more {
                return;
            }
        }
    }

    /// Reads the next head. `None` if the connection ended between messages.
    ///
    /// # Errors
    /// The connection failed or ended inside the head, or the bytes are not a head.
    pub async fn read_head(&mut self) -> Result<Option<Head>, WireError> {
        let mut searched = 0;
        loop {
            if let Some(at) = find(&self.buffer[searched..], b"\r\n\r\n") {
                let raw = self.buffer.split_to(searched + at + 4).freeze();
                return Head::parse(raw).map(Some);
            }
            if self.buffer.len() > MAX_HEAD {
                return Err(WireError::Malformed("head too long"));
            }
            searched = self.buffer.len().saturating_sub(3);
            if !self.read_more().await? {
                return if self.buffer.is_empty() {
                    Ok(None)
                } else {
                    Err(WireError::Truncated)
                };
            }
        }
    }

    /// Starts reading a body.
    pub fn body(&mut self, framing: Framing) -> Body<'_, S> {
        Body {
            wire: self,
            framing,
            over: false,
        }
    }

    async fn fill(&mut self) -> Result<(), WireError> {
        if self.read_more().await? {
            Ok(())
        } else {
            Err(WireError::Truncated)
        }
    }

    /// Reads the available bytes; false at the end of the connection.
    async fn read_more(&mut self) -> std::io::Result<bool> {
        // Without a reservation the buffer would grow, and be filled, 64 bytes at a time.
        if self.buffer.capacity() - self.buffer.len() < READ_SIZE / 16 {
            self.buffer.reserve(READ_SIZE);
        }
        Ok(self.stream.read_buf(&mut self.buffer).await? > 0)
    }

    async fn read_line(&mut self) -> Result<String, WireError> {
        loop {
            if let Some(at) = find(&self.buffer, b"\r\n") {
                let line = self.buffer.split_to(at);
                self.buffer.advance(2);
                return String::from_utf8(line.to_vec()).map_err(|_| WireError::Malformed("line"));
            }
            if self.buffer.len() > MAX_LINE {
                return Err(WireError::Malformed("line too long"));
            }
            self.fill().await?;
        }
    }
}

/// A body being read.
#[derive(Debug)]
pub struct Body<'a, S> {
    wire: &'a mut Wire<S>,
    framing: Framing,
    over: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Body<'_, S> {
    /// The next frame; after [`Frame::End`], `End` again.
    ///
    /// # Errors
    /// The connection failed, or ended before the body did, or the chunked encoding is invalid.
    pub async fn frame(&mut self) -> Result<Frame, WireError> {
        if self.over {
            return Ok(Frame::End(Vec::new()));
        }
        match self.framing {
            Framing::Length(0) => self.end(Vec::new()),
            Framing::Length(left) => {
                if self.wire.buffer.is_empty() {
                    self.wire.fill().await?;
                }
                let take = usize::try_from(left)
                    .unwrap_or(usize::MAX)
                    .min(self.wire.buffer.len());
                self.framing = Framing::Length(left - take as u64);
                Ok(Frame::Data(self.wire.buffer.split_to(take).freeze()))
            }
            Framing::UntilClose => {
                if self.wire.buffer.is_empty() && !self.wire.read_more().await? {
                    return self.end(Vec::new());
                }
                Ok(Frame::Data(self.wire.buffer.split().freeze()))
            }
            Framing::Chunked => self.chunk().await,
        }
    }

    fn end(&mut self, trailers: Vec<(String, String)>) -> Result<Frame, WireError> {
        self.over = true;
        Ok(Frame::End(trailers))
    }

    async fn chunk(&mut self) -> Result<Frame, WireError> {
        let line = self.wire.read_line().await?;
        let digits = line.split(';').next().unwrap_or_default();
        if digits.is_empty() || digits.len() > 15 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(WireError::Malformed("chunk size"));
        }
        let size = usize::from_str_radix(digits, 16).map_err(|_| WireError::Malformed("chunk size"))?;
        if size == 0 {
            let mut trailers = Vec::new();
            loop {
                let line = self.wire.read_line().await?;
                if line.is_empty() {
                    return self.end(trailers);
                }
                let (name, value) = line.split_once(':').ok_or(WireError::Malformed("trailer"))?;
                trailers.push((name.to_owned(), value.trim().to_owned()));
            }
        }
        while self.wire.buffer.len() < size + 2 {
            self.wire.fill().await?;
        }
        let data = self.wire.buffer.split_to(size).freeze();
        if &self.wire.buffer[..2] != b"\r\n" {
            return Err(WireError::Malformed("chunk without line end"));
        }
        self.wire.buffer.advance(2);
        Ok(Frame::Data(data))
    }

    /// Reads the rest of the body into one buffer.
    ///
    /// # Errors
    /// As [`Body::frame`].
    pub async fn collect(&mut self) -> Result<Bytes, WireError> {
        let mut all = BytesMut::new();
        while let Frame::Data(data) = self.frame().await? {
            all.extend_from_slice(&data);
        }
        Ok(all.freeze())
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn head_of(text: &str) -> Result<Option<Head>, WireError> {
        let (near, mut far) = tokio::io::duplex(64 * 1024);
        far.write_all(text.as_bytes()).await.unwrap();
        drop(far);
        Wire::new(near).read_head().await
    }

    #[tokio::test]
    async fn heads_keep_case_order_and_bytes() {
        let text = "POST /v1/messages?beta=true HTTP/1.1\r\nX-B: 1\r\na:  two \r\nX-B: 3\r\n\r\n";
        let head = head_of(text).await.unwrap().unwrap();
        assert_eq!(head.raw, text.as_bytes());
        assert_eq!(head.headers[0], ("X-B".to_owned(), "1".to_owned()));
        assert_eq!(head.header("A"), Some("two"));
        assert_eq!(head.all("x-b").collect::<Vec<_>>(), ["1", "3"]);
    }

    #[tokio::test]
    async fn contradictory_lengths_are_refused() {
        for headers in [
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: 5, 5\r\n",
            "Transfer-Encoding: gzip\r\n",
        ] {
            let head = head_of(&format!("POST / HTTP/1.1\r\n{headers}\r\n"))
                .await
                .unwrap()
                .unwrap();
            assert!(head.request_framing().is_err(), "{headers}");
        }
        assert!(
            head_of("POST / HTTP/1.1\r\nContent-Length : 5\r\n\r\n")
                .await
                .is_err()
        );
    }

    async fn frames(framing: Framing, text: &str) -> Result<Vec<Frame>, WireError> {
        let (near, mut far) = tokio::io::duplex(64 * 1024);
        far.write_all(text.as_bytes()).await.unwrap();
        drop(far);
        let mut wire = Wire::new(near);
        let mut body = wire.body(framing);
        let mut frames = Vec::new();
        loop {
            let frame = body.frame().await?;
            let over = matches!(frame, Frame::End(_));
            frames.push(frame);
            if over {
                return Ok(frames);
            }
        }
    }

    #[tokio::test]
    async fn chunks_survive_a_round_trip() {
        let read = frames(Framing::Chunked, "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nX-T: v\r\n\r\n")
            .await
            .unwrap();
        assert_eq!(
            read,
            [
                Frame::Data(Bytes::from_static(b"abc")),
                Frame::Data(Bytes::from_static(b"d")),
                Frame::End(vec![("X-T".to_owned(), "v".to_owned())]),
            ]
        );
    }

    #[tokio::test]
    async fn broken_bodies_are_errors() {
        for text in [
            "0x3\r\nabc\r\n0\r\n\r\n",
            "-1\r\n",
            "3\r\nabcd\r\n0\r\n\r\n",
            "3\r\nab",
            "\r\n",
            "ffffffffffffffffff\r\n",
        ] {
            assert!(frames(Framing::Chunked, text).await.is_err(), "{text:?}");
        }
        assert!(matches!(
            frames(Framing::Length(3), "ab").await,
            Err(WireError::Truncated)
        ));
        assert_eq!(frames(Framing::UntilClose, "ab").await.unwrap().len(), 2);
    }
}
