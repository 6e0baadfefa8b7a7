//! What the agent did in a session of hooks, and what came out of looking at it.

use crate::sqlite::rows::{Insert, portions};
use crate::sqlite::values::{Columns, integer, list, millis};
use crate::sqlite::{SqliteStore, StoreError};
use grov_domain::{
    ActionSketch, ActionType, AgentId, ClientSessionId, CorrectionLevel, HookCheck, HookEnded, HookStep,
    StepId,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};

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

/// A step on its way in, encoded.
pub(super) struct NewStep<'a> {
    step: &'a HookStep,
    files: Option<String>,
    effects: Option<String>,
    findings: Option<String>,
}

impl<'a> NewStep<'a> {
    pub(super) fn new(step: &'a HookStep) -> Result<Self, StoreError> {
        Ok(Self {
            files: list(&step.action.files)?,
            effects: list(&step.action.effects)?,
            findings: list(&step.findings)?,
            step,
        })
    }
}

/// A check on its way in, encoded.
pub(super) struct NewCheck<'a> {
    check: &'a HookCheck,
    files: Option<String>,
    plan: Option<String>,
}

impl<'a> NewCheck<'a> {
    pub(super) fn new(check: &'a HookCheck) -> Result<Self, StoreError> {
        Ok(Self {
            files: list(&check.files)?,
            plan: list(&check.recovery_plan)?,
            check,
        })
    }
}

