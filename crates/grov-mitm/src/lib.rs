//! A CONNECT proxy on loopback.
//!
//! Connections to the configured hosts are decrypted and handed to a [`Proxy`](grov_proxy_core::Proxy), which treats their requests
//! like those of its own listener. All others are tunnelled without a look inside:
//!
//! ```text
//! accept ▸ CONNECT host:port ─┬─ a configured host ▸ TLS with a leaf of Grov's authority ▸ Intake of the proxy
//!                             └─ any other ▸ dial, through the user's own HTTPS_PROXY ▸ copy both ways
//! GET http://host/… ▸ forward, unchanged
//! ```
//!
//! The target of CONNECT decides, not the name that the client then sends in TLS: the certificate is always for the target.
#![forbid(unsafe_code)]

mod answer;
mod connection;
mod forward;
mod intercept;
mod leaves;
mod listener;
mod prefixed;
mod tunnel;

pub use leaves::Leaves;
pub use listener::{Counters, Mitm, MitmLimits};
