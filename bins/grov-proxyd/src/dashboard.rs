//! Serves the dashboard's pages (`grov-dashboard`), on a thread that starts with the first request: a page that takes long delays no
//! relayed response, and a daemon whose pages nobody opens pays nothing for them.

use crate::assembly;
use async_trait::async_trait;
use bytes::Bytes;
use grov_cost::PriceBook;
use grov_dashboard::{CommandError, Commands, MAX_FORM, Pages, Parts};
use grov_proxy_core::{Site, SiteBody};
use grov_route::ProviderFile;
use grov_runtime::{Environment, Home, ProviderFiles, RouteSettings, Tasks};
use http::{Request, Response, StatusCode};
use serde_json::Value;
use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// The path of the pages below `/_grov/`.
pub(crate) const PREFIX: &str = "ui";
/// Requests that are answered at the same time. More wait.
const MAX_CONCURRENT: usize = 32;
/// Commands that run at the same time.
const MAX_COMMANDS: usize = 4;
/// Time for a command: the cost of years of transcripts takes seconds.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// The dashboard as a site of the proxy.
pub(crate) struct Dashboard {
    home: Home,
    environment: Environment,
    route: RouteSettings,
    is_secure: bool,
    permits: Arc<Semaphore>,
    started: OnceLock<io::Result<Started>>,
}

/// The thread of the pages.
struct Started {
    pages: Pages,
    tasks: Tasks,
    /// Dropping it ends the thread.
    _running: oneshot::Sender<Infallible>,
}

impl Dashboard {
    /// A dashboard that has not started.
    pub(crate) fn new(
        home: &Home,
        environment: &Environment,
        route: &RouteSettings,
        is_secure: bool,
    ) -> Self {
        Self {
            home: home.clone(),
            environment: environment.clone(),
            route: route.clone(),
            is_secure,
            permits: Arc::new(Semaphore::new(MAX_CONCURRENT)),
            started: OnceLock::new(),
        }
    }

    fn start(&self) -> io::Result<Started> {
        let (running, stopped) = oneshot::channel::<Infallible>();
        let (ready, handle) = std::sync::mpsc::channel();
        std::thread::Builder::new()
            .name("grov-dashboard".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                match runtime {
                    Ok(runtime) => {
                        let _ = ready.send(Ok(runtime.handle().clone()));
                        let _ = runtime.block_on(stopped);
                        runtime.shutdown_background();
                    }
                    Err(error) => {
                        let _ = ready.send(Err(error));
                    }
                }
            })?;
        let handle = handle
            .recv()
            .map_err(|_| io::Error::other("the thread of the dashboard ended early"))??;
        let tasks = Tasks::new(handle);
        let pages = Pages::new(Parts {
            store: assembly::store_apart(&self.home),
            home: self.home.clone(),
            is_secure: self.is_secure,
            prices: {
                let own = self.home.root().join("prices.json");
                let files = ProviderFiles::new(&self.home, &self.environment, &self.route);
                Box::new(move || prices(&own, &files))
            },
            commands: Arc::new(Program {
                program: beside(),
                home: self.home.root().to_owned(),
                environment: self.environment.clone(),
                permits: Semaphore::new(MAX_COMMANDS),
            }),
            tasks: tasks.clone(),
        });
        Ok(Started {
            pages,
            tasks,
            _running: running,
        })
    }
}

/// The prices of the user's file, of the provider file, and the built-in ones. A file with problems is not used: the command line
/// reports it.
fn prices(own: &Path, files: &ProviderFiles) -> PriceBook {
    let mut prices = PriceBook::with_file(own).unwrap_or_default();
    let Some(path) = files.find() else { return prices };
    let text = std::fs::read_to_string(path).unwrap_or_default();
    if let Ok(file) = ProviderFile::read_at(path, &text, &|name| files.variable(name)) {
        prices.add_targets(file.targets().iter().map(AsRef::as_ref));
    }
    prices
}

#[async_trait]
impl Site for Dashboard {
    fn body_limit(&self) -> u64 {
        MAX_FORM
    }

    async fn handle(&self, request: Request<Bytes>) -> Response<SiteBody> {
        let started = match self.started.get_or_init(|| self.start()) {
            Ok(started) => started,
            Err(error) => {
                tracing::error!(%error, "the dashboard cannot start");
                return failed();
            }
        };
        // Fails only if the semaphore is closed, which it never is.
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let (sender, receiver) = oneshot::channel();
        let pages = started.pages.clone();
        let answering = started.tasks.spawn("dashboard page", async move {
            let _permit = permit;
            // The browser may have gone.
            let _ = sender.send(pages.answer(request).await);
        });
        let response = receiver.await;
        drop(answering);
        // Without an answer the page panicked, which the task logs.
        response.unwrap_or_else(|_| failed())
    }
}

/// An answer without a page: the log says why.
fn failed() -> Response<SiteBody> {
    let mut response = Response::new(SiteBody::default());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

/// The command line, as a program.
struct Program {
    program: PathBuf,
    home: PathBuf,
    environment: Environment,
    permits: Semaphore,
}

/// The command line next to this program. A replaced program is still at its path.
fn beside() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    // Linux names a program that was replaced while it runs so.
    let own = own.to_string_lossy().trim_end_matches(" (deleted)").to_owned();
    Path::new(&own).with_file_name("grov")
}

#[async_trait]
impl Commands for Program {
    async fn run(&self, words: &[&str]) -> Result<Value, CommandError> {
        let failed = |message: String| CommandError {
            kind: String::new(),
            message,
            hint: None,
        };
        let _permit = self
            .permits
            .acquire()
            .await
            .map_err(|error| failed(error.to_string()))?;
        let mut command = tokio::process::Command::new(&self.program);
        command
            .arg("--json")
            .arg("--home")
            .arg(&self.home)
            .args(words)
            .env_clear()
            .envs(self.environment.iter())
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(COMMAND_TIMEOUT, command.output()).await;
        let output = output.map_err(|_| failed("the command took more than a minute".to_owned()))?;
        let program = self.program.display();
        let output = output.map_err(|error| failed(format!("{program} cannot be run: {error}")))?;
        let answer: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| failed(format!("{program} gave no answer ({})", output.status)))?;
        match answer.get("error") {
            Some(error) => Err(CommandError {
                kind: error["kind"].as_str().unwrap_or_default().to_owned(),
                message: error["message"].as_str().unwrap_or("an unknown error").to_owned(),
                hint: error["hint"].as_str().map(str::to_owned),
            }),
            None => Ok(answer),
        }
    }
}
