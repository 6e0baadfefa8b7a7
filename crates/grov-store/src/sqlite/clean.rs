//! Cleaning what an older version wrote.
//!
//! It cut words out of texts and masked the secrets of each word afterwards, when nothing showed any more that it was one. So
//! goals, scopes, constraints and keywords are made anew from the texts, which were stored without secrets. All texts go
//! through the redactor once more, which knows more kinds of secrets than it did then. In the end the database is written
//! anew, so that no copy is left in a page or in the write-ahead log.
//!
//! Rows are replaced in small transactions, and only where they are as they were read.

use super::{SqliteStore, StoreError, Writer, memory};
use crate::files::is_set_aside;
use crate::spool::{Spool, drain_spool};
use futures_util::TryStreamExt;
use grov_domain::{GoalContract, Intent, IntentFn, IntentQuestion, both_ends};
use grov_redact::Redactor;
use sqlx::{AssertSqlSafe, Row};

/// Of a long prompt so much of each end is read, in bytes.
const MOST_OF_A_PROMPT: usize = 16 * 1024;
/// So many prompts of a task are read, the newest.
const MOST_PROMPTS: i64 = 64;

/// So often a row is read again that others write meanwhile.
const TRIES: u32 = 5;

/// Sessions of clients in which a secret was typed or stood in a command: only there can a word of it be.
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

/// How a row is found again.
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

