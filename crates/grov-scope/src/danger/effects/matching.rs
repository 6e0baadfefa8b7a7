//! Matches a command against a row.

use super::Row;
use super::{index, text_table};
use grov_domain::{Argument, Program, Role};

/// A command as its rows read it: the program behind an interpreter or a package runner, and its arguments.
pub(super) struct Invocation<'c> {
    pub(super) name: &'c str,
    rows: &'static [Row],
    /// Rows of the table that is a text.
    more: &'static [Row],
    arguments: &'c [Argument],
    command: &'c Program,
}

/// The parts of a command that a row matched.
pub(super) struct Match<'c> {
    /// The last word of the subcommand; the program if it has none.
    pub(super) verb: &'c str,
    /// The words of the subcommand.
    pub(super) words: Vec<&'c str>,
    /// The arguments after the subcommand.
    pub(super) rest: &'c [Argument],
}

/// Programs that run a file or a module of another program: `php artisan`, `python manage.py`, `python -m alembic`.
fn runs_a_file(name: &str) -> bool {
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    matches!(
        bare,
        "python" | "py" | "php" | "ruby" | "node" | "pypy" | "java" | "perl"
    )
}

/// Package managers that run programs of a project: `yarn prisma migrate reset`.
fn runs_a_package(name: &str) -> bool {
    matches!(
        name,
        "pnpm"
            | "yarn"
            | "bun"
            | "npm"
            | "composer"
            | "dx"
            | "k3s"
            | "rke2"
            | "k0s"
            | "minikube"
            | "microk8s"
            | "microk8s.kubectl"
    )
}

impl<'c> Invocation<'c> {
    /// The invocation of a command, if the table has rows for its program.
    pub(super) fn of(command: &'c Program) -> Option<Self> {
        let arguments = command.arguments.as_slice();
        let name = bare_name(command.name());
        let found = |name: &'c str, arguments: &'c [Argument]| {
            let rows = index::rows_of(name)?;
            Some(Self {
                name,
                rows,
                more: text_table::rows_of(name),
                arguments,
                command,
            })
        };
        if runs_a_file(name) {
            let at = arguments
                .iter()
                .position(|argument| argument.role == Role::Operand)?;
            let (file, rest) = arguments[at..].split_first()?;
            let is_module = arguments[..at]
                .iter()
                .any(|argument| argument == "-m" || argument == "-jar");
            let file = bare_name(file.rsplit(['/', '\\']).next().unwrap_or(file));
            // An operand that is only a word is a script of that name, not the program.
            return found(file, rest).filter(|_| is_module || at == 0);
        }
        if runs_a_package(name)
            && let Some(at) = arguments
                .iter()
                .position(|argument| argument.role == Role::Operand)
            && let Some((tool, rest)) = arguments[at..].split_first()
        {
            let tool = match (tool.as_str(), rest.first()) {
                ("exec" | "dlx" | "x", Some(tool)) => found(bare_name(tool), &rest[1..]),
                _ if index::is_project_tool(bare_name(tool)) => found(bare_name(tool), rest),
                _ => None,
            };
            if tool.is_some() {
                return tool;
            }
        }
        found(name, arguments)
    }

