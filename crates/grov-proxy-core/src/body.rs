//! Request bodies for the upstream.

use crate::body_budget::{BodyBudget, BodyReservation};
use crate::buffers::{self, Buffer, BufferPool};
use crate::connection_state::{BodyProgress, RequestGuard};
use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A body for the upstream: slices in memory, or the client's stream.
pub(crate) enum UpstreamBody {
    Slices(VecDeque<Bytes>),
    Stream {
        body: Incoming,
        /// Frames read so far.
        frames: Arc<AtomicU64>,
        /// Dropped with the stream.
        receiving: BodyProgress,
    },
}

impl UpstreamBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::slices([bytes])
    }

    pub(crate) fn stream(body: Incoming, receiving: BodyProgress) -> Self {
        Self::Stream {
            body,
            frames: Arc::default(),
            receiving,
        }
    }

    /// Returns the counter of frames read from a stream.
    pub(crate) fn frames(&self) -> Arc<AtomicU64> {
        match self {
            Self::Slices(_) => Arc::default(),
            Self::Stream { frames, .. } => Arc::clone(frames),
        }
    }

    /// Returns the same body again, or `None` for a stream, which can be sent only once.
    pub(crate) fn try_clone(&self) -> Option<Self> {
        match self {
            Self::Slices(slices) => Some(Self::Slices(slices.clone())),
            Self::Stream { .. } => None,
        }
    }

    /// Returns the bytes in one piece, or `None` for a stream.
    pub(crate) fn collected(self) -> Option<Bytes> {
        let Self::Slices(mut slices) = self else {
            return None;
        };
        if slices.len() > 1 {
            let mut joined = BytesMut::with_capacity(slices.iter().map(Bytes::len).sum());
            joined.extend(slices);
            return Some(joined.freeze());
        }
        Some(slices.pop_front().unwrap_or_default())
    }

    pub(crate) fn slices(slices: impl IntoIterator<Item = Bytes>) -> Self {
        Self::Slices(slices.into_iter().filter(|slice| !slice.is_empty()).collect())
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Slices(slices) => Poll::Ready(slices.pop_front().map(|slice| Ok(Frame::data(slice)))),
            Self::Stream {
                body,
                frames,
                receiving,
            } => {
                let polled = Pin::new(body).poll_frame(cx);
                receiving.set_starved(polled.is_pending());
                if matches!(polled, Poll::Ready(Some(Ok(_)))) {
                    frames.fetch_add(1, Ordering::Relaxed);
                }
                polled
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Slices(slices) => slices.is_empty(),
            Self::Stream { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Slices(slices) => SizeHint::with_exact(slices.iter().map(|slice| slice.len() as u64).sum()),
            Self::Stream { body, .. } => body.size_hint(),
        }
    }
}

/// Why a body could not be collected.
#[derive(Debug)]
pub(crate) enum CollectError {
    /// Over the limit.
    TooLarge,
    /// The collected bodies take all their memory.
    NoMemory,
    /// The client disconnected, or its framing is invalid.
    Broken(hyper::Error),
}

/// How much of a refused body is read and discarded, in bytes, so that the client reads the response.
const DRAIN_LIMIT: u64 = 256 * 1024 * 1024;
/// How long a refused body is read.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Collects bodies, each into one piece of memory.
#[derive(Clone, Debug)]
pub(crate) struct Collector {
    buffer: BufferPool,
    memory: BodyBudget,
}

/// A collected body.
pub(crate) struct WholeBody {
    pub(crate) bytes: Bytes,
    /// Held until the exchange ends.
    pub(crate) reservation: BodyReservation,
}

impl Collector {
    pub(crate) fn new(memory: BodyBudget) -> Self {
        Self {
            buffer: BufferPool::default(),
            memory,
        }
    }

    /// Returns a collector with the same budget that leaves an eighth of it to this one.
    pub(crate) fn with_reserve(&self) -> Self {
        Self {
            buffer: self.buffer.clone(),
            memory: self.memory.with_reserve(),
        }
    }

    /// Returns the memory of all collected bodies, in bytes.
    pub(crate) fn reserved(&self) -> u64 {
        self.memory.reserved()
    }

    /// Collects a body of at most `limit` bytes.
    pub(crate) async fn collect(
        &self,
        mut body: Incoming,
        limit: u64,
        serving: &RequestGuard,
    ) -> Result<WholeBody, CollectError> {
        let _receiving = serving.expect_body();
        let announced = body.size_hint().lower();
        if announced > limit {
            drain(body).await;
            return Err(CollectError::TooLarge);
        }
        if buffers::is_tiny(announced) {
            self.buffer.remove_unused(Instant::now());
        }
        let mut reservation = self.memory.reservation();
        let mut collected = Collected::default();
        let kind = loop {
            let Some(frame) = body.frame().await else {
                let bytes = collected.whole();
                return Ok(WholeBody { bytes, reservation });
            };
            let Ok(data) = frame.map_err(CollectError::Broken)?.into_data() else {
                continue;
            };
            collected = collected.with(data, announced, &self.buffer);
            if collected.len() as u64 > limit {
                break CollectError::TooLarge;
            }
            if !reservation.grow_to(collected.memory()) {
                break CollectError::NoMemory;
            }
        };
        drop((collected, reservation));
        drain(body).await;
        Err(kind)
    }
}

