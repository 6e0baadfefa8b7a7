//! Limits.

use std::time::Duration;

/// Connections accepted beyond the limit for a moment, while idle ones close.
pub(crate) const CONNECTIONS_ON_CREDIT: usize = 32;

/// Further connections, each for one request to an admin route. Other requests on them are answered with 503.
const ADMIN_CONNECTIONS: usize = 32;

/// Limits of a proxy: sizes, counts and durations.
///
/// ```
/// use grov_proxy_core::Limits;
/// use std::time::Duration;
///
/// let limits = Limits {
///     connect: Duration::from_secs(5),
///     ..Limits::default()
/// };
/// assert_eq!(limits.body, 32 * 1024 * 1024);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a request body for `/v1/messages` or a path below it, in bytes. Larger ones are answered with 413. Other
    /// bodies stream without a limit. Default: 32 MiB.
    pub body: u64,
    /// Maximum time to connect to the upstream. Exceeding it is answered with 502. Also the maximum wait for its answer to a
    /// request for another protocol; exceeding that is answered with 504. Default: 30 seconds.
    pub connect: Duration,
    /// Maximum wait for a response head, counted from the last progress of the request. Exceeding it is answered with 504.
    /// Default: 15 minutes.
    pub response: Duration,
    /// Maximum pause of the upstream inside a response body. Then the response is cut. Also the longest time that either side of a
    /// connection with another protocol may take no byte of those that wait for it. Default: 5 minutes.
    pub idle: Duration,
    /// How long running responses may continue after shutdown began. Default: 30 seconds.
    pub grace: Duration,
    /// Maximum number of connected clients. A new client replaces the connection that was idle longest. If all are busy, the new
    /// client can use only admin routes. Up to [`Limits::BEYOND`] more connections may be open for a moment. The process needs
    /// more than twice as many file descriptors, because each client may need an upstream connection. Default: 4096.
    pub connections: usize,
    /// Maximum memory of all collected request bodies, in bytes. A single body may exceed it. A request beyond the limit is
    /// answered with 503. Default: 512 MiB.
    pub bodies: u64,
    /// Maximum wait for the first request of a connection, and for the rest of a request head. Default: 30 seconds.
    pub head: Duration,
    /// Maximum wait for the next request on an idle connection. Default: 10 minutes.
    pub keep_alive: Duration,
    /// Maximum pause of the client inside a request body. A longer pause closes the connection, after at most twice this time.
    /// Default: 60 seconds.
    pub body_silence: Duration,
}

impl Limits {
    /// Connections that may be open for a moment beyond [`Limits::connections`].
    pub const BEYOND: usize = CONNECTIONS_ON_CREDIT + ADMIN_CONNECTIONS;

    /// The default limits.
    pub const DEFAULT: Self = Self {
        body: 32 * 1024 * 1024,
        connect: Duration::from_secs(30),
        response: Duration::from_secs(15 * 60),
        idle: Duration::from_secs(5 * 60),
        grace: Duration::from_secs(30),
        // Far more than the agents of one machine need. Each connection takes about ten kilobytes.
        connections: 4096,
        bodies: 512 * 1024 * 1024,
        head: Duration::from_secs(30),
        // Longer than clients keep theirs: a connection closed by the server may lose a request.
        keep_alive: Duration::from_secs(10 * 60),
        body_silence: Duration::from_secs(60),
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
