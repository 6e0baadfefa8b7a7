//! Runs what the command line asks for.

use super::command_line::Run;
use super::environment::Environment;
use grov_tools::{Answer, Arguments, Envelope, ErrorKind, Metadata, ToolError, docs};
use grov_tools_run::{Piped, Scope, read_stdin};
use serde_json::json;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use tokio::signal::unix::{SignalKind, signal};

/// A failure before the tool runs.
pub(crate) struct Failure {
    pub(crate) command: String,
    pub(crate) error: ToolError,
}

/// The envelope of a command that is no tool.
pub(crate) fn envelope(command: &str, result: Result<Answer, ToolError>) -> Envelope {
    let metadata = Metadata {
        command: command.to_owned(),
        ..Metadata::default()
    };
    match result {
        Ok(answer) => Envelope::success(answer, metadata),
        Err(error) => Envelope::error(error, metadata),
    }
}

/// Runs a command.
pub(crate) fn run(environment: Environment, command: Run) -> Result<Envelope, Failure> {
    let registry = &environment.tools.registry;
    let directory = &environment.around.directory;
    let scope = |is_user: bool| match (is_user, &environment.user_home) {
        (false, _) => Ok(Scope::Project(directory.clone())),
        (true, Some(home)) => Ok(Scope::User(home.clone())),
        (true, None) => Err(ToolError::new(
            ErrorKind::Configuration,
            "HOME is not set, so there is no user scope",
        )),
    };
    Ok(match command {
        Run::Tool { slug, words } => return run_tool(environment, &slug, words),
        Run::Info => {
            let around = &environment.around;
            let answer = block_on(async { grov_tools_run::info(around, &environment.tools).await });
            envelope("info", answer)
        }
        Run::Snippet(name) => {
            let tool = registry.find_slug(&name.trim().replace(' ', "-"));
            let answer = tool.map(|tool| Answer {
                data: json!({"name": tool.slug(), "content": docs::snippet(tool)}),
                ..Answer::default()
            });
            let names: Vec<String> = registry.tools().iter().map(grov_tools::Tool::slug).collect();
            let unknown = || {
                ToolError::new(ErrorKind::NotFound, format!("there is no tool {name:?}"))
                    .hint(format!("known are {}", names.join(", ")))
            };
            envelope("snippet", answer.ok_or_else(unknown))
        }
        Run::Docs(target) => envelope("docs", grov_tools_run::docs(registry, &directory.join(target))),
        Run::Install { is_user, dry_run } => {
            let installed =
                scope(is_user).and_then(|scope| grov_tools_run::install(registry, &scope, dry_run));
            envelope("install", installed)
        }
        Run::Uninstall { is_user, dry_run } => {
            let uninstalled = scope(is_user).and_then(|scope| {
                let mut answer = grov_tools_run::uninstall(&scope, dry_run)?;
                if !is_user {
                    let home = environment.around.home.root();
                    answer.data["plans_off"] = json!(grov_tools_run::plans_off(home, directory, dry_run)?);
                }
                Ok(answer)
            });
            envelope("uninstall", uninstalled)
        }
    })
}

fn run_tool(
    environment: Environment,
    slug: &str,
    words: Vec<(String, Vec<String>)>,
) -> Result<Envelope, Failure> {
    let tool = environment.tools.registry.find_slug(slug);
    let command = tool.map(grov_tools::Tool::command).unwrap_or_default();
    let failed = |error| Failure {
        command: command.clone(),
        error,
    };
    let tool = tool.ok_or_else(|| failed(ToolError::usage("there is no such tool")))?;
    let arguments = Arguments::of_words(tool, words).map_err(failed)?;
    let around = &environment.around;
    let run = block_on(async {
        let piped = match arguments.flag("stdin") {
            true => tokio::select! {
                piped = read_piped() => Some(piped?),
                () = cancelled() => return Err(ToolError::new(ErrorKind::Cancelled, "the call was cancelled before anything was sent")),
            },
            false => None,
        };
        Ok(grov_tools_run::run(around, tool, arguments, piped, cancelled()).await)
    });
    run.and_then(|inner| inner).map_err(failed)
}

/// Reads standard input on a thread of its own, so that the command can be cancelled meanwhile.
async fn read_piped() -> Result<Piped, ToolError> {
    let read = tokio::task::spawn_blocking(|| read_stdin(&mut std::io::stdin().lock()));
    let failed =
        |error: String| ToolError::new(ErrorKind::Io, format!("standard input cannot be read: {error}"));
    let piped = read.await.map_err(|error| failed(error.to_string()))?;
    piped.map_err(|error| failed(error.to_string()))
}

/// Ends at Ctrl-C, when the process is asked to end, or when its terminal goes away.
async fn cancelled() {
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hang_up)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> Result<T, ToolError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| ToolError::new(ErrorKind::Io, format!("cannot start the async runtime: {error}")))?;
    let result = runtime.block_on(work);
    // Without waiting for a thread that still reads standard input.
    runtime.shutdown_background();
    Ok(result)
}

/// Runs `grov plans`, which is next to this program or in PATH. The words before `plans` are flags that it knows too.
pub(crate) fn plans(arguments: &[OsString], place: usize) -> ExitCode {
    let own = std::env::current_exe().ok();
    let resolved = own.as_deref().and_then(|path| path.canonicalize().ok());
    let beside = own
        .iter()
        .chain(&resolved)
        .map(|path| path.with_file_name("grov"));
    let program = beside
        .into_iter()
        .find(|path| path.is_file())
        .unwrap_or_else(|| "grov".into());
    let error = Command::new(&program)
        .args(&arguments[1..place])
        .args(&arguments[place..])
        .exec();
    let error = ToolError::new(
        ErrorKind::Io,
        format!("cannot run {}: {error}", program.display()),
    )
    .hint("install grov next to envoy, or add its directory to PATH");
    super::output::finish(envelope("plans", Err(error)))
}
