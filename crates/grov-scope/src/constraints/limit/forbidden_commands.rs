//! The commands that a clause forbids.

use super::parts::Parts;
use super::reader::COMMANDS;
use super::{Context, ForbiddenCommand, Limit, Place};
use crate::constraints::clause::Token;
use crate::constraints::place::{environment, environments};
use crate::constraints::vocabulary::Term;

/// The commands that a negated clause forbids.
pub(super) fn commands(parts: &Parts<'_>, rule: &[Token], is_state: bool, context: &Context) -> Vec<Limit> {
    let mut found: Vec<ForbiddenCommand> = parts.flags.iter().cloned().map(ForbiddenCommand::Flag).collect();
    found.extend(programs(rule));
    let runs = parts.has_any(&[Term::Run, Term::Use, Term::Apply]);
    let forces = rule.iter().any(|token| token.folded.contains("force"));
    if forces && parts.has(Term::Push) {
        found.push(ForbiddenCommand::ForcePush);
    }
    // "Write the task, but don't run it"
    if parts.has_only(&[Term::Run, Term::Apply, Term::That, Term::Until, Term::Not])
        && (parts.has(Term::Run) || parts.has(Term::Apply) && !context.is_infrastructure)
    {
        found.extend(context.told.clone());
        // "It" is a file or a thing that the prompt names.
        let mut names: Vec<String> = context
            .paths
            .iter()
            .map(|path| path.to_lowercase())
            .filter(|path| path.contains('.'))
            .collect();
        if context.tells_script {
            names.extend(context.script_words.iter().cloned());
        }
        found.extend((!names.is_empty()).then_some(ForbiddenCommand::Script(names)));
    }
    let is_whole = rule.iter().any(|token| WHOLE.contains(&token.folded.as_str()));
    if runs
        && is_whole
        && rule
            .iter()
            .any(|token| token.is(Term::Tests) || SUITES.contains(&token.folded.as_str()))
    {
        found.push(ForbiddenCommand::AllTests);
    }
    found.extend(git_actions(rule));
    // "Don't run the build"
    let noun = rule
        .iter()
        .find(|token| !token.is_any(&[Term::Filler, Term::Run, Term::Use]));
    let is_run = rule.first().is_some_and(|token| token.is(Term::Run))
        && rule.iter().filter(|token| !token.is(Term::Filler)).count() == 2;
    if let Some(noun) = noun
        .filter(|noun| is_run && (noun.term.is_none() || noun.folded == "build") && noun.folded.len() >= 4)
    {
        found.push(ForbiddenCommand::Named(noun.folded.clone()));
        found.push(ForbiddenCommand::Script(vec![noun.folded.clone()]));
    }
    let restarts = |token: &Token| RESTARTS.iter().any(|stem| token.folded.starts_with(stem));
    // "Don't restart postfix" is about one thing.
    let is_any = |word: &&str| SERVED.contains(word);
    let names_one = !parts.words.iter().all(is_any) || !parts.literals.is_empty();
    if rule.iter().any(restarts) && !names_one {
        found.push(ForbiddenCommand::Restart);
    }
    // "Don't run deploy.sh"
    if runs && !parts.has(Term::Change) {
        let files = parts.places.iter().filter_map(|place| match place {
            Place::Path(path) if !path.contains('*') => Some(path.trim_start_matches("./").to_lowercase()),
            _ => None,
        });
        let files: Vec<String> = files.collect();
        found.extend((!files.is_empty()).then_some(ForbiddenCommand::Script(files)));
    }
    if parts.has(Term::Production)
        && (parts.words.is_empty() || runs && parts.words.len() <= 2)
        && !parts.has(Term::Config)
    {
        let acts = [
            Term::Change,
            Term::Deploy,
            Term::Run,
            Term::Use,
            Term::Add,
            Term::Apply,
        ];
        found.extend(
            (is_state || parts.has_any(&acts)).then(|| ForbiddenCommand::In(environments("prod", true))),
        );
    }
    // "Nothing is to be run against real hosts"
    if runs && rule.iter().any(|token| HOSTS.contains(&token.folded.as_str())) {
        found.extend([ForbiddenCommand::Infrastructure, ForbiddenCommand::Deploy]);
    }
    if let Some(limit) = on_branch(parts) {
        found.push(limit);
    }
    let is_file = parts.has_any(&[Term::File, Term::All, Term::Nothing]);
    if is_file
        && parts.has_only(&[Term::Remove, Term::File, Term::All, Term::Until, Term::Nothing])
        && parts.has(Term::Remove)
    {
        found.push(ForbiddenCommand::Delete);
    }
    // "No deploys to staging"
    let is_environment =
        !parts.words.is_empty() && parts.words.iter().all(|word| environment(word).is_some());
    let is_bare = (parts.words.is_empty() || is_environment && parts.has(Term::Deploy))
        && parts.literals.is_empty()
        && parts.places.is_empty();
    if is_bare {
        found.extend(named_alone(parts, context, forces, is_environment));
    }
    if parts.words.is_empty() && parts.has(Term::Migration) {
        let is_new = parts.has_any(&[Term::Add, Term::Change])
            || parts.has_only(&[Term::Migration, Term::New, Term::Not]);
        found.extend(is_new.then_some(ForbiddenCommand::GenerateMigration));
        let runs = is_state || parts.has_any(&[Term::Run, Term::Change, Term::Apply]);
        found.extend(runs.then_some(ForbiddenCommand::Migrate));
    }
    found.into_iter().map(Limit::Command).collect()
}

