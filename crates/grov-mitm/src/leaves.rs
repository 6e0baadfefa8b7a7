//! Leaf certificates of the intercepted hosts.

use grov_ca::{Authorities, CaError, CaFiles, FileStamp, ServerName};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// A leaf is replaced this long before it expires.
const RENEW_BEFORE: time::Duration = time::Duration::hours(1);

/// Interval between two looks at the files of the authority, if there are connections.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The certificates of the intercepted hosts, made when they are needed and kept in memory.
///
/// Follows the files of the authority: `grov ca rotate` takes effect with the next connection.
pub struct Leaves {
    files: CaFiles,
    hosts: Vec<ServerName>,
    provider: Arc<CryptoProvider>,
    state: Mutex<State>,
    /// Held while one thread renews.
    renewing: Mutex<()>,
}

struct State {
    /// `None` once its files were deleted.
    authorities: Option<Authorities>,
    stamp: FileStamp,
    checked: Instant,
    by_host: HashMap<ServerName, Cached>,
}

struct Cached {
    key: Arc<CertifiedKey>,
    made_at: OffsetDateTime,
    not_after: OffsetDateTime,
}

impl Leaves {
    /// Returns the leaves for `hosts`. Makes the authority if there is none.
    ///
    /// # Errors
    /// If the authority cannot be used.
    pub fn new(files: CaFiles, hosts: Vec<ServerName>) -> Result<Arc<Self>, CaError> {
        let (authorities, stamp) = files.ensure_stamped(&hosts, OffsetDateTime::now_utc())?;
        log_notes(&authorities);
        Ok(Arc::new(Self {
            files,
            hosts,
            provider: Arc::new(rustls::crypto::ring::default_provider()),
            state: Mutex::new(State {
                authorities: Some(authorities),
                stamp,
                checked: Instant::now(),
                by_host: HashMap::new(),
            }),
            renewing: Mutex::new(()),
        }))
    }

    /// Returns the TLS configuration for connections to `host`: TLS 1.2 and 1.3, and HTTP/1.1 only.
    ///
    /// # Errors
    /// If the TLS library refuses the configuration.
    pub(crate) fn server_config(self: &Arc<Self>, host: ServerName) -> Result<ServerConfig, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(HostResolver {
                leaves: Arc::clone(self),
                host,
            }));
        // A client that offers only h2 is refused with `no_application_protocol`.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Renews the authority if it is due. Does not make one that was deleted. Blocks on files and on their lock; returns at once
    /// if another thread is at it.
    ///
    /// # Errors
    /// If the files cannot be used. The authority in memory stays in use.
    pub fn renew(&self) -> Result<(), CaError> {
        let _one_at_a_time = match self.renewing.try_lock() {
            Ok(guard) => guard,
            // A renewal that panicked must not be the last one.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        if self.files.stamp().is_deleted() {
            return Ok(());
        }
        let (authorities, stamp) = self
            .files
            .ensure_stamped(&self.hosts, OffsetDateTime::now_utc())?;
        log_notes(&authorities);
        self.use_authorities(Some(authorities), stamp);
        Ok(())
    }

    /// Uses what was in the files when they had this `stamp`.
    fn use_authorities(&self, authorities: Option<Authorities>, stamp: FileStamp) {
        let mut state = self.state();
        if stamp != state.stamp {
            state.by_host.clear();
        }
        state.authorities = authorities;
        state.stamp = stamp;
    }

    /// Returns the certificate for a host.
    fn certified_key(&self, host: &ServerName) -> Result<Arc<CertifiedKey>, CaError> {
        self.follow_files();
        let now = OffsetDateTime::now_utc();
        let mut state = self.state();
        if let Some(cached) = state.by_host.get(host)
            && now < cached.not_after - RENEW_BEFORE
            // Unless the clock was set back.
            && now >= cached.made_at - RENEW_BEFORE
        {
            return Ok(Arc::clone(&cached.key));
        }
        let authorities = state.authorities.as_ref().ok_or(CaError::Deleted)?;
        let issuer = authorities.issuer_for(host, now);
        let issuer = issuer.ok_or_else(|| CaError::NotPermitted(host.to_string()))?;
        let leaf = issuer.issue(host, now)?;
        let chain = vec![CertificateDer::from(leaf.certificate)];
        let key = PrivatePkcs8KeyDer::from(leaf.key).into();
        let key = CertifiedKey::from_der(chain, key, &self.provider)
            .map_err(|_| CaError::NotPermitted(host.to_string()))
            .map(Arc::new)?;
        let cached = Cached {
            key: Arc::clone(&key),
            made_at: now,
            not_after: leaf.not_after,
        };
        state.by_host.insert(host.clone(), cached);
        Ok(key)
    }

    /// Reads the files again if another process changed them, once per second at most. A few system calls.
    fn follow_files(&self) {
        let stamp;
        {
            let mut state = self.state();
            if state.checked.elapsed() < CHECK_INTERVAL {
                return;
            }
            state.checked = Instant::now();
            // Before reading: what is written meanwhile is read the next time.
            stamp = self.files.stamp();
            if stamp == state.stamp {
                return;
            }
        }
        match self.files.load(OffsetDateTime::now_utc()) {
            Ok(authorities) => self.use_authorities(authorities, stamp),
            Err(error) => {
                tracing::error!(%error, "the certificate authority changed and cannot be read; the one in memory stays in use");
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log_notes(authorities: &Authorities) {
    for note in &authorities.notes {
        tracing::warn!("{note}");
    }
}

impl std::fmt::Debug for Leaves {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leaves")
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// Answers every client with the certificate of one host: the target of its CONNECT, whatever name it sends in TLS.
#[derive(Debug)]
struct HostResolver {
    leaves: Arc<Leaves>,
    host: ServerName,
}

impl ResolvesServerCert for HostResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let host = self.host.to_string();
        if let Some(sni) = hello.server_name().filter(|sni| !sni.eq_ignore_ascii_case(&host)) {
            tracing::debug!(%host, sni, "the client names another host in TLS than in CONNECT; the certificate is for the latter");
        }
        self.leaves
            .certified_key(&self.host)
            .inspect_err(|error| tracing::error!(%error, %host, "no certificate for an intercepted host"))
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_ca::Overlap;

    #[test]
    fn a_renewal_that_panicked_is_not_the_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let files = CaFiles::new(folder.path().join("ca"));
        let hosts: Vec<ServerName> = vec!["api.anthropic.com".parse().unwrap()];
        let leaves = Leaves::new(files.clone(), hosts.clone()).unwrap();
        let panicking = Arc::clone(&leaves);
        let renewal = std::thread::spawn(move || {
            let _renewing = panicking.renewing.lock().unwrap();
            panic!("a renewal");
        });
        assert!(renewal.join().is_err());
        files
            .rotate(&hosts, Overlap::Keep, OffsetDateTime::now_utc())
            .unwrap();
        assert_ne!(leaves.state().stamp, files.stamp());
        leaves.renew().unwrap();
        assert_eq!(leaves.state().stamp, files.stamp());
    }
}
