//! Judgements asked of a model, with budget, ledger and offline fall-back.
//!
//! - [`ModelJudge`] is the judge: it asks a model where [`JudgeSettings`] name one, and rules otherwise or on failure.
//! - [`HttpEmbedder`] asks a server what texts mean, as numbers, under the same rules; [`StaticEmbedder`] looks it up in
//!   files, in this process.
//! - [`offline`] answers every question by rules, without a model.
//! - [`list_price`] is what tokens of a known model cost.
//!
//! It does not know how records are stored (the ledger is a port), nor the proxy, nor the hooks, nor the environment:
//! every setting is handed in.
#![forbid(unsafe_code)]

mod address;
mod answer;
mod ask;
mod breaker;
mod embed;
mod flights;
mod judge;
mod model;
pub mod offline;
mod private;
mod questions;
mod queue;
mod quote;
mod request;
mod retry;
mod settings;
mod spending;
mod status;

pub use embed::{EmbedderProvider, EmbedderSettings, HttpEmbedder, StaticEmbedder, StaticModelError};
pub use judge::ModelJudge;
pub use settings::{
    DEFAULT_ANTHROPIC_MODEL, DEFAULT_CONCURRENCY, DEFAULT_DAILY_BUDGET, DEFAULT_TIMEOUT, JudgeSettings,
    Provider, SetupError,
};
pub use spending::list_price;
pub use status::{Answering, JudgeCounters, JudgeStatus, WhyRules};
