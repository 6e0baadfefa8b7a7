//! Runs external tools: reads files, diffs and plans, asks the providers, and keeps cache and spending ledger.
//!
//! | To | use |
//! |---|---|
//! | run a tool | [`run`] |
//! | load the tools of the user | [`load_user_tools`] |
//! | show what is configured | [`info`] |
//! | write and remove the files for agents | [`install`] |
//!
//! What a request and an answer look like is in `grov-tools`. The caller passes variables, the spending ledger and the current
//! directory in [`Surroundings`].
#![forbid(unsafe_code)]

mod asking;
mod cache;
mod files;
mod git;
mod http;
mod info;
mod install;
mod job;
mod material;
mod plan;
mod plan_text;
mod provider;
mod run;
mod spending;
mod surroundings;
mod suspicious;
mod user;
mod web;

pub use files::{FileLimits, read_files};
pub use git::{Changes, changes};
pub use info::info;
pub use install::{Scope, docs, install, plans_off, uninstall};
pub use material::{Piped, read_stdin};
pub use run::run;
pub use surroundings::Surroundings;
pub use user::{UserTools, load_user_tools};
