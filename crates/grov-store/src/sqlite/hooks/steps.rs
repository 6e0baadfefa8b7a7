//! Actions in sessions of the hook path, and checks of them.

use crate::sqlite::StoreError;
use crate::sqlite::columns::{RowExt, from_row, millis, params};
use crate::sqlite::connection::Connection;
use crate::sqlite::insert::Insert;
use grov_domain::{ActionSketch, ClientSessionId, HookCheck, HookEnded, HookStep, StepId};
use sqlx::sqlite::SqliteRow;
use time::OffsetDateTime;

/// A step that is there is replaced, as its result may be known by now; but a score is not taken back, and when and for which
/// prompt it was done stays as it was seen first.
const INSERT_STEPS: Insert = Insert {
    head: "INSERT INTO hook_steps (client_session_id, id, tool_use_id, agent_id, tool, action_type, files, command, \
           effects, reasoning, failed, output, content, prompt, score, findings, timestamp)",
    columns: 17,
    tail: "ON CONFLICT (client_session_id, id) DO UPDATE SET tool_use_id = excluded.tool_use_id, \
           agent_id = excluded.agent_id, tool = excluded.tool, action_type = excluded.action_type, \
           files = excluded.files, command = excluded.command, effects = excluded.effects, \
           reasoning = excluded.reasoning, failed = coalesce(excluded.failed, failed), \
           output = coalesce(excluded.output, output), content = excluded.content, \
           findings = iif(excluded.score IS NULL, findings, excluded.findings), \
           score = coalesce(excluded.score, score)",
};

/// Writes the steps; without their text those up to when the session was forgotten.
pub(super) async fn insert_steps(
    connection: &mut Connection<'_>,
    session: &ClientSessionId,
    steps: &[HookStep],
    forgotten_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    connection
        .insert(&INSERT_STEPS, steps, |values, step| {
            let HookStep {
                action, timestamp, ..
            } = step;
            let keeps_text = is_after(*timestamp, forgotten_at);
            values.add(session);
            values.add(&step.id);
            values.add(&step.tool_use_id);
            values.add(&step.agent_id);
            values.add(&step.tool);
            values.add(&action.action_type);
            values.add(&keeps_text.then_some(&action.files));
            values.add(&action.command.as_ref().filter(|_| keeps_text));
            values.add(&keeps_text.then_some(&action.effects));
            values.add(&action.reasoning.as_ref().filter(|_| keeps_text));
            values.add(&action.failed);
            values.add(&action.output.as_ref().filter(|_| keeps_text));
            values.add(&action.content.as_ref().filter(|_| keeps_text));
            values.add(&step.prompt);
            values.add(&step.score);
            values.add(&keeps_text.then_some(&step.findings));
            values.add(timestamp);
        })
        .await?;
    Ok(())
}

/// Whether a row of this time keeps its text. Times are compared as they are stored, in milliseconds.
fn is_after(time: OffsetDateTime, forgotten_at: Option<OffsetDateTime>) -> bool {
    forgotten_at.is_none_or(|forgotten| millis(time) > millis(forgotten))
}

/// Adds how steps ended that are there; without a word to those up to when the session's words were forgotten.
pub(super) async fn end_steps(
    connection: &mut Connection<'_>,
    session: &ClientSessionId,
    ended: &[HookEnded],
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

/// Acquits steps that are there: the user allowed them.
pub(super) async fn acquit_steps(
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

/// Writes the check, without its text if it is of a time that was forgotten.
pub(super) async fn insert_check(
    connection: &mut Connection<'_>,
    session: &ClientSessionId,
    check: &HookCheck,
    forgotten_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    let keeps_text = is_after(check.at, forgotten_at);
    let values = params![
        session,
        check.id,
        check.actions,
        check.score,
        check.level,
        check.reason.as_ref().filter(|_| keeps_text),
        keeps_text.then_some(&check.files),
        keeps_text.then_some(&check.recovery_plan),
        check.correction.as_ref().filter(|_| keeps_text),
        check.at,
    ];
    connection
        .execute(
            "INSERT INTO hook_checks (client_session_id, id, actions, score, level, reason, files, recovery_plan, \
             correction, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (client_session_id, id) DO UPDATE SET \
             actions = excluded.actions, score = excluded.score, level = excluded.level, reason = excluded.reason, \
             files = excluded.files, recovery_plan = excluded.recovery_plan, correction = excluded.correction, \
             at = excluded.at",
            values,
        )
        .await?;
    Ok(())
}

pub(super) fn step(row: &SqliteRow) -> Result<HookStep, StoreError> {
    Ok(from_row!(row => HookStep {
        id, tool_use_id, agent_id, tool, prompt, score, findings, timestamp,
        action: from_row!(row => ActionSketch {
            action_type, files, command, effects, reasoning, failed, output, content,
            line: None,
        }),
    }))
}

pub(super) fn check(row: &SqliteRow) -> Result<HookCheck, StoreError> {
    Ok(from_row!(row => HookCheck {
        id, actions, score, level, reason, files, recovery_plan, correction, at,
    }))
}
