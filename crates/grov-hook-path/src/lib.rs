//! The hook path put together: what a hook of the client is answered, whoever runs it.
//!
//! Entry points: [`answer`] says what an event of the client is answered; [`Work`] is what is done after a turn, while nobody
//! waits; [`Services`] opens the store and builds the judge for both; [`Programs`] is what of both needs another program; [`token`] is what hooks over HTTP prove themselves with. Data in,
//! data out: reading the event and printing the answer is the caller's.
//!
//! Wires libraries together through ports. Knows nothing of SQL, of models, of the proxy and of command lines.
#![forbid(unsafe_code)]

mod call;
mod capture;
mod faults;
mod following;
mod forked;
mod guard;
mod prompt;
mod proxied;
mod proxy;
mod reply;
mod room;
mod services;
mod session;
#[cfg(test)]
mod testing;
pub mod token;
mod turn;
mod worker;

pub use call::{Hook, Programs};
pub use faults::{Fault, note};
pub use grov_hooks::event::{LONGEST_INPUT, PRE_TOOL_USE};
pub use grov_hooks::settings::{BASE_URL_HEADER, HTTP_HOOK_PATH, PROJECT_HEADER, TOKEN_HEADER};
pub use guard::Noting;
pub use reply::{NOTHING, Reply, answer, answer_nowhere};
pub use services::{HookBackend, Services};
pub use worker::Work;

/// A runtime for one answer, on the thread that asks for it.
fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| format!("no runtime: {error}"))
}
