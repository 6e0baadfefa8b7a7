//! `grov unregister`, `grov uninstall`

use super::comments::KeptComments;
use super::{FileAnswer, client_folder, clients, gateway, judge, shell, user_token};
use crate::arguments::UnregisterArguments;
use crate::cleared;
use crate::commands::plans::off_everywhere;
use crate::commands::service;
use crate::context::Context;
use crate::daemon_health;
use crate::failure::Failure;
use crate::output::{Outcome, Style, note};
use crate::table::one_line;
use crate::written_files::FileChange;
use grov_drift::token;
use grov_hooks::settings::{Registry, Scope, SettingsFile, settings_path};
use grov_link::SenderLock;
use grov_redact::Secret;
use grov_runtime::{Environment, Home};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    /// The files that Grov was or would be removed from.
    files: Vec<FileAnswer>,
    /// The token file of hooks over HTTP, if it was or would be removed.
    token: Option<String>,
    /// The tokens for the proxy that were or would be revoked.
    revoked: Vec<String>,
    /// The files of the user's shell, and those of the service that `grov uninstall` removed.
    others: Vec<FileChange>,
    /// The projects for which `grov uninstall` switched plans off, or would.
    plans: Vec<String>,
    /// The process id of the daemon that `grov uninstall` stopped.
    stopped: Option<u32>,
    /// The process id of the process that kept links to agent services going, which `grov uninstall` ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_link_worker: Option<u32>,
}

pub(crate) fn run(context: &Context, arguments: &UnregisterArguments) -> Outcome {
    let answer = unregister(context, arguments.dry_run)?;
    if answer.token.is_some() && !arguments.dry_run {
        note!("the daemon now refuses the HTTP hooks of sessions that are still running");
    }
    finish(context, answer)
}

pub(crate) fn uninstall(context: &Context, arguments: &UnregisterArguments) -> Outcome {
    // The settings are changed first: a client whose proxy is gone retries for minutes.
    let mut answer = unregister(context, arguments.dry_run)?;
    answer.plans = off_everywhere(context, arguments.dry_run)?;
    if !arguments.dry_run && context.home.root().is_dir() {
        answer.others.extend(service::remove_files(context)?);
    }
    let daemon = daemon_health::query(&context.home);
    answer.stopped = daemon.pid.filter(|_| daemon.running);
    if let Some((problem, _)) = daemon.not_answering() {
        note!("{problem}, so it was not stopped; end it with kill or kill -9");
    }
    if !arguments.dry_run
        && let Some(pid) = answer.stopped
    {
        stop("grov-proxyd", pid)?;
        note!("grov-proxyd (pid {pid}) stops when its requests are done");
    }
    // A daemon keeps the links going itself.
    let worker = SenderLock::holder(context.home.root());
    answer.ended_link_worker = worker.filter(|pid| daemon.pid != Some(*pid));
    if !arguments.dry_run
        && let Some(pid) = answer.ended_link_worker
    {
        stop("the process of the links to agent services", pid)?;
        note!("the process (pid {pid}) that kept links to agent services going was ended");
    }
    note!(
        "recorded data stays in {}; to remove everything, delete that directory and the programs grov and grov-proxyd",
        context.home.root().display()
    );
    finish(context, answer)
}

fn finish(context: &Context, answer: Answer) -> Outcome {
    // Damage to the database must not keep Grov from being removed.
    let clears = cleared::recent(context).unwrap_or_default();
    if let Some(warning) = cleared::warning(&clears) {
        note!("{warning}");
    }
    for left in answer.files.iter().flat_map(|file| &file.left) {
        note!("{left}");
    }
    judge::note_rest(context);
    context.answer(answer, text)
}

