//! Commands that constraints forbid.

use super::command_effects;
use super::grammar::{forbids, is_negation, orders};
use super::limit::ForbiddenCommand;
use crate::analyzed_action::AnalyzedAction;
use crate::words::{Word, fold, words};
use grov_domain::EffectKind;
use grov_domain::Program;

/// A forbidden command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandConstraint {
    /// The text of the constraint.
    text: String,
    what: Forbidden,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Forbidden {
    /// A program and its first arguments: `git push`, `npm`.
    Program(Vec<String>),
    ForcePush,
    Network,
    Tests,
    Installing,
    Deleting,
    Deploying,
    /// A command recognized by what it does.
    Effect(ForbiddenCommand),
}

/// Programs that are recognized without backticks.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "git", "npm", "npx", "yarn", "pnpm", "bun", "pip", "pip3", "pipx", "uv", "poetry", "conda", "cargo", "rustup", "go", "docker", "podman",
    "docker-compose", "make", "cmake", "curl", "wget", "sudo", "ssh", "scp", "rsync", "kubectl", "helm", "terraform", "ansible", "psql",
    "mysql", "sqlite3", "mongo", "redis-cli", "brew", "apt", "apt-get", "dnf", "yum", "pacman", "rm", "gh", "aws", "gcloud", "az", "heroku",
    "vercel", "fly", "node", "deno", "python", "python3", "mvn", "gradle", "dotnet", "gem", "bundle", "composer", "prettier", "eslint", "sed",
    "systemctl", "kill", "pkill", "killall", "chmod", "chown", "pytest", "jest", "vitest", "black", "mise", "just",
];

/// Words for Git commands that people use without "git".
#[rustfmt::skip]
const GIT_VERBS: &[(&str, &str)] = &[
    ("commit", "commit"), ("commits", "commit"), ("committing", "commit"), ("push", "push"), ("pushing", "push"), ("pushes", "push"),
    ("rebase", "rebase"), ("rebasing", "rebase"), ("merge", "merge"), ("merging", "merge"), ("amend", "commit --amend"), ("stash", "stash"),
    ("stashing", "stash"), ("comiti", "commit"), ("comite", "commit"), ("comita", "commit"), ("cherry-pick", "cherry-pick"),
];

#[rustfmt::skip]
const RUNNING: &[&str] = &[
    "run", "running", "use", "using", "call", "calling", "execute", "executing", "invoke", "invoking", "do", "doing", "launch", "start", "try",
    "rula", "ruleaza", "rulezi", "folosi", "folosesti", "folosiri", "da", "dai", "face", "faci", "apela", "rularea",
];

/// Words that may occur between the verb and the command.
#[rustfmt::skip]
const FILLERS: &[&str] = &["any", "a", "the", "another", "ever", "automatic", "git", "automatically", "un", "vreun", "niciun", "comanda", "command", "your", "own", "sa", "cumva", "to"];

/// Words after a verb that do not narrow its meaning.
#[rustfmt::skip]
const GO_ON: &[&str] = &[
    "anything", "it", "this", "that", "yet", "changes", "the", "your", "my", "any", "yourself", "and", "or", "nor", "at", "for", "in", "please", "nimic", "inca",
    "to", "on", "automatically", "until", "unless", "without", "before", "code", "commits", "them", "these", "nothing", "si", "sau", "anywhere", "now", "work",
];

