//! Writes a response to the wire exactly as its behaviour requires, byte by byte if necessary.

use crate::behaviour::{Behaviour, Delimiter, Encoding, Ending, Fault, Point, Size};
use crate::record::{Delivery, End};
use crate::wire::Wire;
use std::io::{self, Write};
use std::time::Duration;
use tokio::net::TcpStream;

/// A response before it is framed.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Headers, except those that frame the body.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) payload: Payload,
    pub(crate) behaviour: Behaviour,
}

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Complete from the start; delimited by its length.
    Whole(Vec<u8>),
    /// Pieces that become available one by one; chunked.
    Events(Vec<Vec<u8>>),
    /// The length of a body that is not sent, for `HEAD`.
    Absent(usize),
}

/// Consecutive bytes of a response.
struct Segment {
    bytes: Vec<u8>,
    wait: Duration,
    /// Index of the event that this is part of; `None` for the head and the end of the body.
    event: Option<usize>,
}

/// The whole response in bytes.
struct Layout {
    segments: Vec<Segment>,
    closes: bool,
}

/// Whether the connection can take another request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    KeepAlive,
    Close,
    Reset,
}

/// Sends a response. `begun` is called just before the first piece of the body is sent.
pub(crate) async fn transmit(
    wire: &mut Wire<TcpStream>,
    response: Response,
    keep_alive: bool,
    begun: impl FnOnce(),
) -> (Delivery, After) {
    let status = response.status;
    let behaviour = response.behaviour.clone();
    let layout = layout(response, keep_alive);
    let after = if layout.closes {
        After::Close
    } else {
        After::KeepAlive
    };
    let limit = limit(&layout, &behaviour);
    let mut sending = Sending {
        wire,
        sent: 0,
        begun: Some(begun),
    };
    let outcome = sending.all(layout.segments, limit, behaviour.write).await;
    let sent = sending.sent;
    let deliver = |end| Delivery {
        status: (sent > 0).then_some(status),
        bytes: sent as u64,
        end,
    };
    if outcome.is_err() {
        return (deliver(End::ClientGone), After::Close);
    }
    match behaviour.fault {
        Some(Fault::Stall(_)) => {
            wire.gone().await;
            (deliver(End::ClientGone), After::Close)
        }
        Some(Fault::Cut(_)) => (
            deliver(End::Cut),
            if behaviour.ending == Ending::Reset {
                After::Reset
            } else {
                After::Close
            },
        ),
        _ => (deliver(End::Complete), after),
    }
}

struct Sending<'a, F> {
    wire: &'a mut Wire<TcpStream>,
    sent: usize,
    begun: Option<F>,
}

