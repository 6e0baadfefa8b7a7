//! What Grov's servers share: certificates, TLS, and the signals that stop them.
//!
//! A [`ServerCertificate`] is read from files and read again when they change, while [`ServerCertificate::config`] stays the same.
//! [`self_signed`] makes a certificate for first use. This crate has no knowledge of requests, settings or the home.
#![forbid(unsafe_code)]

mod certificate;
mod files;
mod own;
mod signals;

pub use certificate::{CertificateFacts, Problem};
pub use files::{CertificateError, CertificateFiles, ServerCertificate, read_facts};
pub use own::{OwnCertificate, self_signed};
pub use signals::Signals;
