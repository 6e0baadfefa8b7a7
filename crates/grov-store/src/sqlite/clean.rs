//! Removal of secrets from rows that an older version wrote.
//!
//! That version redacted words only after cutting them out of their text, where a secret could no longer be recognised. So
//! goals, scopes, constraints and keywords are derived again from the texts, which were stored without secrets. All texts are
//! redacted again by today's rules. In the end the database is rewritten, so that no copy is left in a page or in the
//! write-ahead log.
//!
//! Rows are replaced in small transactions.

use super::columns::{Json, RowExt, Values, params};
use super::connection::Connection;
use super::{SqliteStore, StoreError, memory};
use crate::files::is_set_aside;
use crate::spool::{Spool, drain_spool};
use futures_util::TryStreamExt;
use grov_domain::{GoalContract, Intent, IntentFn, IntentQuestion, both_ends};
use grov_redact::Redactor;
use sqlx::AssertSqlSafe;

/// The length of a prompt that is read; of a longer one both ends.
const MAX_PROMPT_BYTES: usize = 16 * 1024;
/// The number of prompts of a task that are read, the newest.
const MAX_PROMPTS: i64 = 64;

/// Client sessions in which a secret was typed or part of a command: only they can hold words of one.
macro_rules! near {
    () => {
        "SELECT client_session_id FROM prompts WHERE text LIKE '%[redacted:%' \
         UNION SELECT t.client_session_id FROM steps s JOIN session_states t ON t.session_id = s.session_id \
         WHERE s.command LIKE '%[redacted:%' \
         UNION SELECT client_session_id FROM drift_log WHERE command LIKE '%[redacted:%' \
         UNION SELECT client_session_id FROM hook_sessions WHERE contract LIKE '%[redacted:%' \
         UNION SELECT client_session_id FROM hook_steps WHERE command LIKE '%[redacted:%' \
         UNION SELECT client_session_id FROM goal_edits WHERE text LIKE '%[redacted:%' \
         UNION SELECT client_session_id FROM tasks WHERE original_query LIKE '%[redacted:%'"
    };
}

/// The same for one task.
macro_rules! near_task {
    () => {
        "(session_id IN (SELECT session_id FROM prompts WHERE text LIKE '%[redacted:%' \
         UNION SELECT session_id FROM steps WHERE command LIKE '%[redacted:%') \
         OR client_session_id IN (SELECT client_session_id FROM hook_sessions WHERE contract LIKE '%[redacted:%' \
         UNION SELECT client_session_id FROM hook_steps WHERE command LIKE '%[redacted:%'))"
    };
}

