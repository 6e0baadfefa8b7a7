//! What Grov does on the wire: it records sessions, divides them into tasks, and adds context to requests.
//!
//! Built on the extension points of [`grov_proxy_core`]:
//!
//! - [`Recorder`] is a [`TurnObserver`](grov_proxy_core::TurnObserver). It turns exchanges into records, has an
//!   [`ActionWatch`] judge the actions, and hands each exchange to [`TaskOrchestrator`], which divides the work into tasks
//!   and saves finished tasks.
//! - [`Injection`] is a [`RequestPolicy`](grov_proxy_core::RequestPolicy). It asks [`ContextSource`]s for text, keeps what was
//!   added in a ledger, and adds the same text again to every later request of the history. [`MemorySource`] is the source
//!   of team memory.
//! - [`Identity`] says which session, subagent and purpose a request has. It reads the headers named by [`IDENTITY_HEADERS`].
//! - [`configure`] prepares a [`ProxyBuilder`](grov_proxy_core::ProxyBuilder) for these parts.
//!
//! It does not know SQL, hooks, configuration files or the terminal.
#![forbid(unsafe_code)]

mod identity;
mod ledger;
mod memory;
mod places;
mod prompts;
mod recorder;
mod setup;
mod tasks;
mod watch;
mod working_directory;

pub use grov_domain::Lineage;
pub use identity::{IDENTITY_HEADERS, Identity};
pub use ledger::{
    Answered, ContextSource, Counters as InjectionCounters, Injection, InjectionWork, LedgerBackend,
    Occasion, Words,
};
pub use memory::{MemoryBackend, MemorySource};
pub use places::Location;
pub use recorder::{Recorder, UserNaming};
pub use setup::configure;
pub use tasks::{TaskLedger, TaskOrchestration, TaskOrchestrator};
pub use watch::{ActionWatch, Question, ToolOutcome, Watched, WatchedExchange};
