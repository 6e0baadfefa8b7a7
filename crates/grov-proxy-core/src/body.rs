//! Request bodies on their way to the upstream.

use crate::pages::{self, PagePool, Pages};
use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

/// What is sent upstream: a chain of slices held in memory, or the client's own stream.
pub(crate) enum UpstreamBody {
    Slices(VecDeque<Bytes>),
    Stream {
        body: Incoming,
        /// Frames that have been taken from it so far.
        frames: Arc<AtomicU64>,
    },
}

impl UpstreamBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::slices([bytes])
    }

    pub(crate) fn stream(body: Incoming) -> Self {
        Self::Stream {
            body,
            frames: Arc::default(),
        }
    }

    /// Counts the frames of a stream while it is on its way.
    pub(crate) fn frames(&self) -> Arc<AtomicU64> {
        match self {
            Self::Slices(_) => Arc::default(),
            Self::Stream { frames, .. } => Arc::clone(frames),
        }
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
            Self::Stream { body, frames } => {
                let polled = Pin::new(body).poll_frame(cx);
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
    /// The client broke off, or its framing is wrong.
    Broken(hyper::Error),
}

/// What is read and thrown away of a body over the limit, so that the client gets to read the answer.
const DRAIN_LIMIT: u64 = 256 * 1024 * 1024;

/// Collects a body of at most `limit` bytes into one piece of memory.
pub(crate) async fn collect(mut body: Incoming, limit: u64, pool: &PagePool) -> Result<Bytes, CollectError> {
    let announced = body.size_hint().lower();
    if announced > limit {
        drain(body).await;
        return Err(CollectError::TooLarge);
    }
    if pages::is_tiny(announced) {
        pool.tidy(Instant::now);
    }
    let mut collected = Collected::default();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(CollectError::Broken)?.into_data() else {
            continue;
        };
        collected = collected.with(data, announced, pool);
        if collected.len() as u64 > limit {
            drain(body).await;
            return Err(CollectError::TooLarge);
        }
    }
    Ok(collected.whole())
}

/// What there is of a body.
enum Collected {
    /// The first frame of a large one, or nothing.
    Only(Bytes),
    /// It is tiny, or the system has no pages.
    Joined(BytesMut),
    Paged(Pages),
}

impl Default for Collected {
    fn default() -> Self {
        Self::Only(Bytes::new())
    }
}

impl Collected {
    /// The same with the next frame, of a body of at least `announced` bytes. Of a large body room is made when the second
    /// frame comes: a client that announces much and sends nothing takes no memory.
    fn with(mut self, data: Bytes, announced: u64, pool: &PagePool) -> Self {
        if let Self::Paged(pages) = &mut self
            && pages.extend(&data)
        {
            return self;
        }
        let there = self.as_ref();
        let total = (there.len() + data.len()) as u64;
        if there.is_empty() && pages::is_large(announced.max(total)) {
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
            return Self::Paged(pages);
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

    fn whole(self) -> Bytes {
        match self {
            Self::Only(only) => only,
            Self::Joined(joined) => joined.freeze(),
            Self::Paged(pages) => pages.freeze(),
        }
    }
}

impl AsRef<[u8]> for Collected {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Only(only) => only,
            Self::Joined(joined) => joined,
            Self::Paged(pages) => pages.as_ref(),
        }
    }
}

async fn drain(mut body: Incoming) {
    let mut read = 0;
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, |data| data.len() as u64);
        if read > DRAIN_LIMIT {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(frames: &[&[u8]], announced: usize) -> Collected {
        let pool = PagePool::default();
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
            Collected::Paged(_)
        ));
    }

    #[test]
    fn body_in_chunks_gets_pages_as_it_grows() {
        let frames = [&[0_u8; 700][..]; 300];
        assert!(matches!(collected(&frames[..1], 0), Collected::Joined(_)));
        assert!(matches!(collected(&frames, 0), Collected::Paged(_)));
    }
}
