//! The commands that a clause forbids.

use super::parts::Parts;
use super::reader::COMMANDS;
use super::{Context, ForbiddenCommand, Limit};
use crate::constraints::clause::Token;
use crate::constraints::vocabulary::Term;

/// The commands that a negated clause forbids.
pub(super) fn commands(parts: &Parts<'_>, rule: &[Token], is_state: bool, context: &Context) -> Vec<Limit> {
    let mut found: Vec<ForbiddenCommand> = parts.flags.iter().cloned().map(ForbiddenCommand::Flag).collect();
    found.extend(programs(rule));
    let forces = rule.iter().any(|token| token.folded.contains("force"));
    if forces && parts.has(Term::Push) {
        found.push(ForbiddenCommand::ForcePush);
    }
    // "Write the task, but don't run it"
    if parts.has_only(&[Term::Run, Term::That, Term::Until])
        && parts.has_any(&[Term::That])
        && parts.has(Term::Run)
    {
        found.extend(context.told.clone());
    }
    let is_bare = parts.words.is_empty() && parts.literals.is_empty() && parts.places.is_empty();
    if is_bare {
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
                Term::Deploy if none || parts.has(Term::Production) => ForbiddenCommand::Deploy,
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
                Term::Snapshot if parts.has_any(&[Term::Change, Term::Upgrade]) => {
                    ForbiddenCommand::Snapshots
                }
                _ => continue,
            });
            if *term == Term::Data && parts.has(Term::Schema) {
                found.pop();
            }
        }
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

/// Programs that a constraint names together with a subcommand, without a verb.
#[rustfmt::skip]
pub(super) const PROGRAMS: &[&str] = &[
    "ansible", "artisan", "aws", "az", "cargo", "docker", "docker-compose", "flutter", "gcloud", "gh", "gradle", "helm", "kubectl", "mvn", "npm", "npx", "pnpm", "pip", "poetry",
    "rails", "rake", "terraform", "tofu", "uv", "yarn",
];

pub(super) fn programs(rule: &[Token]) -> Vec<ForbiddenCommand> {
    let plain = |token: &Token| {
        token
            .folded
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    rule.windows(2)
        .filter(|pair| PROGRAMS.contains(&pair[0].folded.as_str()) && plain(&pair[1]) && !pair[0].pauses)
        .filter(|pair| {
            pair[1].term.is_none()
                || pair[1].is_any(COMMANDS)
                || pair[1].is_any(&[Term::Upgrade, Term::Add, Term::Remove, Term::Tests])
        })
        .map(|pair| ForbiddenCommand::Program(vec![pair[0].folded.clone(), pair[1].folded.clone()]))
        .collect()
}
