//! A pattern of commands that the user asks for. A model may write it too wide, so it excuses no more than it names.

use super::runs_texts;
use crate::constraints::pushes_by_force;
use crate::model_pattern::{ORDINARY_COMMANDS, compiled};
use grov_domain::Program;
use regex_automata::meta::Regex;

/// The most bytes of a command that are compared: longer ones are asked about.
const MAX_TEXT: usize = 2 * 1024;

/// Dangerous commands of different kinds. A pattern that matches several is no request for one of them.
const UNRELATED: &[&str] = &[
    "rm -rf src",
    "git push origin main",
    "git reset --hard HEAD~3",
    "npm publish",
    "kubectl delete namespace shop",
    "psql -c DROP TABLE orders",
    "terraform destroy",
    "docker volume rm data",
];
/// The most of [`UNRELATED`] that a pattern may match: its own kind.
const OF_ONE_KIND: usize = 1;

/// Commands with a target of any name or with any text. A pattern that matches one of them names nothing that the user named.
const OF_ANYTHING: &[&str] = &[
    "rm zzz",
    "rm -rf zzz",
    "rm -r zzz",
    "rm -f zzz",
    "bash -c zzz",
    "sh -c zzz",
    "ssh zzz zzz",
    "node -e zzz",
    "python3 -c zzz",
    "python -c zzz",
    "psql -c zzz",
    "psql zzz",
    "psql -c DROP TABLE zzz",
    "mysql -e zzz",
    "sqlite3 zzz zzz",
    "curl https://zzz.example/",
    "sudo zzz",
    "xargs zzz",
    "env zzz",
    "eval zzz",
    "crontab -l",
    "git log",
    "git config -l",
    "kubectl get pods",
    "docker ps",
    "terraform plan",
    "npm run zzz",
];

/// Options that make a command more dangerous, with what a pattern must contain to mean them.
const MORE: &[(&str, &str)] = &[
    ("--force", "force"),
    ("--mirror", "mirror"),
    ("--delete", "delete"),
    ("--prune", "prune"),
    ("--no-verify", "verify"),
    ("--hard", "hard"),
    ("--volumes", "volumes"),
    ("--all", "all"),
    ("--purge", "purge"),
    ("--cascade", "cascade"),
    ("--recursive", "recursive"),
];

/// Words for the environment that others use, as a command and as the user may say it.
const PRODUCTION: &[&str] = &["prod", "production", "prd"];
const SAID_PRODUCTION: &[&str] = &["prod", "prd", "produkt", "прод", "本番", "生产", "生產"];

/// Programs whose operands are what they remove.
const REMOVERS: &[&str] = &["rm", "rmdir", "unlink", "shred", "truncate", "trash"];

/// Programs that run the program named in their arguments: `npx vercel`.
#[rustfmt::skip]
const LAUNCHERS: &[&str] = &[
    "npx", "bunx", "uvx", "npm", "pnpm", "yarn", "bun", "exec", "dlx", "run", "bundle", "poetry", "uv", "python", "python3", "-m",
];

/// What stands for another text in a command that a pattern must not match.
const OTHER: &str = "zzz";

/// A compiled pattern that means commands of one kind.
#[derive(Clone, Debug)]
pub(super) struct RequestPattern {
    regex: Regex,
    /// The pattern's text, in lower case.
    text: String,
    /// Whether the pattern or the user's words name production.
    names_production: bool,
}

impl RequestPattern {
    /// `None` if the pattern is none, or too wide.
    pub(super) fn new(pattern: &str, words: &str) -> Option<Self> {
        let regex = compiled(pattern)?;
        let is_match = |text: &&&str| regex.is_match(**text);
        let is_wide = ORDINARY_COMMANDS
            .iter()
            .chain(OF_ANYTHING)
            .any(|text| is_match(&text))
            || UNRELATED.iter().filter(is_match).count() > OF_ONE_KIND;
        let text = pattern.to_lowercase();
        let words = words.to_lowercase();
        let names_production = SAID_PRODUCTION
            .iter()
            .any(|name| text.contains(name) || words.contains(name));
        (!is_wide).then_some(Self {
            regex,
            text,
            names_production,
        })
    }

