//! The drift log, the drift status of sessions, and their corrections.

use crate::steps::mark_stopped_events;
use crate::{ActiveConstraints, Lookup, SelectedSession, find_session, hook_sessions};
use grov_domain::{
    ClientSessionId, Correction, CorrectionOutcome, DriftEvent, DriftEventId, DriftFilter, DriftState,
    Finding, GuardVerdict, RecoveryStep, SessionFilter, SessionId, SessionMode, SessionState, SessionStatus,
    Store, StoreError,
};
use grov_session::IntentReader;
use serde::Serialize;
use time::OffsetDateTime;

/// Number of newest scores shown.
const LAST: usize = 20;
/// Maximum number of active sessions of the hook path.
const MAX_ACTIVE: u32 = 20;
/// Maximum number of sessions of the hook path in a log.
const MAX_LOGGED: u32 = 100;

/// A correction, delivered or pending.
#[derive(Debug, Serialize)]
pub struct CorrectionView {
    /// Its id.
    pub id: String,
    /// The level of the correction.
    pub level: &'static str,
    /// The score of the corrected action.
    pub score: u8,
    /// The reason for the correction.
    pub reason: String,
    /// The text for the agent.
    pub text: String,
    /// The recovery steps.
    pub recovery_plan: Vec<String>,
    /// The time of its creation.
    #[serde(with = "time::serde::rfc3339")]
    pub made_at: OffsetDateTime,
    /// The time of its delivery.
    #[serde(with = "time::serde::rfc3339::option")]
    pub delivered_at: Option<OffsetDateTime>,
    /// `followed`, `ignored` or `overtaken`; `None` while unknown.
    pub outcome: Option<&'static str>,
}

impl From<&Correction> for CorrectionView {
    fn from(correction: &Correction) -> Self {
        Self {
            id: correction.id.to_string(),
            level: correction.level.as_str(),
            score: correction.score,
            reason: correction.reason.clone(),
            text: correction.text.clone(),
            recovery_plan: correction.recovery_plan.iter().map(recovery_step_text).collect(),
            made_at: correction.made_at,
            delivered_at: correction.delivered_at,
            outcome: correction.outcome.map(|outcome| outcome.as_str()),
        }
    }
}

/// The drift status of a session.
#[derive(Debug, Serialize)]
pub struct DriftStatusView {
    /// The client's session.
    pub client_session_id: String,
    /// The active task.
    pub session_id: String,
    /// The goal.
    pub goal: String,
    /// The session mode, which shows whether it drifted.
    pub session_mode: &'static str,
    /// The escalation level, 0 to 3.
    pub escalation: u8,
    /// The number of corrections of the current drift that were not followed.
    pub failed_recoveries: u8,
    /// The recovery step that was delivered and not followed yet.
    pub awaited: Option<String>,
    /// The newest correction.
    pub correction: Option<CorrectionView>,
    /// The scores of the newest actions, oldest first; `null` for unjudged actions.
    pub scores: Vec<Option<u8>>,
    /// Numbers of actions and corrections.
    pub counts: Counts,
    /// The time of the last activity.
    #[serde(with = "time::serde::rfc3339")]
    pub last_update: OffsetDateTime,
}

/// Numbers of actions and corrections of a session.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Actions.
    pub actions: usize,
    /// Judged actions.
    pub judged: usize,
    /// Actions judged off the goal: drifts and doubts.
    pub off_goal: usize,
    /// Those off the goal for certain: a broken constraint, a danger, a repetition, or a model's verdict.
    pub drifts: usize,
    /// Those that only look unrelated to the goal.
    pub doubts: usize,
    /// Corrections.
    pub corrections: usize,
    /// Delivered corrections.
    pub delivered: usize,
    /// Followed corrections.
    pub followed: usize,
    /// Ignored corrections.
    pub ignored: usize,
    /// Overtaken corrections.
    pub overtaken: usize,
}

/// The scope of a drift log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogScope {
    /// One task.
    Task(SessionId),
    /// All tasks of a client session.
    Session(ClientSessionId),
    /// A deleted session, whose log remains.
    Deleted(ClientSessionId),
    /// All sessions of a project.
    Project(String),
}

/// Returns off-goal actions, oldest first, at most `limit` of the newest.
pub async fn drift_log(
    store: &dyn Store,
    of: &LogScope,
    limit: Option<u32>,
) -> Result<Vec<DriftEvent>, StoreError> {
    let mut filter = DriftFilter {
        limit,
        ..DriftFilter::default()
    };
    let mut hook_sessions = Vec::new();
    match of {
        LogScope::Task(task) => filter.session_id = Some(task.clone()),
        LogScope::Deleted(session) => filter.client_session_id = Some(session.clone()),
        LogScope::Session(session) => {
            filter.client_session_id = Some(session.clone());
            hook_sessions.push(session.clone());
        }
        LogScope::Project(project) => {
            filter.project_path = Some(project.clone());
            let sessions = store.hook_sessions(project, MAX_LOGGED).await?;
            hook_sessions.extend(sessions.into_iter().map(|session| session.client_session_id));
        }
    }
    let mut events = store.drift_events(&filter).await?;
    if matches!(of, LogScope::Session(_) | LogScope::Project(_)) {
        events.extend(found(store, &hook_sessions).await?);
        events.sort_by_key(|event| event.timestamp);
        let most = limit.map_or(usize::MAX, |limit| limit as usize);
        events.drain(..events.len().saturating_sub(most));
    }
    mark_stopped_events(store, &mut events).await?;
    Ok(events)
}

