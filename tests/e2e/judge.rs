//! A model as the judge: the questions it gets, the use of its answers, and what happens when it gives none.

mod answers;
mod budget;
mod crashes;
mod delays;
mod loops;
mod new_user;
mod own_client;
mod prompts;
mod real_client;

use crate::upstream::Upstream;
use anyhow::{Context, Result, ensure};
use grov_domain::Purpose;
use grov_sim::json::Json;
use grov_sim::{Behaviour, JudgeCall, JudgeScript, Player, PlayerConfig, Rule, When};
use grov_tests::{Daemon, DaemonBuilder, Grov, eventually};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Grov's own credential.
pub const OWN_KEY: &str = "grov-own-key-0000";

/// A judge's answer in the form that the script takes.
pub fn answer(value: &Value) -> Result<Json> {
    Ok(Json::parse(value.to_string().as_bytes())?)
}

/// A verdict on a turn.
pub fn verdict(action: &str) -> Result<Json> {
    answer(&json!({
        "action": action, "task_id": null, "goal": format!("Goal of {action}"), "finished": false, "constraints": [],
        "reasoning": "The story says so.",
    }))
}

/// The verdict on a first turn that completed the whole task.
pub fn finished_at_once() -> Result<Json> {
    answer(&json!({
        "action": "new_task", "task_id": null, "goal": "Goal of one turn", "finished": true, "constraints": [],
        "reasoning": "It was done at once.",
    }))
}

/// The answer for the user's intent.
pub fn intent(goal: &str) -> Result<Json> {
    answer(
        &json!({"goal": goal, "scope": ["src"], "constraints": ["Do not touch the header"], "keywords": ["work"]}),
    )
}

/// The answer with the reasoning to remember.
pub fn reasoning(trace: &str) -> Result<Json> {
    answer(&json!({
        "reasoning_trace": [trace], "decisions": [{"choice": "Variables", "reason": "They change at run time"}],
        "constraints": [], "tags": ["Work"],
    }))
}

/// Limits the judge to tasks: its calls are counted, and the scenarios do things that their prompts never ask for.
pub fn settings(judge: &Upstream) -> Vec<(&'static str, String)> {
    let mut settings = all_settings(judge);
    settings.push(("GROV_DRIFT_ENABLED", "false".to_owned()));
    settings
}

/// The settings under which `judge` is the provider.
pub fn all_settings(judge: &Upstream) -> Vec<(&'static str, String)> {
    vec![
        ("GROV_LLM_API_KEY", OWN_KEY.to_owned()),
        ("GROV_LLM_BASE_URL", judge.url()),
    ]
}

/// The client's API, the judge's provider, and a home between them.
pub struct TestHome {
    pub api: Upstream,
    pub judge: Upstream,
    folder: TempDir,
}

impl TestHome {
    /// With the built-in scenarios, and a judge that generates its answers.
    pub fn new() -> Result<Self> {
        Self::playing(Upstream::start()?)
    }