/// Removes Grov from every file where it was registered, and from the files that the client reads in this directory. Removes
/// the token too, unless a hook that the user added still uses it.
fn unregister(context: &Context, dry_run: bool) -> Result<Answer, Failure> {
    let home = context.home.root();
    let mut registry = match dry_run || !home.is_dir() {
        true => Registry::read(home)?,
        false => Registry::open(home)?,
    };
    let token = token::read(&context.home);
    let mut token_in_use = false;
    let mut plans = Vec::new();
    for path in paths(context, &registry)? {
        let plan = registry.plan_unregistration(SettingsFile::read(&path)?)?;
        let holds = |token: &Secret| plan.after().contains(token.expose());
        token_in_use |= token.as_ref().is_some_and(holds);
        let is_known = registry.files().any(|known| known == plan.path());
        if plan.has_changes() || is_known || KeptComments::of(&registry, plan.path())?.is_some() {
            plans.push(plan);
        }
    }
    let mut files = Vec::new();
    let mut revoked = Vec::new();
    for plan in &plans {
        // While the registry still knows Grov's changes.
        let comments = KeptComments::of(&registry, plan.path())?;
        let mut file = FileAnswer::of(plan, dry_run);
        file.removed = match dry_run {
            true => registry.removes_file(plan),
            false => registry.apply(plan)?.removed,
        };
        if let Some(comments) = comments {
            comments.restore(plan, dry_run)?;
        }
        revoked.extend(user_token::revoke(&context.home, plan.path(), dry_run)?);
        files.push(file);
    }
    if !dry_run && gateway::remove(&context.home)? {
        note!("a running grov-proxyd forwards to the gateway until it is restarted");
    }
    Ok(Answer {
        dry_run,
        files,
        token: match token_in_use {
            true => None,
            false => remove_token(&context.home, dry_run)?,
        },
        revoked,
        others: [
            shell::remove(context, dry_run)?,
            clients::remove(context, dry_run)?,
        ]
        .concat(),
        plans: Vec::new(),
        stopped: None,
        ended_link_worker: None,
    })
}

/// Removes the token of hooks over HTTP. Returns its file, if there was one.
fn remove_token(home: &Home, dry_run: bool) -> Result<Option<String>, Failure> {
    let path = home.hook_token().to_string_lossy().into_owned();
    let is_removed = match dry_run {
        true => home.hook_token().exists(),
        false => token::remove(home)
            .map_err(|error| Failure::error("home", format!("cannot remove {path}: {error}")))?,
    };
    Ok(is_removed.then_some(path))
}

fn paths(context: &Context, registry: &Registry) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut paths: BTreeSet<PathBuf> = registry.files().map(PathBuf::from).collect();
    let folder = client_folder(&Environment::of_process())?;
    let project = context.top().unwrap_or_else(|| folder.clone());
    for scope in [Scope::User, Scope::Project, Scope::Local] {
        let file = SettingsFile::read(&settings_path(scope, &folder, &project))?;
        if file.exists() {
            paths.insert(file.path().to_owned());
        }
    }
    Ok(paths)
}

fn stop(name: &str, pid: u32) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::error("proxy", format!("cannot stop {name} (pid {pid}): {error}"))
    };
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| failed(&"not a process id"))?;
    kill_process(process, Signal::TERM).map_err(|error| failed(&error))
}

fn text(answer: &Answer, style: Style) -> String {
    let others: String = answer.others.iter().map(FileChange::text).collect();
    let mut text = match answer.files.is_empty() && others.is_empty() {
        true => "Grov is not registered anywhere\n".to_owned(),
        false => answer.files.iter().map(|file| file.text(style)).collect(),
    };
    text.push_str(&others);
    if let Some(token) = &answer.token {
        let verb = match answer.dry_run {
            true => "would be removed",
            false => "removed",
        };
        text.push_str(&format!("{} {verb}\n", style.bold(&one_line(token))));
    }
    for name in &answer.revoked {
        let verb = match answer.dry_run {
            true => "would be revoked",
            false => "revoked",
        };
        text.push_str(&format!("token {} {verb}\n", style.bold(name)));
    }
    for project in &answer.plans {
        let verb = match answer.dry_run {
            true => "would be switched off",
            false => "are off",
        };
        text.push_str(&format!("plans {verb} for {}\n", style.bold(&one_line(project))));
    }
    text
}
