//! The proxy path's adapter of the session engine: it feeds live exchanges to the engine and delivers corrections by the injection
//! ledger.
//!
//! Entry points: [`DriftMonitor`], with [`DriftWorker`] run beside the proxy.
//!
//! It knows the engine of `grov-session`, the extension points of `grov-live` and the ports of `grov-domain`. It does not know rules,
//! SQL, models, hooks or HTTP.
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

pub use backend::DriftBackend;
pub use counters::Counters;
pub use grov_session::Policy;
pub use monitor::DriftMonitor;
pub use work::DriftWorker;
