//! `doctor`: checks settings, database, uploads and providers.

use crate::output;
use crate::setup::{Setup, short_runtime};
use crate::stop::Stop;
use grov_agent::AgentStore;
use serde::Serialize;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The result of one check.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    name: &'static str,
    ok: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    pub(crate) fn passed(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            detail: detail.into(),
            hint: None,
        }
    }

    pub(crate) fn failed(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            name,
            ok: false,
            detail: detail.into(),
            hint: Some(hint.into()),
        }
    }
}

/// Runs all checks. Exit code 1 if one fails.
pub(crate) fn run(setup: &Setup, json: bool) -> Result<ExitCode, Stop> {
    setup.create_home()?;
    let mut checks = vec![home(setup.home.root()), uploads(&setup.agent.upload_dir)];
    checks.extend(short_runtime()?.block_on(database(setup)));
    let is_ok = checks.iter().all(|check| check.ok);
    if json {
        output::print(&json!({"ok": is_ok, "checks": checks}).to_string())?;
    } else {
        for check in &checks {
            let mark = if check.ok { "ok  " } else { "FAIL" };
            output::print(&format!(
                "{mark}  {:<12} {}",
                check.name,
                grov_runtime::printable(&check.detail)
            ))?;
            if let Some(hint) = &check.hint {
                output::print(&format!("      {:<12} {}", "", grov_runtime::printable(hint)))?;
            }
        }
    }
    Ok(if is_ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn home(root: &Path) -> Check {
    match tempfile_in(root) {
        Ok(()) => Check::passed("home", root.display().to_string()),
        Err(error) => Check::failed(
            "home",
            format!("{} cannot be written: {error}", root.display()),
            "check its permissions and the free space of the disk",
        ),
    }
}

fn uploads(directory: &Path) -> Check {
    let name = "uploads";
    let made = fs::create_dir_all(directory).and_then(|()| tempfile_in(directory));
    match made {
        Ok(()) => Check::passed(name, directory.display().to_string()),
        Err(error) => Check::failed(
            name,
            format!("{} cannot be written: {error}", directory.display()),
            "set UPLOAD_DIR (agent.upload_dir) to a directory that can be written",
        ),
    }
}

/// Writes and removes a file.
fn tempfile_in(directory: &Path) -> std::io::Result<()> {
    let path = directory.join(format!(".doctor-{}.tmp", std::process::id()));
    fs::write(&path, b"x")?;
    fs::remove_file(&path)
}

async fn database(setup: &Setup) -> Vec<Check> {
    let name = "database";
    let address = setup.agent.database.to_string();
    let database = match setup.database().await {
        Ok(database) => database,
        Err(stop) => {
            let detail = format!("{:#}", stop.error);
            return vec![Check::failed(
                name,
                detail,
                "check DATABASE_URL (agent.database_url)",
            )];
        }
    };
    let health = database.health().await;
    let check = match health.is_ok {
        true => Check::passed(
            name,
            format!("{address} ({}, vectors: {})", health.kind, health.vectors),
        ),
        false => Check::failed(
            name,
            format!("{address} does not answer"),
            "check that the server runs",
        ),
    };
    database.close().await;
    vec![check]
}
