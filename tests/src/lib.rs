//! Tools of the whole-system tests: the real binaries as processes, the real client, a plain HTTP client and a wire
//! tap.
//!
//! Start at [`Daemon`] for a running `grov-proxyd`, [`Agent`] for a running `grov-agentd`, [`Grov`] for the command line, [`RealClient`] for Claude Code
//! itself, [`Terminal`] for its interactive mode, [`LocalModel`] for a model, [`McpClient`] for `grov mcp`, [`WireTap`] for the bytes between two of
//! them. The tests are in `e2e/`.
//!
//! Everything here blocks and uses the product only from outside: command lines, sockets, files. It uses none of the
//! crates under test.
#![forbid(unsafe_code)]

mod agent;
mod balancer;
mod binaries;
mod client;
mod daemon;
mod grov;
mod http;
mod local_model;
mod mcp;
mod postgres;
mod process;
mod qdrant;
mod tap;
mod terminal;
mod transcript;

pub use agent::{Agent, AgentBuilder, json_of};
pub use balancer::Balancer;
pub use binaries::binary;
pub use client::{ClientRun, RealClient};
pub use daemon::{Daemon, DaemonBuilder};
pub use grov::{Answer, Grov};
pub use http::{Headers, Request, Response, exchange, open, read_response};
pub use local_model::LocalModel;
pub use mcp::McpClient;
pub use postgres::PostgresServer;
pub use process::{Ended, eventually, signal};
pub use qdrant::QdrantEngine;
pub use tap::{Message, WireTap};
pub use terminal::Terminal;
pub use transcript::{ToolUse, tool_uses};