/// Writes the steps; without a word those up to when the session's words were forgotten.
pub(super) async fn insert_steps(
    connection: &mut SqliteConnection,
    session: &str,
    steps: &[NewStep<'_>],
    forgotten_at: Option<i64>,
) -> Result<(), sqlx::Error> {
    for portion in portions(steps) {
        let query = INSERT_STEPS.query(portion, |values, new| {
            let HookStep {
                id,
                tool_use_id,
                agent_id,
                tool,
                action,
                prompt,
                score,
                findings: _,
                timestamp,
            } = &new.step;
            let has_words = forgotten_at.is_none_or(|forgotten| millis(*timestamp) > forgotten);
            let words = |text: &'_ Option<String>| text.clone().filter(|_| has_words);
            values.text(session);
            values.text(id.as_str());
            values.optional(tool_use_id.as_deref());
            values.optional(agent_id.as_ref().map(AgentId::as_str));
            values.text(tool);
            values.text(action.action_type.as_str());
            values.optional(words(&new.files).as_deref());
            values.optional(words(&action.command).as_deref());
            values.optional(words(&new.effects).as_deref());
            values.optional(words(&action.reasoning).as_deref());
            values.optional_integer(action.failed.map(i64::from));
            values.optional(words(&action.output).as_deref());
            values.optional(words(&action.content).as_deref());
            values.integer(integer(*prompt));
            values.optional_integer(score.map(i64::from));
            values.optional(words(&new.findings).as_deref());
            values.integer(millis(*timestamp));
        })?;
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Adds how steps ended that are there; without a word to those up to when the session's words were forgotten.
pub(super) async fn end_steps(
    connection: &mut SqliteConnection,
    session: &str,
    ended: &[HookEnded],
    forgotten_at: Option<i64>,
) -> Result<(), sqlx::Error> {
    for ended in ended {
        sqlx::query(
            "UPDATE hook_steps SET failed = ?3, \
             output = iif(?5 IS NULL OR timestamp > ?5, coalesce(?4, output), output) \
             WHERE client_session_id = ?1 AND id = ?2",
        )
        .bind(session)
        .bind(ended.id.as_str())
        .bind(i64::from(ended.failed))
        .bind(ended.output.as_deref())
        .bind(forgotten_at)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Acquits steps that are there: the user allowed them.
pub(super) async fn acquit_steps(
    connection: &mut SqliteConnection,
    session: &str,
    allowed: &[StepId],
) -> Result<(), sqlx::Error> {
    for id in allowed {
        sqlx::query(
            "UPDATE hook_steps SET score = 10, findings = NULL WHERE client_session_id = ?1 AND id = ?2",
        )
        .bind(session)
        .bind(id.as_str())
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Writes the check, without a word if it is of a time whose words were forgotten.
pub(super) async fn insert_check(
    connection: &mut SqliteConnection,
    session: &str,
    new: &NewCheck<'_>,
    forgotten_at: Option<i64>,
) -> Result<(), sqlx::Error> {
    let check = &new.check;
    let has_words = forgotten_at.is_none_or(|forgotten| millis(check.at) > forgotten);
    sqlx::query(
        "INSERT INTO hook_checks (client_session_id, id, actions, score, level, reason, files, recovery_plan, \
         correction, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (client_session_id, id) DO UPDATE SET \
         actions = excluded.actions, score = excluded.score, level = excluded.level, reason = excluded.reason, \
         files = excluded.files, recovery_plan = excluded.recovery_plan, correction = excluded.correction, \
         at = excluded.at",
    )
    .bind(session)
    .bind(check.id.as_str())
    .bind(integer(check.actions))
    .bind(check.score)
    .bind(check.level.map(CorrectionLevel::as_str))
    .bind(check.reason.as_deref().filter(|_| has_words))
    .bind(new.files.as_deref().filter(|_| has_words))
    .bind(new.plan.as_deref().filter(|_| has_words))
    .bind(check.correction.as_deref().filter(|_| has_words))
    .bind(millis(check.at))
    .execute(connection)
    .await?;
    Ok(())
}

impl SqliteStore {
    pub(super) async fn steps_of_hooks(&self, id: &ClientSessionId) -> Result<Vec<HookStep>, StoreError> {
        let query = sqlx::query("SELECT * FROM hook_steps WHERE client_session_id = ? ORDER BY number");
        let rows = self.reader().await?.rows(self, query.bind(id.as_str())).await?;
        rows.iter().map(step).collect()
    }

    pub(super) async fn checks_of_hooks(&self, id: &ClientSessionId) -> Result<Vec<HookCheck>, StoreError> {
        let query = sqlx::query("SELECT * FROM hook_checks WHERE client_session_id = ? ORDER BY at, id");
        let rows = self.reader().await?.rows(self, query.bind(id.as_str())).await?;
        rows.iter().map(check).collect()
    }
}

fn step(row: &SqliteRow) -> Result<HookStep, StoreError> {
    let columns = Columns(row);
    Ok(HookStep {
        id: StepId::new(columns.get::<String>("id")?),
        tool_use_id: columns.get("tool_use_id")?,
        agent_id: columns.get::<Option<String>>("agent_id")?.map(AgentId::new),
        tool: columns.get("tool")?,
        action: ActionSketch {
            action_type: ActionType::from_name(columns.get("action_type")?),
            files: columns.list("files")?,
            command: columns.get("command")?,
            effects: columns.list("effects")?,
            reasoning: columns.get("reasoning")?,
            failed: columns.get::<Option<i64>>("failed")?.map(|failed| failed != 0),
            output: columns.get("output")?,
            content: columns.get("content")?,
            line: None,
        },
        prompt: columns.count("prompt")?,
        score: columns.small("score")?,
        findings: columns.list("findings")?,
        timestamp: columns.time("timestamp")?,
    })
}

fn check(row: &SqliteRow) -> Result<HookCheck, StoreError> {
    let columns = Columns(row);
    Ok(HookCheck {
        id: columns.get("id")?,
        actions: columns.count("actions")?,
        score: columns.small("score")?.unwrap_or(0),
        level: columns
            .get::<Option<&str>>("level")?
            .and_then(CorrectionLevel::from_name),
        reason: columns.get("reason")?,
        files: columns.list("files")?,
        recovery_plan: columns.list("recovery_plan")?,
        correction: columns.get("correction")?,
        at: columns.time("at")?,
    })
}
