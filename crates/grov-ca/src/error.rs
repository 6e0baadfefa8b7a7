//! Errors.

use std::io;
use std::path::PathBuf;

/// Why the authority cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaError {
    /// A file or directory of the authority cannot be read or written.
    #[error("{} cannot be used: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file belongs to another user, who could replace it.
    #[error(
        "{} belongs to another user (id {owner}), who could read or replace the key: remove it, then run `grov ca rotate`",
        path.display()
    )]
    ForeignOwner {
        /// The file.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// A certificate could not be made.
    #[error("a certificate cannot be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The authority must not sign for this host.
    #[error("Grov's certificate authority was not made for {0}: run `grov ca rotate`")]
    NotPermitted(String),
    /// The files were deleted while the authority was in use.
    #[error("the certificate authority was deleted: start clients with `grov run`, which makes a new one")]
    Deleted,
    /// No host is configured.
    #[error("no host is configured for interception: set mitm.hosts")]
    NoHosts,
}

impl CaError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::Io { path, source }
    }
}
