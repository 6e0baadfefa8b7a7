//! `grov doctor`: checks the installation, and for each problem says what it means and how to fix it.

mod access;
mod authority;
mod cleared;
mod client;
mod clients;
mod embedding;
mod home;
mod http_hooks;
mod judge;
mod links;
mod mcp;
mod proxy;
mod routing;
mod shell;
mod store;
mod upstream;
mod version;

use crate::arguments::Common;
use crate::context::Context;
use crate::daemon_health;
use crate::failure::Failure;
use crate::format::plural;
use crate::output::{ExitStatus, Outcome, Style, Terminal, note};
use crate::own_command;
use crate::table::{one_line, wrapped};
use client::ClientSettings;
use serde::Serialize;
use std::path::PathBuf;

/// The result of one check.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    status: Status,
    /// The finding.
    evidence: String,
    /// What the problem means for the user.
    consequence: Option<&'static str>,
    /// The command or the change that solves it.
    fix: Option<String>,
    /// What `--fix` does.
    #[serde(skip)]
    remedy: Option<Remedy>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    /// Something may need attention; Grov works.
    Warn,
    /// Something does not work.
    Fail,
}

/// A fix that needs no decision by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Remedy {
    /// Set these permissions.
    MakePrivate(Vec<(PathBuf, u32)>),
    /// Redact what an older version wrote to these databases.
    Clean(Vec<PathBuf>),
    /// Run `grov` with these arguments.
    Run(String),
}

impl Remedy {
    /// Starts the proxy, at this port or the configured one.
    fn start_proxy(port: Option<u16>) -> Self {
        let port = port.map(|port| format!(" --port {port}")).unwrap_or_default();
        Self::Run(format!("proxy --detach{port}"))
    }

    /// Registers again, as `grov init` does.
    fn register(scope: &str, http: bool, status_line: bool) -> Self {
        let http = if http { " --http" } else { "" };
        let status_line = if status_line { " --statusline" } else { "" };
        Self::Run(format!("init --scope {scope}{http}{status_line}"))
    }

    /// The command line that applies it.
    fn command(&self) -> String {
        match self {
            Self::MakePrivate(_) | Self::Clean(_) => "grov doctor --fix".to_owned(),
            Self::Run(arguments) => format!("grov {arguments}"),
        }
    }

    fn apply(&self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::MakePrivate(paths) => home::set_permissions(paths),
            Self::Clean(databases) => store::clean(databases),
            Self::Run(arguments) => own_command::run(common, None, &Vec::from_iter(arguments.split(' '))),
        }
    }
}

#[derive(Serialize)]
struct Answer {
    /// Whether no check failed. There may be warnings.
    ok: bool,
    checks: Vec<Check>,
    /// The names of the checks whose remedy `--fix` applied.
    fixed: Vec<&'static str>,
}

impl Check {
    fn new(name: &'static str, status: Status, evidence: impl Into<String>) -> Self {
        Self {
            name,
            ok: status == Status::Ok,
            status,
            evidence: evidence.into(),
            consequence: None,
            fix: None,
            remedy: None,
        }
    }

    fn ok(name: &'static str, evidence: impl Into<String>) -> Self {
        Self::new(name, Status::Ok, evidence)
    }

    fn warn(name: &'static str, evidence: impl Into<String>) -> Self {
        Self::new(name, Status::Warn, evidence)
    }

    fn fail(name: &'static str, evidence: impl Into<String>) -> Self {
        Self::new(name, Status::Fail, evidence)
    }

    fn consequence(self, consequence: &'static str) -> Self {
        Self {
            consequence: Some(consequence),
            ..self
        }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Self {
            fix: Some(fix.into()),
            ..self
        }
    }

    /// What `--fix` does, which is also the fix unless one is given.
    fn remedy(self, remedy: Remedy) -> Self {
        Self {
            fix: self.fix.or_else(|| Some(remedy.command())),
            remedy: Some(remedy),
            ..self
        }
    }
}

