//! Read models for the command line, the dashboard and agents: sessions, steps, drift, goals and memories.
//!
//! Entry points: [`pick_session`] selects the session that a command is about, [`client_sessions`] lists those of both paths
//! and [`session_steps`] returns the steps of one;
//! [`drift_log`] and [`drift_status`] show how it keeps to its goal, [`ActiveConstraints`] and [`GoalView`] what that goal
//! is; [`find_memory`] selects a memory, [`replacements`] and [`replaced_memories`] follow its links; [`session_stats`]
//! sums up a session in four numbers, [`measured_context`] its context window. A session that only hooks recorded is returned in the shape of one that the proxy
//! recorded.
//!
//! Views serialise; their field names are a public contract. Functions read through the ports of `grov-domain`. This crate
//! does not use SQL, the proxy, hooks or a terminal.
#![forbid(unsafe_code)]

mod active_constraints;
mod cache_misses;
mod client_sessions;
mod copies;
mod drift;
mod findings;
mod goal;
mod hook_sessions;
mod injections;
mod lookup;
mod measured_context;
mod memory;
mod memory_match;
mod request_view;
mod session_cards;
mod session_stats;
mod sessions;
mod steps;
mod timeline;
mod transcript_window;

pub use active_constraints::ActiveConstraints;
pub use cache_misses::{CacheMiss, MissCause, cache_misses};
pub use client_sessions::{
    ClientSessionView, LiveState, PickedSession, SessionPath, client_sessions, known_projects, pick_session,
    short_beginning,
};
pub use copies::{copy_id, leave_out_copies};
pub use drift::{
    CorrectionView, Counts, DriftStatusView, LogScope, active_sessions, consent_to, correction_of, drift_log,
    drift_status, find_event, recovery_step_text,
};
pub use findings::{FindingsView, MarkedFinding, RuleRecord, findings, rule_of};
pub use goal::{GoalView, OriginView};
pub use hook_sessions::project_status;
pub use injections::{HookedText, InjectionView, injections};
pub use lookup::Lookup;
pub use measured_context::{MeasuredContext, measured_context};
pub use memory::{
    MAX_MATCHES, MemoryRefView, ResultView, find_item, find_memory, memory_refs, replaced_memories,
    replacements, short_item_id, title,
};
pub use request_view::{AddedBlock, RequestView, request_view};
pub use session_cards::{SessionCard, session_card, session_cards};
pub use session_stats::{SessionStats, session_stats};
pub use sessions::{SelectedSession, find_session};
pub use steps::{SessionSteps, session_steps};
pub use timeline::{PromptView, ScorePoint, Timeline, TimelineEntry, TimelineKind, Transcribed, timeline};
pub use transcript_window::{read_window, window_content};
