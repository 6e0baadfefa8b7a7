//! Records sessions from live traffic, divides them into tasks, and adds context to requests.
//!
//! Built on the extension points of [`grov_proxy_core`]:
//!
//! - [`Recorder`] is a [`TurnObserver`](grov_proxy_core::TurnObserver). It turns exchanges into records, has an
//!   [`ActionChecker`] judge the actions, and passes each exchange to [`TaskOrchestrator`], which divides the work into tasks
//!   and saves finished tasks.
//! - [`Injection`] is a [`RequestPolicy`](grov_proxy_core::RequestPolicy). It asks [`ContextSource`]s for text, records added
//!   text in a ledger, and adds the same text to every later request of the history. [`MemorySource`] is the source of team
//!   memory.
//! - [`ContextMonitor`] measures context windows, prepares summaries and finds out what a compaction lost;
//!   [`RestorationSource`] gives it back.
//! - [`Identity`] determines the session, subagent and purpose of a request from the headers in [`identity_headers`].
//! - [`configure`] prepares a [`ProxyBuilder`](grov_proxy_core::ProxyBuilder) for these parts.
//!
//! Depends on no SQL, hooks, configuration files or terminal.
#![forbid(unsafe_code)]

mod action_checker;
mod context;
mod counters;
mod dialect;
mod hook_sessions;
mod identity;
mod injection;
mod memory_choice;
mod memory_source;
mod project_locator;
mod prompts;
mod recorder;
mod session_cache;
mod setup;
mod store_watcher;
mod tasks;
mod warm_up;
mod working_directory;

pub use action_checker::{ActionChecker, CheckResult, PendingExchange, ToolOutcome, UserQuestion};
pub use context::{
    ContextMonitor, ContextObserver, ContextPolicy, ContextWorker, MaterialReader, RestorationSource,
    SessionMaterial,
};
pub use counters::Counter;
pub use grov_domain::Lineage;
pub use hook_sessions::HookSessions;
pub use identity::{Identity, identity_headers};
pub use injection::{
    ClearSettings, ContextClearing, ContextEdits, ContextSource, ContextText, Counters as InjectionCounters,
    Injection, InjectionPoint, InjectionWorker, InputPrices, LedgerBackend, ReadySummary, SummarySource,
    ToolResult, Window,
};
pub use memory_choice::MemoryChoiceSource;
pub use memory_source::{MemoryBackend, MemorySource};
pub use project_locator::Location;
pub use recorder::{Recorder, UserNaming};
pub use session_cache::SessionCache;
pub use setup::{configure, with_memory_metrics};
pub use store_watcher::StoreWatcher;
pub use tasks::{TaskBackend, TaskOrchestrator, TaskWorker};
pub use warm_up::warm_up;
