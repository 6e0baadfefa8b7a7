//! Calls to models: the judge and embeddings, within a daily budget.
//!
//! - [`ModelJudge`] asks the model named in [`JudgeSettings`], also in the user's own installed client. Without one, and when a call fails, it answers with the rules
//!   of [`grov_rules`].
//! - [`HttpChat`] is a chat model on a server, [`ClaudeCliChat`] one in the user's own installed client.
//! - [`HttpEmbedder`] gets embeddings from a server; [`StaticEmbedder`] computes them in this process from model files.
//! - [`ProviderClient`] calls a provider of routing, to set it up, or the receiver of a webhook.
//! - [`list_price`] is the price of a known model's tokens.
//!
//! The crate does not depend on the store (the spending ledger is a port), the proxy, the hooks or the environment:
//! every setting is passed in.
#![forbid(unsafe_code)]

mod answer;
mod breaker;
mod chat;
mod claude_cli;
mod embed;
mod endpoint;
mod judge;
mod model;
mod model_client;
mod provider_client;
mod questions;
mod queue;
mod quote;
mod request;
mod retry;
mod settings;
mod singleflight;
mod spending;
mod status;

pub use chat::{ChatApi, ClaudeCliChat, DEFAULT_CHAT_TIMEOUT, HttpChat, HttpChatSettings};
pub use claude_cli::{CLIENT_PROGRAM, ClaudeCliSettings, ClientLogin, client_login};
pub use embed::{
    EmbedderProvider, EmbedderSettings, HashEmbedder, HttpEmbedder, StaticEmbedder, StaticModelError,
};
pub use judge::ModelJudge;
pub use provider_client::{ProviderCallError, ProviderClient, ProviderResponse, ProviderRoute, own_listener};
pub use settings::{
    DEFAULT_ANTHROPIC_MODEL, DEFAULT_CONCURRENCY, DEFAULT_DAILY_BUDGET, DEFAULT_TIMEOUT, JudgeSettings,
    Provider, SetupError,
};
pub use spending::list_price;
pub use status::{Answering, JudgeCounters, JudgeStatus, RulesReason};
