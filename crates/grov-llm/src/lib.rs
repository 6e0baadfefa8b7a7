//! Judgements asked of a model, with budget, ledger and offline fall-back.
//!
//! - [`offline`] answers every question by rules, without a model.
//!
//! It does not know how records are stored (the ledger is a port), nor the proxy, nor the hooks.
#![forbid(unsafe_code)]

pub mod offline;
