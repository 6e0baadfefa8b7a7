//! Decides for each request whether it is served, and for whom.

use super::HookToken;
use super::rate::RateLimit;
use super::refusals::Refusals;
use grov_domain::{Clock, SystemClock};
use grov_drift::{TOKEN_HEADER, token};
use grov_proxy_core::{Admitted, Arrival, Gatekeeper, Refusal};
use grov_runtime::{TokenFault, TokenTable, port};
use http::HeaderName;
use std::sync::{Arc, PoisonError};

/// The header with the token of a user.
const USER_TOKEN: HeaderName = HeaderName::from_static("x-grov-token");
/// The prefix of the admin routes.
const ADMIN: &str = "/_grov/";
/// Paths with this part count against the rate limit.
const LIMITED: &str = "/v1/";

/// The gatekeeper of the daemon.
pub(super) struct Gate {
    /// `None` if no token is needed.
    pub(super) tokens: Option<Arc<TokenTable>>,
    pub(super) rate: Option<RateLimit>,
    pub(super) refusals: Arc<Refusals>,
    pub(super) hook_token: Arc<HookToken>,
}

impl Gatekeeper for Gate {
    fn admit(&self, arrival: &Arrival<'_>) -> Result<Admitted, Refusal> {
        if arrival.path.starts_with(ADMIN) {
            return self.admit_to_admin(arrival).map(|()| Admitted::default());
        }
        if arrival.is_plain_on_tls {
            return Err(Refusal::Plain);
        }
        let user = self.user(arrival)?;
        if let Some(rate) = &self.rate
            // Servers may decode an encoded path.
            && (arrival.path.contains(LIMITED) || arrival.path.contains('%'))
            && let Err(wait) = rate.check(user.as_ref(), arrival.peer.remote.ip())
        {
            self.refusals.limited(user.as_deref(), arrival.peer.remote.ip());
            return Err(Refusal::TooMany(wait));
        }
        Ok(Admitted { user })
    }

    /// A revoked or expired token does not keep a connection open.
    fn still_admits(&self, arrival: &Arrival<'_>) -> bool {
        self.user(arrival).is_ok()
    }
}

impl Gate {
    /// Admin routes are for this machine, and for those who show the token of hooks. Grov's own programs on this machine speak plain
    /// HTTP also if clients need TLS: nothing leaves the machine, and a hook needs no certificate.
    fn admit_to_admin(&self, arrival: &Arrival<'_>) -> Result<(), Refusal> {
        let is_here = arrival.peer.is_this_machine();
        if is_here && !arrival.is_plain_on_tls {
            return Ok(());
        }
        let is_own = is_here && arrival.headers.contains_key(port::LOCAL_HEADER);
        if is_own || self.has_hook_token(arrival) && (is_here || !arrival.is_plain_on_tls) {
            return Ok(());
        }
        Err(match arrival.is_plain_on_tls {
            true => Refusal::Plain,
            false => Refusal::Remote,
        })
    }

    fn has_hook_token(&self, arrival: &Arrival<'_>) -> bool {
        let known = self.hook_token.read().unwrap_or_else(PoisonError::into_inner);
        let shown = arrival.headers.get(TOKEN_HEADER);
        shown.is_some_and(|shown| {
            known
                .as_ref()
                .is_some_and(|known| token::is_equal(known, shown.as_bytes()))
        })
    }

    fn user(&self, arrival: &Arrival<'_>) -> Result<Option<Arc<str>>, Refusal> {
        let Some(tokens) = &self.tokens else {
            return Ok(None);
        };
        let mut shown = arrival.headers.get_all(USER_TOKEN).iter();
        let checked = match (shown.next(), shown.next()) {
            (Some(shown), None) => Some(tokens.check(shown.as_bytes().trim_ascii(), SystemClock.now())),
            // None, or several.
            _ => None,
        };
        match checked {
            Some(Ok(name)) => Ok(Some(name)),
            Some(Err(fault)) => {
                self.refusals
                    .unauthenticated(Some(&fault), arrival.peer.remote.ip());
                Err(Refusal::Unauthenticated)
            }
            None => {
                self.refusals
                    .unauthenticated(None::<&TokenFault>, arrival.peer.remote.ip());
                Err(Refusal::Unauthenticated)
            }
        }
    }
}

#[cfg(test)]
mod tests;
