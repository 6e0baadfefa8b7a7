//! Converts sessions that only hooks recorded to the form of sessions that the proxy recorded, with one task each.

use grov_domain::{
    ClientSessionId, Correction, CorrectionId, CorrectionLevel, CorrectionOutcome, DriftEvent, DriftEventId,
    HookCheck, HookSession, HookStep, JudgedBy, OFF_GOAL_BELOW, ProjectStatus, SessionMode, SessionState,
    SessionStatus, SessionSummary, Store, StoreError, TokenUsage,
};

/// The maximum number of newest sessions of a project that are read.
const MAX_SESSIONS: u32 = 1_000;

/// Returns the status of a project, including the sessions and actions that only hooks recorded.
///
/// # Errors
/// Returns the store's error.
pub async fn project_status(store: &dyn Store, project: &str) -> Result<ProjectStatus, StoreError> {
    let mut status = store.project_status(project).await?;
    let sessions = store.hook_sessions(project, MAX_SESSIONS).await?;
    status.sessions += sessions.len() as u64;
    status.steps += sessions.iter().map(|session| session.actions).sum::<u64>();
    Ok(status)
}

/// A session as its one task.
pub(crate) fn task(session: &HookSession) -> SessionSummary {
    let contract = &session.contract;
    let client = &session.client_session_id;
    let is_off = session.drift_score.is_some_and(|score| score < OFF_GOAL_BELOW);
    SessionSummary {
        state: SessionState {
            working_directory: Some(session.working_directory.clone()),
            original_goal: Some(contract.goal.clone()).filter(|goal| !goal.is_empty()),
            expected_scope: contract.scope.clone(),
            constraints: contract.constraints.clone(),
            keywords: contract.keywords.clone(),
            escalation_count: session.escalation.into(),
            session_mode: if is_off {
                SessionMode::Drifted
            } else {
                SessionMode::Normal
            },
            last_update: session.updated_at,
            status: if session.ended_at.is_some() {
                SessionStatus::Completed
            } else {
                SessionStatus::Active
            },
            ..SessionState::new(
                client.clone(),
                client.first_task(),
                session.project_path.clone(),
                session.started_at,
            )
        },
        prompts: session.prompts,
        steps: session.actions,
        exchanges: 0,
        tokens: TokenUsage::default(),
        last_action: None,
    }
}

/// The event for an action that was judged off the goal; `None` for other actions. The next check contains its correction.
pub(crate) fn event(session: &ClientSessionId, step: &HookStep, checks: &[HookCheck]) -> Option<DriftEvent> {
    let score = step.score.filter(|score| *score < OFF_GOAL_BELOW)?;
    let check = checks.iter().find(|check| check.at >= step.timestamp);
    Some(DriftEvent {
        id: DriftEventId::new(step.id.as_str()),
        session_id: session.first_task(),
        timestamp: step.timestamp,
        action_type: Some(step.action.action_type),
        files: step.action.files.clone(),
        drift_score: Some(score),
        level: check
            .and_then(|check| check.level)
            .map(|level| level.as_str().to_owned()),
        reason: step.findings.first().map(|finding| finding.reason.clone()),
        correction_given: check.and_then(|check| check.correction.clone()),
        recovery_plan: check
            .map(|check| {
                check
                    .recovery_plan
                    .iter()
                    .map(|step| step.action.clone())
                    .collect()
            })
            .unwrap_or_default(),
        client_session_id: Some(session.clone()),
        step_id: Some(step.id.clone()),
        tool_use_id: step.tool_use_id.clone(),
        command: step.action.command.clone(),
        findings: step.findings.clone(),
        judged_by: Some(JudgedBy::Rules),
        outcome: step.outcome(),
    })
}

/// The corrections, oldest first. A correction is delivered with the check that created it.
pub(crate) fn corrections(session: &ClientSessionId, checks: &[HookCheck]) -> Vec<Correction> {
    let corrected = checks
        .iter()
        .enumerate()
        .filter_map(|(place, check)| Some((place, check, check.correction.as_ref()?)));
    // A correction is followed only if the reverts come before the next correction.
    let is_followed = |place: usize| {
        let mut later = checks[place + 1..].iter();
        later
            .find(|check| check.correction.is_some() || check.has_put_back())
            .is_some_and(HookCheck::has_put_back)
    };
    corrected
        .map(|(place, check, text)| Correction {
            id: CorrectionId::new(check.id.as_str()),
            client_session_id: session.clone(),
            session_id: session.first_task(),
            step_id: None,
            tool_use_id: None,
            level: check.level.unwrap_or(CorrectionLevel::Nudge),
            score: check.score,
            reason: check.reason.clone().unwrap_or_default(),
            text: text.clone(),
            recovery_plan: check.recovery_plan.clone(),
            made_at: check.at,
            delivered_at: Some(check.at),
            outcome: is_followed(place).then_some(CorrectionOutcome::Followed),
        })
        .collect()
}