    pub fn playing(api: Upstream) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("project"))?;
        Ok(Self {
            api,
            judge: Upstream::start()?,
            folder,
        })
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("grov")
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// A daemon that judges by rules.
    pub fn with_rules(&self) -> DaemonBuilder {
        Daemon::on(&self.path(), &self.api.url()).env("GROV_DRIFT_ENABLED", "false")
    }

    /// A daemon that judges by the model.
    pub fn with_model(&self) -> DaemonBuilder {
        settings(&self.judge)
            .into_iter()
            .fold(self.with_rules(), |builder, (name, value)| {
                builder.env(name, value)
            })
    }

    /// The command line with the daemon's settings.
    pub fn grov(&self) -> Grov {
        let grov = Grov::on(&self.path()).within(&self.project());
        settings(&self.judge)
            .into_iter()
            .fold(grov, |grov, (name, value)| grov.env(name, &value))
    }

    /// Sets the judge's answers.
    pub fn script(&self, script: JudgeScript) {
        self.judge.sim().set_judge(script);
    }

    /// Sets how the judge's answers are delivered.
    pub fn inject(&self, when: When, behaviour: &str) -> Result<()> {
        self.judge
            .sim()
            .inject(Rule::new(when, behaviour.parse::<Behaviour>()?));
        Ok(())
    }

    /// The questions to the judge so far.
    pub fn asked(&self) -> Vec<JudgeCall> {
        self.judge
            .sim()
            .judge_calls()
            .into_iter()
            .map(|(_, call)| call)
            .collect()
    }

    /// How often the judge was asked a question of this purpose.
    pub fn asked_for(&self, purpose: Purpose) -> usize {
        self.asked()
            .iter()
            .filter(|call| call.purpose == Some(purpose))
            .count()
    }

    /// A simulated client in the project.
    pub fn person(&self, daemon: &Daemon) -> Result<Person<'_>> {
        self.person_with(daemon, |config| config)
    }

    pub fn person_with(
        &self,
        daemon: &Daemon,
        change: impl FnOnce(PlayerConfig) -> PlayerConfig,
    ) -> Result<Person<'_>> {
        let config = change(PlayerConfig::in_directory(self.project()));
        Ok(Person {
            session: config.session_id.clone(),
            player: Player::new(&daemon.url(), config)?,
            home: self,
        })
    }

    /// The tasks of a session, oldest first, once `wanted` holds for them.
    pub fn wait_for_tasks(
        &self,
        session: &str,
        what: &str,
        wanted: impl Fn(&[Value]) -> bool,
    ) -> Result<Vec<Value>> {
        let tasks = || -> Option<Vec<Value>> {
            let mut tasks = self.grov().sessions().ok()?;
            tasks.retain(|task| task["client_session_id"] == session);
            tasks.sort_by_key(|task| (task["session_id"] != session, task["session_id"].to_string()));
            Some(tasks)
        };
        eventually(what, || tasks().filter(|tasks| wanted(tasks)))
            .with_context(|| format!("the tasks are {:#?}", tasks()))
    }

    /// Purpose and outcome of every call in the ledger, oldest first, once no call is in flight.
    pub fn ledger(&self) -> Result<Vec<(String, String)>> {
        let calls = || -> Option<Vec<(String, String)>> {
            let answer = self.grov().run_json(&["usage"]).ok()?.json;
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let calls = answer["calls"].as_array()?;
            Some(
                calls
                    .iter()
                    .map(|call| (text(&call["purpose"]), text(&call["outcome"])))
                    .collect(),
            )
        };
        eventually("every call to be settled", || {
            calls().filter(|calls| calls.iter().all(|(_, outcome)| outcome != "reserved"))
        })
        .with_context(|| format!("the ledger is {:?}", calls()))
    }

    /// Waits until `count` tasks of a session have a verdict.
    pub fn judged(&self, session: &str, tasks: usize) -> Result<()> {
        let sql = format!(
            "SELECT session_id FROM session_states WHERE client_session_id = '{session}' AND judged_at IS NOT NULL"
        );
        eventually("a verdict", || {
            query(&self.path(), &sql)
                .ok()
                .filter(|judged| judged.len() >= tasks)
        })?;
        Ok(())
    }

    /// The finished tasks of a session, as stored.
    pub fn saved(&self, session: &str) -> Result<Vec<Value>> {
        let columns = [
            "session_id",
            "status",
            "trigger_reason",
            "goal",
            "original_query",
            "files_touched",
        ];
        let members: Vec<String> = columns.iter().map(|name| format!("'{name}', {name}")).collect();
        let sql = format!(
            "SELECT json_object({}) FROM tasks WHERE client_session_id = '{session}' ORDER BY created_at",
            members.join(", ")
        );
        let rows = query(&self.path(), &sql)?;
        rows.iter().map(|row| Ok(serde_json::from_str(row)?)).collect()
    }

    /// The number of stored steps of a session, over all its tasks, and the number of distinct calls they belong to.
    pub fn steps_and_calls(&self, session: &str) -> Result<(String, String)> {
        let sql = format!(
            "SELECT count(*) || ' ' || count(DISTINCT tool_use_id) FROM steps WHERE session_id IN \
             (SELECT session_id FROM session_states WHERE client_session_id = '{session}')"
        );
        let row = query(&self.path(), &sql)?.remove(0);
        let (steps, calls) = row.split_once(' ').context("the row does not have two counts")?;
        Ok((steps.to_owned(), calls.to_owned()))
    }
}

/// The values of a query's only column.
pub fn query(home: &Path, sql: &str) -> Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let options = SqliteConnectOptions::new()
            .filename(home.join("grov.db"))
            .read_only(true);
        let mut connection = options.connect().await?;
        let rows = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .fetch_all(&mut connection)
            .await;
        connection.close().await?;
        Ok(rows?)
    })
}

/// A simulated client that types prompts.
pub struct Person<'a> {
    pub session: String,
    player: Player,
    home: &'a TestHome,
}

impl Person<'_> {
    /// Types a prompt and waits for the end of the turn. Returns the final answer.
    pub fn types(&mut self, prompt: &str) -> Result<String> {
        let transcript = self.home.api.block_on(self.player.run([prompt]));
        let turn = transcript.turns.last().context("nothing was played")?;
        ensure!(turn.error.is_none(), "the turn ended with {turn:?}");
        Ok(turn.answer.clone())
    }

    /// The client's transcript so far.
    pub fn transcript(&self) -> &grov_sim::Transcript {
        self.player.transcript()
    }
}

/// Whether a task has this status and this number of prompts.
pub fn has(task: &Value, task_type: &str, status: &str, prompts: u64) -> bool {
    task["task_type"] == task_type && task["status"] == status && task["prompts"] == prompts
}