pub(crate) fn run(common: &Common, fix: bool, terminal: Terminal) -> Outcome {
    let mut checks = all(common, terminal)?;
    let mut fixed = Vec::new();
    if fix {
        for check in &checks {
            match check.remedy.as_ref().map(|remedy| remedy.apply(common)) {
                Some(Ok(())) => fixed.push(check.name),
                Some(Err(error)) => note!("cannot fix {}: {error}", check.name),
                None => {}
            }
        }
        if !fixed.is_empty() {
            checks = all(common, terminal)?;
        }
    }
    let ok = checks.iter().all(|check| check.status != Status::Fail);
    terminal.answer(Answer { ok, checks, fixed }, text)?;
    Ok(ExitStatus::success_if(ok))
}

fn all(common: &Common, terminal: Terminal) -> Result<Vec<Check>, Failure> {
    let context = match Context::load(common, terminal) {
        Ok(context) => context,
        Err(Failure::Report(report)) if report.kind == "configuration" => {
            let check = Check::fail("configuration", report.message)
                .consequence("No command works, hooks do nothing, and the proxy does not start.")
                .fix(report.hint.unwrap_or_else(|| "correct the file".to_owned()));
            return Ok(vec![check]);
        }
        Err(other) => return Err(other),
    };
    let mut checks = vec![Check::ok("configuration", "valid")];
    checks.extend(home::checks(&context.home));
    checks.extend(store::checks(&context));
    let client = ClientSettings::read(&context)?;
    let daemon = daemon_health::query(&context.home);
    checks.extend(client::checks(&client));
    checks.extend(http_hooks::check(&context, &client, &daemon));
    checks.extend(proxy::checks(&context, &client, &daemon));
    checks.extend(authority::check(&context, &daemon));
    let uses_proxy = proxy::is_used(&context, &client, &daemon);
    checks.extend((uses_proxy || daemon.running).then(|| upstream::check(&context)));
    checks.extend(cleared::check(&context, &daemon, uses_proxy));
    checks.extend(clients::checks(&context, &daemon));
    checks.push(judge::check(&context, daemon));
    checks.extend(embedding::check(&context));
    checks.extend(routing::checks(&context));
    checks.extend(links::checks(&context));
    checks.extend(shell::check(&context));
    checks.extend(mcp::check(&context));
    Ok(checks)
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    for check in &answer.checks {
        let status = match check.status {
            Status::Ok => style.green("OK  "),
            Status::Warn => style.yellow("WARN"),
            Status::Fail => style.red("FAIL"),
        };
        let width = style
            .width()
            .map_or(usize::MAX, |width| width - INDENTATION.len());
        let finding = format!("{}: {}", check.name, one_line(&check.evidence));
        let mut lines = wrapped(&finding, width);
        lines.extend(
            check
                .consequence
                .iter()
                .flat_map(|consequence| wrapped(consequence, width)),
        );
        let fix = check.fix.iter().map(|fix| format!("Fix: {}", one_line(fix)));
        lines.extend(fix.flat_map(|fix| wrapped(&fix, width)));
        if let Some(first) = lines.first_mut() {
            *first = first.replacen(check.name, &style.bold(check.name), 1);
        }
        text.push_str(&format!(
            "{status}  {}\n",
            lines.join(&format!("\n{INDENTATION}"))
        ));
    }
    text.push_str(&summary(&answer.checks));
    text
}

/// Before the lines of a check after its first.
const INDENTATION: &str = "      ";

/// The last line: whether something has to be done.
fn summary(checks: &[Check]) -> String {
    let count = |status| checks.iter().filter(|check| check.status == status).count() as u64;
    match (count(Status::Fail), count(Status::Warn)) {
        (0, 0) => "Everything works.\n".to_owned(),
        (0, warnings) => format!("Grov works; {}.\n", plural(warnings, "warning", "warnings")),
        (failed, _) => format!("{} failed.\n", plural(failed, "check", "checks")),
    }
}
