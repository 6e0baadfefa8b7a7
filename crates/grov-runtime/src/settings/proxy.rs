//! How the proxy protects its listener.

use super::agent::TlsFiles;
use super::table::ProxySettings;
use crate::Url;
use std::net::IpAddr;

/// Where the proxy's certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsSource {
    /// Files of the user, read again when they change.
    Files(TlsFiles),
    /// A self-signed certificate that the proxy makes and keeps in the home.
    SelfSigned,
}

/// Why the listener must not be opened with these settings.
pub(super) struct Unprotected {
    pub(super) setting: &'static str,
    pub(super) reason: String,
    pub(super) hint: &'static str,
}

/// The provider of the main upstream by default.
const ANTHROPIC: &str = "api.anthropic.com";
/// Where clients of OpenAI's and Gemini's APIs send their requests by default.
const OPENAI: &str = "https://api.openai.com";
const GEMINI: &str = "https://generativelanguage.googleapis.com";

impl ProxySettings {
    /// Returns the base address for OpenAI's APIs, or `None` for the main upstream: a gateway that the user set may serve all APIs.
    pub fn openai_address(&self) -> Option<&str> {
        self.api_address(self.openai_upstream.as_ref(), OPENAI)
    }

    /// Returns the base address for the Gemini API, or `None` for the main upstream.
    pub fn gemini_address(&self) -> Option<&str> {
        self.api_address(self.gemini_upstream.as_ref(), GEMINI)
    }

    fn api_address<'s>(&self, set: Option<&'s Url>, provider: &'s str) -> Option<&'s str> {
        let usual = (self.upstream.host() == ANTHROPIC).then_some(provider);
        set.map(Url::as_str).or(usual)
    }

    /// Returns the source of the certificate; `None` without TLS. TLS is on if `enable_tls` or a certificate is set.
    pub fn tls(&self) -> Option<TlsSource> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificates), Some(key)) => Some(TlsSource::Files(TlsFiles {
                certificates: certificates.clone(),
                key: key.clone(),
            })),
            _ => self.enable_tls.then_some(TlsSource::SelfSigned),
        }
    }

    /// Returns the limit of requests a minute, if there is one.
    pub fn request_limit(&self) -> Option<u32> {
        self.enable_rate_limit.then_some(self.rate_limit)
    }

    /// Returns whether other machines can reach the proxy although TLS or tokens are missing.
    pub fn is_exposed(&self) -> bool {
        self.is_reachable() && (self.tls().is_none() || !self.enable_auth)
    }

    /// Returns whether other machines can reach the proxy.
    pub fn is_reachable(&self) -> bool {
        !self.host.to_canonical().is_loopback()
    }

    /// Returns the address at which programs of this machine reach the proxy.
    pub fn local_host(&self) -> IpAddr {
        crate::daemon::local(self.host)
    }

    pub(super) fn ensure_protected(&self) -> Result<(), Unprotected> {
        let refused = |setting, reason: String, hint| {
            Err(Unprotected {
                setting,
                reason,
                hint,
            })
        };
        match (&self.tls_cert, &self.tls_key) {
            (Some(_), None) => {
                let reason = "proxy.tls_cert is set, but proxy.tls_key is not".to_owned();
                return refused("proxy.tls_cert", reason, "set both, or neither");
            }
            (None, Some(_)) => {
                let reason = "proxy.tls_key is set, but proxy.tls_cert is not".to_owned();
                return refused("proxy.tls_key", reason, "set both, or neither");
            }
            _ => {}
        }
        if self.tls() == Some(TlsSource::SelfSigned) && !self.tls_self_signed {
            let reason =
                "asks for TLS, but no certificate is set and proxy.tls_self_signed is false".to_owned();
            return refused("proxy.enable_tls", reason, "set proxy.tls_cert and proxy.tls_key");
        }
        if self.is_exposed() && !self.insecure {
            let missing = match (self.tls().is_none(), self.enable_auth) {
                (true, false) => "neither TLS nor tokens are on",
                (true, true) => "TLS is off, so that prompts and keys could be read on the way",
                (false, _) => "tokens are off, so that anyone could use it",
            };
            let reason = format!(
                "{} is not a loopback address: other machines could reach the proxy, but {missing}",
                self.host
            );
            let hint = "set ENABLE_TLS=true and ENABLE_AUTH=true, use 127.0.0.1, or give --insecure in a network that you trust";
            return refused("proxy.host", reason, hint);
        }
        Ok(())
    }
}
