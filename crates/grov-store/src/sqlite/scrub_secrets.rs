//! Removal of secrets from databases written before schema 10.
//!
//! Those versions cut words out of texts before redaction, so parts of a secret could remain in goals, scopes, constraints,
//! keywords, tags and paths. All texts are redacted again by the current rules. Derived columns of sessions with a secret are
//! deleted. Finally the file is rewritten, so that no copy remains in a page or in the write-ahead log.

use super::columns::{RowExt, Values, params};
use super::select::expanded;
use super::{SqliteStore, StoreError, memory};
use crate::files::is_set_aside;
use crate::spool::{Spool, drain_spool};
use futures_util::TryStreamExt;
use grov_redact::Redactor;
use sqlx::AssertSqlSafe;
use std::collections::BTreeSet;

/// Texts replaced per transaction: other processes can write in between.
const TEXTS_PER_TRANSACTION: usize = 256;

/// Parts of statements.
#[rustfmt::skip]
const PARTS: &[(&str, &str)] = &[
    // Client sessions with a secret in a prompt, command or contract: only they can hold parts of one.
    ("{sessions_with_secrets}", "(SELECT client_session_id FROM prompts WHERE text {holds_secret} \
     UNION SELECT t.client_session_id FROM steps s JOIN session_states t ON t.session_id = s.session_id \
      WHERE s.command {holds_secret} \
     UNION SELECT client_session_id FROM drift_log WHERE command {holds_secret} \
     UNION SELECT client_session_id FROM hook_sessions WHERE contract {holds_secret} \
     UNION SELECT client_session_id FROM hook_steps WHERE command {holds_secret} \
     UNION SELECT client_session_id FROM goal_edits WHERE text {holds_secret} \
     UNION SELECT client_session_id FROM tasks WHERE original_query {holds_secret})"),
    ("{holds_secret}", "LIKE '%[redacted:%'"),
    // The entries of a list in a contract that the redacted instructions or goal edits of the session contain.
    ("{allowed}", "(SELECT json_group_array(entry.value) FROM json_each(contract, '$.allowed') entry {is_instructed})"),
    ("{forbidden}", "(SELECT json_group_array(entry.value) FROM json_each(contract, '$.forbidden') entry {is_instructed})"),
    ("{constraints}", "(SELECT json_group_array(entry.value) FROM json_each(contract, '$.constraints') entry {is_instructed})"),
    ("{is_instructed}", "WHERE instr(json_extract(contract, '$.instructions') || coalesce((SELECT group_concat(g.text) \
      FROM goal_edits g WHERE g.client_session_id = hook_sessions.client_session_id), ''), entry.value)"),
    ("{effect_kinds}", "(SELECT json_group_array(json_object('kind', json_extract(value, '$.kind'))) FROM json_each(effects))"),
];

/// Columns with free text, by table. The names of JSON columns begin with `{`.
#[rustfmt::skip]
const TEXT_COLUMNS: &[(&str, &[&str])] = &[
    ("prompts", &["text"]),
    ("session_states", &["user_id", "project_remote", "working_directory", "original_goal", "{constraints"]),
    ("steps", &["{files", "{folders", "command", "{effects", "reasoning", "correction_given", "{keywords", "{findings"]),
    ("tasks", &["project_remote", "user", "original_query", "goal", "{reasoning_trace", "{files_touched", "{decisions",
        "{constraints", "{tags", "{file_pins"]),
    ("drift_log", &["{files", "reason", "correction_given", "{recovery_plan", "command", "{findings", "{folders", "{effects",
        "reasoning", "{keywords"]),
    ("file_reasoning", &["file_path", "anchor", "reasoning"]),
    ("drift_states", &["{state"]),
    ("corrections", &["reason", "text", "{recovery_plan"]),
    ("goal_edits", &["text"]),
    ("hook_sessions", &["working_directory", "transcript_path", "{contract", "{waiting"]),
    ("hook_steps", &["{files", "command", "reasoning", "output", "content", "{findings"]),
    ("hook_checks", &["reason", "{files", "{recovery_plan", "correction"]),
    ("hook_guards", &["subject", "reason"]),
];