/// Parses the commands that a constraint forbids.
pub(super) fn read(text: &str, words: &[Word<'_>]) -> Vec<CommandConstraint> {
    let mut found = Vec::new();
    // A conditional constraint is not certain. "Yet" is not a condition: "not yet" means "not now".
    let conditional = words.iter().any(|word| {
        word.is_any(&[
            "if", "unless", "when", "while", "before", "until", "after", "except", "daca", "cand", "inainte",
            "pana", "dupa", "decat", "only", "first",
        ])
    });
    if conditional {
        return found;
    }
    for at in (0..words.len()).filter(|at| is_negation(&words[*at])) {
        for what in forbidden_behind(words, at) {
            let limit = CommandConstraint {
                text: text.to_owned(),
                what,
            };
            if !found.contains(&limit) {
                found.push(limit);
            }
        }
    }
    found
}

/// The commands named after a negation, including several joined by "or".
fn forbidden_behind(words: &[Word<'_>], negation: usize) -> Vec<Forbidden> {
    let mut found = Vec::new();
    let mut at = negation + 1;
    let mut running = false;
    while let Some(word) = words.get(at) {
        if word.is_any(RUNNING)
            && !running
            && !(word.folded == "do" && words.get(at + 1).is_some_and(|next| next.folded == "not"))
        {
            running = true;
            at += 1;
        } else if word.is_any(FILLERS)
            && words.get(at + 1).is_some()
            && !(word.folded == "git" && names_git(words, at))
        {
            at += 1;
        } else if let Some((what, length)) = command_at(words, at, running) {
            found.push(what);
            at += length;
            match words.get(at) {
                Some(next) if next.is_any(&["or", "and", "nor", "si", "sau", "nici"]) => at += 1,
                Some(_) if words[at - 1].after.contains([',', '/']) => {}
                _ => break,
            }
        } else {
            break;
        }
    }
    found
}

fn names_git(words: &[Word<'_>], at: usize) -> bool {
    words.get(at + 1).is_some_and(|next| {
        next.folded
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    })
}

/// The command that begins at a word, and its length in words.
fn command_at(words: &[Word<'_>], at: usize, running: bool) -> Option<(Forbidden, usize)> {
    let word = &words[at];
    let next = words.get(at + 1);
    let folded = word.folded.as_str();
    let next_is = |names: &[&str]| next.is_some_and(|next| next.is_any(names)) && !word.pauses();
    let ends = word.pauses() || next.is_none_or(|next| next.is_any(GO_ON));
    // Code in backticks is the command.
    if word.before.ends_with('`') {
        let end = (at..words.len().min(at + 5)).find(|end| words[*end].after.starts_with('`'))?;
        let line: Vec<String> = words[at..=end].iter().map(|word| word.raw.to_owned()).collect();
        let known = PROGRAMS.contains(&line[0].as_str()) || running && line.len() > 1;
        return known.then_some((Forbidden::Program(line), end + 1 - at));
    }
    match folded {
        "force-push" | "force-pushing" | "force-pushes" | "force-pushed" => {
            return Some((Forbidden::ForcePush, 1));
        }
        "force" | "forced" if next_is(&["push", "pushing", "pushes"]) => {
            return Some((Forbidden::ForcePush, 2));
        }
        "push" if next_is(&["--force", "-f", "force"]) => return Some((Forbidden::ForcePush, 2)),
        "network" | "internet" | "networking" | "retea" | "reteaua" | "internetul" => {
            return Some((Forbidden::Network, 1));
        }
        "go" | "going" if next_is(&["online"]) => return Some((Forbidden::Network, 2)),
        "access"
            if words[at + 1..]
                .iter()
                .take(2)
                .any(|word| word.is_any(&["network", "internet", "web"])) =>
        {
            return Some((Forbidden::Network, 3));
        }
        "tests" | "testele" if running && ends => return Some((Forbidden::Tests, 1)),
        "test" if running && next_is(&["suite"]) => return Some((Forbidden::Tests, 2)),
        "install" | "installing" | "instala" | "instalezi" | "instaleaza"
            if ends || next_is(&["packages", "dependencies", "pachete", "new", "dependinte"]) =>
        {
            return Some((Forbidden::Installing, 1));
        }
        "delete" | "deleting" | "remove" | "removing" | "sterge" | "stergi" | "rm"
            if next_is(&["files", "anything", "any", "folders", "fisiere", "nimic", "file"])
                && folded != "rm" =>
        {
            let thing = words
                .get(at + 2)
                .is_none_or(|word| word.is_any(&["files", "file", "folders"]))
                || !next_is(&["any"]);
            let whole = words
                .get(at + if next_is(&["any"]) { 3 } else { 2 })
                .is_none_or(|word| word.is_any(&["at", "please", "and", "or"]));
            return (thing && whole).then_some((Forbidden::Deleting, 2));
        }
        "deploy" | "deploying" | "publish" | "publishing" | "release" | "publica" | "publici" | "deploys"
        | "releases"
            if ends =>
        {
            return Some((Forbidden::Deploying, 1));
        }
        _ => {}
    }
    if GIT_VERBS.iter().any(|(name, _)| *name == folded) {
        return git_command_at(words, at, running);
    }
    if PROGRAMS.contains(&folded) && (running || folded == "git" || folded == "sudo") {
        let mut line = vec![folded.to_owned()];
        let told = next.filter(|next| {
            !word.pauses()
                && !next.is_any(GO_ON)
                && next
                    .folded
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
                && !next.is_any(&[
                    "here", "directly", "as", "because", "instead", "commands", "command", "again", "aici",
                    "deloc", "with",
                ])
        });
        if let Some(told) = told {
            line.push(told.raw.to_owned());
        }
        let length = line.len();
        return Some((Forbidden::Program(line), length));
    }
    None
}

/// The Git command named by a word without "git".
fn git_command_at(words: &[Word<'_>], at: usize, running: bool) -> Option<(Forbidden, usize)> {
    let word = &words[at];
    let next = words.get(at + 1);
    let next_is = |names: &[&str]| next.is_some_and(|next| next.is_any(names)) && !word.pauses();
    let ends = word.pauses() || next.is_none_or(|next| next.is_any(GO_ON));
    let (_, command) = GIT_VERBS.iter().find(|(name, _)| *name == word.folded)?;
    // "Don't commit secrets" is about secrets. "Don't push to main" is about that branch.
    let mut line: Vec<String> = std::iter::once("git")
        .chain(command.split(' '))
        .map(str::to_owned)
        .collect();
    let branch = words[at + 1..]
        .iter()
        .take(3)
        .find(|word| word.is_any(&["main", "master", "develop", "production", "prod"]));
    line.extend(branch.map(|branch| branch.folded.clone()));
    let to_branch = next_is(&["to", "on", "into", "pe", "in", "directly", "straight"]);
    if to_branch && branch.is_none() && !next_is(&["in"]) {
        return None;
    }
    // Romanian "nu merge" means "does not work".
    if word.folded == "merge" && words[..at].iter().any(|word| word.is_any(&["nu", "n-ai"])) && !running {
        return None;
    }
    (ends || to_branch).then_some((Forbidden::Program(line), 1))
}

/// The words that request a command.
fn requested_by(what: &ForbiddenCommand) -> Vec<&str> {
    match what {
        ForbiddenCommand::Git("push") => vec!["push", "pr", "mr"],
        ForbiddenCommand::Git("commit") => vec!["commit", "push", "pr", "mr", "comite", "committe"],
        ForbiddenCommand::Git(command) => vec![command],
        ForbiddenCommand::Switch(_) => vec!["switch", "checkout", "branch"],
        ForbiddenCommand::Deploy => vec!["publish", "deploy", "release", "publica"],
        ForbiddenCommand::Infrastructure => vec!["apply", "destroy", "upgrade"],
        ForbiddenCommand::Install => vec!["install", "instaleaza"],
        ForbiddenCommand::Upgrade => vec!["upgrade", "bump"],
        ForbiddenCommand::Format => vec!["format", "reformat", "fmt"],
        ForbiddenCommand::Tests => vec!["tests", "testele"],
        ForbiddenCommand::Snapshots => vec!["snapshots", "snapshot"],
        ForbiddenCommand::Migrate | ForbiddenCommand::GenerateMigration => {
            vec!["migrate", "migration", "migrations"]
        }
        ForbiddenCommand::DatabaseWrite => vec!["database"],
        ForbiddenCommand::Containers => vec!["docker", "containers", "container"],
        ForbiddenCommand::Network => vec!["network", "internet"],
        ForbiddenCommand::ForcePush => vec!["force", "force-push"],
        ForbiddenCommand::Task => vec!["run", "execute"],
        ForbiddenCommand::Flag(flag) => vec![flag],
        ForbiddenCommand::Package(name) => vec![name],
        ForbiddenCommand::Program(line) => line.last().map(String::as_str).into_iter().collect(),
    }
}

impl CommandConstraint {
    /// A constraint on a command that is recognized by what it does.
    pub(super) fn on(text: &str, what: ForbiddenCommand) -> Self {
        Self {
            text: text.to_owned(),
            what: Forbidden::Effect(what),
        }
    }

    /// The text of the constraint.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether a sentence requests the forbidden command.
    pub(super) fn is_lifted_by(&self, sentence: &str) -> bool {
        let subjects: Vec<&str> = match &self.what {
            Forbidden::Program(line) => {
                let subject = line.iter().map(String::as_str).find(|word| *word != "git");
                match subject {
                    // A pull request is updated by a push, and a push needs a commit.
                    Some("push") => vec!["push", "pr", "mr"],
                    Some("commit") => vec!["commit", "push", "pr", "mr", "comite"],
                    subject => subject.into_iter().collect(),
                }
            }
            Forbidden::ForcePush => vec!["force", "force-push"],
            Forbidden::Network => vec!["network", "internet"],
            Forbidden::Tests => vec!["tests", "testele"],
            Forbidden::Installing => vec!["install", "instaleaza"],
            Forbidden::Deleting => vec!["delete", "remove", "sterge"],
            Forbidden::Deploying => vec!["publish", "deploy", "release", "publica"],
            Forbidden::Effect(what) => requested_by(what),
        };
        let words = words(sentence);
        let is_asked = |word: &Word<'_>| word.is_any(&subjects);
        // "Looks good, apply it"
        let opens_clause = words.iter().enumerate().any(|(at, word)| {
            let first = at == 0
                || words[at - 1].pauses()
                || words[at - 1].is_any(&["and", "now", "please", "then", "ok"]);
            first && is_asked(word)
        });
        orders(&words) && words.iter().any(is_asked)
            || opens_clause && !forbids(&words) && !sentence.ends_with('?')
    }

    /// Whether an action runs the forbidden command.
    pub(super) fn is_broken_by(&self, action: &AnalyzedAction<'_>) -> bool {
        let runs = |test: fn(&Program) -> bool| action.programs().iter().any(test);
        match &self.what {
            Forbidden::Program(line) => action.programs().iter().any(|command| is_run(line, command)),
            Forbidden::ForcePush => runs(pushes_by_force),
            Forbidden::Network => action.uses_network() && !runs(crate::danger::is_local),
            Forbidden::Tests => action.sketch.effects.contains(&EffectKind::Test),
            Forbidden::Installing => action.installs_packages(),
            Forbidden::Deleting => action.sketch.effects.contains(&EffectKind::Delete),
            Forbidden::Deploying => runs(crate::danger::publishes),
            Forbidden::Effect(what) => command_effects::is_run(what, action),
        }
    }
}

/// Whether a command contains the words of the forbidden one in order, possibly with other words in between.
fn is_run(line: &[String], command: &Program) -> bool {
    let Some((program, rest)) = line.split_first() else {
        return false;
    };
    if rest.is_empty() && command.through.contains(program) {
        return true;
    }
    if fold(command.name()) != fold(program) {
        return false;
    }
    let mut arguments = command.arguments.iter();
    let in_order = rest
        .iter()
        .all(|wanted| arguments.any(|word| word == wanted.as_str() || word.ends_with(&format!(":{wanted}"))));
    // Forms that change nothing are allowed.
    let looks = command.has_word(&["--dry-run", "--help", "--version"])
        || matches!(command.git(), ("stash", rest) if rest.first().is_some_and(|word| matches!(word.as_str(), "list" | "show" | "pop" | "apply")));
    in_order && !looks
}

/// Whether a command is a `git push` that overwrites the remote branch.
pub(crate) fn pushes_by_force(command: &Program) -> bool {
    let ("push", rest) = command.git() else {
        return false;
    };
    rest.iter().any(|word| {
        word.starts_with("--force")
            || word.starts_with('+') && word.len() > 1
            || word == "--mirror"
            || word.starts_with('-') && !word.starts_with("--") && word.contains('f')
    })
}
