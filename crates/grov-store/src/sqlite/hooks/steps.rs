//! Actions of hook sessions, and checks of them.

use crate::sqlite::StoreError;
use crate::sqlite::columns::{RowExt, from_row, millis, params};
use crate::sqlite::connection::Connection;
use crate::sqlite::insert::insert;
use grov_domain::{ActionSketch, ClientSessionId, HookCheck, HookStep, HookStepResult, StepId};
use sqlx::sqlite::SqliteRow;
use std::borrow::Cow;
use time::OffsetDateTime;

// An existing step is replaced, because its result may be known now. A score is not removed, and the time and prompt do
// not change.
insert! {
    INSERT_STEPS, bind_step((session, step) in (&ClientSessionId, Cow<'_, HookStep>)):
    "INSERT INTO hook_steps",
    "ON CONFLICT (client_session_id, id) DO UPDATE SET tool_use_id = excluded.tool_use_id, \
     agent_id = excluded.agent_id, tool = excluded.tool, action_type = excluded.action_type, \
     files = excluded.files, command = excluded.command, effects = excluded.effects, \
     reasoning = excluded.reasoning, failed = coalesce(excluded.failed, failed), \
     output = coalesce(excluded.output, output), content = excluded.content, \
     findings = iif(excluded.score IS NULL, findings, excluded.findings), \
     score = coalesce(excluded.score, score)";
    step => { id, tool_use_id, agent_id, tool, prompt, score, findings, timestamp }
    step.action => { action_type, files, command, effects, reasoning, failed, output, content };
    client_session_id: *session,
}

insert! {
    REPLACE_CHECK, bind_check((session, check) in (&ClientSessionId, HookCheck)):
    "INSERT OR REPLACE INTO hook_checks", "";
    check => { id, actions, score, level, reason, files, recovery_plan, correction, at };
    client_session_id: *session,
}

/// Writes the steps. Steps up to `forgotten_at` are written without their text.
pub(super) async fn insert_steps(
    connection: &mut Connection<'_>,
    session: &ClientSessionId,
    steps: &[HookStep],
    forgotten_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    let rows: Vec<(&ClientSessionId, Cow<'_, HookStep>)> = steps
        .iter()
        .map(|step| match is_after(step.timestamp, forgotten_at) {
            true => (session, Cow::Borrowed(step)),
            false => (session, Cow::Owned(without_text(step))),
        })
        .collect();
    connection.insert(&INSERT_STEPS, &rows, bind_step).await.map(drop)
}

fn without_text(step: &HookStep) -> HookStep {
    HookStep {
        action: ActionSketch {
            files: Vec::new(),
            command: None,
            effects: Vec::new(),
            reasoning: None,
            output: None,
            content: None,
            ..step.action.clone()
        },
        findings: Vec::new(),
        ..step.clone()
    }
}

/// Whether a row of this time keeps its text. Compares milliseconds, as stored.
fn is_after(time: OffsetDateTime, forgotten_at: Option<OffsetDateTime>) -> bool {
    forgotten_at.is_none_or(|forgotten| millis(time) > millis(forgotten))
}

/// Adds the results of stored steps. Steps up to `forgotten_at` get no output.
pub(super) async fn end_steps(
    connection: &mut Connection<'_>,
    session: &ClientSessionId,
    ended: &[HookStepResult],
    forgotten_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    for ended in ended {
        connection
            .execute(
                "UPDATE hook_steps SET failed = ?3, \
             output = iif(?5 IS NULL OR timestamp > ?5, coalesce(?4, output), output) \
             WHERE client_session_id = ?1 AND id = ?2",
                params![session, ended.id, ended.failed, ended.output, forgotten_at],
            )
            .await?;
    }
    Ok(())
}

/// Marks stored steps as on goal, because the user allowed them.
pub(super) async fn allow_steps(
    connection: &mut Connection<'_>,
    session: &ClientSessionId,
    allowed: &[StepId],
) -> Result<(), StoreError> {
    for id in allowed {
        connection
            .execute(
                "UPDATE hook_steps SET score = 10, findings = NULL WHERE client_session_id = ?1 AND id = ?2",
                params![session, id],
            )
            .await?;
    }
    Ok(())
}

/// Writes the check. Up to `forgotten_at` it is written without its text.
pub(super) async fn insert_check(
    connection: &mut Connection<'_>,
    session: &ClientSessionId,
    check: &HookCheck,
    forgotten_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    let mut check = check.clone();
    if !is_after(check.at, forgotten_at) {
        check = HookCheck {
            reason: None,
            files: Vec::new(),
            recovery_plan: Vec::new(),
            correction: None,
            ..check
        };
    }
    connection
        .insert(&REPLACE_CHECK, &[(session, check)], bind_check)
        .await
        .map(drop)
}

pub(in crate::sqlite) fn step(row: &SqliteRow) -> Result<HookStep, StoreError> {
    Ok(from_row!(row => HookStep {
        id, tool_use_id, agent_id, tool, prompt, score, findings, timestamp,
        action: from_row!(row => ActionSketch {
            action_type, files, command, effects, reasoning, failed, output, content,
            line: None,
            change: None,
        }),
    }))
}

pub(super) fn check(row: &SqliteRow) -> Result<HookCheck, StoreError> {
    Ok(from_row!(row => HookCheck {
        id, actions, score, level, reason, files, recovery_plan, correction, at,
    }))
}