/// The key of a row.
#[derive(Clone, Copy)]
enum Key {
    Rowid,
    One(&'static str),
    Two(&'static str, &'static str),
}

/// Columns with free text: of a table, its key, and the names; those of JSON begin with `{`.
#[rustfmt::skip]
const TEXTS: &[(&str, Key, &[&str])] = &[
    ("prompts", Key::Rowid, &["text"]),
    ("session_states", Key::One("session_id"),
        &["user_id", "project_remote", "working_directory", "original_goal", "{constraints"]),
    ("steps", Key::Rowid, &["{files", "{folders", "command", "{effects", "reasoning", "correction_given", "{keywords",
        "{findings"]),
    ("tasks", Key::Rowid, &["project_remote", "user", "original_query", "goal", "{reasoning_trace", "{files_touched",
        "{decisions", "{constraints", "{tags", "{file_pins"]),
    ("drift_log", Key::Rowid, &["{files", "reason", "correction_given", "{recovery_plan", "command", "{findings",
        "{folders", "{effects", "reasoning", "{keywords"]),
    ("file_reasoning", Key::Rowid, &["file_path", "anchor", "reasoning"]),
    ("drift_states", Key::One("client_session_id"), &["{state"]),
    ("corrections", Key::Two("client_session_id", "id"), &["reason", "text", "{recovery_plan"]),
    ("goal_edits", Key::Two("client_session_id", "id"), &["text"]),
    ("hook_sessions", Key::Rowid, &["working_directory", "transcript_path", "{contract", "{waiting"]),
    ("hook_steps", Key::Rowid, &["{files", "command", "reasoning", "output", "content", "{findings"]),
    ("hook_checks", Key::Two("client_session_id", "id"), &["reason", "{files", "{recovery_plan", "correction"]),
    ("hook_guards", Key::Two("client_session_id", "tool_use_id"), &["subject", "reason"]),
];

/// Removes lookups of files that tasks do not have any more.
const DELETE_TASK_FILES: &str = "DELETE FROM task_files WHERE NOT EXISTS (SELECT 1 FROM tasks t, json_each(t.files_touched) f \
     WHERE t.id = task_files.task_id AND f.value = task_files.path)";

/// Deletes what is rebuilt later or of little use: the engine's state, which is rebuilt from the transcript; files and words
/// cut out of a command with a secret; corrections and findings of a session with a secret, which quote goals and files. A
/// pending correction is not sent.
#[rustfmt::skip]
const DELETIONS: &[&str] = &[
    concat!("UPDATE corrections SET reason = '', text = '', recovery_plan = NULL WHERE client_session_id IN (", near!(), ")"),
    concat!("UPDATE drift_log SET reason = NULL, findings = NULL, correction_given = NULL, recovery_plan = NULL \
     WHERE client_session_id IN (", near!(), ")"),
    concat!("UPDATE drift_states SET state = json_set(state, '$.correction', NULL) \
     WHERE json_valid(state) AND client_session_id IN (", near!(), ")"),
    concat!("UPDATE steps SET findings = NULL, correction_given = NULL WHERE session_id IN \
     (SELECT session_id FROM session_states WHERE client_session_id IN (", near!(), "))"),
    concat!("UPDATE hook_steps SET findings = NULL WHERE client_session_id IN (", near!(), ")"),
    concat!("UPDATE hook_checks SET reason = NULL, files = NULL, recovery_plan = NULL, correction = NULL \
     WHERE client_session_id IN (", near!(), ")"),
    concat!("UPDATE hook_guards SET subject = '', reason = '' WHERE client_session_id IN (", near!(), ")"),
    "UPDATE hook_courses SET course = '' WHERE course <> ''",
    "DELETE FROM step_files WHERE (session_id, step_id) IN \
     (SELECT session_id, id FROM steps WHERE command LIKE '%[redacted:%')",
    "UPDATE steps SET files = NULL, folders = NULL, keywords = NULL, effects = (SELECT json_group_array( \
      json_object('kind', json_extract(value, '$.kind'))) FROM json_each(effects)) \
     WHERE command LIKE '%[redacted:%' AND json_valid(coalesce(effects, '[]'))",
    "UPDATE drift_log SET files = NULL, folders = NULL, keywords = NULL, effects = (SELECT json_group_array( \
      json_object('kind', json_extract(value, '$.kind'))) FROM json_each(effects)) \
     WHERE command LIKE '%[redacted:%' AND json_valid(coalesce(effects, '[]'))",
    "UPDATE hook_steps SET files = NULL WHERE command LIKE '%[redacted:%'",
    "DELETE FROM step_files WHERE NOT EXISTS (SELECT 1 FROM steps s, json_each(s.files) f \
     WHERE s.session_id = step_files.session_id AND s.id = step_files.step_id AND f.value = step_files.path)",
    DELETE_TASK_FILES,
];

impl SqliteStore {
    /// Whether rows of an older version may hold secrets.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn needs_cleaning(&self) -> Result<bool, StoreError> {
        Ok(self.left_to_clean().await?.is_some())
    }

    async fn left_to_clean(&self) -> Result<Option<String>, StoreError> {
        let mut connection = self.connection().await?;
        connection
            .value("SELECT what FROM cleaning LIMIT 1", params![])
            .await
    }