/// What is let go of, as it is made anew or of little use: the rules' memory, which is followed anew from the transcript;
/// files and words that were cut out of a command in which a secret stood; what was said about actions of a session with
/// a secret, as it quotes goals and files. A correction that waits is not said.
#[rustfmt::skip]
const LET_GO: &[&str] = &[
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
    "DELETE FROM task_files WHERE NOT EXISTS (SELECT 1 FROM tasks t, json_each(t.files_touched) f \
     WHERE t.id = task_files.task_id AND f.value = task_files.path)",
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
        let query = sqlx::query("SELECT what FROM cleaning LIMIT 1");
        let rows = self.reader().await?.rows(self, query).await?;
        let what = rows.first().map(|row| row.try_get(0));
        what.transpose().map_err(|error| self.error(error))
    }

    /// Cleans what an older version wrote, if that is still to be done: [rows](Self::clean_rows), then what is left of them
    /// in the files. Takes seconds for a large database, and others cannot write for a part of it. What fails, such as
    /// while another process reads, is done the next time.
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
        self.execute("DELETE FROM cleaning").await
    }

    /// The first part: afterwards nothing that is read holds what was cut out of a text before it was redacted.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn clean_rows(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        if self.left_to_clean().await?.as_deref() != Some("rows") {
            return Ok(());
        }
        // The spool beside a database that was set aside belongs to the one that took its place.
        if !is_set_aside(&self.path) {
            self.clean_spool().await?;
        }
        for (table, key, columns) in TEXTS {
            for column in *columns {
                self.redact_column(table, *key, column).await?;
            }
        }
        for statement in LET_GO {
            self.execute(statement).await?;
        }
        self.derive_tasks_in_work(read).await?;
        self.derive_contracts(read).await?;
        self.derive_memories().await?;
        self.index_anew().await?;
        self.execute("UPDATE cleaning SET what = 'traces'").await
    }

    async fn clean_spool(&self) -> Result<(), StoreError> {
        let spool = Spool::beside(&self.path);
        drain_spool(self, &spool).await?;
        let redacted = spool.redact_rejected();
        redacted.map_err(|error| StoreError::Other(error.to_string()))
    }

    async fn execute(&self, statement: &'static str) -> Result<(), StoreError> {
        let mut writer = self.writer().await?;
        let done = sqlx::query(statement).execute(writer.connection()?).await;
        done.map_err(|error| self.error(error))?;
        writer.commit().await.map_err(|error| self.error(error))
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
        let mut changed = Vec::new();
        let mut reader = self.reader().await?;
        let all = format!("SELECT {first}, {second}, {column} FROM {table} WHERE {column} IS NOT NULL");
        let mut rows = sqlx::query(AssertSqlSafe(all)).fetch(reader.connection()?);
        while let Some(row) = rows.try_next().await.map_err(|error| self.error(error))? {
            let text = |at: usize| row.try_get::<String, _>(at).map_err(|error| self.error(error));
            let before = text(2)?;
            let after = if is_json {
                Redactor::shared().json(&before).into_inner()
            } else {
                Redactor::shared().text(&before).into_inner()
            };
            if after != before {
                changed.push((text(0)?, text(1)?, before, after));
            }
        }
        drop(rows);
        drop(reader);
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
            let query = sqlx::query(AssertSqlSafe(update.clone()));
            self.run(query.bind(first).bind(second).bind(before).bind(after))
                .await?;
        }
        Ok(())
    }

    /// Runs one statement in a transaction. Whether it changed anything.
    async fn run(
        &self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<bool, StoreError> {
        let mut writer = self.writer().await?;
        let done = query.execute(writer.connection()?).await;
        let done = done.map_err(|error| self.error(error))?;
        writer.commit().await.map_err(|error| self.error(error))?;
        Ok(done.rows_affected() > 0)
    }

    /// Rows of a statement, their columns as texts; what is NULL is empty.
    async fn texts<const N: usize>(
        &self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<Vec<[String; N]>, StoreError> {
        let rows = self.reader().await?.rows(self, query).await?;
        let of = |row: &sqlx::sqlite::SqliteRow| -> Result<[String; N], sqlx::Error> {
            let mut texts = [const { String::new() }; N];
            for (at, text) in texts.iter_mut().enumerate() {
                *text = row.try_get::<Option<String>, _>(at)?.unwrap_or_default();
            }
            Ok(texts)
        };
        let texts: Result<_, _> = rows.iter().map(of).collect();
        texts.map_err(|error| self.error(error))
    }

    /// What the user typed in a task, oldest first.
    async fn prompts_of(&self, session: &str) -> Result<Vec<String>, StoreError> {
        let query = sqlx::query(
            "SELECT text FROM (SELECT text, rowid AS number FROM prompts WHERE session_id = ?1 ORDER BY rowid DESC \
             LIMIT ?2) ORDER BY number",
        );
        let prompts: Vec<[String; 1]> = self.texts(query.bind(session).bind(MOST_PROMPTS)).await?;
        let bounded = |[text]: [String; 1]| both_ends(&text, MOST_OF_A_PROMPT, "\n").into_owned();
        Ok(prompts.into_iter().map(bounded).collect())
    }

    /// Scope and keywords of tasks in work, of all of them: nobody wrote these, and the prompts that tell of a secret may be gone.
    /// Goal and constraints only near a secret.
    async fn derive_tasks_in_work(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        let all = sqlx::query(concat!(
            "SELECT session_id, CAST(",
            near_task!(),
            " AS TEXT) FROM session_states"
        ));
        for [session, is_near] in self.texts::<2>(all).await? {
            let mut tries = 0;
            while !self.derive_task_in_work(read, &session, is_near == "1").await? {
                tries += 1;
                if tries == TRIES {
                    return Err(self.never_the_same());
                }
            }
        }
        Ok(())
    }

    async fn derive_task_in_work(
        &self,
        read: IntentFn<'_>,
        session: &str,
        is_near: bool,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "SELECT original_goal, constraints, expected_scope, keywords FROM session_states WHERE session_id = ?1",
        );
        let rows: Vec<[String; 4]> = self.texts(query.bind(session)).await?;
        let Some([goal, constraints, scope, keywords]) = rows.into_iter().next() else {
            return Ok(true);
        };
        let prompts = self.prompts_of(session).await?;
        let intent = intent_of(read, prompts.clone());
        // Without sources goal and constraints stay as they are.
        let sources = Sources::new(if is_near { &prompts } else { &[] });
        let query = sqlx::query(
            "UPDATE session_states SET original_goal = nullif(?2, ''), constraints = ?3, expected_scope = ?4, \
             keywords = ?5 WHERE session_id = ?1 AND (coalesce(original_goal, ''), coalesce(constraints, ''), \
             coalesce(expected_scope, ''), coalesce(keywords, '')) IS (?6, ?7, ?8, ?9)",
        );
        let query = query
            .bind(session)
            .bind(sources.goal(&goal, &intent.goal))
            .bind(stored(&sources.known(&list_of(&constraints))))
            .bind(stored(&intent.scope))
            .bind(stored(&intent.keywords));
        self.run(query.bind(goal).bind(constraints).bind(scope).bind(keywords))
            .await
    }

    /// A row was written by others each time it was read.
    fn never_the_same(&self) -> StoreError {
        let place = self.path.display();
        StoreError::Busy(format!(
            "{place}: a row is written again and again, the cleaning can be repeated"
        ))
    }

    /// The contracts of sessions that hooks follow.
    async fn derive_contracts(&self, read: IntentFn<'_>) -> Result<(), StoreError> {
        let near = sqlx::query(concat!(
            "SELECT client_session_id FROM hook_sessions WHERE contract <> '' AND client_session_id IN (",
            near!(),
            ")"
        ));
        for [session] in self.texts::<1>(near).await? {
            let mut tries = 0;
            while !self.derive_contract(read, &session).await? {
                tries += 1;
                if tries == TRIES {
                    return Err(self.never_the_same());
                }
            }
        }
        Ok(())
    }

    async fn derive_contract(&self, read: IntentFn<'_>, session: &str) -> Result<bool, StoreError> {
        let query = sqlx::query("SELECT contract FROM hook_sessions WHERE client_session_id = ?1");
        let rows: Vec<[String; 1]> = self.texts(query.bind(session)).await?;
        let Some([before]) = rows.into_iter().next() else {
            return Ok(true);
        };
        let Ok(contract) = serde_json::from_str::<GoalContract>(&before) else {
            return Ok(true);
        };
        // What was allowed or forbidden by a command was typed as well.
        let edits = sqlx::query("SELECT text FROM goal_edits WHERE client_session_id = ?1");
        let edits: Vec<[String; 1]> = self.texts(edits.bind(session)).await?;
        let mut typed = contract.instructions.clone();
        typed.extend(edits.into_iter().map(|[text]| text));
        let sources = Sources::new(&typed);
        let intent = intent_of(read, contract.instructions.clone());
        let globs = |globs: &[String]| {
            globs
                .iter()
                .filter(|glob| sources.covers(glob))
                .cloned()
                .collect()
        };
        let contract = GoalContract {
            goal: sources.goal(&contract.goal, &intent.goal),
            scope: intent.scope,
            allowed: globs(&contract.allowed),
            forbidden: globs(&contract.forbidden),
            constraints: sources.known(&contract.constraints),
            keywords: intent.keywords,
            ..contract
        };
        let Ok(after) = serde_json::to_string(&contract) else {
            return Ok(true);
        };
        if after == before {
            return Ok(true);
        }
        let query = sqlx::query(
            "UPDATE hook_sessions SET contract = ?2, revision = revision + 1 \
             WHERE client_session_id = ?1 AND contract = ?3",
        );
        self.run(query.bind(session).bind(after).bind(before)).await
    }

    /// Goals, constraints, tags and files of memories near which a secret stood. An imported one has no session here: its
    /// texts went through the redactor, and nothing tells where its words come from.
    async fn derive_memories(&self) -> Result<(), StoreError> {
        let near = sqlx::query(concat!(
            "SELECT id FROM tasks WHERE coalesce(session_id, client_session_id) IS NOT NULL \
             AND (original_query LIKE '%[redacted:%' OR ",
            near_task!(),
            ")"
        ));
        for [id] in self.texts::<1>(near).await? {
            let mut tries = 0;
            while !self.derive_memory(&id).await? {
                tries += 1;
                if tries == TRIES {
                    return Err(self.never_the_same());
                }
            }
        }
        self.execute(LET_GO[LET_GO.len() - 1]).await
    }

    async fn derive_memory(&self, id: &str) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "SELECT coalesce(session_id, ''), coalesce(client_session_id, ''), original_query, goal, constraints, tags, \
             files_touched, coalesce(reasoning_trace, '') || coalesce(decisions, '') FROM tasks WHERE id = ?1",
        );
        let rows: Vec<[String; 8]> = self.texts(query.bind(id)).await?;
        let Some([session, client, asked, goal, constraints, tags, files, found]) = rows.into_iter().next()
        else {
            return Ok(true);
        };
        let mut texts = self.prompts_of(&session).await?;
        let hooked = sqlx::query("SELECT contract FROM hook_sessions WHERE client_session_id = ?1");
        let hooked: Vec<[String; 1]> = self.texts(hooked.bind(client)).await?;
        for [contract] in hooked {
            let contract = serde_json::from_str::<GoalContract>(&contract);
            texts.extend(contract.map(|contract| contract.instructions).unwrap_or_default());
        }
        texts.push(asked);
        let sources = Sources::new(&texts);
        let goal_now = sources.masked(&goal);
        let words = Sources::new(&[texts.join("\n"), goal_now.clone(), found, files.clone()]);
        let tags_now: Vec<String> = list_of(&tags).into_iter().filter(|tag| words.has(tag)).collect();
        // Passwords with a user's name, assignments and options were taken for files of a command.
        let is_file = |file: &String| !file.starts_with('-') && !file.contains([':', '=']);
        let files_now: Vec<String> = list_of(&files).into_iter().filter(is_file).collect();
        let query = sqlx::query(
            "UPDATE tasks SET goal = nullif(?2, ''), constraints = ?3, tags = ?4, files_touched = ?5 WHERE id = ?1 \
             AND (coalesce(goal, ''), coalesce(constraints, ''), coalesce(tags, ''), coalesce(files_touched, '')) \
             IS (?6, ?7, ?8, ?9)",
        );
        let query = query
            .bind(id)
            .bind(goal_now)
            .bind(stored(&sources.known(&list_of(&constraints))));
        let query = query.bind(stored(&tags_now)).bind(stored(&files_now));
        self.run(query.bind(goal).bind(constraints).bind(tags).bind(files))
            .await
    }

    /// Fills the index of team memory anew: its terms are words of what was cleaned.
    async fn index_anew(&self) -> Result<(), StoreError> {
        let mut writer: Writer<'_> = self.writer().await?;
        let connection = writer.connection()?;
        for statement in [
            "DELETE FROM memory_documents",
            "DELETE FROM memory_postings",
            "DELETE FROM memory_scopes",
        ] {
            let done = sqlx::query(statement).execute(&mut *connection).await;
            done.map_err(|error| self.error(error))?;
        }
        memory::fill(connection)
            .await
            .map_err(|error| self.error(error))?;
        writer.commit().await.map_err(|error| self.error(error))
    }
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

fn list_of(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}

fn stored(list: &[String]) -> Option<String> {
    (!list.is_empty())
        .then(|| serde_json::to_string(list).ok())
        .flatten()
}

/// Redacted texts that other texts were made of.
struct Sources(String);

impl Sources {
    fn new(texts: &[String]) -> Self {
        Self(texts.join("\n").to_lowercase())
    }

    /// Whether a word stands in them.
    fn has(&self, word: &str) -> bool {
        self.0.contains(&word.to_lowercase())
    }

    /// Whether a word may be a secret and stands in none of them. A word of letters alone may be somebody else's, such as a
    /// model's.
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

    /// The text with a mask for each of its words that may be a secret. Without any source nobody knows.
    fn masked(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for word in words_of(text).filter(|word| !self.0.is_empty() && self.is_foreign(word)) {
            masked = masked.replace(word, "[redacted]");
        }
        masked
    }

    /// A goal as it may stay; else one that was made anew. Without any source nobody knows.
    fn goal(&self, goal: &str, derived: &str) -> String {
        if self.0.is_empty() || self.covers(goal) {
            goal.to_owned()
        } else {
            derived.to_owned()
        }
    }

    fn known(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.masked(text)).collect()
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '(' | ')'))
        .map(|word| word.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?')))
}
