//! Dangerous commands in a script that a command runs.
//!
//! A project's own scripts are judged more mildly than a typed command: only what destroys data beyond build output, sends
//! something out or rewrites shared history counts. A script that the user named runs at the user's request.

use super::effects::stems::RUN;
use super::{
    CRITICAL, DESTRUCTIVE, EvaluationContext, RISKY, code, destructive, effects, files, finding,
    is_for_trial, outbound, source, statements, system,
};
use crate::history::WorkingDirectory;
use crate::normalized_path::NormalizedPath;
use grov_domain::{CommandLine, ExecutionHost, Finding, Program};

/// The maximum number of findings of one script.
const MAX_FINDINGS: usize = 2;

/// A script that a command runs, read from its file.
#[derive(Clone, Debug, Default)]
pub struct RunScript {
    /// The path of the file.
    pub path: String,
    /// The names of the scripts or targets in it that run.
    pub targets: Vec<String>,
    /// The folder in which its commands run, if it is known.
    pub folder: Option<String>,
    /// The text of the file.
    pub text: String,
    /// The commands that run.
    pub line: CommandLine,
    /// The index of the script that runs this one.
    pub run_by: Option<usize>,
}

/// Programs that set up a machine. In scripts, their use is ordinary.
#[rustfmt::skip]
const PROVISIONING: &[&str] = &[
    "chgrp", "chown", "crontab", "iptables", "nft", "passwd", "setenforce", "ufw", "useradd", "usermod", "visudo",
];

/// Words in the names of scripts that fill or reset databases for tests and demonstrations.
const TRIALS: &[&str] = &[
    "bench", "demo", "fixture", "fixtures", "mock", "sample", "seed", "seeder", "seeders", "seeds",
];

/// Words with which a request names a target to run.
const RUNNERS: &[&str] = &[
    "bun", "composer", "just", "make", "npm", "pnpm", "rake", "recipe", "run", "script", "target", "task",
    "yarn",
];

/// The findings for the commands of a script.
pub(super) fn findings<'a>(script: &'a RunScript, context: &mut EvaluationContext<'a>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    if let Some(folder) = &script.folder {
        context.directory = WorkingDirectory::Folder(folder.clone());
    }
    let programs = &script.line.programs;
    for command in programs {
        context.enter_shell(command.shell);
        if let Some(danger) = danger_of(command, programs, script, context)
            && found.len() < MAX_FINDINGS
        {
            let place = NormalizedPath::new(context.root, &script.path);
            let line = grov_actions::line_of(&script.text, command);
            let line = line.map_or_else(String::new, |line| format!(", line {line}"));
            let reason = format!("In {}{line}: {}", place.display(), danger.reason);
            if !found.iter().any(|known| known.reason == reason) {
                found.extend(finding(danger.at_most, None, reason));
            }
        }
        context.advance(command);
    }
    if found.len() < MAX_FINDINGS {
        found.extend(code::of_script(script, context));
    }
    found
}

fn danger_of(
    command: &Program,
    programs: &[Program],
    script: &RunScript,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let source = source(command, programs);
    let is_asked_for = is_target_requested(script, context);
    // A target that checks or shows, or any target if only a look was asked for, has no other effects.
    let is_own = context.has_changed(&NormalizedPath::new(context.root, &script.path));
    let least = if is_asked_for {
        CRITICAL
    } else if is_own {
        // What the agent wrote a moment ago is as good as typed.
        RISKY
    } else if is_quiet(script) || context.compiled.request.only_looks() {
        RISKY
    } else {
        DESTRUCTIVE
    };
    let weigh = |danger: &Finding| danger.at_most <= least;
    let sets_up = PROVISIONING.binary_search(&command.name()).is_ok();
    let data = destructive::of_command(command, source, programs, context)
        .or_else(|| files::removed_outside(command, context))
        .or_else(|| files::data_removed(command, context).filter(|_| is_own || !is_quiet(script)))
        .or_else(|| statements::of_command(command, source, context))
        .or_else(|| {
            let found = effects::of_command(command, programs, context);
            found.filter(|danger| !sets_up || danger.reason.contains("turns off"))
        })
        .filter(|danger| !is_excused(command, danger, script, context));
    data.or_else(|| outbound::of_command(command, source, programs, context))
        .or_else(|| match command.host {
            ExecutionHost::Container => None,
            _ if sets_up => None,
            _ => system::of_command(command, None, programs, context),
        })
        .filter(weigh)
}

