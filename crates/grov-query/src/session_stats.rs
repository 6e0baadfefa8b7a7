//! Statistics of a session: tokens, drift and memories.

use crate::drift::OffGoal;
use grov_domain::{ClientSessionId, Lineage, OFF_GOAL_BELOW, SessionMode, Store, SwitchScope, TokenUsage};
use std::collections::HashSet;

/// Statistics of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// The tokens of all requests through the proxy.
    pub usage: Option<TokenUsage>,
    /// The score of the newest action.
    pub drift_score: Option<u8>,
    /// Whether the session is off its goal.
    pub drifted: bool,
    /// Number of actions off the goal for certain.
    pub drifts: usize,
    /// Number of actions that only look unrelated to the goal.
    pub doubts: usize,
    /// The number of injected memories.
    pub memories: Option<u64>,
    /// Whether `grov off` applies, to the session or to its project.
    pub is_off: bool,
}

/// Returns what the proxy recorded, or else what hooks recorded; `None` if there is neither, or if the store fails.
pub async fn session_stats(store: &dyn Store, session: &ClientSessionId) -> Option<SessionStats> {
    let (stats, project) = match proxied(store, session).await {
        Some(found) => found,
        None => hook_sessions(store, session).await?,
    };
    let scopes = [
        SwitchScope::Session(session.clone()),
        SwitchScope::Project(project),
    ];
    let switched_off = store.switched_off().await.unwrap_or_default();
    let off_goal = OffGoal::of(store, session).await.unwrap_or_default();
    Some(SessionStats {
        drifts: off_goal.drifts,
        doubts: off_goal.doubts,
        is_off: scopes.iter().any(|scope| switched_off.contains(scope)),
        ..stats
    })
}

/// The statistics, and the key of the project.
async fn proxied(store: &dyn Store, session: &ClientSessionId) -> Option<(SessionStats, String)> {
    let tasks = store.client_session(session).await.ok()?;
    let newest = tasks.iter().max_by_key(|task| task.state.last_update)?;
    let usage = tasks.iter().map(|task| task.tokens);
    let usage = usage.fold(TokenUsage::default(), TokenUsage::plus);
    let state = store.drift_state(session).await.ok().flatten();
    let lineage = Lineage {
        session: session.clone(),
        agent: None,
    };
    let ledger = store.lineage(&lineage).await.ok().flatten();
    let memories = ledger.map(|ledger| {
        let injected: HashSet<_> = ledger.entries.iter().flat_map(|entry| &entry.memories).collect();
        injected.len() as u64
    });
    let stats = SessionStats {
        usage: Some(usage),
        drift_score: newest.last_action.as_ref().and_then(|action| action.drift_score),
        drifted: state.is_some_and(|state| state.mode != SessionMode::Normal),
        memories,
        ..SessionStats::default()
    };
    Some((stats, newest.state.project_path.clone()))
}

/// The same of a session that hooks recorded.
async fn hook_sessions(store: &dyn Store, session: &ClientSessionId) -> Option<(SessionStats, String)> {
    let session = store.hook_session_summary(session).await.ok().flatten()?;
    let stats = SessionStats {
        usage: None,
        drift_score: session.drift_score,
        drifted: session.drift_score.is_some_and(|score| score < OFF_GOAL_BELOW),
        memories: Some(session.memories_injected),
        ..SessionStats::default()
    };
    Some((stats, session.project_path))
}
