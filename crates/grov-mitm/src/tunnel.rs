//! Blind tunnels.

use crate::prefixed::Prefixed;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// Bytes on the way in each direction. A peer that does not read stops the other one.
const BUFFER: usize = 16 * 1024;

/// After one direction has ended, the longest pause of the other: a peer that closed completely looks like one that only ended its
/// direction, and the other side may never notice.
const HALF_CLOSED_PAUSE: Duration = Duration::from_secs(120);

/// Copies in both directions until both have ended. The end of one direction is passed on, and the other continues.
///
/// # Errors
/// The system's error, when a side broke.
pub(crate) async fn copy(client: Prefixed, mut upstream: TcpStream) -> io::Result<()> {
    let (early, mut client) = client.into_parts();
    upstream.write_all(&early).await?;
    let (client_reads, client_writes) = client.split();
    let (upstream_reads, upstream_writes) = upstream.split();
    let moved = AtomicU64::new(0);
    let mut up = pin!(copy_one(client_reads, upstream_writes, &moved));
    let mut down = pin!(copy_one(upstream_reads, client_writes, &moved));
    let up_ended = tokio::select! {
        ended = &mut up => ended.map(|()| true)?,
        ended = &mut down => ended.map(|()| false)?,
    };
    let other: Pin<&mut (dyn Future<Output = io::Result<()>> + Send)> = if up_ended { down } else { up };
    until_silent(other, &moved).await
}

/// Copies until the reader ends, and passes the end on.
async fn copy_one(
    mut reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    moved: &AtomicU64,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER].into_boxed_slice();
    loop {
        let count = reader.read(&mut buffer).await?;
        if count == 0 {
            return writer.shutdown().await;
        }
        writer.write_all(&buffer[..count]).await?;
        moved.fetch_add(count as u64, Ordering::Relaxed);
    }
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