    /// The rows of its program.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'static Row> + use<> {
        self.more.iter().chain(self.rows)
    }

    /// The match of a row. If it `happens` anyway, the option for a dry run does not excuse it.
    pub(super) fn matches(&self, row: &Row, happens: bool) -> Option<Match<'c>> {
        let found = self.path(row.path)?;
        let has = |one: &str| self.has(one);
        let is_needed = row
            .needs
            .split_ascii_whitespace()
            .all(|group| group.split('|').any(has));
        let mut excuses = row.unless.split('|').filter(|one| !happens || *one != "-n");
        let is_excused = !row.unless.is_empty() && excuses.any(has);
        (is_needed && !is_excused).then_some(found)
    }

    fn path(&self, path: &str) -> Option<Match<'c>> {
        let mut words = Vec::new();
        let mut at = 0;
        let mut skips = false;
        let mut groups = 0;
        for pattern in path.split_ascii_whitespace() {
            match pattern {
                "**" => {
                    skips = true;
                    continue;
                }
                "++" => {
                    groups = MAX_GROUPS;
                    continue;
                }
                _ => {}
            }
            loop {
                let argument = self.arguments.get(at)?;
                let may_be_value = at.checked_sub(1).is_some_and(|before| {
                    self.arguments[before].starts_with('-') && !self.arguments[before].contains('=')
                });
                at += 1;
                if argument.role != Role::Operand {
                    continue;
                }
                if pattern.split('|').any(|one| is_like(one, argument)) {
                    words.push(argument.as_str());
                    break;
                }
                if !skips && !may_be_value {
                    groups = groups.checked_sub(1).filter(|_| is_group(argument))?;
                    words.push(argument.as_str());
                }
            }
            skips = false;
            groups = 0;
        }
        Some(Match {
            verb: words.last().copied().unwrap_or(self.name),
            words,
            rest: &self.arguments[at..],
        })
    }

    /// Whether an argument is present: `--long`, `-s` alone or in a group, `--name=value`, `word`, `env:NAME=value`.
    fn has(&self, wanted: &str) -> bool {
        if let Some(variable) = wanted.strip_prefix("env:") {
            return self.command.assignments.iter().any(|one| is_like(variable, one));
        }
        let mut arguments = self.arguments.iter().enumerate();
        if let Some((name, value)) = wanted.split_once('=').filter(|_| wanted.starts_with('-')) {
            return arguments.any(|(at, argument)| {
                let attached = match argument.strip_prefix(name) {
                    Some("") => self.arguments.get(at + 1).map(Argument::as_str),
                    Some(rest) if name.starts_with("--") => rest.strip_prefix('='),
                    Some(rest) => Some(rest.trim_start_matches('=')),
                    None => None,
                };
                attached.is_some_and(|attached| is_like(value, attached))
            });
        }
        if wanted.starts_with("--") {
            return arguments.any(|(_, argument)| {
                let name = argument
                    .split_once('=')
                    .map_or(argument.as_str(), |(name, _)| name);
                argument.starts_with('-') && is_like(wanted, name)
            });
        }
        match (wanted.strip_prefix('-'), wanted.len()) {
            (Some(letter), 2) => arguments.any(|(_, argument)| has_letter(argument, letter)),
            (Some(_), _) => arguments.any(|(_, argument)| {
                let name = argument
                    .split_once(['=', ':'])
                    .map_or(argument.as_str(), |(name, _)| name);
                is_like(wanted, name)
            }),
            (None, _) => arguments.any(|(_, argument)| is_like(wanted, argument)),
        }
    }
}

/// The maximum number of words before the verb of a subcommand: `compute instances delete`.
const MAX_GROUPS: usize = 3;

/// Whether a word may name the object of a subcommand, before its verb. After verbs that only read, a verb is an object.
fn is_group(word: &str) -> bool {
    const READING: &[&str] = &[
        "help",
        "man",
        "get",
        "list",
        "ls",
        "show",
        "describe",
        "search",
        "explain",
        "docs",
        "logs",
        "log",
        "completion",
        "info",
        "status",
        "view",
        "generate",
        "new",
        "init",
        "test",
        "lint",
        "format",
        "check",
        "validate",
        "build",
        "dev",
        "add",
    ];
    let is_word = word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_'));
    is_word && word.len() <= 24 && !READING.contains(&word)
}

/// Whether an argument is a group of short options with a letter. A value attached to an option is not part of it.
fn has_letter(argument: &Argument, letter: &str) -> bool {
    let Some(group) = argument.strip_prefix('-') else {
        return false;
    };
    let is_group =
        !group.starts_with('-') && group.len() <= 6 && group.bytes().all(|byte| byte.is_ascii_alphanumeric());
    argument.role == Role::Option && is_group && group.contains(letter)
}

/// A program's name without a version, an ending of scripts, or upper case.
fn bare_name(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    [
        ".sh", ".bat", ".phar", ".rb", ".js", ".exe", ".cmd", ".pl", ".jar",
    ]
    .iter()
    .find_map(|ending| name.strip_suffix(ending))
    .unwrap_or(name)
}

/// Whether a word matches a pattern, in any case: `*` stands for any letters, `?` for one.
pub(super) fn is_like(pattern: &str, word: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return is_same(pattern, word);
    };
    let Some(mut left) = strip_start(word, start) else {
        return false;
    };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            let from = left.len().checked_sub(part.len());
            return from
                .and_then(|from| left.get(from..))
                .is_some_and(|end| is_same(part, end));
        }
        let Some(at) = find(left, part) else {
            return false;
        };
        left = &left[at + part.len()..];
    }
    true
}

fn is_same(pattern: &str, word: &str) -> bool {
    let mut pairs = pattern.bytes().zip(word.bytes());
    pattern.len() == word.len() && pairs.all(|(one, other)| one == b'?' || one.eq_ignore_ascii_case(&other))
}

fn strip_start<'w>(word: &'w str, start: &str) -> Option<&'w str> {
    let head = word.get(..start.len())?;
    is_same(start, head).then(|| &word[start.len()..])
}

fn find(text: &str, part: &str) -> Option<usize> {
    text.char_indices()
        .map(|(at, _)| at)
        .find(|at| strip_start(&text[*at..], part).is_some())
}
