//! The agent service's HTTP interface.
#![forbid(unsafe_code)]

mod signature;

pub use signature::{SIGNATURE_HEADER, SIGNATURE_TOLERANCE, SignatureError, sign, verify};
