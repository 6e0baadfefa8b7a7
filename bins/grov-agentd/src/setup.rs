//! Home, environment and settings of a run.

use crate::arguments::Arguments;
use crate::providers::Providers;
use crate::qdrant;
use crate::stop::Stop;
use grov_agent::AgentStoreError;
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use grov_runtime::logging::{self, LogError};
use grov_runtime::{AgentSettings, DatabaseUrl, Environment, Home, Inputs, LogSettings, Settings};
use std::net::SocketAddr;
use tokio::runtime::Runtime;

/// What every command needs.
pub(crate) struct Setup {
    pub(crate) home: Home,
    pub(crate) settings: Settings,
    pub(crate) agent: AgentSettings,
    pub(crate) environment: Environment,
}

impl Setup {
    pub(crate) fn load(arguments: &Arguments) -> Result<Self, Stop> {
        let environment = Environment::of_process();
        let home = Home::locate(arguments.home.as_deref(), &environment).map_err(|error| {
            let hint = error.hint();
            Stop::usage(error).with_hint(hint)
        })?;
        let flags = arguments.flags();
        let settings = Settings::load(Inputs {
            home: &home,
            environment: &environment,
            directory: None,
            flags: &flags,
        })
        .map_err(|error| Stop::settings(&error))?;
        let agent = settings.agent().map_err(Stop::settings)?.clone();
        Ok(Self {
            home,
            settings,
            agent,
            environment,
        })
    }

    /// Creates the home.
    pub(crate) fn create_home(&self) -> Result<(), Stop> {
        self.home.create().map_err(|error| {
            let hint = error.hint();
            Stop::fault(error).with_hint(hint)
        })
    }

    /// Starts the log. If its file cannot be opened, logs to standard error instead.
    pub(crate) fn start_log(&self) -> Result<(), Stop> {
        let settings = self.settings.log();
        match logging::init(settings) {
            Err(error @ LogError::File { .. }) => {
                let to_stderr = LogSettings {
                    file: None,
                    ..settings.clone()
                };
                logging::init(&to_stderr).map_err(Stop::usage)?;
                tracing::error!(%error, "logging to standard error instead");
            }
            other => other.map_err(Stop::usage)?,
        }
        for warning in self.settings.warnings() {
            tracing::warn!("{warning}");
        }
        Ok(())
    }

    /// Builds the chat model and the embedder. Calls to our own `listeners` are refused.
    pub(crate) fn providers(&self, listeners: &[SocketAddr]) -> Result<Providers, Stop> {
        let (chat, embedding) = (&self.agent.chat, &self.agent.embedding);
        Providers::new(chat, embedding, &self.environment, listeners).map_err(|error| {
            Stop::usage(error)
                .with_hint("check the CHAT and EMBEDDING settings (agent.chat_*, agent.embedding_*)")
        })
    }

    /// Opens the database.
    pub(crate) async fn database(&self) -> Result<AgentDatabase, Stop> {
        let qdrant = match &self.agent.qdrant_url {
            Some(url) => {
                let server = qdrant::server(url, self.agent.qdrant_api_key.as_ref()).await;
                Some(server.map_err(|error| {
                    Stop::usage(error).with_hint("check QDRANT_URL and QDRANT_API_KEY (agent.qdrant_…)")
                })?)
            }
            None => None,
        };
        let options = DatabaseOptions {
            connections: self.agent.database_connections,
            qdrant,
            ..DatabaseOptions::default()
        };
        AgentDatabase::open(&self.agent.database.expose(), &options)
            .await
            .map_err(|error| {
                let what = format!("the database {} cannot be opened", self.agent.database);
                let error = anyhow::Error::new(error).context(what);
                let hint = self.database_hint(&error);
                Stop::fault(error).with_hint(hint)
            })
    }

    /// What to do about a database that cannot be opened.
    pub(crate) fn database_hint(&self, error: &anyhow::Error) -> &'static str {
        let cause = error.root_cause().downcast_ref::<AgentStoreError>();
        match (&self.agent.database, cause) {
            (DatabaseUrl::Postgres(_), Some(AgentStoreError::Unavailable(_))) => {
                "check that the PostgreSQL server runs, and that DATABASE_URL (agent.database_url) names its host and port"
            }
            (DatabaseUrl::Sqlite(_), Some(AgentStoreError::Unavailable(_))) => {
                "another process holds the file; wait for it or end it, and start again"
            }
            (_, Some(AgentStoreError::NewerSchema { .. })) => "install the newer version of grov-agentd",
            _ => "check DATABASE_URL (agent.database_url)",
        }
    }
}

/// A runtime for a short command.
pub(crate) fn short_runtime() -> Result<Runtime, Stop> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Stop::fault)
}
