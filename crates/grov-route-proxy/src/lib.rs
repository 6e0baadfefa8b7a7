//! The proxy path's adapter of `grov-route`: other models for live requests.
//!
//! [`Routes`] reads the provider file, reads it again when it changes, and is the router of the proxy. Per request:
//!
//! ```text
//! request ─▶ facts ─▶ choice ─▶ targets with codecs ─▶ attempts (circuit breaker, keys) ─▶ answer ─▶ log, counters
//! ```
//!
//! The choice, the translation and the circuit breaker are in `grov-route`. This crate has the clock, the file and the proxy's types.
#![forbid(unsafe_code)]

mod answers;
mod calibration;
mod changes;
mod codec;
mod counters;
mod decisions;
mod exchange;
mod near_misses;
mod own_thinking;
mod plan;
mod provider;
mod router;
mod routes;
mod source;
mod status;
mod table;
mod usage;

pub use counters::Counters;
pub use routes::{RouteSettings, Routes};
pub use source::{Environment, ProviderSource};