/// Deletes derived columns. Scopes and keywords are deleted everywhere, because the prompts that show where a secret was may
/// have been removed. A pending correction is not sent.
#[rustfmt::skip]
const DELETIONS: &[&str] = &[
    "UPDATE session_states SET expected_scope = NULL, keywords = NULL",
    "UPDATE session_states SET original_goal = NULL, constraints = NULL WHERE client_session_id IN {sessions_with_secrets}",
    "UPDATE hook_sessions SET revision = revision + 1, contract = json_set(contract, '$.goal', '', '$.scope', json('[]'), \
     '$.keywords', json('[]'), '$.allowed', {allowed}, '$.forbidden', {forbidden}, '$.constraints', {constraints}) \
     WHERE json_valid(contract) AND client_session_id IN {sessions_with_secrets}",
    // Passwords with a user name, assignments and options were recorded as files of a command. Imported memories have no
    // session; their texts were redacted as a whole.
    "UPDATE tasks SET goal = NULL, constraints = NULL, tags = NULL, files_touched = \
     (SELECT json_group_array(value) FROM json_each(files_touched) WHERE value NOT LIKE '-%' AND value NOT GLOB '*[:=]*') \
     WHERE client_session_id IN {sessions_with_secrets} OR client_session_id IS NULL AND session_id IS NOT NULL AND (original_query LIKE '%[redacted:%' \
      OR session_id IN (SELECT session_id FROM session_states WHERE client_session_id IN {sessions_with_secrets}))",
    "UPDATE corrections SET reason = '', text = '', recovery_plan = NULL WHERE client_session_id IN {sessions_with_secrets}",
    "UPDATE drift_log SET reason = NULL, findings = NULL, correction_given = NULL, recovery_plan = NULL \
     WHERE client_session_id IN {sessions_with_secrets}",
    "UPDATE drift_states SET state = json_set(state, '$.correction', NULL) \
     WHERE json_valid(state) AND client_session_id IN {sessions_with_secrets}",
    "UPDATE steps SET findings = NULL, correction_given = NULL WHERE session_id IN \
     (SELECT session_id FROM session_states WHERE client_session_id IN {sessions_with_secrets})",
    "UPDATE hook_steps SET findings = NULL WHERE client_session_id IN {sessions_with_secrets}",
    "UPDATE hook_checks SET reason = NULL, files = NULL, recovery_plan = NULL, correction = NULL \
     WHERE client_session_id IN {sessions_with_secrets}",
    "UPDATE hook_guards SET subject = '', reason = '' WHERE client_session_id IN {sessions_with_secrets}",
    // The engine's state is rebuilt from the transcript.
    "UPDATE hook_courses SET course = '' WHERE course <> ''",
    "UPDATE steps SET files = NULL, folders = NULL, keywords = NULL, effects = {effect_kinds} \
     WHERE command {holds_secret} AND json_valid(coalesce(effects, '[]'))",
    "UPDATE drift_log SET files = NULL, folders = NULL, keywords = NULL, effects = {effect_kinds} \
     WHERE command {holds_secret} AND json_valid(coalesce(effects, '[]'))",
    "UPDATE hook_steps SET files = NULL WHERE command {holds_secret}",
    "DELETE FROM step_files WHERE NOT EXISTS (SELECT 1 FROM steps s, json_each(s.files) f \
     WHERE s.session_id = step_files.session_id AND s.id = step_files.step_id AND f.value = step_files.path)",
    "DELETE FROM task_files WHERE NOT EXISTS (SELECT 1 FROM tasks t, json_each(t.files_touched) f \
     WHERE t.id = task_files.task_id AND f.value = task_files.path)",
];

