//! Blind tunnels.

use crate::prefixed::Prefixed;
use grov_proxy_core::copy_both;
use std::io;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The longest time that a side of a tunnel may take no byte of those that wait for it. A program may be paused for minutes.
const WRITE_PAUSE: Duration = Duration::from_secs(15 * 60);

/// Copies in both directions until both have ended, see [`copy_both`].
///
/// # Errors
/// The system's error, when a side broke.
pub(crate) async fn copy(client: Prefixed, mut upstream: TcpStream) -> io::Result<()> {
    let (early, mut client) = client.into_parts();
    upstream.write_all(&early).await?;
    copy_both(client.split(), upstream.split(), &AtomicU64::new(0), WRITE_PAUSE).await
}
