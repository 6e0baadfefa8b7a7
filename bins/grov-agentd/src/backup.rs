//! `backup FILE` and `restore FILE`.

use crate::output;
use crate::setup::{Setup, short_runtime};
use crate::stop::Stop;
use anyhow::{Context, anyhow};
use grov_agent::{AgentStore, AgentStoreError};
use grov_agent_store::AgentDatabase;
use grov_runtime::DatabaseUrl;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn backup(setup: &Setup, file: &Path) -> Result<ExitCode, Stop> {
    let path = sqlite(setup)?;
    if !path.exists() {
        return Err(Stop::fault(anyhow!("there is no database {}", path.display())));
    }
    short_runtime()?.block_on(async {
        let database = setup.database().await?;
        let done = database.backup(file).await;
        database.close().await;
        done.with_context(|| format!("{} was not written", file.display()))
            .map_err(Stop::fault)?;
        output::message(&format!("{} is a copy of {}", file.display(), path.display()));
        output::message(&format!(
            "uploaded files are not in it: copy {} too",
            setup.agent.upload_dir.display()
        ));
        Ok(ExitCode::SUCCESS)
    })
}

pub(crate) fn restore(setup: &Setup, file: &Path) -> Result<ExitCode, Stop> {
    let path = sqlite(setup)?;
    setup.create_home()?;
    short_runtime()?.block_on(async {
        AgentDatabase::restore(file, path)
            .await
            .with_context(|| format!("{} was not restored; nothing was changed", file.display()))
            .map_err(|error| {
                let hint = match error.downcast_ref::<AgentStoreError>() {
                    Some(AgentStoreError::NotFound(_)) => {
                        "give the path of a file that `grov-agentd backup` made"
                    }
                    Some(AgentStoreError::Conflict(_)) => "stop grov-agentd, then restore",
                    Some(AgentStoreError::NewerSchema { .. }) => "restore it with the version that made it",
                    Some(AgentStoreError::NotWritable(_)) => {
                        "check the permissions of the home and the free space"
                    }
                    _ => "the file has to be one that `grov-agentd backup` made",
                };
                Stop::fault(error).with_hint(hint)
            })?;
        output::message(&format!("{} is restored from {}", path.display(), file.display()));
        Ok(ExitCode::SUCCESS)
    })
}

/// The file of the database.
fn sqlite(setup: &Setup) -> Result<&Path, Stop> {
    match &setup.agent.database {
        DatabaseUrl::Sqlite(path) => Ok(path),
        DatabaseUrl::Postgres(_) => {
            let error = anyhow!("the database is PostgreSQL, which this command does not copy");
            Err(Stop::usage(error).with_hint("use pg_dump and pg_restore; copy the upload directory too"))
        }
    }
}
