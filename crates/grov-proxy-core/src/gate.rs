//! The gate: decides for each request whether it is served, and for whom.

use http::{HeaderMap, Method, Request, Uri};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Both ends of an accepted connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The client's address.
    pub remote: SocketAddr,
    /// The address that the client connected to.
    pub local: SocketAddr,
}

impl Peer {
    /// Returns whether the client runs on this machine: it has a loopback address, or the one that it connected to.
    ///
    /// A reverse proxy on this machine makes clients of other machines look like this.
    pub fn is_this_machine(&self) -> bool {
        let (remote, local) = (self.remote.ip().to_canonical(), self.local.ip().to_canonical());
        remote.is_loopback() || remote == local
    }

    /// Returns the address that the client connected to.
    pub(crate) fn local_ip(&self) -> IpAddr {
        self.local.ip().to_canonical()
    }
}

/// The head of a request, as a [`Gatekeeper`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'r> {
    /// The method.
    pub method: &'r Method,
    /// The path, without query.
    pub path: &'r str,
    /// All headers, credentials included.
    pub headers: &'r HeaderMap,
    /// Where the client is.
    pub peer: Peer,
    /// Whether the client sent plain HTTP although the proxy has [TLS](crate::ProxyBuilder::tls).
    pub is_plain_on_tls: bool,
}

/// Decides which requests are served.
///
/// Asked once for each request of an accepted connection, after the checks of `Host` and `Origin` and before the body is read.
/// Streams of an [`Intake`](crate::Intake) are not checked: the embedder has admitted them.
pub trait Gatekeeper: Send + Sync + 'static {
    /// Returns for whom the request is served. Called on the thread that serves the connection, so it must not wait and do
    /// no I/O. After a panic the request is refused with status 500.
    ///
    /// # Errors
    /// Why the request is refused.
    fn admit(&self, arrival: &Arrival<'_>) -> Result<Admitted, Refusal>;

    /// Returns whether a request that was admitted still holds. Asked every few seconds, while a connection that changed its
    /// protocol with this request is open; with `false` the connection is closed. A panic counts as `false`. Like
    /// [`admit`](Self::admit), it must not wait. By default a request holds for ever.
    fn still_admits(&self, arrival: &Arrival<'_>) -> bool {
        let _ = arrival;
        true
    }
}

/// A request that is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    /// The name of the user, if the request shows one. See [`MessagesRequest::user`](crate::MessagesRequest::user).
    pub user: Option<Arc<str>>,
}

/// Why a request is not served. The client gets an error in the shape of the Messages API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It has no valid credential of this proxy: 401.
    Unauthenticated,
    /// The path is for this machine only: 403.
    Remote,
    /// The client sends too many requests: 429, with the time after which to try again.
    TooMany(Duration),
    /// It is plain HTTP, and the path needs TLS: 400.
    Plain,
}

/// The user of a request, in its extensions.
#[derive(Clone)]
pub(crate) struct User(Arc<str>);

impl User {
    /// Returns the user of a request that was admitted.
    pub(crate) fn of(extensions: &http::Extensions) -> Option<Arc<str>> {
        extensions.get::<Self>().map(|user| Arc::clone(&user.0))
    }
}

/// The embedder's gatekeeper, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Gate(Option<Arc<dyn Gatekeeper>>);

/// The gatekeeper panicked.
pub(crate) struct GatePanicked;

impl Gate {
    pub(crate) fn new(gatekeeper: impl Gatekeeper) -> Self {
        Self(Some(Arc::new(gatekeeper)))
    }

    /// Returns what is needed to ask about a request again. `None` without a gatekeeper.
    pub(crate) fn standing<B>(
        &self,
        request: &Request<B>,
        peer: Peer,
        is_plain_on_tls: bool,
    ) -> Option<Standing> {
        Some(Standing {
            gatekeeper: Arc::clone(self.0.as_ref()?),
            method: request.method().clone(),
            uri: request.uri().clone(),
            headers: request.headers().clone(),
            peer,
            is_plain_on_tls,
        })
    }

    /// Asks the gatekeeper, and notes the user in the extensions of the request.
    pub(crate) fn pass<B>(
        &self,
        request: &mut Request<B>,
        peer: Peer,
        is_plain_on_tls: bool,
    ) -> Result<Result<(), Refusal>, GatePanicked> {
        let Some(gatekeeper) = &self.0 else {
            return Ok(match is_plain_on_tls {
                true => Err(Refusal::Plain),
                false => Ok(()),
            });
        };
        let arrival = Arrival {
            method: request.method(),
            path: request.uri().path(),
            headers: request.headers(),
            peer,
            is_plain_on_tls,
        };
        let ask = std::panic::AssertUnwindSafe(|| gatekeeper.admit(&arrival));
        let admitted = std::panic::catch_unwind(ask).map_err(|_| GatePanicked)?;
        Ok(admitted.map(|admitted| {
            if let Some(user) = admitted.user {
                request.extensions_mut().insert(User(user));
            }
        }))
    }
}

/// A request that a gatekeeper admitted, to ask again.
pub(crate) struct Standing {
    gatekeeper: Arc<dyn Gatekeeper>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    peer: Peer,
    is_plain_on_tls: bool,
}

impl Standing {
    /// Returns whether the request would still be admitted.
    pub(crate) fn holds(&self) -> bool {
        let arrival = Arrival {
            method: &self.method,
            path: self.uri.path(),
            headers: &self.headers,
            peer: self.peer,
            is_plain_on_tls: self.is_plain_on_tls,
        };
        let ask = std::panic::AssertUnwindSafe(|| self.gatekeeper.still_admits(&arrival));
        std::panic::catch_unwind(ask).unwrap_or(false)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_this_machine_have_its_address_or_a_loopback_one() {
        let peer = |remote: &str, local: &str| Peer {
            remote: SocketAddr::new(remote.parse().unwrap(), 5000),
            local: SocketAddr::new(local.parse().unwrap(), 8080),
        };
        for (remote, local, is_here) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("::ffff:127.0.0.1", "::ffff:127.0.0.1", true),
            ("::1", "::1", true),
            ("192.168.1.5", "192.168.1.5", true),
            ("192.168.1.6", "192.168.1.5", false),
            ("::ffff:192.168.1.5", "192.168.1.5", true),
            ("fe80::1", "fe80::2", false),
        ] {
            assert_eq!(peer(remote, local).is_this_machine(), is_here, "{remote} {local}");
        }
    }
}
