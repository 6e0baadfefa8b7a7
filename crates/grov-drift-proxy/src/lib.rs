//! Drift, correction and recovery on live traffic.
//!
//! Entry points: [`Drift`] judges what the agent did and says what is to be said of it, with [`DriftWork`] run beside the
//! proxy; [`replay`] judges a recorded sequence without clock, store or model. [`Course`] is the state machine behind
//! both.
//!
//! It knows the rules of `grov-scope`, the seams of `grov-proxy-core` and the ports of `grov-domain`. It does not know SQL,
//! models, hooks or HTTP.
#![forbid(unsafe_code)]

mod asked;
mod contract;
mod correction;
mod counters;
mod course;
mod drift;
mod early;
mod judging;
mod level;
mod objection;
mod plan;
mod reconsider;
mod replay;
mod saving;
mod session;
mod source;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod watch;
mod work;

pub use contract::IntentReader;
pub use counters::Counters;
pub use course::{Assessed, Course, Moment, Policy, Progress, Spoken, Standing};
pub use drift::{Drift, DriftBackend, DriftSettings};
pub use level::level;
pub use replay::{Replay, Replayed, replay};
pub use work::DriftWork;
