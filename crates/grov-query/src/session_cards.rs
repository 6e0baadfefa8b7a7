//! What is known of sessions at a glance: for pages and live views, which show few of many sessions often.

use crate::client_sessions::{ClientSessionView, complete, of_hooks, of_proxy, set_goal, short_beginning};
use crate::hook_sessions;
use grov_domain::{
    ClientSessionId, ContextReading, ExchangeUsage, HookSession, OFF_GOAL_BELOW, SessionMode, SessionState,
    SessionSummary, StepRow, Store, StoreError, TokenUsage, UsageFilter,
};
use std::collections::BTreeMap;
use time::OffsetDateTime;

/// A session at a glance.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionCard {
    /// The session. Its `short_id` is the beginning of the id, which other sessions may share.
    pub session: ClientSessionView,
    /// Number of prompts.
    pub prompts: u64,
    /// Number of recorded actions.
    pub actions: u64,
    /// Tokens of all requests that the proxy recorded.
    pub tokens: TokenUsage,
    /// The same tokens by model, day and kind of request, for pricing.
    pub usage: Vec<ExchangeUsage>,
    /// How full the context window is; `None` if the proxy did not see it.
    pub context: Option<ContextReading>,
    /// Whether the agent is off its goal.
    pub is_off_goal: bool,
    /// The score of the newest judged action.
    pub drift_score: Option<u8>,
    /// The newest action.
    pub last_action: Option<StepRow>,
}

/// Returns the newest sessions of all projects, at most `limit`. Reads a number of rows that depends on `limit` alone.
///
/// # Errors
/// Returns the store's error.
pub async fn session_cards(
    store: &dyn Store,
    limit: u32,
    now: OffsetDateTime,
) -> Result<Vec<SessionCard>, StoreError> {
    let newest = store.newest_sessions(limit).await?;
    let mut newest: BTreeMap<ClientSessionId, OffsetDateTime> = newest.into_iter().collect();
    let hooked = store.recent_hook_sessions(None, Some(limit)).await?;
    let mut hooked: BTreeMap<ClientSessionId, HookSession> = hooked
        .into_iter()
        .map(|session| (session.client_session_id.clone(), session))
        .collect();
    for (id, session) in &hooked {
        newest.entry(id.clone()).or_insert(session.updated_at);
    }
    let mut ids: Vec<(OffsetDateTime, ClientSessionId)> =
        newest.into_iter().map(|(id, at)| (at, id)).collect();
    ids.sort_by(|one, other| other.cmp(one));
    ids.truncate(limit as usize);
    let mut cards = Vec::with_capacity(ids.len());
    for (_, id) in ids {
        cards.extend(card(store, &id, hooked.remove(&id), now).await?);
    }
    Ok(cards)
}

/// Returns one session; `None` if it is unknown.
///
/// # Errors
/// Returns the store's error.
pub async fn session_card(
    store: &dyn Store,
    id: &ClientSessionId,
    now: OffsetDateTime,
) -> Result<Option<SessionCard>, StoreError> {
    let hooked = store.hook_session_summary(id).await?;
    card(store, id, hooked, now).await
}

async fn card(
    store: &dyn Store,
    id: &ClientSessionId,
    hooked: Option<HookSession>,
    now: OffsetDateTime,
) -> Result<Option<SessionCard>, StoreError> {
    let tasks = store.client_session(id).await?;
    let states: Vec<SessionState> = tasks.iter().map(|task| task.state.clone()).collect();
    let card = match of_proxy(id, &states, hooked.as_ref()) {
        Some(mut session) => {
            complete(&mut session, &store.session_activity(id).await?, now);
            let filter = UsageFilter {
                client_session_id: Some(id.clone()),
                since: None,
            };
            Some(SessionCard {
                usage: store.exchange_usage(&filter).await?,
                context: store.context_reading(id).await?,
                ..of_tasks(session, &tasks)
            })
        }
        None => hooked.map(|hooked| SessionCard {
            is_off_goal: hooked.drift_score.is_some_and(|score| score < OFF_GOAL_BELOW),
            drift_score: hooked.drift_score,
            ..of_tasks(of_hooks(&hooked, now), &[hook_sessions::task(&hooked)])
        }),
    };
    let Some(mut card) = card else { return Ok(None) };
    card.session.short_id = short_beginning(id.as_str()).to_owned();
    set_goal(store, &mut card.session).await?;
    Ok(Some(card))
}

fn of_tasks(session: ClientSessionView, tasks: &[SessionSummary]) -> SessionCard {
    let newest = tasks.iter().max_by_key(|task| task.state.last_update);
    let last_action = newest.and_then(|task| task.last_action.clone());
    SessionCard {
        session,
        prompts: tasks.iter().map(|task| task.prompts).sum(),
        actions: tasks.iter().map(|task| task.steps).sum(),
        tokens: tasks
            .iter()
            .map(|task| task.tokens)
            .fold(TokenUsage::default(), TokenUsage::plus),
        usage: Vec::new(),
        context: None,
        is_off_goal: newest.is_some_and(|task| task.state.session_mode != SessionMode::Normal),
        drift_score: last_action.as_ref().and_then(|action| action.drift_score),
        last_action,
    }
}
