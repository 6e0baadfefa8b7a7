//! Copies bytes between two streams, without a look inside.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes on the way in each direction, at first. A peer that does not read stops the other one.
const BUFFER: usize = 16 * 1024;

/// The size to which a buffer grows that was filled: fewer system calls for a large transfer.
const LARGE_BUFFER: usize = 128 * 1024;

/// After one direction has ended, the longest pause of the other: a peer that closed completely looks like one that only ended its
/// direction, and the other side may never notice.
const HALF_CLOSED_PAUSE: Duration = Duration::from_secs(120);

/// Copies between two streams, given as their halves, until both directions have ended. The end of one direction is passed on,
/// and the other continues; after two minutes without a byte it is given up. Counts the bytes of both directions in `moved`.
///
/// `write_pause` is the longest time that a side may take no byte while some are waiting for it: meanwhile the other side is not
/// read, and nobody would notice that it is gone.
///
/// # Errors
/// The system's error, when a side broke. `TimedOut` after `write_pause`.
pub async fn copy_both<R1, W1, R2, W2>(
    one: (R1, W1),
    other: (R2, W2),
    moved: &AtomicU64,
    write_pause: Duration,
) -> io::Result<()>
where
    R1: AsyncRead + Unpin + Send,
    W1: AsyncWrite + Unpin + Send,
    R2: AsyncRead + Unpin + Send,
    W2: AsyncWrite + Unpin + Send,
{
    let mut there = pin!(copy(one.0, other.1, moved, write_pause));
    let mut back = pin!(copy(other.0, one.1, moved, write_pause));
    let there_ended = tokio::select! {
        ended = &mut there => ended.map(|()| true)?,
        ended = &mut back => ended.map(|()| false)?,
    };
    let rest: Pin<&mut (dyn Future<Output = io::Result<()>> + Send)> = if there_ended { back } else { there };
    until_silent(rest, moved).await
}

/// Copies until the reader ends, and passes the end on.
async fn copy(
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    moved: &AtomicU64,
    write_pause: Duration,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER].into_boxed_slice();
    loop {
        let count = reader.read(&mut buffer).await?;
        if count == 0 {
            return within(write_pause, writer.shutdown()).await;
        }
        let mut rest = &buffer[..count];
        while !rest.is_empty() {
            match within(write_pause, writer.write(rest)).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => rest = &rest[written..],
            }
        }
        // TLS may hold back a part.
        within(write_pause, writer.flush()).await?;
        moved.fetch_add(count as u64, Ordering::Relaxed);
        if count == buffer.len() && count < LARGE_BUFFER {
            buffer = vec![0; LARGE_BUFFER].into_boxed_slice();
        }
    }
}

/// Waits for a write, no longer than `limit`.
async fn within<T>(limit: Duration, write: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let written = tokio::time::timeout(limit, write).await;
    written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Waits for the other direction, and gives up when nothing moves any more.
async fn until_silent(
    mut direction: Pin<&mut (dyn Future<Output = io::Result<()>> + Send)>,
    moved: &AtomicU64,
) -> io::Result<()> {
    loop {
        let before = moved.load(Ordering::Relaxed);
        match tokio::time::timeout(HALF_CLOSED_PAUSE, direction.as_mut()).await {
            Ok(ended) => return ended,
            Err(_) if moved.load(Ordering::Relaxed) == before => return Ok(()),
            Err(_) => {}
        }
    }
}
