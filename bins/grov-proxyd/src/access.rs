//! Who may use the proxy: the certificate of the listener, tokens, and the rate limit.

mod certificate;
mod gate;
mod rate;
mod refusals;

use crate::daemon::Stop;
use certificate::Certificate;
use gate::Gate;
use grov_domain::{Clock, SystemClock};
use grov_drift::token;
use grov_proxy_core::ProxyBuilder;
use grov_runtime::{Home, ProxySettings, Shutdown, TokenTable};
use rate::RateLimit;
use refusals::Refusals;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// How often is checked whether the tokens changed. `grov token` waits a little longer.
const TOKENS_EVERY: Duration = Duration::from_millis(100);
/// How often is checked whether the certificate was renewed and whether the token of hooks changed, in rounds of `TOKENS_EVERY`.
const FILES_EVERY: u32 = 10;
/// How often the last uses of tokens are saved, in rounds of `TOKENS_EVERY`. Nothing is written unless one changed by a minute.
const SAVE_EVERY: u32 = 10;

/// What protects the listener. Without TLS, tokens and a rate limit, and on loopback only, nothing.
pub(crate) struct Access {
    home: Home,
    certificate: Option<Certificate>,
    tokens: Option<Arc<TokenTable>>,
    limit: Option<u32>,
    /// Whether other machines can reach the listener.
    is_reachable: bool,
    /// Whether they can do so although TLS or tokens are missing.
    is_exposed: bool,
    allowed_hosts: Vec<String>,
    refusals: Arc<Refusals>,
    hook_token: Arc<HookToken>,
}

/// The token of hooks over HTTP, which also opens the admin routes to other machines.
type HookToken = RwLock<Option<grov_redact::Secret>>;

impl Access {
    /// Reads the certificate and the tokens.
    ///
    /// # Errors
    /// They are needed but cannot be used.
    pub(crate) fn new(home: &Home, settings: &ProxySettings) -> Result<Self, Stop> {
        let certificate = settings
            .tls()
            .map(|source| Certificate::open(home, settings, source))
            .transpose()?;
        let tokens = match settings.enable_auth {
            true => Some(tokens(home)?),
            false => None,
        };
        Ok(Self {
            home: home.clone(),
            certificate,
            tokens,
            limit: settings.request_limit(),
            is_reachable: settings.is_reachable(),
            is_exposed: settings.is_exposed(),
            allowed_hosts: settings.allowed_hosts.clone(),
            refusals: Arc::default(),
            hook_token: Arc::new(RwLock::new(token::read(home))),
        })
    }

    /// Returns `https` or `http`.
    pub(crate) fn scheme(&self) -> &'static str {
        match self.certificate {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Returns the base URL for clients if it is not the address: they verify the host in it.
    pub(crate) fn base_url(&self, address: SocketAddr) -> Option<String> {
        let certificate = self.certificate.as_ref()?;
        Some(format!(
            "https://{}:{}",
            certificate.host_for(address),
            address.port()
        ))
    }

    /// Adds the protection to a proxy.
    pub(crate) fn protect(&self, builder: ProxyBuilder) -> ProxyBuilder {
        let mut builder = builder.allowed_hosts(self.allowed_hosts.iter().cloned());
        if let Some(certificate) = &self.certificate {
            builder = builder
                .allowed_hosts(certificate.hosts())
                .tls(certificate.config());
        }
        let health = self.health();
        builder.health_section("access", health).gatekeeper(Gate {
            tokens: self.tokens.clone(),
            rate: self.limit.map(RateLimit::new),
            refusals: Arc::clone(&self.refusals),
            hook_token: Arc::clone(&self.hook_token),
        })
    }

    /// Logs what is unusual about the protection.
    pub(crate) fn announce(&self, print: impl Fn(&str)) {
        if let Some(certificate) = &self.certificate {
            certificate.announce(print);
        }
        if self.is_exposed {
            let missing = match (&self.certificate, &self.tokens) {
                (None, None) => "without TLS and without tokens",
                (None, Some(_)) => "without TLS",
                (Some(_), _) => "without tokens",
            };
            tracing::warn!("insecure: other machines can reach this proxy {missing} (proxy.insecure)");
        }
        if let Some(tokens) = &self.tokens
            && tokens.active(SystemClock.now()) == 0
        {
            tracing::warn!(
                "no token is active, so every request is refused; create one: grov token create NAME"
            );
        }
    }

    /// Returns what the health page says.
    fn health(&self) -> impl Fn() -> serde_json::Value + Send + Sync + 'static {
        let (tokens, limit) = (self.tokens.clone(), self.limit);
        let certificate = self.certificate.as_ref().map(Certificate::state);
        let (is_reachable, is_exposed) = (self.is_reachable, self.is_exposed);
        move || {
            json!({
                "reachable": is_reachable,
                "insecure": is_exposed,
                "tls": certificate.as_ref().map(|state| state()),
                "tokens": tokens.as_ref().map(|tokens| json!({ "active": tokens.active(SystemClock.now()) })),
                "rate_limit": limit,
            })
        }
    }

    /// Follows changes of the files until the daemon stops.
    pub(crate) async fn watch(self: Arc<Self>, mut stopping: Shutdown) {
        if self.certificate.is_none() && self.tokens.is_none() && !self.is_reachable {
            return;
        }
        for round in 1_u32.. {
            tokio::select! {
                () = stopping.requested() => break,
                () = tokio::time::sleep(TOKENS_EVERY) => {}
            }
            self.check(round);
        }
        self.save_uses();
    }

    fn check(&self, round: u32) {
        if let Some(tokens) = &self.tokens {
            match tokens.refresh() {
                Ok(false) => {}
                Ok(true) => tracing::info!(active = tokens.active(SystemClock.now()), "tokens changed"),
                Err(error) => tracing::error!(%error, "the tokens known so far stay in force"),
            }
        }
        if round.is_multiple_of(FILES_EVERY) {
            if let Some(certificate) = &self.certificate {
                certificate.refresh();
            }
            let current = token::read(&self.home);
            *self.hook_token.write().unwrap_or_else(PoisonError::into_inner) = current;
            self.refusals.log_rest();
        }
        if round.is_multiple_of(SAVE_EVERY) {
            self.save_uses();
        }
    }

    fn save_uses(&self) {
        if let Some(Err(error)) = self.tokens.as_ref().map(|tokens| tokens.save_uses()) {
            tracing::warn!(%error, "the last uses of tokens could not be saved");
        }
    }
}

fn tokens(home: &Home) -> Result<Arc<TokenTable>, Stop> {
    TokenTable::load(home).map(Arc::new).map_err(|error| {
        let hint = error.hint();
        Stop::usage(error).with_hint(hint)
    })
}
