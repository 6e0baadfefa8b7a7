//! Prices of calls, and the ledger that enforces the budget.

mod ledger;
mod price;

pub(crate) use ledger::{Ledger, ReserveError, Spent, max_tokens_of, max_usage};
pub(crate) use price::Price;
pub use price::list_price;
