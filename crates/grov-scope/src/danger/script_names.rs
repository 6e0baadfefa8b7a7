//! Scripts and targets of a project whose names say that they deploy, publish or destroy: `./scripts/deploy.sh`, `make deploy`,
//! `npm run db:reset -- --env production`. Their text may not be at hand.

use super::effects::stems::{PUBLISH, REMOVE, RESET};
use super::{DESTRUCTIVE, EvaluationContext, RISKY, finding};
use grov_domain::{Finding, Program};

/// Programs that run targets or scripts of a project by name.
#[rustfmt::skip]
const RUNNERS: &[&str] = &["bun", "composer", "grunt", "gulp", "invoke", "inv", "just", "mage", "make", "npm", "nx", "pnpm", "rake", "task", "yarn"];

/// Programs that run the file in their first operand.
const INTERPRETERS: &[&str] = &[
    "bash", "node", "perl", "php", "python", "python3", "ruby", "sh", "tsx", "zsh",
];

/// Words of names that publish.
const PUBLISHING: &[&str] = &["deploy", "publish", "redeploy", "rollout", "ship", "undeploy"];

/// Words of names that destroy.
const DESTROYING: &[&str] = &["destroy", "nuke", "obliterate", "purge", "teardown", "wipe"];

/// Words with which a name is about something else: checks, previews, and what stays on this machine.
#[rustfmt::skip]
const OTHERWISE: &[&str] = &[
    "build", "check", "ci", "config", "dev", "diff", "docs", "dry", "e2e", "generate", "lint", "list", "local", "log", "logs", "plan", "preview", "print",
    "render", "serve", "server", "show", "start", "status", "test", "tests", "validate", "verify",
];

/// The finding for a script or a target that deploys or destroys by its name, or that is run on production.
pub(super) fn of_command(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    if super::effects::is_harmless(command) || command.has_word(&["-n", "-l", "-T", "-P"]) {
        return None;
    }
    let name = name_of(command)?;
    let words = || {
        name.split(|letter: char| !letter.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
    };
    if words().any(|word| OTHERWISE.contains(&word)) {
        return None;
    }
    let request = &context.compiled.request;
    let is_named = request.names_path(name) && !request.is_question();
    let is_asked = |stems: &[&str]| request.mentions_any(stems) || is_named || context.has_local_endpoint();
    // "Deploy to staging" asks for no production.
    let is_beyond = runs_live(command) && request.is_confined_to_trial();
    if words().any(|word| PUBLISHING.contains(&word)) && (is_beyond || !is_asked(PUBLISH)) {
        let reason = format!("`{name}` publishes something by its name, which was not requested");
        return finding(DESTRUCTIVE, None, reason).map(Finding::interpreted);
    }
    if words().any(|word| DESTROYING.contains(&word)) && !is_asked(REMOVE) && !is_asked(RESET) {
        let reason = format!("`{name}` destroys something by its name, which was not requested");
        return finding(RISKY, None, reason).map(Finding::interpreted);
    }
    // `./scripts/migrate.sh prod`, `make seed ENV=production`
    let is_live = runs_live(command);
    let is_verb_asked = words().any(|word| word.len() >= 4 && request.mentions_any(&[word]));
    let is_publication_asked = is_asked(PUBLISH) && words().any(|word| PUBLISHING.contains(&word));
    let reads = command.operands().any(|word| OTHERWISE.contains(&word));
    let reason = format!("`{name}` runs on production, which was not requested");
    finding(RISKY, None, reason)
        .map(Finding::interpreted)
        .filter(|_| {
            is_live && !is_verb_asked && !is_publication_asked && !reads && !request.is_about_production()
        })
}

/// Whether an argument or a variable is the name of production. Programs start for trial with `NODE_ENV=production`.
fn runs_live(command: &Program) -> bool {
    let set = command
        .assignments
        .iter()
        .filter(|one| !one.starts_with("NODE_ENV"));
    let mut values = command.words().chain(set.map(String::as_str));
    let is_live = |word: &str| word.rsplit('=').next().is_some_and(|value| LIVE.contains(&value));
    !command.has_word(&["--mode"]) && values.any(is_live)
}

/// Names of the environment that users depend on.
const LIVE: &[&str] = &["prod", "production", "prd", "live"];

/// The name of the script or target that a command runs, without folders.
fn name_of(command: &Program) -> Option<&str> {
    let program = command.name();
    let is_script = |path: &str| {
        path.contains('/') && !path.starts_with(['/', '~', '$'])
            || path.ends_with(".sh") && !path.starts_with(['/', '~'])
    };
    if RUNNERS.contains(&program) {
        let mut operands = command.operands().filter(|word| !word.contains('='));
        let first = operands.next()?;
        return match first {
            "run" | "run-script" => operands.next(),
            // `npm deploy` is no script.
            _ if matches!(program, "npm" | "bun" | "pnpm" | "yarn" | "composer" | "nx") => {
                matches!(program, "pnpm" | "yarn")
                    .then_some(first)
                    .filter(|name| *name != "publish")
            }
            first => Some(first),
        };
    }
    let path = if INTERPRETERS.contains(&program) {
        command
            .arguments
            .first()
            .filter(|word| !word.starts_with('-'))?
            .as_str()
    } else {
        command.word.as_str()
    };
    let name = path.rsplit('/').next()?;
    (is_script(path) && !path.contains("node_modules/")).then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::{requests_silent, under};

    #[test]
    fn scripts_that_deploy_or_destroy_by_name_are_asked_about() {
        under("Fix the parser").asked(&[
            "./scripts/deploy.sh prod",
            "./bin/deploy production",
            "bash deploy.sh",
            "make deploy ENV=prod",
            "npm run deploy",
            "yarn publish:all",
            "just nuke",
            "python scripts/purge_users.py --yes",
            "./scripts/backfill.sh --env=production",
            "rake seed ENV=production",
        ]);
    }

    #[test]
    fn scripts_that_check_or_were_asked_for_run() {
        requests_silent(&[
            ("Deploy it to production", "./scripts/deploy.sh prod"),
            ("Run make deploy", "make deploy"),
            ("Fix the parser", "make -n deploy"),
            ("Fix the parser", "npm run test:deploy"),
            ("Fix the parser", "bash scripts/check_deploy.sh prod"),
            ("Fix the parser", "make build ENV=production"),
            ("Fix the parser", "npm run lint"),
            ("Fix the parser", "cat scripts/deploy.sh"),
            ("Fix the parser", "python manage.py test prod"),
            (
                "See why production is slow",
                "python scripts/explain.py --env=production",
            ),
        ]);
    }
}
