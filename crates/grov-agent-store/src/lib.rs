//! The agent service's store on SQLite and PostgreSQL, with a copy of the embeddings in Qdrant if wanted.
//!
//! [`AgentDatabase`] implements the ports of `grov_agent` once, for both databases: the statements are the same but for
//! the pieces that `dialect` names. The feature `contract` adds the test suite that every database must pass.
#![forbid(unsafe_code)]

mod backup;
mod chunk_changes;
mod column;
mod database;
mod dialect;
mod documents;
mod entries;
mod error;
mod files;
mod index_words;
mod memory;
mod memory_rows;
mod models;
mod outbox;
mod pages;
mod point_changes;
mod projects;
mod qdrant;
mod schema;
mod search;
mod sharing;
mod threads;
mod tool_call_rows;
mod tool_calls;
mod turns;
mod vectors;
mod work;

#[cfg(feature = "contract")]
pub mod contract;

pub use database::{AgentDatabase, DatabaseOptions};
pub use qdrant::{QdrantServer, QdrantTransport};
