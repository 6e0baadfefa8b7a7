//! Request bodies on their route to the upstream.

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

/// What is sent upstream: a chain of slices held in memory, or the client's own stream.
pub(crate) enum UpstreamBody {
    Slices(VecDeque<Bytes>),
    Stream {
        body: Incoming,
        /// Frames that have been taken from it so far.
        frames: Arc<AtomicU64>,
        /// Dropped with it: the rest of the request is awaited no more.
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

    /// Counts the frames of a stream while it is on its route.
    pub(crate) fn frames(&self) -> Arc<AtomicU64> {
        match self {
            Self::Slices(_) => Arc::default(),
            Self::Stream { frames, .. } => Arc::clone(frames),
        }
    }

    /// The bytes in one piece; `None`: they stream.
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
    /// The bodies of all requests take as much memory as they may.
    NoMemory,
    /// The client broke off, or its framing is wrong.
    Broken(hyper::Error),
}

/// What is read and thrown away of a body that is refused, so that the client gets to read the answer.
const DRAIN_LIMIT: u64 = 256 * 1024 * 1024;
/// How long that is done: what a client has already sent over loopback comes in far less.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Collects bodies, each into one piece of memory.
#[derive(Clone, Debug)]
pub(crate) struct Collector {
    pages: BufferPool,
    memory: BodyBudget,
}

/// A body that was collected.
pub(crate) struct WholeBody {
    pub(crate) bytes: Bytes,
    /// Kept as long as the exchange is in work.
    pub(crate) reservation: BodyReservation,
}

impl Collector {
    pub(crate) fn new(memory: BodyBudget) -> Self {
        Self {
            pages: BufferPool::default(),
            memory,
        }
    }

    /// One with the same memory, which leaves some of it to this one.
    pub(crate) fn with_reserve(&self) -> Self {
        Self {
            pages: self.pages.clone(),
            memory: self.memory.with_reserve(),
        }
    }

    /// Memory that the bodies of requests in work take, in bytes.
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
            self.pages.tidy(Instant::now);
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
            collected = collected.with(data, announced, &self.pages);
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

/// Reads a body of a request that is refused and throws it away.
pub(crate) async fn discard(body: Incoming, serving: &RequestGuard) {
    let _receiving = serving.expect_body();
    drain(body).await;
}

/// What there is of a body.
enum Collected {
    /// The first frame of a large one, or nothing.
    Only(Bytes),
    /// It is tiny, or the system has no pages.
    Joined(BytesMut),
    Buffered(Buffer),
}

impl Default for Collected {
    fn default() -> Self {
        Self::Only(Bytes::new())
    }
}

impl Collected {
    /// The same with the next frame, of a body of at least `announced` bytes. Of a large body room is made when the second
    /// frame comes: a client that announces much and sends nothing takes no memory.
    fn with(mut self, data: Bytes, announced: u64, pool: &BufferPool) -> Self {
        if let Self::Buffered(pages) = &mut self
            && pages.extend(&data)
        {
            return self;
        }
        let there = self.as_ref();
        let total = (there.len() + data.len()) as u64;
        if there.is_empty() && buffers::is_large(announced.max(total)) {
            return Self::Only(data);
        }
        // A body in chunks announces nothing.
        let room = match there {
            _ if announced >= total => announced,
            [] => total,
            _ => 2 * total,
        };
        if let Some(mut pages) = pool.for_body(room)
            && pages.extend(there)
            && pages.extend(&data)
        {
            return Self::Buffered(pages);
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

    /// The memory that it takes, in bytes; nothing where that is too little to be counted.
    fn memory(&self) -> u64 {
        let bytes = match self {
            Self::Only(only) => only.len(),
            Self::Joined(joined) => joined.capacity(),
            Self::Buffered(pages) => pages.resident(),
        } as u64;
        if buffers::is_tiny(bytes) { 0 } else { bytes }
    }

    fn whole(self) -> Bytes {
        match self {
            Self::Only(only) => only,
            Self::Joined(joined) => joined.freeze(),
            Self::Buffered(pages) => pages.freeze(),
        }
    }
}

impl AsRef<[u8]> for Collected {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Only(only) => only,
            Self::Joined(joined) => joined,
            Self::Buffered(pages) => pages.as_ref(),
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
    // A client that takes longer reads the answer, or a reset, all the same.
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
    fn a_body_is_what_its_frames_were() {
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
    fn large_body_takes_no_memory_before_its_second_frame() {
        let first = collected(&[b"a"], 1024 * 1024);
        assert!(matches!(first, Collected::Only(_)));
        assert!(matches!(
            collected(&[b"a", b"b"], 1024 * 1024),
            Collected::Buffered(_)
        ));
    }

    #[test]
    fn memory_is_counted_as_it_is_taken_not_as_it_is_announced() {
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
    fn body_in_chunks_gets_pages_as_it_grows() {
        let frames = [&[0_u8; 700][..]; 300];
        assert!(matches!(collected(&frames[..1], 0), Collected::Joined(_)));
        assert!(matches!(collected(&frames, 0), Collected::Buffered(_)));
    }
}