/// The commands that a limit without an object names: "don't commit", "no deploys".
fn named_alone(
    parts: &Parts<'_>,
    context: &Context,
    forces: bool,
    is_environment: bool,
) -> Vec<ForbiddenCommand> {
    let mut found = Vec::new();
    let none = parts.kinds().is_empty()
        && !parts.has_any(&[Term::Comment, Term::Function, Term::Line, Term::Signature]);
    for term in &parts.terms {
        found.push(match term {
            Term::Commit if none => ForbiddenCommand::Git("commit"),
            Term::Push if none && !forces => ForbiddenCommand::Git("push"),
            Term::Merge if none && !parts.has(Term::File) => ForbiddenCommand::Git("merge"),
            Term::Rebase => ForbiddenCommand::Git("rebase"),
            Term::Stash => ForbiddenCommand::Git("stash"),
            Term::Switch if !parts.has(Term::Use) => ForbiddenCommand::Switch(context.names.clone()),
            Term::Deploy if none || is_environment || parts.has(Term::Production) => ForbiddenCommand::Deploy,
            Term::Apply | Term::Destroy if none => ForbiddenCommand::Infrastructure,
            Term::Install if parts.kinds().is_empty() => ForbiddenCommand::Install,
            Term::Upgrade if parts.has(Term::Dependency) => ForbiddenCommand::Upgrade,
            Term::Format => ForbiddenCommand::Format,
            Term::Network if none => ForbiddenCommand::Network,
            Term::Container if parts.has_any(&[Term::Run, Term::Use]) || parts.terms.len() == 1 => {
                ForbiddenCommand::Containers
            }
            Term::Tests if parts.has(Term::Run) => ForbiddenCommand::Tests,
            Term::Data | Term::Production
                if parts.has_any(&[Term::Change, Term::Remove]) && !parts.has(Term::Config) =>
            {
                ForbiddenCommand::DatabaseWrite
            }
            Term::Snapshot if parts.has_any(&[Term::Change, Term::Upgrade]) => ForbiddenCommand::Snapshots,
            _ => continue,
        });
        if *term == Term::Data && parts.has(Term::Schema) {
            found.pop();
        }
    }
    found
}

/// Programs that a constraint names together with a subcommand, without a verb.
#[rustfmt::skip]
pub(in crate::constraints) const PROGRAMS: &[&str] = &[
    "ansible", "artisan", "aws", "az", "cargo", "docker", "docker-compose", "flutter", "gcloud", "gh", "git", "gradle", "helm", "kubectl", "mix", "mvn", "npm", "npx", "pnpm", "pip", "poetry",
    "rails", "rake", "terraform", "tofu", "uv", "yarn",
];

/// Words for the whole of something.
#[rustfmt::skip]
const WHOLE: &[&str] = &[
    "full", "whole", "entire", "complete", "all", "ganze", "ganzen", "gesamte", "gesamten", "komplette", "kompletten", "alle", "toute", "tous", "complete", "entera", "completa", "todos", "toda",
    "intera", "tutti", "inteira", "toata", "toate", "cala", "calego", "wszystkich", "hele", "volledige", "全部", "所有", "すべて",
];

/// Words for tests as a whole.
const SUITES: &[&str] = &["suite", "testsuite", "test-suite", "suita", "suíte", "suit"];

/// Words for machines that others use.
const HOSTS: &[&str] = &[
    "host",
    "hosts",
    "servers",
    "machines",
    "cluster",
    "clusters",
    "serveurs",
    "servidores",
    "servern",
    "serwerach",
    "macchine",
];

/// Nouns for what runs, which tell nothing about which.
#[rustfmt::skip]
const SERVED: &[&str] = &[
    "anything", "app", "daemon", "dienst", "dienste", "process", "processes", "prozess", "serveur", "server", "servers", "servicio", "servicios", "servico", "servicos", "service", "services", "servizi", "servizio", "servidor", "uslug", "uslugi",
    "stack", "system",
];

