//! `grov service`: the proxy as a service of the user, by systemd or launchd.

mod launchd;
mod systemd;

use crate::arguments::{ServiceCommand, ServiceManager};
use crate::context::Context;
use crate::daemon_health;
use crate::daemon_start::find_program;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::table::one_line;
use crate::written_files::{FileChange, Purpose, WrittenFiles};
use grov_runtime::Environment;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file of a service.
struct ServiceFile {
    path: PathBuf,
    text: String,
}

/// What the service runs.
struct Service<'a> {
    program: &'a Path,
    home: &'a Path,
    log: &'a Path,
    address: SocketAddr,
}

#[derive(Serialize)]
struct Answer {
    manager: &'static str,
    installed: bool,
    files: Vec<FileChange>,
    /// Whether the manager knows it and starts it at login; null if the manager does not run.
    enabled: Option<bool>,
    /// The command that enables it, if that could not be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_enable: Option<String>,
}

pub(crate) fn run(context: &Context, command: &ServiceCommand) -> Outcome {
    let environment = Environment::of_process();
    match command {
        ServiceCommand::Install { manager } => install(context, *manager, &environment),
        ServiceCommand::Remove => remove(context),
        ServiceCommand::Status => status(context),
    }
}

fn install(context: &Context, manager: Option<ServiceManager>, environment: &Environment) -> Outcome {
    let manager = manager.unwrap_or(ServiceManager::of_this_system());
    let program = find_program(environment)?;
    let proxy = context.settings.proxy();
    if proxy.port == 0 {
        let failure = Failure::usage("proxy.port is 0, but a service needs a port that clients know");
        return Err(failure.hint("set proxy.port in the configuration"));
    }
    context.settings.ensure_startable(&Environment::default())?;
    let log = context.settings.log().file.clone();
    let log = log.unwrap_or_else(|| context.home.daemon_log());
    let service = Service {
        program: &program,
        home: context.home.root(),
        log: &log,
        address: SocketAddr::new(proxy.host, proxy.port),
    };
    let files = match manager {
        ServiceManager::Systemd => systemd::files(&service, environment)?,
        ServiceManager::Launchd => launchd::files(&service, environment)?,
    };
    context.home.create_logs()?;
    let mut written = WrittenFiles::open(&context.home)?;
    let mut changes = Vec::new();
    for file in &files {
        changes.push(written.write(Purpose::Service, &file.path, &file.text)?);
    }
    let (commands, absent) = match manager {
        // Fails where no service manager runs. The proxy then goes on.
        ServiceManager::Systemd => (systemd::enabling(), execute(&systemd::reload()).err()),
        ServiceManager::Launchd => (launchd::enabling(&files), None),
    };
    let running = daemon_health::query(&context.home);
    if running.running && absent.is_none() {
        note!("the running proxy stops, so that the service can use its port");
        crate::commands::proxy::stop(&context.home, &running)?;
    }
    let problem = absent.or_else(|| commands.iter().find_map(|command| execute(command).err()));
    if let Some(problem) = &problem {
        note!("the service is installed but could not be enabled: {problem}");
    }
    let answer = Answer {
        manager: manager.name(),
        installed: true,
        files: changes,
        enabled: Some(problem.is_none()),
        to_enable: problem.map(|_| joined(&commands)),
    };
    context.answer(answer, text)
}

fn remove(context: &Context) -> Outcome {
    let changes = remove_files(context)?;
    let answer = Answer {
        manager: ServiceManager::of_this_system().name(),
        installed: false,
        files: changes,
        enabled: None,
        to_enable: None,
    };
    context.answer(answer, text)
}

/// Disables the service and removes its files, if it is installed.
pub(crate) fn remove_files(context: &Context) -> Result<Vec<FileChange>, Failure> {
    let mut written = WrittenFiles::open(&context.home)?;
    let paths: Vec<PathBuf> = written.paths(Purpose::Service).map(Path::to_owned).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let is_systemd = paths
        .iter()
        .any(|path| path.extension().is_some_and(|end| end == "service"));
    let disabling = match is_systemd {
        true => systemd::disabling(),
        false => launchd::disabling(&paths),
    };
    for command in &disabling {
        // Without a running manager there is nothing to disable.
        let _ = execute(command);
    }
    let changes = written.revert(Purpose::Service)?;
    if is_systemd {
        let _ = execute(&systemd::reload());
    }
    Ok(changes)
}

fn status(context: &Context) -> Outcome {
    let written = WrittenFiles::open(&context.home)?;
    let files: Vec<FileChange> = written
        .paths(Purpose::Service)
        .map(|path| FileChange {
            path: path.to_string_lossy().into_owned(),
            change: crate::written_files::ChangeKind::Unchanged,
        })
        .collect();
    let installed = !files.is_empty();
    let is_launchd = files.iter().any(|file| file.path.ends_with(".plist"));
    let manager = match installed {
        true if is_launchd => ServiceManager::Launchd,
        true => ServiceManager::Systemd,
        false => ServiceManager::of_this_system(),
    };
    let answer = Answer {
        manager: manager.name(),
        installed,
        files,
        enabled: installed.then(|| match manager {
            ServiceManager::Systemd => execute(&systemd::asking()).is_ok(),
            ServiceManager::Launchd => execute(&launchd::asking()).is_ok(),
        }),
        to_enable: None,
    };
    let is_enabled = answer.enabled == Some(true);
    context.answer(answer, text)?;
    Ok(ExitStatus::success_if(is_enabled))
}

impl ServiceManager {
    fn of_this_system() -> Self {
        match cfg!(target_os = "macos") {
            true => Self::Launchd,
            false => Self::Systemd,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
        }
    }
}

/// Runs a command of the service manager. The error is what it printed.
fn execute(words: &[String]) -> Result<(), String> {
    let Some((program, arguments)) = words.split_first() else {
        return Ok(());
    };
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let line = printed.lines().find(|line| !line.trim().is_empty());
    Err(line.map_or_else(
        || format!("{program} ended with {}", output.status),
        |line| line.trim().to_owned(),
    ))
}

fn joined(commands: &[Vec<String>]) -> String {
    let commands: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
    commands.join(" && ")
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text: String = answer.files.iter().map(FileChange::text).collect();
    let state = match (answer.installed, answer.enabled) {
        (false, _) if answer.files.is_empty() => "not installed".to_owned(),
        (false, _) => "removed".to_owned(),
        (true, Some(true)) => style.green("enabled"),
        (true, _) => style.red("installed, but not enabled"),
    };
    text.push_str(&format!("service ({}): {state}\n", answer.manager));
    if let Some(command) = &answer.to_enable {
        text.push_str(&format!(
            "to enable it when {} runs: {}\n",
            answer.manager,
            one_line(command)
        ));
    }
    text
}
