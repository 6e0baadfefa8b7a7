//! `grov unregister`, `grov uninstall`

use super::{FileAnswer, clients_folder, gateway};
use crate::arguments::{Common, UnregisterArguments};
use crate::context::Context;
use crate::daemon_health;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::table::harmless;
use grov_drift::token;
use grov_hooks::settings::{Plan, Registry, Scope, SettingsFile, settings_path};
use grov_redact::Secret;
use grov_runtime::{Environment, Home};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    /// The files that something was or would be taken out of.
    files: Vec<FileAnswer>,
    /// The file of the token that hooks over HTTP show, where it was or would be removed.
    token: Option<String>,
    /// The daemon that was told to stop, with `grov uninstall`.
    stopped: Option<u32>,
}

/// What was or would be taken out.
struct TakenOut {
    files: Vec<FileAnswer>,
    token: Option<String>,
}

pub(crate) fn run(common: &Common, arguments: &UnregisterArguments, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let taken = taken_out(&context, arguments.dry_run)?;
    if taken.token.is_some() && !arguments.dry_run {
        say("sessions that are still running and post their hooks are refused from now on");
    }
    finish(taken, None, arguments.dry_run, terminal)
}

/// The same, and the daemon is told to stop. What was recorded is the user's and stays.
pub(crate) fn uninstall(common: &Common, arguments: &UnregisterArguments, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    // First the settings: a client without its proxy tries for minutes.
    let taken = taken_out(&context, arguments.dry_run)?;
    let daemon = daemon_health::ask(&context.home);
    let stopped = daemon.pid.filter(|_| daemon.running);
    if let Some((what, _)) = daemon.no_answer() {
        say(&format!("{what}, and is left alone: end it with kill or kill -9"));
    }
    if !arguments.dry_run
        && let Some(pid) = stopped
    {
        stop(pid)?;
        say(&format!(
            "grov-proxyd (pid {pid}) finishes what it is doing and stops"
        ));
    }
    say(&format!(
        "what was recorded stays in {}; remove that directory and the programs grov and grov-proxyd, and nothing is left",
        context.home.root().display()
    ));
    finish(taken, stopped, arguments.dry_run, terminal)
}

fn finish(taken: TakenOut, stopped: Option<u32>, dry_run: bool, terminal: Terminal) -> Outcome {
    taken
        .files
        .iter()
        .flat_map(|file| &file.left)
        .for_each(|left| say(left));
    let answer = Answer {
        dry_run,
        files: taken.files,
        token: taken.token,
        stopped,
    };
    terminal.answer(answer, text)?;
    Ok(Verdict::Found)
}

/// Takes Grov out of every file in which it was registered, and out of the ones that the client reads here. The token goes
/// with them, unless one of them still shows it, in a hook that the user added.
fn taken_out(context: &Context, dry_run: bool) -> Result<TakenOut, Failure> {
    let home = context.home.root();
    let mut registry = match dry_run || !home.is_dir() {
        true => Registry::look(home)?,
        false => Registry::open(home)?,
    };
    let token = token::read(&context.home);
    let mut is_still_shown = false;
    let mut plans = Vec::new();
    for path in paths(context, &registry)? {
        let plan = registry.unregistration(SettingsFile::read(&path)?)?;
        let holds = |token: &Secret| plan.after().contains(token.expose());
        is_still_shown |= token.as_ref().is_some_and(holds);
        let is_known = registry.files().any(|known| known == plan.path());
        if is_known || plan.changes_anything() {
            plans.push(plan);
        }
    }
    let mut files = Vec::new();
    for plan in &plans {
        files.push(file(&mut registry, plan, dry_run)?);
    }
    if !dry_run && gateway::forget(&context.home)? {
        say("a running grov-proxyd forwards to the gateway until it is started anew");
    }
    let token = match is_still_shown {
        true => None,
        false => token_removed(&context.home, dry_run)?,
    };
    Ok(TakenOut { files, token })
}

/// Removes the token that hooks over HTTP show. Its file, if there was one.
fn token_removed(home: &Home, dry_run: bool) -> Result<Option<String>, Failure> {
    let path = home.hook_token().to_string_lossy().into_owned();
    let is_removed = match dry_run {
        true => home.hook_token().exists(),
        false => token::forget(home)
            .map_err(|error| Failure::error("home", format!("{path} cannot be removed: {error}"), None))?,
    };
    Ok(is_removed.then_some(path))
}

fn file(registry: &mut Registry, plan: &Plan, dry_run: bool) -> Result<FileAnswer, Failure> {
    let mut answer = FileAnswer::of(plan, dry_run);
    answer.removed = if dry_run {
        registry.would_remove(plan)
    } else {
        registry.carry_out(plan)?.removed
    };
    Ok(answer)
}

fn paths(context: &Context, registry: &Registry) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut paths: BTreeSet<PathBuf> = registry.files().map(PathBuf::from).collect();
    let folder = clients_folder(&Environment::of_process())?;
    let project = context.top().unwrap_or_else(|| folder.clone());
    for scope in [Scope::User, Scope::Project, Scope::Local] {
        let file = SettingsFile::read(&settings_path(scope, &folder, &project))?;
        if file.exists() {
            paths.insert(file.path().to_owned());
        }
    }
    Ok(paths)
}

fn stop(pid: u32) -> Result<(), Failure> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| Failure::error("proxy", "the daemon's process id is none", None))?;
    kill_process(pid, Signal::TERM).map_err(|error| {
        let message = format!(
            "grov-proxyd (pid {}) cannot be stopped: {error}",
            pid.as_raw_nonzero()
        );
        Failure::error("proxy", message, None)
    })
}

fn text(answer: &Answer, style: Style) -> String {
    let files = answer.files.iter().map(|file| file.text(style));
    let mut text: String = match answer.files.is_empty() {
        true => "Grov is not registered anywhere\n".to_owned(),
        false => files.collect(),
    };
    if let Some(token) = &answer.token {
        let verb = match answer.dry_run {
            true => "would be removed",
            false => "removed",
        };
        text.push_str(&format!("{} {verb}\n", style.bold(&harmless(token))));
    }
    text
}
