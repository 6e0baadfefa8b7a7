//! How much the proxy takes on, and how long it waits.

use std::time::Duration;

/// Connections beyond the limit, for a moment: those that idle ones are about to make room for.
pub(crate) const ON_CREDIT: usize = 32;

/// Connections beyond these, for one request to a page below `/_grov/` each. Others are told to come again.
const FOR_OWN_PAGES: usize = 32;

/// How much and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest body for `/v1/messages` and below, in bytes. Other bodies stream through unlimited.
    pub body: u64,
    /// Time to reach the upstream.
    pub connect: Duration,
    /// Longest silence of the upstream between the request, once there is a connection, and the head of the response.
    pub response: Duration,
    /// Longest silence inside a response.
    pub idle: Duration,
    /// How long running responses may go on after shutdown was asked for.
    pub grace: Duration,
    /// Most clients that are connected at a time. A further one takes the place of the one that has been idle longest; if all are
    /// busy, it is served pages below `/_grov/` alone. Up to [`Limits::BEYOND`] more may be connected for a moment. Each client may
    /// need a connection to the upstream too: of file descriptors there should be more than twice as many.
    pub connections: usize,
    /// Most memory that the bodies of requests in work take together, in bytes, but that a lone one may take more. A request beyond
    /// it is answered with 503.
    pub bodies: u64,
    /// Longest wait for the first request of a connection, and for the rest of a head.
    pub head: Duration,
    /// How long a connection is kept for its client's next request.
    pub keep_alive: Duration,
    /// Longest silence of the client inside a body, which may take twice as long to be noticed. A slow body goes on.
    pub body_silence: Duration,
}

impl Limits {
    /// Connections that there may be for a moment beyond [`Limits::connections`].
    pub const BEYOND: usize = ON_CREDIT + FOR_OWN_PAGES;

    /// The limits that hold where nothing else is said.
    pub const DEFAULT: Self = Self {
        body: 32 * 1024 * 1024,
        connect: Duration::from_secs(30),
        response: Duration::from_secs(15 * 60),
        idle: Duration::from_secs(5 * 60),
        grace: Duration::from_secs(30),
        // Far more than the agents of one machine have; each takes some ten kilobytes.
        connections: 4096,
        // Sixteen of the largest.
        bodies: 512 * 1024 * 1024,
        // On one machine a head takes no time; a client that is stopped in a debugger may take some.
        head: Duration::from_secs(30),
        // Longer than clients keep theirs: who closes first loses no request.
        keep_alive: Duration::from_secs(10 * 60),
        // A client has its body whole before it sends it.
        body_silence: Duration::from_secs(60),
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
