//! Converts hook sessions, steps and checks to the engine's types.

use crate::resume::SessionRef;
use crate::transcript_file::closing_texts;
use grov_context::SessionPoints;
use grov_domain::{
    CorrectionLevel, GoalContract, HookCheck, HookSession, HookStep, OFF_GOAL_BELOW, SessionId, SessionState,
    SessionStatus, Statement, StatementSource, Task, TaskStatus,
};
use grov_project::{GrovIgnore, ProjectLocation};
use grov_rules::session_summary;
use grov_session::capture::{PerformedAction, TaskMaterial, prompts};
use grov_session::review::{CorrectionRecord, Evidence, Scored};
use grov_session::tasks::{Division, TaskPolicy};
use std::path::Path;

/// The hook path has no row per task, and no later review: the record of a task is replaced after each turn.
pub(crate) const POLICY: TaskPolicy = TaskPolicy {
    division: Division::ByPrompt,
    saves_unfinished: true,
    adds_drift_summary: true,
};

/// The actions of a session, in order.
pub(crate) fn done(steps: &[HookStep]) -> Vec<PerformedAction> {
    let done = steps.iter().map(|step| PerformedAction {
        action: step.action.clone(),
        is_off_goal: step.score.is_some_and(|score| score < OFF_GOAL_BELOW),
        prompt: step.prompt,
        at: step.timestamp,
    });
    done.collect()
}

/// Collects the material of a session under a contract. `root` is the top of the working tree.
pub(crate) fn material(
    contract: &GoalContract,
    done: Vec<PerformedAction>,
    root: &Path,
    ignore: &GrovIgnore,
) -> TaskMaterial {
    let prompts = prompts(contract.instructions.iter().map(String::as_str));
    TaskMaterial::new(prompts, done, Some(root), |file| ignore.ignores(file))
}

/// Collects what a compaction of a session must not lose.
pub(crate) fn points(
    session_ref: &SessionRef,
    place: &ProjectLocation,
    contract: &GoalContract,
    done: Vec<PerformedAction>,
) -> SessionPoints {
    let root = place.work_tree().unwrap_or(&session_ref.directory);
    let mut closings = closing_texts(session_ref.transcript.as_deref());
    let answer = closings.pop().unwrap_or_default();
    let statements = closings.into_iter().map(|text| Statement {
        source: StatementSource::Closing,
        text,
    });
    let material = material(contract, done, root, &GrovIgnore::at(place)).with_statements(statements);
    let question = material.summary_question(&contract.goal, &contract.constraints, &answer);
    SessionPoints::new(contract, session_summary(&question))
}

/// Converts a saved record to the state of its task.
pub(crate) fn saved(session: &HookSession, task: &Task) -> SessionState {
    let client = session.client_session_id.clone();
    let id = task.session_id.clone().unwrap_or_else(|| client.hook_task(0));
    SessionState {
        original_goal: task.goal.clone(),
        status: match task.status {
            TaskStatus::Abandoned => SessionStatus::Active,
            TaskStatus::Complete | TaskStatus::Partial => SessionStatus::Completed,
        },
        ..SessionState::new(client, id, &session.project_path, task.created_at)
    }
}

/// Converts a session under a contract to the state of task `id`.
pub(crate) fn task(
    session: &HookSession,
    contract: &GoalContract,
    id: SessionId,
    user: Option<String>,
) -> SessionState {
    let client = session.client_session_id.clone();
    SessionState {
        original_goal: Some(contract.goal.clone()),
        constraints: contract.constraints.clone(),
        user_id: user,
        ..SessionState::new(client, id, &session.project_path, session.started_at)
    }
}

/// Converts a session's checks, oldest first, and its final escalation to evidence.
pub(crate) fn evidence(checks: &[HookCheck], escalation: u8) -> Evidence {
    let corrections = checks.iter().filter_map(|check| {
        let is_delivered = check.correction.is_some();
        let level = check.level.or(is_delivered.then_some(CorrectionLevel::Nudge))?;
        Some(CorrectionRecord {
            level,
            reason: check.reason.clone(),
            is_delivered,
        })
    });
    Evidence {
        // Checks without a changed file are scored too.
        scored: checks
            .iter()
            .map(|check| Scored::new(Some(check.score), true))
            .collect(),
        corrections: corrections.collect(),
        escalation: u32::from(escalation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_session::review::Review;
    use time::OffsetDateTime;

    fn check(score: u8, level: Option<CorrectionLevel>) -> HookCheck {
        HookCheck {
            id: score.to_string(),
            actions: 1,
            score,
            level,
            reason: level.map(|_| "src/billing/invoice.ts is off".to_owned()),
            files: Vec::new(),
            recovery_plan: Vec::new(),
            correction: level.map(|_| "Go back.".to_owned()),
            at: OffsetDateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn checks_are_evidence_for_the_review() {
        let checks = [
            check(3, Some(CorrectionLevel::Intervene)),
            check(2, Some(CorrectionLevel::Halt)),
            check(2, Some(CorrectionLevel::Halt)),
            check(10, None),
        ];
        let found = evidence(&checks, 2);
        let review = Review::of(&found);
        assert!(review.had_drift && review.needs_review);
        assert_eq!(review.halts, ["src/billing/invoice.ts is off"]);
        assert_eq!(
            found.summary().as_deref(),
            Some("Drift: 4 checks, 3 corrections, mean score 4.2, last score 10")
        );
        assert_eq!(evidence(&[], 0).summary(), None);
        assert_eq!(Review::of(&evidence(&checks[3..], 1)), Review::default());
    }
}