    /// Removes secrets that an older version stored, if that is still to be done: from [rows](Self::clean_rows), then from
    /// the files. Takes seconds for a large database, during a part of which other processes cannot write. Where it fails,
    /// for example because another process reads, the next call continues.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn clean(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        self.clean_rows(read).await?;
        if self.left_to_clean().await?.is_none() {
            return Ok(());
        }
        self.scrub("secrets are taken out of old rows", "clean it again")
            .await?;
        self.execute("DELETE FROM cleaning", params![]).await.map(drop)
    }

    /// The first part: afterwards no row holds text that was cut out before it was redacted.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn clean_rows(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        if self.left_to_clean().await?.as_deref() != Some("rows") {
            return Ok(());
        }
        // The spool beside a database that was set aside belongs to its replacement.
        if !is_set_aside(&self.path) {
            self.clean_spool().await?;
        }
        for (table, key, columns) in TEXTS {
            for column in *columns {
                self.redact_column(table, *key, column).await?;
            }
        }
        for statement in DELETIONS {
            self.execute(*statement, params![]).await?;
        }
        self.derive_tasks_in_work(read).await?;
        self.derive_contracts(read).await?;
        self.derive_memories().await?;
        self.rebuild_index().await?;
        let cleaned = "UPDATE cleaning SET what = 'traces'";
        self.execute(cleaned, params![]).await.map(drop)
    }

    async fn clean_spool(&self) -> Result<(), StoreError> {
        let spool = Spool::beside(&self.path);
        drain_spool(self, &spool).await?;
        let redacted = spool.redact_rejected();
        redacted.map_err(|error| StoreError::Other(error.to_string()))
    }

    /// Redacts one column of a table.
    async fn redact_column(&self, table: &str, key: Key, column: &str) -> Result<(), StoreError> {
        let is_json = column.starts_with('{');
        let column = column.trim_start_matches('{');
        let (first, second) = match key {
            Key::Rowid => ("CAST(rowid AS TEXT)", "''"),
            Key::One(one) => (one, "''"),
            Key::Two(one, two) => (one, two),
        };
        let mut changed: Vec<(String, String, String, String)> = Vec::new();
        let mut connection = self.connection().await?;
        let all = format!("SELECT {first}, {second}, {column} FROM {table} WHERE {column} IS NOT NULL");
        let mut rows = Values::default()
            .query(AssertSqlSafe(all))?
            .fetch(connection.raw()?);
        while let Some(row) = rows.try_next().await.map_err(|error| self.error(error))? {
            let before: String = row.read(2)?;
            let after = if is_json {
                Redactor::shared().json(&before).into_inner()
            } else {
                Redactor::shared().text(&before).into_inner()
            };
            if after != before {
                changed.push((row.read(0)?, row.read(1)?, before, after));
            }
        }
        drop(rows);
        drop(connection);
        // A hook that holds the old text of its session may not write it again.
        let and = if table == "hook_sessions" {
            ", revision = revision + 1"
        } else {
            ""
        };
        let found = match key {
            Key::Rowid => "rowid = CAST(?1 AS INTEGER) AND ?2 = ''".to_owned(),
            Key::One(one) => format!("{one} = ?1 AND ?2 = ''"),
            Key::Two(one, two) => format!("{one} = ?1 AND {two} = ?2"),
        };
        let update = format!("UPDATE {table} SET {column} = ?4{and} WHERE {found} AND {column} = ?3");
        for (first, second, before, after) in changed {
            let values = params![first, second, before, after];
            self.execute(AssertSqlSafe(update.clone()), values).await?;
        }
        Ok(())
    }

    /// Derives scope and keywords of all tasks in work, since the prompts that show where a secret was may be gone; goal and
    /// constraints only near a secret.
    async fn derive_tasks_in_work(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        const ALL: &str = concat!("SELECT session_id, ", near_task!(), " FROM session_states");
        let all = self.read(ALL, params![], |row| Ok((row.read(0)?, row.read(1)?)));
        for (session, is_near) in all.await? {
            let (session, is_near): (String, bool) = (session, is_near);
            let mut transaction = self.begin().await?;
            let sql = "SELECT original_goal, constraints FROM session_states WHERE session_id = ?";
            let Some(row) = transaction.row(sql, params![session]).await? else {
                continue;
            };
            let prompts = prompts_of(&mut transaction, &session).await?;
            let intent = intent_of(read, prompts.clone());
            // Without sources goal and constraints stay as they are.
            let sources = Sources::new(if is_near { &prompts } else { &[] });
            let goal = sources.goal(row.text("original_goal")?.unwrap_or_default(), &intent.goal);
            let constraints = sources.masked_each(&row.read::<Vec<String>>("constraints")?);
            let sql = "UPDATE session_states SET original_goal = nullif(?2, ''), constraints = ?3, \
                 expected_scope = ?4, keywords = ?5 WHERE session_id = ?1";
            let values = params![session, goal, constraints, intent.scope, intent.keywords];
            transaction.execute(sql, values).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Derives the contracts of hook sessions.
    async fn derive_contracts(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        const NEAR: &str = concat!(
            "SELECT client_session_id FROM hook_sessions WHERE contract <> '' AND client_session_id IN (",
            near!(),
            ")"
        );
        let near: Vec<String> = self.read(NEAR, params![], |row| row.read(0)).await?;
        for session in near {
            let mut transaction = self.begin().await?;
            let Some(contract) = contract_of(&mut transaction, &session).await? else {
                continue;
            };
            // Globs that were allowed or forbidden by a command were typed as well.
            let edits = "SELECT text FROM goal_edits WHERE client_session_id = ?";
            let mut typed: Vec<String> = transaction
                .read(edits, params![session], |row| row.read(0))
                .await?;
            typed.extend_from_slice(&contract.instructions);
            let sources = Sources::new(&typed);
            let intent = intent_of(read, contract.instructions.clone());
            let globs = |globs: Vec<String>| globs.into_iter().filter(|glob| sources.covers(glob)).collect();
            let contract = GoalContract {
                goal: sources.goal(&contract.goal, &intent.goal),
                scope: intent.scope,
                allowed: globs(contract.allowed),
                forbidden: globs(contract.forbidden),
                constraints: sources.masked_each(&contract.constraints),
                keywords: intent.keywords,
                instructions: contract.instructions,
            };
            let sql = "UPDATE hook_sessions SET contract = ?2, revision = revision + 1 \
                 WHERE client_session_id = ?1 AND contract <> ?2";
            transaction
                .execute(sql, params![session, Json(&contract)])
                .await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// Derives goals, constraints, tags and files of memories that were made near a secret. An imported memory has no
    /// session here: its texts went through the redactor, and nothing shows where its words come from.
    async fn derive_memories(&self) -> Result<(), StoreError> {
        const NEAR: &str = concat!(
            "SELECT id FROM tasks WHERE coalesce(session_id, client_session_id) IS NOT NULL \
             AND (original_query LIKE '%[redacted:%' OR ",
            near_task!(),
            ")"
        );
        let near: Vec<String> = self.read(NEAR, params![], |row| row.read(0)).await?;
        for id in near {
            let mut transaction = self.begin().await?;
            let Some(mut task) = memory::load_tasks(&mut transaction, &[&id]).await?.pop() else {
                continue;
            };
            let mut texts = match &task.session_id {
                Some(session) => prompts_of(&mut transaction, session.as_str()).await?,
                None => Vec::new(),
            };
            if let Some(session) = &task.client_session_id
                && let Some(contract) = contract_of(&mut transaction, session.as_str()).await?
            {
                texts.extend(contract.instructions);
            }
            texts.push(task.original_query.clone());
            let sources = Sources::new(&texts);
            task.goal = task.goal.map(|goal| sources.masked(&goal));
            task.constraints = sources.masked_each(&task.constraints);
            texts.extend(task.goal.clone());
            texts.extend_from_slice(&task.reasoning_trace);
            texts.extend(
                task.decisions
                    .iter()
                    .flat_map(|decision| [&decision.choice, &decision.reason])
                    .cloned(),
            );
            texts.extend_from_slice(&task.files_touched);
            let words = Sources::new(&texts);
            task.tags.retain(|tag| words.has(tag));
            // Passwords with a user's name, assignments and options were taken for files of a command.
            task.files_touched
                .retain(|file| !file.starts_with('-') && !file.contains([':', '=']));
            let sql =
                "UPDATE tasks SET goal = ?2, constraints = ?3, tags = ?4, files_touched = ?5 WHERE id = ?1";
            let values = params![id, task.goal, task.constraints, task.tags, task.files_touched];
            transaction.execute(sql, values).await?;
            transaction.commit().await?;
        }
        self.execute(DELETE_TASK_FILES, params![]).await.map(drop)
    }

    /// Fills the index of team memory again: its terms are words of the cleaned texts.
    async fn rebuild_index(&self) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let clear = "DELETE FROM memory_documents; DELETE FROM memory_postings; DELETE FROM memory_scopes";
        transaction.execute(clear, params![]).await?;
        memory::fill(&mut transaction).await?;
        transaction.commit().await
    }
}

/// What the user typed in a task, oldest first.
async fn prompts_of(connection: &mut Connection<'_>, session: &str) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT text FROM (SELECT text, rowid AS number FROM prompts WHERE session_id = ?1 \
         ORDER BY rowid DESC LIMIT ?2) ORDER BY number";
    let prompts = connection.read(sql, params![session, MAX_PROMPTS], |row| {
        let text = row.text("text")?.unwrap_or_default();
        Ok(both_ends(text, MAX_PROMPT_BYTES, "\n").into_owned())
    });
    prompts.await
}

/// The contract of a hook session; `None` without a readable one.
async fn contract_of(
    connection: &mut Connection<'_>,
    session: &str,
) -> Result<Option<GoalContract>, StoreError> {
    let sql = "SELECT contract FROM hook_sessions WHERE client_session_id = ?";
    let contract: Option<String> = connection.value(sql, params![session]).await?;
    Ok(contract.and_then(|contract| serde_json::from_str(&contract).ok()))
}

fn intent_of(read: IntentFn<'_>, prompts: Vec<String>) -> Intent {
    if prompts.is_empty() {
        return Intent::default();
    }
    read(&IntentQuestion {
        prompts,
        first_files: Vec::new(),
    })
}

/// Redacted texts that other texts were made of.
struct Sources(String);

impl Sources {
    fn new(texts: &[String]) -> Self {
        Self(texts.join("\n").to_lowercase())
    }

    /// Whether they contain a word.
    fn has(&self, word: &str) -> bool {
        self.0.contains(&word.to_lowercase())
    }

    /// Whether a word may be a secret and is in none of them. A word of letters alone may come from elsewhere, such as a
    /// model.
    fn is_foreign(&self, word: &str) -> bool {
        let is_letters = |word: &str| {
            word.chars()
                .all(|c| c.is_alphabetic() || matches!(c, '-' | '/' | '.' | '_'))
        };
        word.len() >= 5 && !is_letters(word) && !word.contains("[redacted") && !self.has(word)
    }

    fn covers(&self, text: &str) -> bool {
        !words_of(text).any(|word| self.is_foreign(word))
    }

    /// The text with each word masked that may be a secret; unchanged without sources.
    fn masked(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for word in words_of(text).filter(|word| !self.0.is_empty() && self.is_foreign(word)) {
            masked = masked.replace(word, "[redacted]");
        }
        masked
    }

    /// The goal if all its words are in the sources or there are no sources; else the derived one.
    fn goal(&self, goal: &str, derived: &str) -> String {
        if self.0.is_empty() || self.covers(goal) {
            goal.to_owned()
        } else {
            derived.to_owned()
        }
    }

    fn masked_each(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.masked(text)).collect()
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '(' | ')'))
        .map(|word| word.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?')))
}
