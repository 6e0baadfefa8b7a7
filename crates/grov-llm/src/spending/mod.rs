//! What calls cost, and the ledger that allows them.

mod ledger;
mod price;

pub(crate) use ledger::{Ledger, NotAllowed};
pub(crate) use price::Price;
pub use price::list_price;
