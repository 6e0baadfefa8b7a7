//! The certificate of the listener.

use crate::daemon::Stop;
use anyhow::Context;
use grov_domain::{Clock, SystemClock};
use grov_runtime::{Home, ProxySettings, TlsSource, write_private};
use grov_serve::{
    CertificateError, CertificateFacts, CertificateFiles, ServerCertificate, read_facts, self_signed,
};
use serde_json::json;
use std::fs::DirBuilder;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::sync::{Arc, Mutex, PoisonError};
use time::{Duration, OffsetDateTime};

/// A certificate that the daemon made is replaced this long before it expires.
const RENEW_BEFORE: Duration = Duration::days(30);
/// From this long before the end of the certificate on, the log and doctor warn.
const WARN_BEFORE: Duration = Duration::days(14);

/// The certificate in use.
pub(super) struct Certificate {
    server: Arc<ServerCertificate>,
    config: Arc<rustls::ServerConfig>,
    is_own: bool,
    /// Why the newest files are not in use.
    fault: Arc<Mutex<Option<String>>>,
    /// When the log last warned about its end.
    warned: Mutex<Option<OffsetDateTime>>,
}

impl Certificate {
    /// Reads the certificate, or makes one.
    pub(super) fn open(home: &Home, settings: &ProxySettings, source: TlsSource) -> Result<Self, Stop> {
        let now = SystemClock.now();
        let (files, is_own) = match source {
            TlsSource::Files(files) => {
                let (certificates, key) = (files.certificates, files.key);
                (CertificateFiles { certificates, key }, false)
            }
            TlsSource::SelfSigned => (own_files(home, settings, now).map_err(Stop::fault)?, true),
        };
        let server = Arc::new(ServerCertificate::load(files, now).map_err(unusable)?);
        let config = server.config().map_err(unusable)?;
        Ok(Self {
            server,
            config,
            is_own,
            fault: Arc::default(),
            warned: Mutex::default(),
        })
    }

    pub(super) fn config(&self) -> Arc<rustls::ServerConfig> {
        Arc::clone(&self.config)
    }

    /// Returns the host names in it, under which clients may reach the proxy.
    pub(super) fn hosts(&self) -> Vec<String> {
        let names = self.server.facts().names;
        names.into_iter().filter(|name| !name.starts_with('*')).collect()
    }

    /// Returns the host for the base URL of clients on this machine: one that it covers, loopback if possible.
    pub(super) fn host_for(&self, address: SocketAddr) -> String {
        self.server.facts().host_for(address.ip())
    }

    pub(super) fn announce(&self, print: impl Fn(&str)) {
        if !self.is_own {
            return;
        }
        let path = self.server.files().certificates.display().to_string();
        let fingerprint = self.server.facts().fingerprint;
        print(&format!(
            "self-signed certificate, SHA-256 fingerprint {fingerprint}"
        ));
        print(&format!("clients have to trust it: NODE_EXTRA_CA_CERTS={path}"));
    }

    /// Returns what the health page says.
    pub(super) fn state(&self) -> impl Fn() -> serde_json::Value + Send + Sync + 'static + use<> {
        let (server, fault, is_own) = (Arc::clone(&self.server), Arc::clone(&self.fault), self.is_own);
        move || {
            let facts = server.facts();
            json!({
                "fingerprint": facts.fingerprint,
                "not_after": rfc3339(facts.not_after),
                "self_signed": is_own,
                "last_error": *fault.lock().unwrap_or_else(PoisonError::into_inner),
            })
        }
    }

    /// Uses renewed files, and warns before the end of the certificate.
    pub(super) fn refresh(&self) {
        let now = SystemClock.now();
        let fault = match self.server.refresh(now) {
            // A fault lasts until the files can be used, also if they are the old ones again.
            Ok(false) => (!self.server.is_outdated()).then_some(None),
            Ok(true) => {
                let facts = self.server.facts();
                let not_after = rfc3339(facts.not_after);
                tracing::info!(
                    fingerprint = facts.fingerprint,
                    not_after,
                    "the renewed certificate is in use"
                );
                Some(None)
            }
            Err(error) => {
                tracing::error!(%error, "the old certificate stays in use: {}", error.hint());
                Some(Some(error.to_string()))
            }
        };
        if let Some(fault) = fault {
            *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        }
        self.warn(now);
    }

    /// Warns once a day.
    fn warn(&self, now: OffsetDateTime) {
        let not_after = self.server.facts().not_after;
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if not_after - now > WARN_BEFORE || warned.is_some_and(|at| now - at < Duration::days(1)) {
            return;
        }
        *warned = Some(now);
        let not_after = rfc3339(not_after);
        tracing::warn!(
            not_after,
            "the certificate of the listener expires soon or has expired; renew it"
        );
    }
}

fn unusable(error: CertificateError) -> Stop {
    let hint = error.hint();
    Stop::usage(error).with_hint(hint)
}

fn rfc3339(at: OffsetDateTime) -> String {
    at.format(&time::format_description::well_known::Rfc3339)
        .unwrap_or_default()
}

/// Returns the files of the certificate that the daemon made. Makes a new one if there is none, if it soon expires, or if it
/// lacks a host.
fn own_files(home: &Home, settings: &ProxySettings, now: OffsetDateTime) -> anyhow::Result<CertificateFiles> {
    let files = CertificateFiles {
        certificates: home.own_certificate(),
        key: home.own_certificate_key(),
    };
    let hosts = hosts(settings);
    let is_good = |facts: CertificateFacts| {
        facts.not_before <= now
            && facts.not_after - now > RENEW_BEFORE
            && hosts.iter().all(|host| facts.covers(host))
    };
    let existing = ServerCertificate::load(files.clone(), now);
    if existing.is_ok() && read_facts(&files.certificates).is_ok_and(is_good) {
        return Ok(files);
    }
    if let Err(error) = &existing
        && files.certificates.exists()
    {
        tracing::warn!(%error, "a new certificate is made");
    }
    let own = self_signed(hosts.into_iter(), now).context("cannot make a certificate")?;
    let folder = files.key.parent().unwrap_or(home.root());
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .and_then(|()| write_private(&files.key, own.key.as_bytes()))
        .and_then(|()| write_private(&files.certificates, own.certificate.as_bytes()))
        .with_context(|| format!("cannot write the certificate to {}", folder.display()))?;
    Ok(files)
}

/// The hosts under which clients may reach the proxy.
fn hosts(settings: &ProxySettings) -> Vec<String> {
    let mut hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    if !settings.host.is_unspecified() {
        hosts.push(settings.host.to_canonical().to_string());
    }
    hosts.extend(
        settings
            .allowed_hosts
            .iter()
            .map(|host| host.to_ascii_lowercase()),
    );
    if settings.is_reachable() {
        let name = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .to_ascii_lowercase();
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        hosts.extend(is_name.then_some(name));
    }
    let mut seen = std::collections::HashSet::new();
    hosts.retain(|host| seen.insert(host.clone()));
    hosts
}

#[cfg(test)]
mod tests;
