//! `grov doctor`: whether everything works, what follows if it does not, and how to mend it.

mod client;
mod embedding;
mod home;
mod judging;
mod over_http;
mod proxy;
mod store;
mod version;

use crate::arguments::Common;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::table::harmless;
use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    /// What was seen.
    evidence: String,
    /// What follows, where it is not well.
    consequence: Option<&'static str>,
    /// The command or the change that mends it.
    fix: Option<String>,
    /// What `--fix` does about it.
    #[serde(skip)]
    remedy: Option<Remedy>,
}

/// What can be mended without asking.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Remedy {
    /// Nobody else may look into these.
    MakePrivate(Vec<(std::path::PathBuf, u32)>),
    /// Start the proxy.
    StartProxy,
    /// The same, at this port.
    StartProxyAt(u16),
    /// Take secrets out of what an older version wrote into these databases.
    Clean(Vec<std::path::PathBuf>),
    /// Register again, as `grov init` does.
    Register {
        scope: &'static str,
        /// With hooks over HTTP.
        http: bool,
        /// With the status line.
        status_line: bool,
    },
}

impl Remedy {
    /// The words of `grov init` that register again.
    fn init(&self) -> Vec<&'static str> {
        let Self::Register {
            scope,
            http,
            status_line,
        } = self
        else {
            return Vec::new();
        };
        let flags = [(*http, "--http"), (*status_line, "--statusline")];
        let flags = flags
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, flag)| flag);
        ["init", "--scope", scope].into_iter().chain(flags).collect()
    }

    /// The command that does it; empty where it takes more than one.
    fn words(&self) -> String {
        match self {
            Self::MakePrivate(_) | Self::Clean(_) => String::new(),
            Self::StartProxy => "grov proxy --detach".to_owned(),
            Self::StartProxyAt(port) => format!("grov proxy --detach --port {port}"),
            Self::Register { .. } => format!("grov {}", self.init().join(" ")),
        }
    }
}

#[derive(Serialize)]
struct Answer {
    /// Whether everything is well.
    ok: bool,
    checks: Vec<Check>,
    /// The names of the checks that `--fix` did something about.
    fixed: Vec<&'static str>,
}

impl Check {
    fn well(name: &'static str, evidence: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            evidence: evidence.into(),
            consequence: None,
            fix: None,
            remedy: None,
        }
    }

    fn ill(
        name: &'static str,
        evidence: impl Into<String>,
        consequence: &'static str,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            ok: false,
            consequence: Some(consequence),
            fix: Some(fix.into()),
            ..Self::well(name, evidence)
        }
    }

    fn with(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

pub(crate) fn run(common: &Common, fix: bool, terminal: Terminal) -> Outcome {
    let mut checks = all(common)?;
    let mut fixed = Vec::new();
    if fix {
        for check in &checks {
            if let Some(remedy) = &check.remedy {
                match mend(common, remedy) {
                    Ok(()) => fixed.push(check.name),
                    Err(reason) => say(&format!("{} cannot be mended: {reason}", check.name)),
                }
            }
        }
        if !fixed.is_empty() {
            // What is told is how it is now.
            checks = all(common)?;
        }
    }
    let ok = checks.iter().all(|check| check.ok);
    terminal.answer(Answer { ok, checks, fixed }, text)?;
    Ok(if ok { Verdict::Found } else { Verdict::Nothing })
}

fn all(common: &Common) -> Result<Vec<Check>, Failure> {
    let context = match Context::load(common) {
        Ok(context) => context,
        // A configuration that cannot be read is what the doctor is asked about.
        Err(Failure::Told(told)) if told.kind == "configuration" => {
            let consequence = "no command works, hooks say nothing, and the proxy does not start";
            let fix = told.hint.unwrap_or_else(|| "mend the file".to_owned());
            return Ok(vec![Check::ill("configuration", told.message, consequence, fix)]);
        }
        Err(other) => return Err(other),
    };
    let mut checks = vec![Check::well("configuration", "it can be read")];
    checks.extend(home::checks(&context.home));
    checks.extend(store::checks(&context));
    checks.extend(client::checks(&context)?);
    checks.extend(proxy::checks(&context)?);
    checks.push(judging::check(&context));
    checks.extend(embedding::check(&context));
    Ok(checks)
}

fn mend(common: &Common, remedy: &Remedy) -> Result<(), String> {
    match remedy {
        Remedy::MakePrivate(paths) => home::make_private(paths),
        Remedy::Clean(databases) => store::clean(databases),
        Remedy::StartProxy => again(common, &["proxy", "--detach"]),
        Remedy::StartProxyAt(port) => again(common, &["proxy", "--detach", "--port", &port.to_string()]),
        Remedy::Register { .. } => again(common, &remedy.init()),
    }
}

/// Runs another command of this program.
fn again(common: &Common, words: &[&str]) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = std::process::Command::new(own);
    for (flag, value) in [("--home", &common.home), ("--project", &common.project)] {
        if let Some(value) = value {
            command.arg(flag).arg(value);
        }
    }
    let output = command
        .args(words)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    for check in &answer.checks {
        let mark = match check.ok {
            true => style.green("ok  "),
            false => style.red("ILL "),
        };
        let name = style.bold(check.name);
        text.push_str(&format!("{mark}  {name}: {}\n", harmless(&check.evidence)));
        if let Some(consequence) = check.consequence {
            text.push_str(&format!("      {consequence}\n"));
        }
        if let Some(fix) = &check.fix {
            text.push_str(&format!("      mend it: {}\n", harmless(fix)));
        }
    }
    text
}