/// Whether the names of all targets say that they only check or show something.
fn is_quiet(script: &RunScript) -> bool {
    #[rustfmt::skip]
    const QUIET: &[&str] = &[
        "audit", "check", "coverage", "diff", "doctor", "dry", "fmt", "format", "help", "info", "lint", "list", "plan", "preview", "print", "report", "show", "status", "test", "tests", "typecheck", "types", "unit", "validate", "verify", "vet",
    ];
    let is_quiet = |target: &String| {
        let mut words = target.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.any(|word| QUIET.binary_search(&word).is_ok())
    };
    !script.targets.is_empty() && script.targets.iter().all(is_quiet)
}

/// Whether the removal of data is part of what such a script is for, as `git clean` is, or its target is not known.
fn is_excused(
    command: &Program,
    danger: &Finding,
    script: &RunScript,
    context: &EvaluationContext<'_>,
) -> bool {
    let is_unknown = command.name() == "dropdb" && command.operands().any(|name| name.contains('$'));
    let is_ordinary = is_unknown || command.git().0 == "clean";
    // Where the project is says nothing: it may be a folder for temporary files.
    let place = NormalizedPath::new(context.root, &script.path);
    let mut words = place
        .as_str()
        .split(|letter: char| !letter.is_ascii_alphanumeric());
    let text = script.text.to_ascii_lowercase();
    let is_live = ["prod_", "_prod", "production", "prod."]
        .iter()
        .any(|name| text.contains(name));
    let is_data = danger.file.is_none() && danger.at_most > CRITICAL && !is_live;
    is_ordinary || is_data && (words.any(|word| TRIALS.contains(&word)) || is_for_trial(place.as_str()))
}

/// Whether the request names each target that runs: "run make db-reset".
fn is_target_requested(script: &RunScript, context: &EvaluationContext<'_>) -> bool {
    let asked = &context.compiled.request;
    let is_named = |target: &String| {
        let mut parts = target
            .split([':', '-', '_', '.', '/'])
            .filter(|part| !part.is_empty());
        asked.names(target) || parts.all(|part| asked.names(part))
    };
    // "Fix the docs" does not ask for `make docs`.
    let runs = RUNNERS.iter().any(|word| asked.names(word));
    runs && !asked.only_looks() && !script.targets.is_empty() && script.targets.iter().all(is_named)
}

/// Whether the request asks to run a script by the words of its name: "run the release script".
fn is_asked_to_run(place: &NormalizedPath, context: &EvaluationContext<'_>) -> bool {
    #[rustfmt::skip]
    const RUNNING: &[&str] = &["run.", "execute.", "start.", "launch.", "lance.", "lancer.", "ejecuta", "esegui", "uruchom", "rode.", "roda.", "rulea", "ruleaz", "fuhr", "draai", "跑", "运行", "実行"];
    let request = &context.compiled.request;
    let mut words = place
        .stem()
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    request.mentions_any(RUNNING)
        && request.is_about(&["script.", "skript.", "skrypt."])
        && words.all(|word| request.names(word))
}

/// Whether the user named a script, or one that runs it.
pub(super) fn is_named(scripts: &[RunScript], at: usize, context: &EvaluationContext<'_>) -> bool {
    let mut next = Some(at);
    // Scripts are listed after those that run them.
    while let Some(number) = next {
        let Some(script) = scripts.get(number) else { break };
        let place = NormalizedPath::new(context.root, &script.path);
        // A manifest or makefile holds many scripts: naming the file asks for none of them.
        let is_whole = script.targets.is_empty() && !place.name().starts_with("makefile");
        // "What does cleanup.py do?" does not ask to run it.
        let request = &context.compiled.request;
        let may_run = !request.only_looks() || request.is_about(RUN);
        let is_named = context.compiled.is_named(&place) && may_run || is_asked_to_run(&place, context);
        if is_whole && is_named || context.compiled.is_allowed(&place) {
            return true;
        }
        next = script.run_by.filter(|by| *by < number);
    }
    false
}

#[cfg(test)]
mod tests;
