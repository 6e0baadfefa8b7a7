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
    if !pages::is_large(announced) {
        pool.tidy(Instant::now);
    }
    let mut collected = Collected::Only(None);
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
    /// One frame at most.
    Only(Option<Bytes>),
    Joined(BytesMut),
    Large(Pages),
}

impl Collected {
    /// The same with the next frame, of a body of at least `announced` bytes. Room for all of them is made when the second
    /// frame comes: a client that announces much and sends nothing takes no memory.
    fn with(self, data: Bytes, announced: u64, pool: &PagePool) -> Self {
        let mut joined = match self {
            Self::Only(None) => return Self::Only(Some(data)),
            Self::Only(Some(first)) => {
                let whole = (announced as usize).max(first.len() + data.len());
                if let Some(mut pages) = pool.for_body(whole as u64)
                    && pages.extend(&first)
                    && pages.extend(&data)
                {
                    return Self::Large(pages);
                }
                let mut joined = BytesMut::with_capacity(whole);
                joined.extend_from_slice(&first);
                joined
            }
            Self::Joined(joined) => joined,
            Self::Large(mut pages) => {
                if pages.extend(&data) {
                    return Self::Large(pages);
                }
                // More than was announced: a body in chunks announces nothing.
                BytesMut::from(pages.as_ref())
            }
        };
        joined.extend_from_slice(&data);
        Self::Joined(joined)
    }

    fn len(&self) -> usize {
        match self {
            Self::Only(only) => only.as_ref().map_or(0, Bytes::len),
            Self::Joined(joined) => joined.len(),
            Self::Large(pages) => pages.as_ref().len(),
        }
    }

    fn whole(self) -> Bytes {
        match self {
            Self::Only(only) => only.unwrap_or_default(),
            Self::Joined(joined) => joined.freeze(),
            Self::Large(pages) => pages.freeze(),
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
