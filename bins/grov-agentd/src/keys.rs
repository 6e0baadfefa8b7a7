//! `key create`, `key list`, `key revoke`.

use crate::arguments::{KeyCommand, Role};
use crate::output;
use crate::setup::{Setup, short_runtime};
use crate::stop::Stop;
use anyhow::anyhow;
use grov_agent::{AgentStore, AgentStoreError, Key, KeyId, KeyRole, ProjectId, ProjectStore};
use grov_agent_http::{ADMIN_NAME, secret_hash};
use grov_agent_store::AgentDatabase;
use grov_domain::{Clock, SystemClock};
use grov_runtime::{printable, random_secret};
use serde_json::json;
use std::process::ExitCode;

/// The longest name in bytes.
const MAX_NAME: usize = 100;

pub(crate) fn run(setup: &Setup, command: &KeyCommand) -> Result<ExitCode, Stop> {
    setup.create_home()?;
    short_runtime()?.block_on(async {
        let database = setup.database().await?;
        let done = match command {
            KeyCommand::Create {
                name,
                role,
                projects,
                json,
            } => create(&database, name, *role, projects, *json).await,
            KeyCommand::List { json } => list(&database, *json).await,
            KeyCommand::Revoke { name } => revoke(&database, name).await,
        };
        database.close().await;
        done
    })
}

async fn create(
    database: &AgentDatabase,
    name: &str,
    role: Role,
    projects: &[String],
    json: bool,
) -> Result<ExitCode, Stop> {
    let name = name.trim();
    if name.is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
        return Err(Stop::usage(anyhow!(
            "the name has to be 1 to {MAX_NAME} bytes without control characters"
        )));
    }
    if name == ADMIN_NAME {
        let error = anyhow!("the name {ADMIN_NAME} is that of the key AGENT_API_KEY");
        return Err(Stop::usage(error).with_hint("choose another name"));
    }
    let mut seen = Vec::new();
    for project in projects {
        let id: ProjectId = project
            .parse()
            .map_err(|_| Stop::usage(anyhow!("{project:?} is not the id of a project")))?;
        if database.project(id).await.map_err(Stop::fault)?.is_none() {
            return Err(Stop::fault(anyhow!("there is no project {id}")));
        }
        seen.push(id);
    }
    let secret = random_secret().map_err(Stop::fault)?;
    let key = Key {
        id: KeyId::fresh(),
        name: name.to_owned(),
        role: KeyRole::from(role),
        projects: seen,
        created_at: SystemClock.now(),
        revoked_at: None,
    };
    match database.create_key(&key, &secret_hash(secret.expose())).await {
        Err(AgentStoreError::Conflict(_)) => {
            let error = anyhow!("there is a key with the name {name:?}");
            let hint = "choose another name, or revoke that key first";
            return Err(Stop::fault(error).with_hint(hint));
        }
        created => created.map_err(Stop::fault)?,
    }
    if json {
        let answer = json!({"id": key.id, "name": key.name, "role": key.role, "projects": key.projects, "key": secret.expose()});
        output::print(&answer.to_string())?;
    } else {
        output::message("The key is shown only now. Send it in the header X-AGENT-KEY.");
        output::print(secret.expose())?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(database: &AgentDatabase, json: bool) -> Result<ExitCode, Stop> {
    let keys = database.keys().await.map_err(Stop::fault)?;
    if json {
        let keys: Vec<&Key> = keys.iter().map(|(key, _)| key).collect();
        output::print(&json!({"keys": keys}).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    for (key, _) in keys {
        let state = if key.revoked_at.is_some() {
            "revoked"
        } else {
            "in force"
        };
        let projects = match key.projects.len() {
            0 => "all projects".to_owned(),
            1 => "1 project".to_owned(),
            count => format!("{count} projects"),
        };
        let name = printable(&key.name);
        let line = format!("{name:<24}  {:<8}  {projects:<12}  {state}", key.role);
        output::print(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn revoke(database: &AgentDatabase, name: &str) -> Result<ExitCode, Stop> {
    let revoked = database
        .revoke_key(name, SystemClock.now())
        .await
        .map_err(Stop::fault)?;
    if revoked.is_none() {
        let stop = Stop::fault(anyhow!("there is no key {name:?} in force"));
        let hint = "`grov-agentd key list` shows all keys";
        return Err(Stop {
            code: 1,
            ..stop.with_hint(hint)
        });
    }
    output::message("revoked; running services refuse it within two seconds");
    Ok(ExitCode::SUCCESS)
}
