//! Drift, correction and recovery on live traffic.
//!
//! Entry point: [`replay`] judges a recorded sequence without clock, store or model; [`Course`] is the state machine behind
//! it.
//!
//! It knows the rules of `grov-scope`, the seams of `grov-proxy-core` and the ports of `grov-domain`. It does not know SQL,
//! models, hooks or HTTP.
#![forbid(unsafe_code)]

mod correction;
mod course;
mod level;
mod plan;
mod replay;
#[cfg(test)]
mod testing;

pub use course::{Assessed, Course, Moment, Policy, Progress, PromptKind};
pub use level::level;
pub use replay::{Replay, Replayed, replay};
