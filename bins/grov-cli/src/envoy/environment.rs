//! Assembles what the tools need: variables, settings, the spending ledger. The only module that names the store.

use super::command_line::Preset;
use grov_domain::{MicroUsd, StoreConnection, SystemClock};
use grov_runtime::{ContextSettings, Environment as Variables, Home, Inputs, Settings};
use grov_store::{OnCorruption, OpenOptions, SqliteStore};
use grov_tools::{ErrorKind, ToolError};
use grov_tools_run::{Surroundings, UserTools, load_user_tools};
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The environment of a command.
pub(crate) struct Environment {
    pub(crate) around: Surroundings,
    pub(crate) tools: UserTools,
    /// How context windows are measured.
    pub(crate) context: ContextSettings,
    /// The user's home directory.
    pub(crate) user_home: Option<PathBuf>,
}

impl Environment {
    /// Reads configuration and variables, and the tools of the user.
    pub(crate) fn load(preset: &Preset) -> Result<Self, ToolError> {
        let failed = |message: String, hint: Option<&str>| {
            let error = ToolError::new(ErrorKind::Configuration, message);
            hint.map_or(error.clone(), |hint| error.hint(hint))
        };
        let variables = Variables::of_process();
        let home = Home::locate(preset.home.as_deref(), &variables)
            .map_err(|error| failed(error.to_string(), Some(error.hint())))?;
        let directory = match &preset.directory {
            Some(directory) => std::path::absolute(directory),
            None => std::env::current_dir(),
        };
        let directory = directory
            .map_err(|error| failed(format!("the current directory cannot be found: {error}"), None))?;
        // The configuration of a project cannot change any of the settings that are used.
        let settings = Settings::load(Inputs {
            home: &home,
            environment: &variables,
            directory: None,
            flags: &[],
        });
        let settings = settings.map_err(|error| failed(error.to_string(), error.hint().as_deref()))?;
        let named = grov_runtime::Variables::load(&home, &variables).map_err(|error| {
            failed(
                format!("{} cannot be read: {error}", home.env_file().display()),
                None,
            )
        })?;
        let mut folders = vec![home.root().join("tools")];
        folders.extend(trusted_folder(&directory, &trusted_projects(&home, &variables)?));
        let proxy = settings.proxy();
        let spending = SqliteStore::reopening(&home.database(), &OpenOptions::default(), OnCorruption::Fail);
        Ok(Self {
            context: settings.context(),
            tools: user_tools(&folders, &variables, &home),
            user_home: variables.get("HOME").map(PathBuf::from),
            around: Surroundings {
                variables: named,
                directory,
                spending: Arc::new(spending),
                clock: Arc::new(SystemClock),
                budget: MicroUsd(settings.tools().daily_budget_micro_usd),
                proxy: settings.llm().proxy.as_ref().map(|url| url.as_str().to_owned()),
                own_listeners: vec![SocketAddr::new(proxy.host, proxy.port)],
                progress: progress(),
                home,
            },
        })
    }
}

/// The store of a home, opened with the first call.
pub(crate) fn store(home: &Home) -> Arc<dyn StoreConnection> {
    Arc::new(SqliteStore::reopening(
        &home.database(),
        &OpenOptions::default(),
        OnCorruption::Fail,
    ))
}

/// What a project's client settings could set to have its own programs trusted.
const TRUSTED: &str = "GROV_TOOLS_TRUSTED_PROJECTS";

/// The projects that the home's configuration or its `.env` trusts.
fn trusted_projects(home: &Home, variables: &Variables) -> Result<Vec<String>, ToolError> {
    let others = variables
        .iter()
        .filter(|(name, _)| ![TRUSTED, "GROV_CONFIG"].contains(name));
    let environment: Variables = others.collect();
    let settings = Settings::load(Inputs {
        home,
        environment: &environment,
        directory: None,
        flags: &[],
    });
    let settings = settings.map_err(|error| {
        let failed = ToolError::new(ErrorKind::Configuration, error.to_string());
        match error.hint() {
            Some(hint) => failed.hint(hint),
            None => failed,
        }
    })?;
    Ok(settings.tools().trusted_projects.clone())
}

fn user_tools(folders: &[PathBuf], variables: &Variables, home: &Home) -> UserTools {
    let mut tools = load_user_tools(folders);
    if variables.get(TRUSTED).is_some() {
        tools.problems.push(format!(
            "{TRUSTED} in the environment is ignored, because a project's settings can change it; add it to {}",
            home.env_file().display()
        ));
    }
    tools
}

/// The project's own tools, if the user trusts the project.
fn trusted_folder(directory: &Path, trusted: &[String]) -> Option<PathBuf> {
    let directory = directory.canonicalize().ok()?;
    let root = directory.ancestors().find(|folder| {
        let is_this = |named: &String| {
            Path::new(named)
                .canonicalize()
                .is_ok_and(|named| named == **folder)
        };
        trusted.iter().any(is_this)
    })?;
    Some(root.join(".claude/envoy/tools"))
}

/// Shows progress in one line that is overwritten, on a terminal only.
fn progress() -> Arc<dyn Fn(&str) + Send + Sync> {
    if !std::io::stderr().is_terminal() {
        return Arc::new(|_| {});
    }
    Arc::new(|text| {
        let mut stderr = std::io::stderr().lock();
        // A terminal that went away is no reason to stop.
        let _ = write!(stderr, "\r\u{1b}[K{}", grov_runtime::printable(text)).and_then(|()| stderr.flush());
    })
}