/// Reads and discards the body of a refused request.
pub(crate) async fn discard(body: Incoming, serving: &RequestGuard) {
    let _receiving = serving.expect_body();
    drain(body).await;
}

/// The received part of a body.
enum Collected {
    /// The first frame of a large one, or nothing.
    Only(Bytes),
    /// It is tiny, or memory for a buffer is exhausted.
    Joined(BytesMut),
    Buffered(Buffer),
}

impl Default for Collected {
    fn default() -> Self {
        Self::Only(Bytes::new())
    }
}

impl Collected {
    /// Appends a frame of a body of at least `announced` bytes. A large body gets its buffer with the second frame: a client that
    /// announces much and sends nothing takes no memory.
    fn with(mut self, data: Bytes, announced: u64, pool: &BufferPool) -> Self {
        if let Self::Buffered(buffer) = &mut self
            && buffer.extend(&data)
        {
            return self;
        }
        let there = self.as_ref();
        let total = (there.len() + data.len()) as u64;
        if there.is_empty() && buffers::is_large(announced.max(total)) {
            return Self::Only(data);
        }
        // A chunked body announces nothing.
        let room = match there {
            _ if announced >= total => announced,
            [] => total,
            _ => 2 * total,
        };
        if let Some(mut buffer) = pool.for_body(room)
            && buffer.extend(there)
            && buffer.extend(&data)
        {
            return Self::Buffered(buffer);
        }
        let mut joined = match self {
            Self::Joined(joined) => joined,
            other => BytesMut::from(other.as_ref()),
        };
        joined.extend_from_slice(&data);
        Self::Joined(joined)
    }

    fn len(&self) -> usize {
        self.as_ref().len()
    }

    /// Returns the memory that it takes, in bytes; 0 if tiny.
    fn memory(&self) -> u64 {
        let bytes = match self {
            Self::Only(only) => only.len(),
            Self::Joined(joined) => joined.capacity(),
            Self::Buffered(buffer) => buffer.resident(),
        } as u64;
        if buffers::is_tiny(bytes) { 0 } else { bytes }
    }

    fn whole(self) -> Bytes {
        match self {
            Self::Only(only) => only,
            Self::Joined(joined) => joined.freeze(),
            Self::Buffered(buffer) => buffer.freeze(),
        }
    }
}

impl AsRef<[u8]> for Collected {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Only(only) => only,
            Self::Joined(joined) => joined,
            Self::Buffered(buffer) => buffer.as_ref(),
        }
    }
}

async fn drain(mut body: Incoming) {
    let read_all = async {
        let mut read = 0;
        while let Some(Ok(frame)) = body.frame().await {
            read += frame.data_ref().map_or(0, |data| data.len() as u64);
            if read > DRAIN_LIMIT {
                return;
            }
        }
    };
    // A slower client reads the response, or a reset.
    let _ = tokio::time::timeout(DRAIN_TIME, read_all).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(frames: &[&[u8]], announced: usize) -> Collected {
        let pool = BufferPool::default();
        frames.iter().fold(Collected::default(), |collected, frame| {
            collected.with(Bytes::copy_from_slice(frame), announced as u64, &pool)
        })
    }

    #[test]
    fn collected_body_equals_its_frames() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
        for length in [0, 1, 1024, 1025, 32_768, 32_769, 131_071, 131_072, 300_000] {
            for frame in [100, 1000, 20_000, 300_000] {
                let body = &bytes[..length];
                let frames: Vec<&[u8]> = body.chunks(frame).collect();
                for announced in [0, length] {
                    let whole = collected(&frames, announced).whole();
                    assert!(
                        whole == body,
                        "{length} bytes in frames of {frame}, {announced} announced"
                    );
                }
            }
        }
    }

    #[test]
    fn large_body_gets_no_buffer_before_its_second_frame() {
        let first = collected(&[b"a"], 1024 * 1024);
        assert!(matches!(first, Collected::Only(_)));
        assert!(matches!(
            collected(&[b"a", b"b"], 1024 * 1024),
            Collected::Buffered(_)
        ));
    }

    #[test]
    fn only_received_bytes_count_as_memory() {
        let announced = 32 * 1024 * 1024;
        assert_eq!(collected(&[b"a"], announced).memory(), 0);
        let step = collected(&[b"a", b"b"], announced).memory();
        assert!((2..1024 * 1024).contains(&step), "{step}");
        let long = vec![0; 3 * 1024 * 1024];
        let parts: Vec<&[u8]> = long.chunks(30_000).collect();
        let most = collected(&parts, announced).memory();
        assert!((3 * 1024 * 1024..4 * 1024 * 1024).contains(&most), "{most}");
        assert_eq!(collected(&[b"{}"], 2).memory(), 0);
    }

    #[test]
    fn chunked_body_gets_a_buffer_as_it_grows() {
        let frames = [&[0_u8; 700][..]; 300];
        assert!(matches!(collected(&frames[..1], 0), Collected::Joined(_)));
        assert!(matches!(collected(&frames, 0), Collected::Buffered(_)));
    }
}
