//! The proxy path's adapter of the session engine: live exchanges feed it, the injection ledger carries its words.
//!
//! Entry points: [`DriftMonitor`] hands what happened on the wire to the engine and delivers what is to be said, with [`DriftWorker`]
//! run beside the proxy.
//!
//! It knows the engine of `grov-session`, the seams of `grov-proxy-core` and the ports of `grov-domain`. It does not know
//! rules, SQL, models, hooks or HTTP.
#![forbid(unsafe_code)]

mod backend;
mod checker;
mod counters;
mod judging;
mod monitor;
mod saving;
mod session;
mod source;
#[cfg(test)]
mod tests;
mod work;

pub use backend::{DriftBackend, DriftSettings};
pub use counters::Counters;
pub use monitor::DriftMonitor;
pub use work::DriftWorker;
