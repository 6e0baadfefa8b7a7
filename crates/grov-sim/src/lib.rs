//! A simulated Anthropic Messages API, a model of its prompt cache, and a scripted client that behaves like Claude
//! Code on the wire: everything needed to run and test a proxy between the two without a network or a key.
//!
//! - [`Sim::start`] runs the API in this process on a free port; the binary `grov-sim` runs it on its own.
//! - [`scenario`] defines what the simulated model answers, [`behaviour`] how an answer is delivered or corrupted.
//! - [`cache`] is the prompt-cache model, pure; [`Sim::cache_report`] and [`cache::CacheAudit`] attribute its misses.
//! - [`history`] generates random client histories: the requests of sessions that are resumed, forked, rewound, compacted
//!   and so on.
//! - [`judge`] answers questions that ask for JSON, correctly or not; also as `/v1/chat/completions`, where agents are
//!   answered by the same scenarios, with the quirks of providers.
//! - Providers of external tools answer below `/perplexity`, `/tavily` and `/gemini`.
//! - `POST /v1/responses` and Gemini's `generateContent` are answered by the same scenarios, for other agents.
//! - [`player::Player`] is the scripted client.
//! - [`wire`] is HTTP/1.1 that shows every byte, for tests that need it.
//!
//! Of Grov's crates it depends only on `grov-domain`, so that it checks a proxy independently.
#![forbid(unsafe_code)]

pub mod behaviour;
pub mod cache;
mod chat;
mod clock;
mod foreign;
pub mod history;
pub mod json;
pub mod judge;
mod message;
pub mod player;
mod record;
pub mod request;
mod respond;
mod routes;
pub mod scenario;
mod script;
mod server;
mod sim;
mod state;
mod tools;
mod transmit;
mod validate;
pub mod wire;

pub use behaviour::{Behaviour, Encoding, Rule, When};
pub use clock::ManualClock;
pub use judge::{JudgeCall, JudgeScript};
pub use player::{Input, Player, PlayerConfig, Transcript};
pub use record::{Delivery, End, RecordedRequest, Recording};
pub use scenario::{Scenario, ScenarioSet, Step};
pub use sim::{Sim, SimConfig, StartError};