impl SqliteStore {
    /// Whether rows written before schema 10 may hold secrets.
    ///
    /// # Errors
    /// Database errors.
    pub async fn may_hold_secrets(&self) -> Result<bool, StoreError> {
        Ok(self.left_to_scrub().await?.is_some())
    }

    /// What is still to be scrubbed: `rows` and the file, or only `traces` of deleted content in the file.
    async fn left_to_scrub(&self) -> Result<Option<String>, StoreError> {
        let mut connection = self.connection().await?;
        connection
            .value("SELECT what FROM cleaning LIMIT 1", params![])
            .await
    }

    /// Removes secrets from rows written before schema 10, if that was not done yet, and rewrites the file. Takes seconds for
    /// a large database and blocks other writers for part of that time. After a failure, for example because another process
    /// reads, the next call continues.
    ///
    /// # Errors
    /// Database errors.
    pub async fn scrub_secrets(&self) -> Result<(), StoreError> {
        let Some(left) = self.left_to_scrub().await? else {
            return Ok(());
        };
        if left == "rows" {
            self.scrub_rows().await?;
        }
        self.scrub(
            "secrets were removed from old rows",
            "run grov doctor --fix again",
        )
        .await?;
        self.execute("DELETE FROM cleaning", params![]).await.map(drop)
    }

    async fn scrub_rows(&self) -> Result<(), StoreError> {
        // The spool next to a database that was set aside belongs to its replacement.
        if !is_set_aside(&self.path) {
            let spool = Spool::for_database(&self.path);
            drain_spool(self, &spool).await?;
            spool
                .redact_rejected()
                .map_err(|error| StoreError::Other(error.to_string()))?;
        }
        for (table, columns) in TEXT_COLUMNS {
            for column in *columns {
                self.redact_column(table, column).await?;
            }
        }
        for statement in DELETIONS {
            self.execute(expanded(statement, PARTS), params![]).await?;
        }
        // The terms of the index are words of the old texts.
        let mut transaction = self.begin().await?;
        let clear = "DELETE FROM memory_documents; DELETE FROM memory_postings; DELETE FROM memory_scopes; \
             UPDATE cleaning SET what = 'traces'";
        transaction.execute(clear, params![]).await?;
        memory::fill(&mut transaction).await?;
        transaction.commit().await
    }

    /// Redacts one column of a table.
    async fn redact_column(&self, table: &str, column: &str) -> Result<(), StoreError> {
        let is_json = column.starts_with('{');
        let column = column.trim_start_matches('{');
        let mut changed: BTreeSet<(String, String)> = BTreeSet::new();
        let mut connection = self.connection().await?;
        let all = format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL");
        let mut rows = Values::default()
            .query(AssertSqlSafe(all))?
            .fetch(connection.raw()?);
        while let Some(row) = rows.try_next().await.map_err(|error| self.error(error))? {
            let before: String = row.read(0)?;
            let after = if is_json {
                Redactor::shared().json(&before).into_inner()
            } else {
                Redactor::shared().text(&before).into_inner()
            };
            if after != before {
                changed.insert((before, after));
            }
        }
        drop(rows);
        drop(connection);
        // A hook that read its session before must not write the old text back.
        let and_revision = if table == "hook_sessions" {
            ", revision = revision + 1"
        } else {
            ""
        };
        let update = format!(
            "UPDATE {table} SET {column} = changed.new_text{and_revision} \
             FROM (SELECT value ->> 0 AS old_text, value ->> 1 AS new_text FROM json_each(?)) changed \
             WHERE {column} = changed.old_text"
        );
        let changed: Vec<_> = changed.into_iter().collect();
        for changed in changed.chunks(TEXTS_PER_TRANSACTION) {
            self.execute(AssertSqlSafe(update.clone()), params![changed])
                .await?;
        }
        Ok(())
    }
}