/// Returns off-goal actions of the hook path.
async fn found(store: &dyn Store, sessions: &[ClientSessionId]) -> Result<Vec<DriftEvent>, StoreError> {
    let mut events = Vec::new();
    for session in sessions {
        let checks = store.hook_checks(session).await?;
        let steps = store.hook_steps(session).await?;
        events.extend(
            steps
                .iter()
                .filter_map(|step| hook_sessions::event(session, step, &checks)),
        );
    }
    Ok(events)
}

/// Returns the active sessions of a project, newest first.
pub async fn active_sessions(store: &dyn Store, project: &str) -> Result<Vec<SelectedSession>, StoreError> {
    let filter = SessionFilter {
        project_path: Some(project.to_owned()),
        status: Some(SessionStatus::Active),
        ..SessionFilter::default()
    };
    let mut ids: Vec<ClientSessionId> = Vec::new();
    for summary in store.sessions(&filter).await? {
        if !ids.contains(&summary.state.client_session_id) {
            ids.push(summary.state.client_session_id);
        }
    }
    let mut all = Vec::with_capacity(ids.len());
    for id in ids {
        // A session that was deleted meanwhile is not active.
        if let Lookup::Found(session) = find_session(store, id.as_str(), project).await? {
            all.push(session);
        }
    }
    let hook_sessions = store.hook_sessions(project, MAX_ACTIVE).await?;
    let active = hook_sessions.iter().filter(|session| session.ended_at.is_none());
    all.extend(active.map(SelectedSession::from_hooks));
    Ok(all)
}

/// Returns the drift status of the session with this active task.
pub async fn drift_status(
    store: &dyn Store,
    reader: IntentReader,
    task: &SessionState,
) -> Result<DriftStatusView, StoreError> {
    let id = &task.client_session_id;
    let state = store.drift_state(id).await?;
    let mut corrections = store.corrections(id).await?;
    corrections.extend(hook_sessions::corrections(id, &store.hook_checks(id).await?));
    let filter = DriftFilter {
        client_session_id: Some(id.clone()),
        ..DriftFilter::default()
    };
    let found = store.hook_steps(id).await?.into_iter();
    let found = found.map(|step| (step.timestamp, step.id.to_string(), step.score));
    let steps = store.client_steps(id).await?.into_iter();
    let events = store.drift_events(&filter).await?.into_iter();
    let steps = steps.map(|step| (step.timestamp, step.id.to_string(), step.drift_score));
    let events = events.map(|event| {
        let id = event
            .step_id
            .map_or_else(|| event.id.to_string(), |id| id.to_string());
        (event.timestamp, id, event.drift_score)
    });
    // Actions of one response have the same time and ascending ids.
    let mut scores: Vec<(OffsetDateTime, String, Option<u8>)> = steps.chain(events).chain(found).collect();
    scores.sort();
    let scores: Vec<Option<u8>> = scores.into_iter().map(|(.., score)| score).collect();
    let constraints = ActiveConstraints::load(store, reader, task, None).await?;
    let state = state.unwrap_or_else(|| DriftState {
        mode: task.session_mode,
        escalation: u8::try_from(task.escalation_count).unwrap_or(u8::MAX),
        ..DriftState::new(id.clone(), task.last_update)
    });
    Ok(DriftStatusView {
        client_session_id: id.to_string(),
        session_id: task.session_id.to_string(),
        goal: constraints.contract.goal,
        session_mode: state.mode.as_str(),
        escalation: state.escalation,
        failed_recoveries: state.failed_recoveries,
        awaited: awaited(&state),
        correction: corrections.last().map(CorrectionView::from),
        counts: counts(&scores, &corrections, OffGoal::of(store, id).await?),
        scores: scores[scores.len().saturating_sub(LAST)..].to_vec(),
        last_update: task.last_update,
    })
}

/// Returns the first recovery step that was delivered and not followed yet.
fn awaited(state: &DriftState) -> Option<String> {
    let correction = state.correction.as_ref()?;
    let is_delivered = state.mode != SessionMode::Normal && correction.delivered_at.is_some();
    let first = correction.recovery_plan.first()?;
    (is_delivered && correction.outcome.is_none()).then(|| recovery_step_text(first))
}

