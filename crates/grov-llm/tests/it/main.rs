//! The judge against a real server on a socket.

mod ledger;
mod providers;
mod server;
mod simulated;
