//! Grov's own certificate authority, with which the daemon answers TLS connections to intercepted hosts.
//!
//! The authority is made on this machine and never leaves it. Its certificate can sign only for the configured hosts (name
//! constraints), so that a stolen key is of no use for others. It is renewed before it expires, with an overlap in which clients
//! that know only the old certificate keep working:
//!
//! ```text
//! CaFiles::ensure ─▶ Authorities { current, old } ─▶ issuer_for(host) ─▶ Authority::issue ─▶ Leaf
//!      files, lock, renewal                           old one during the overlap
//! ```
#![forbid(unsafe_code)]

mod authority;
mod error;
mod files;
mod inspect;
mod name;
mod target;

pub use authority::{Authority, Leaf};
pub use error::CaError;
pub use files::{Authorities, CaFiles, FileStamp, OVERLAP, Overlap};
pub use name::{InvalidName, ServerName};
pub use target::{InvalidTarget, Target};
