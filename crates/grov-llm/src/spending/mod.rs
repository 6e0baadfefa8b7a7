//! What calls cost, and the ledger that allows them.

mod ledger;
mod price;

pub(crate) use ledger::{Ledger, NotAllowed, most_tokens};
pub(crate) use price::Price;
pub use price::list_price;