    /// Whether it means a command with these words, and nothing in them that it does not name.
    pub(super) fn is_request_for(&self, words: &str, command: &Program) -> bool {
        let Some((before, after)) = self.around(words) else {
            return false;
        };
        before.split_whitespace().all(|word| LAUNCHERS.contains(&word))
            && !continues(after)
            && !(is_remover(command) && names_more_files(after))
            && self.names_options(words, command)
            && !(runs_texts(command) && self.ignores_text(command))
    }

    /// Whether it means a line that runs the command by another one, and not only the other one.
    pub(super) fn is_whole_line(&self, line: &str, command: &Program) -> bool {
        let Some(at) = line
            .rfind(command.word.as_str())
            .filter(|_| !command.word.is_empty())
        else {
            return false;
        };
        let other = [line.get(..at).unwrap_or_default(), OTHER].concat();
        self.is_request_for(line, command) && !self.regex.is_match(&other)
    }

    /// Whether it names each of these choices of a target: `PGHOST=db1`.
    pub(super) fn names_targets(&self, targets: &[String]) -> bool {
        targets.iter().all(|target| {
            let name = target.split('=').next().unwrap_or_default().to_lowercase();
            self.text.contains(&name) || is_production(target) && self.names_production
        })
    }

    /// What is before and after the match.
    fn around<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let found = self.regex.find(text).filter(|_| text.len() <= MAX_TEXT)?;
        Some((text.get(..found.start())?, text.get(found.end()..)?))
    }

    /// Whether it names the options that make the command more dangerous, and production.
    fn names_options(&self, words: &str, command: &Program) -> bool {
        let is_named = |word: &str| {
            let more = MORE.iter().find(|(option, _)| word.starts_with(option));
            more.is_none_or(|(_, name)| self.text.contains(name))
        };
        let has_force = || {
            ["force", "mirror", "-f", "-[", r"\+"]
                .iter()
                .any(|name| self.text.contains(name))
        };
        let has_removal = || {
            ["delete", "-d", "-[", " :", "(:"]
                .iter()
                .any(|name| self.text.contains(name))
        };
        words.split_whitespace().all(is_named)
            && (!pushes_by_force(command) || has_force())
            && (!removes_branch(command) || has_removal())
            && (!removes_volumes(command) || self.text.contains("-v") || self.text.contains("volumes"))
            && (!is_production(words) || self.names_production)
    }

    /// Whether it would match the command with any other statement or code.
    fn ignores_text(&self, command: &Program) -> bool {
        let is_text = |word: &str| word.contains(char::is_whitespace) || word.contains(['(', ';']);
        let other = |word| if is_text(word) { OTHER } else { word };
        let words: Vec<&str> = command.words().map(other).collect();
        command.words().any(is_text) && self.regex.is_match(&words.join(" "))
    }
}

/// Whether another statement follows: `DELETE FROM logs; DROP TABLE users`.
fn continues(after: &str) -> bool {
    after
        .split_once(';')
        .is_some_and(|(_, more)| more.chars().any(char::is_alphanumeric))
}

/// Whether more files follow, or another one than the pattern names: `rm -rf dist` and then ` src`, `-old` or `/../src`.
fn names_more_files(after: &str) -> bool {
    let is_below = |rest: &str| rest.starts_with('/') && !rest.contains("..");
    let own = after
        .split_whitespace()
        .next()
        .filter(|_| !after.starts_with(char::is_whitespace));
    let more = after.split_whitespace().skip(usize::from(own.is_some()));
    own.is_some_and(|rest| !is_below(rest)) || more.into_iter().any(|word| !word.starts_with('-'))
}

fn is_remover(command: &Program) -> bool {
    REMOVERS.contains(&command.name()) || matches!(command.git().0, "rm" | "checkout" | "restore" | "clean")
}

/// Whether a push removes a branch of the server.
fn removes_branch(command: &Program) -> bool {
    let ("push", rest) = command.git() else {
        return false;
    };
    rest.iter()
        .any(|word| *word == "-d" || *word == "--delete" || word.starts_with(':'))
}

/// Whether containers are removed with their data.
fn removes_volumes(command: &Program) -> bool {
    command.name().starts_with("docker") && command.has_word(&["down", "rm"]) && command.has("--volumes", 'v')
}

fn is_production(words: &str) -> bool {
    words
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| PRODUCTION.iter().any(|name| part.eq_ignore_ascii_case(name)))
}