/// Numbers of actions off the goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OffGoal {
    /// Those that are certain.
    pub(crate) drifts: usize,
    /// Those that only look unrelated to the goal.
    pub(crate) doubts: usize,
}

impl OffGoal {
    /// Counts those of a session, on either path.
    pub(crate) async fn of(store: &dyn Store, session: &ClientSessionId) -> Result<Self, StoreError> {
        let found = store.off_goal_findings(session).await?;
        let doubts = found.iter().filter(|found| Finding::are_doubts(found)).count();
        Ok(Self {
            drifts: found.len() - doubts,
            doubts,
        })
    }
}

fn counts(scores: &[Option<u8>], corrections: &[Correction], off_goal: OffGoal) -> Counts {
    let judged = || scores.iter().flatten();
    let of = |outcome| {
        let had = corrections
            .iter()
            .filter(|correction| correction.outcome == Some(outcome));
        had.count()
    };
    Counts {
        actions: scores.len(),
        judged: judged().count(),
        off_goal: off_goal.drifts + off_goal.doubts,
        drifts: off_goal.drifts,
        doubts: off_goal.doubts,
        corrections: corrections.len(),
        delivered: corrections
            .iter()
            .filter(|correction| correction.delivered_at.is_some())
            .count(),
        followed: of(CorrectionOutcome::Followed),
        ignored: of(CorrectionOutcome::Ignored),
        overtaken: of(CorrectionOutcome::Overtaken),
    }
}

/// Finds an event by its id or its step's id, or by a prefix or suffix of one. Several events are returned newest first.
///
/// # Errors
/// Returns the store's error.
pub async fn find_event(
    store: &dyn Store,
    id: &str,
    project: &str,
) -> Result<Lookup<DriftEvent>, StoreError> {
    let mut found = lookup_event(store, id, project).await?;
    if let Lookup::Found(event) = &mut found {
        mark_stopped_events(store, std::slice::from_mut(event)).await?;
    }
    Ok(found)
}

async fn lookup_event(store: &dyn Store, id: &str, project: &str) -> Result<Lookup<DriftEvent>, StoreError> {
    if let Some(event) = store.drift_event(&DriftEventId::new(id)).await? {
        return Ok(Lookup::Found(event));
    }
    if id.is_empty() {
        return Ok(Lookup::NotFound);
    }
    let matches = |known: &str| known.starts_with(id) || known.ends_with(id);
    let mut events = store.drift_events(&DriftFilter::default()).await?;
    let sessions = store.hook_sessions(project, MAX_LOGGED).await?.into_iter();
    let sessions: Vec<ClientSessionId> = sessions.map(|session| session.client_session_id).collect();
    events.extend(found(store, &sessions).await?);
    if let Some(event) = events.iter().find(|event| event.id.as_str() == id) {
        return Ok(Lookup::Found(event.clone()));
    }
    events.retain(|event| {
        matches(event.id.as_str()) || event.step_id.as_ref().is_some_and(|id| matches(id.as_str()))
    });
    events.reverse();
    Ok(events.into())
}

/// Returns the correction for an event.
pub async fn correction_of(store: &dyn Store, event: &DriftEvent) -> Result<Option<Correction>, StoreError> {
    let (Some(session), Some(step)) = (&event.client_session_id, &event.step_id) else {
        return Ok(None);
    };
    let corrections = store.corrections(session).await?;
    Ok(corrections
        .into_iter()
        .rev()
        .find(|correction| correction.step_id.as_ref() == Some(step)))
}

/// Returns whether the user allowed the action of an event in the guard's dialog: `false` if they were asked and it did not
/// run, `None` if they were not asked.
///
/// # Errors
/// Returns the store's error.
pub async fn consent_to(store: &dyn Store, event: &DriftEvent) -> Result<Option<bool>, StoreError> {
    let (Some(session), Some(call)) = (&event.client_session_id, &event.tool_use_id) else {
        return Ok(None);
    };
    let log = store.guard_log(session).await?;
    let asked = log
        .iter()
        .find(|one| one.tool_use_id == *call && one.verdict == GuardVerdict::Ask);
    Ok(asked.map(|one| one.ran))
}

/// Returns the text of a recovery step.
pub fn recovery_step_text(step: &RecoveryStep) -> String {
    match &step.file {
        Some(file) if !step.action.contains(file.as_str()) => format!("{file}: {}", step.action),
        _ => step.action.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_back_names_its_file_once() {
        let step = |file: Option<&str>, action: &str| {
            recovery_step_text(&RecoveryStep {
                file: file.map(str::to_owned),
                action: action.to_owned(),
            })
        };
        assert_eq!(step(Some("a.rs"), "open a.rs"), "open a.rs");
        assert_eq!(step(Some("a.rs"), "go on"), "a.rs: go on");
        assert_eq!(step(None, "go on"), "go on");
    }
}
