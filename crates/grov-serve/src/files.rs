//! The certificate of a server, in files that are replaced when it is renewed.

use crate::certificate::{CertificateFacts, Problem};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, ServerConfig};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use time::OffsetDateTime;

/// Permissions that a key must not have: any for others, and writing for the group. Some systems let a group read keys.
const FORBIDDEN: u32 = 0o027;

/// The files of a server's certificate, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, and those that lead to a root.
    pub certificates: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read, or its content is not what it should be.
    #[error("{} cannot be used: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Other users can read the key, or change it.
    #[error("{} has the permissions {mode:o}: other users can read or change the key", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The key is not the one of the certificate.
    #[error("{} is not the key of {}", key.display(), certificates.display())]
    Mismatch {
        /// The file with the certificate.
        certificates: PathBuf,
        /// The file with the key.
        key: PathBuf,
    },
    /// The certificate has expired.
    #[error("the certificate in {} expired at {at}", path.display())]
    Expired {
        /// The file.
        path: PathBuf,
        /// When.
        at: OffsetDateTime,
    },
    /// The certificate is not valid yet.
    #[error("the certificate in {} is not valid before {at}", path.display())]
    NotYetValid {
        /// The file.
        path: PathBuf,
        /// From when on.
        at: OffsetDateTime,
    },
    /// TLS does not accept the certificate or the key.
    #[error("the certificate and the key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
}

impl CertificateError {
    /// What to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "check the path, its permissions, and that it is in PEM",
            Self::Exposed { .. } => "chmod 600 the key",
            Self::Mismatch { .. } => "set the key that belongs to the certificate",
            Self::Expired { .. } => "renew the certificate; if it is valid, set this machine's clock",
            Self::NotYetValid { .. } => "set this machine's clock, or use another certificate",
            Self::Unusable(_) => "use an ECDSA, RSA or Ed25519 key in PKCS#8, PKCS#1 or SEC1",
        }
    }
}

/// The certificate of a server. It is read again when its files change; connections that exist keep the old one.
pub struct ServerCertificate {
    files: CertificateFiles,
    current: RwLock<Current>,
    reading: Mutex<Reading>,
}

#[derive(Clone)]
struct Current {
    key: Arc<CertifiedKey>,
    facts: CertificateFacts,
}

/// What is known of the files.
#[derive(Default)]
struct Reading {
    /// The files that were read last with success.
    read: Option<Stamps>,
    /// The files whose error was returned.
    reported: Option<Stamps>,
    /// The files at the last check.
    seen: Option<Stamps>,
}

/// Tells whether one of the files was replaced.
type Stamps = [Option<(u64, u64, i64, i64, u64)>; 2];

impl ServerCertificate {
    /// Reads the files.
    ///
    /// # Errors
    /// Why they cannot be used.
    pub fn load(files: CertificateFiles, now: OffsetDateTime) -> Result<Self, CertificateError> {
        let stamps = Some(stamps(&files));
        let current = read(&files, now)?;
        let reading = Reading {
            read: stamps,
            reported: None,
            seen: stamps,
        };
        Ok(Self {
            files,
            current: RwLock::new(current),
            reading: Mutex::new(reading),
        })
    }

    /// Reads the files again if they were replaced, and have not changed since the call before: the certificate and the key are
    /// written one after the other. Returns whether the certificate was replaced.
    ///
    /// # Errors
    /// Why the new files cannot be used. The old certificate stays in use, and every further call tries again: the files may be
    /// good, and only their reading failed. The error is not repeated until the files change again.
    pub fn refresh(&self, now: OffsetDateTime) -> Result<bool, CertificateError> {
        let stamps = Some(stamps(&self.files));
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let is_settled = reading.seen == stamps;
        reading.seen = stamps;
        if reading.read == stamps {
            // Also if other files were there for a while.
            reading.reported = None;
            return Ok(false);
        }
        if !is_settled {
            return Ok(false);
        }
        let new = match read(&self.files, now) {
            Ok(new) => new,
            Err(_) if reading.reported == stamps => return Ok(false),
            Err(error) => {
                reading.reported = stamps;
                return Err(error);
            }
        };
        reading.read = stamps;
        reading.reported = None;
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let is_other = current.facts != new.facts;
        *current = new;
        Ok(is_other)
    }

    /// Returns whether files are there that could not be used when they were read last.
    pub fn is_outdated(&self) -> bool {
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        reading.reported.is_some()
    }

    /// Returns what the current certificate says.
    pub fn facts(&self) -> CertificateFacts {
        self.current().facts
    }

    /// Returns the files.
    pub fn files(&self) -> &CertificateFiles {
        &self.files
    }

    /// Returns a configuration that always uses the current certificate: TLS 1.2 and 1.3, HTTP/1.1 only.
    ///
    /// # Errors
    /// The provider of cryptography does not support these versions.
    pub fn config(self: &Arc<Self>) -> Result<Arc<ServerConfig>, CertificateError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Resolver(Arc::clone(self))));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    fn current(&self) -> Current {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Reads what the certificate in a file says, valid or not.
///
/// # Errors
/// Why it cannot be read.
pub fn read_facts(certificates: &Path) -> Result<CertificateFacts, CertificateError> {
    let (_, facts) = read_chain(certificates)?;
    Ok(facts)
}

/// Presents the current certificate.
struct Resolver(Arc<ServerCertificate>);

impl ResolvesServerCert for Resolver {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.current().key)
    }
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}

fn read(files: &CertificateFiles, now: OffsetDateTime) -> Result<Current, CertificateError> {
    let (chain, facts) = read_chain(&files.certificates)?;
    let path = files.certificates.clone();
    match facts.problem(now) {
        Some(Problem::Expired) => {
            let at = facts.not_after;
            return Err(CertificateError::Expired { path, at });
        }
        Some(Problem::NotYetValid) => {
            let at = facts.not_before;
            return Err(CertificateError::NotYetValid { path, at });
        }
        None => {}
    }
    let metadata = std::fs::metadata(&files.key).map_err(|error| unreadable(&files.key, error))?;
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & FORBIDDEN != 0 {
        let path = files.key.clone();
        return Err(CertificateError::Exposed { path, mode });
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unreadable(&files.key, error))?;
    let key = CertifiedKey::from_der(chain, key, &rustls::crypto::ring::default_provider());
    let key = key.map_err(|error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => CertificateError::Mismatch {
            certificates: path,
            key: files.key.clone(),
        },
        error => CertificateError::Unusable(error),
    })?;
    Ok(Current {
        key: Arc::new(key),
        facts,
    })
}

fn read_chain(path: &Path) -> Result<(Vec<CertificateDer<'static>>, CertificateFacts), CertificateError> {
    let chain = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(path, error))?;
    let Some(first) = chain.first() else {
        return Err(unreadable(path, "it has no certificate"));
    };
    let facts = CertificateFacts::of(first).map_err(|reason| unreadable(path, reason))?;
    Ok((chain, facts))
}

fn unreadable(path: &Path, reason: impl std::fmt::Display) -> CertificateError {
    CertificateError::Unreadable {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

fn stamps(files: &CertificateFiles) -> Stamps {
    let stamp = |of: Metadata| (of.dev(), of.ino(), of.mtime(), of.mtime_nsec(), of.len());
    [&files.certificates, &files.key].map(|path| std::fs::metadata(path).ok().map(stamp))
}

#[cfg(test)]
mod tests;