/// Beginnings of words for a restart.
#[rustfmt::skip]
const RESTARTS: &[&str] = &[
    "restart", "neustart", "neu starten", "redemarr", "reinici", "riavvi", "herstart", "reporn", "重启", "重新启动", "再起動", "reboot",
];

/// Actions of Git that have words of their own: "don't amend", "no new branches".
fn git_actions(rule: &[Token]) -> Vec<ForbiddenCommand> {
    let says = |words: &[&str]| rule.iter().any(|token| words.contains(&token.folded.as_str()));
    let has = |terms: &[Term]| rule.iter().any(|token| token.is_any(terms));
    let mut found = Vec::new();
    if says(&["amend", "amending", "amends"]) {
        found.push(ForbiddenCommand::Flag("--amend".to_owned()));
    }
    if says(&["cherry-pick", "cherry-picking"]) {
        found.push(ForbiddenCommand::Git("cherry-pick"));
    }
    if has(&[Term::Branch]) && has(&[Term::New, Term::Add]) {
        found.push(ForbiddenCommand::Switch(Vec::new()));
    }
    if says(&["pr", "prs", "mr", "mrs"]) && (has(&[Term::Add]) || says(&["open", "opening", "no"])) {
        let create = |line: [&str; 3]| ForbiddenCommand::Program(line.map(str::to_owned).to_vec());
        found.extend([create(["gh", "pr", "create"]), create(["glab", "mr", "create"])]);
    }
    found
}

/// "Never push to main".
fn on_branch(parts: &Parts<'_>) -> Option<ForbiddenCommand> {
    let is_branch = |word: &&str| matches!(*word, "main" | "master" | "develop" | "trunk" | "release");
    let named: Vec<String> = parts.words.iter().map(|word| (*word).to_owned()).collect();
    if named.is_empty()
        || !parts.words.iter().all(is_branch)
        || !parts.literals.is_empty()
        || !parts.places.is_empty()
    {
        return None;
    }
    let commands = [
        (Term::Push, "push"),
        (Term::Commit, "commit"),
        (Term::Merge, "merge"),
        (Term::Rebase, "rebase"),
    ];
    let (_, command) = commands.into_iter().find(|(term, _)| parts.has(*term))?;
    Some(ForbiddenCommand::GitOn(command, named))
}

/// Programs that a constraint forbids as a whole: "do not use npm".
#[rustfmt::skip]
const TOOLS: &[&str] = &[
    "apt", "apt-get", "ansible", "aws", "brew", "bun", "cargo", "conda", "curl", "docker", "docker-compose", "gcloud", "gh", "git", "gradle", "helm", "heroku", "kubectl", "make", "mvn", "mysql", "npm", "npx", "pip",
    "pip3", "pnpm", "poetry", "psql", "redis-cli", "rsync", "scp", "sed", "ssh", "sudo", "terraform", "uv", "wget", "yarn",
];

pub(super) fn programs(rule: &[Token]) -> Vec<ForbiddenCommand> {
    let plain = |token: &Token| {
        token
            .folded
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    let mut found: Vec<ForbiddenCommand> = rule
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| PROGRAMS.contains(&pair[0].folded.as_str()) && plain(&pair[1]) && !pair[0].pauses)
        .filter(|(_, pair)| {
            pair[0].opens
                || pair[1].term.is_none()
                || pair[1].is_any(COMMANDS)
                || pair[1].is_any(&[Term::Upgrade, Term::Add, Term::Remove, Term::Tests, Term::Change])
        })
        .map(|(at, pair)| {
            // Code in backticks is the whole command.
            let quoted = rule[at..]
                .iter()
                .position(|token| token.closes)
                .filter(|_| pair[0].opens);
            let line = &rule[at..=at + quoted.unwrap_or(1)];
            ForbiddenCommand::Program(line.iter().map(|token| token.folded.clone()).collect())
        })
        .collect();
    let tool = rule
        .iter()
        .position(|token| !token.is_any(&[Term::Filler, Term::Use, Term::Run]));
    // "No sudo"
    let is_alone = tool == Some(0) && rule.iter().filter(|token| !token.is(Term::Filler)).count() == 1;
    if let Some(at) = tool.filter(|at| {
        is_alone
            || rule[..*at]
                .iter()
                .any(|token| token.is_any(&[Term::Use, Term::Run]))
    }) {
        let is_last = rule[at].pauses
            || rule[at + 1..]
                .iter()
                .all(|token| token.is_any(&[Term::Filler, Term::And, Term::Until]));
        if is_last && rule[at].term.is_none() && TOOLS.contains(&rule[at].folded.as_str()) {
            found.push(ForbiddenCommand::Program(vec![rule[at].folded.clone()]));
        }
    }
    found
}