impl<F: FnOnce()> Sending<'_, F> {
    async fn all(&mut self, segments: Vec<Segment>, limit: usize, write: Size) -> io::Result<()> {
        let mut segments = segments;
        if write == Size::Whole {
            let wait = segments.first().map_or(Duration::ZERO, |segment| segment.wait);
            let bytes = segments.into_iter().flat_map(|segment| segment.bytes).collect();
            segments = vec![Segment {
                bytes,
                wait,
                event: Some(0),
            }];
        }
        for segment in segments {
            if self.sent >= limit {
                return Ok(());
            }
            self.pause(segment.wait).await?;
            let allowed = segment.bytes.len().min(limit - self.sent);
            let size = if let Size::Bytes(size) = write {
                size
            } else {
                allowed.max(1)
            };
            // Recorded before the bytes are sent, so that a client that has read them finds the record.
            if segment.event.is_some()
                && let Some(begun) = self.begun.take()
            {
                begun();
            }
            for piece in segment.bytes[..allowed].chunks(size) {
                self.wire.send(piece).await?;
                self.sent += piece.len();
            }
        }
        Ok(())
    }

    /// Waits for a delay, unless the client disconnects first.
    async fn pause(&mut self, time: Duration) -> io::Result<()> {
        if time.is_zero() {
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            () = self.wire.gone() => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

/// The number of bytes after which the response stops.
fn limit(layout: &Layout, behaviour: &Behaviour) -> usize {
    match behaviour.fault {
        Some(Fault::Cut(Point::Bytes(bytes)) | Fault::Stall(Point::Bytes(bytes))) => bytes,
        Some(Fault::Cut(Point::Events(events)) | Fault::Stall(Point::Events(events))) => layout
            .segments
            .iter()
            .enumerate()
            .filter(|(at, segment)| *at == 0 || segment.event.is_some_and(|event| event < events))
            .map(|(_, segment)| segment.bytes.len())
            .sum(),
        _ => usize::MAX,
    }
}

fn layout(response: Response, keep_alive: bool) -> Layout {
    let Response {
        status,
        mut headers,
        payload,
        behaviour,
    } = response;
    let absent = if let Payload::Absent(length) = payload {
        Some(length)
    } else {
        None
    };
    let (pieces, chunked) = match payload {
        Payload::Whole(body) => (vec![body], false),
        Payload::Events(events) => (events, true),
        Payload::Absent(_) => (Vec::new(), false),
    };
    let pieces = match behaviour.encoding {
        Some(encoding) if absent.is_none() => {
            headers.push(("content-encoding".to_owned(), encoding.as_str().to_owned()));
            encode(pieces, encoding)
        }
        _ => pieces,
    };
    let http10 = behaviour.delimiter == Delimiter::Http10;
    let closes = !keep_alive
        || behaviour.connection_close
        || http10
        || behaviour.delimiter == Delimiter::UntilClose
        || matches!(
            behaviour.fault,
            Some(Fault::MalformedLine(_) | Fault::ErrorEvent(_))
        );
    let chunked = chunked && behaviour.delimiter == Delimiter::Natural;
    if chunked {
        headers.push(("transfer-encoding".to_owned(), "chunked".to_owned()));
    } else if matches!(behaviour.delimiter, Delimiter::Natural | Delimiter::Length) {
        let length = absent.unwrap_or_else(|| pieces.iter().map(Vec::len).sum());
        headers.push(("content-length".to_owned(), length.to_string()));
    }
    if !http10 {
        headers.push((
            "connection".to_owned(),
            if closes { "close" } else { "keep-alive" }.to_owned(),
        ));
    }
    let mut head = interim(behaviour.interim);
    let version = if http10 { "HTTP/1.0" } else { "HTTP/1.1" };
    head.extend_from_slice(format!("{version} {status} {}\r\n", reason(status)).as_bytes());
    for (name, value) in &headers {
        head.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    let mut segments = vec![Segment {
        bytes: head,
        wait: behaviour.head_delay,
        event: None,
    }];
    for (event, piece) in frames(pieces, behaviour.frame) {
        let first_of_event = segments.last().is_none_or(|segment| segment.event != Some(event));
        let wait = if event > 0 && first_of_event {
            behaviour.event_delay
        } else {
            Duration::ZERO
        };
        let bytes = if chunked { chunk(&piece) } else { piece };
        segments.push(Segment {
            bytes,
            wait,
            event: Some(event),
        });
    }
    if chunked {
        let mut bytes = b"0\r\n".to_vec();
        for (name, value) in &behaviour.trailers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        segments.push(Segment {
            bytes,
            wait: Duration::ZERO,
            event: None,
        });
    }
    Layout { segments, closes }
}

fn interim(status: Option<u16>) -> Vec<u8> {
    match status {
        Some(status) => format!("HTTP/1.1 {status} {}\r\n\r\n", reason(status)).into_bytes(),
        None => Vec::new(),
    }
}

fn chunk(data: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{:x}\r\n", data.len()).into_bytes();
    bytes.extend_from_slice(data);
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// The pieces in frames of the requested size, each with its event's index. Empty frames, which would end a
/// chunked body, are left out.
fn frames(pieces: Vec<Vec<u8>>, size: Size) -> Vec<(usize, Vec<u8>)> {
    let frames: Vec<(usize, Vec<u8>)> = match size {
        Size::Natural => pieces.into_iter().enumerate().collect(),
        Size::Whole => vec![(0, pieces.concat())],
        Size::Bytes(size) => pieces
            .iter()
            .enumerate()
            .flat_map(|(event, piece)| piece.chunks(size).map(move |frame| (event, frame.to_vec())))
            .collect(),
    };
    frames
        .into_iter()
        .filter(|(_, frame)| !frame.is_empty())
        .collect()
}

/// Encodes the pieces as one stream that is flushed after each.
pub(crate) fn encode(pieces: Vec<Vec<u8>>, encoding: Encoding) -> Vec<Vec<u8>> {
    let quality = flate2::Compression::fast();
    let encoded = match encoding {
        Encoding::Gzip => {
            let encoder = flate2::write::GzEncoder::new(Vec::new(), quality);
            flushed(
                encoder,
                pieces,
                |encoder| encoder.get_mut(),
                |encoder| encoder.finish(),
            )
        }
        Encoding::Deflate => {
            let encoder = flate2::write::ZlibEncoder::new(Vec::new(), quality);
            flushed(
                encoder,
                pieces,
                |encoder| encoder.get_mut(),
                |encoder| encoder.finish(),
            )
        }
        Encoding::Brotli => {
            // Buffer of 4 KiB, quality 4, window of 2^22 bytes.
            let encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 4, 22);
            flushed(
                encoder,
                pieces,
                |encoder| encoder.get_mut(),
                |encoder| Ok(encoder.into_inner()),
            )
        }
        Encoding::Zstd => zstd::stream::write::Encoder::new(Vec::new(), 1).and_then(|encoder| {
            flushed(
                encoder,
                pieces,
                |encoder| encoder.get_mut(),
                |encoder| encoder.finish(),
            )
        }),
    };
    // Encoding into memory cannot fail; if it did, the empty body would be noticed immediately.
    encoded.unwrap_or_default()
}

/// Writes the pieces one by one and returns the encoder's output for each.
fn flushed<E: Write>(
    mut encoder: E,
    pieces: Vec<Vec<u8>>,
    output: impl Fn(&mut E) -> &mut Vec<u8>,
    finish: impl FnOnce(E) -> io::Result<Vec<u8>>,
) -> io::Result<Vec<Vec<u8>>> {
    let mut encoded = Vec::with_capacity(pieces.len());
    for piece in pieces {
        encoder.write_all(&piece)?;
        encoder.flush()?;
        encoded.push(std::mem::take(output(&mut encoder)));
    }
    let rest = finish(encoder)?;
    match encoded.last_mut() {
        Some(last) => last.extend_from_slice(&rest),
        None => encoded.push(rest),
    }
    Ok(encoded)
}

fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        103 => "Early Hints",
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        529 => "Site Overloaded",
        _ => "Unknown",
    }
}
