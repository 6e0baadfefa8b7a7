//! Feeds live exchanges to the session engine and delivers its corrections through the injection ledger.
//!
//! [`DriftMonitor`] observes exchanges and provides corrections. [`DriftWorker`] must run while the proxy serves: it
//! loads sessions, asks the judge and saves state.
//!
//! Depends on the engine of `grov-session`, the extension points of `grov-live` and the ports of `grov-domain`, not
//! on rules, SQL, models, hooks or HTTP.
#![forbid(unsafe_code)]

mod backend;
mod checker;
mod counters;
mod judging;
mod monitor;
mod reading_limits;
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
