//! What an action changes: its paths, the lines that it removes and adds, and the words of added lines and of commands.

use super::source::{code_of, is_comment};
use crate::analyzed_action::{AnalyzedAction, asks_a_server};
use crate::constraints::command_effects::only_shows;
use crate::constraints::place::path_words;
use crate::constraints::substitution::{Substitution, in_place};
use crate::constraints::written::IMPORTING;
use crate::normalized_path::NormalizedPath;
use crate::words::fold;
use grov_domain::{ActionType, EffectKind, Program};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

/// The most lines of each side of a change that are read.
const MAX_LINES: usize = 600;

/// Extensions of files for people.
const PROSE: &[&str] = &["md", "mdx", "txt", "rst", "adoc"];

/// Extensions of style sheets: their selectors name what they do not make.
const STYLES: &[&str] = &["css", "scss", "sass", "less", "styl"];

/// The most bytes of a command that are read.
const MAX_COMMAND: usize = 4 * 1024;

/// What an action changes. It is compared with every constraint, so its words are read once, when they are needed.
#[derive(Debug, Default)]
pub(in crate::constraints) struct Change<'a> {
    /// The changed files and folders of the project.
    pub(super) places: Vec<&'a NormalizedPath>,
    /// The lines that are no longer there.
    pub(super) removed: Vec<Cow<'a, str>>,
    /// The lines that were not there before.
    pub(super) added: Vec<Cow<'a, str>>,
    /// What a command replaces in files.
    pub(super) replaced: Vec<Substitution>,
    /// The statements that a command hands to a database.
    statements: Vec<String>,
    /// The whole texts before and after.
    pub(super) before: Option<&'a str>,
    pub(super) after: &'a str,
    /// A tool of the client edits or writes a file.
    pub(super) is_edit: bool,
    /// A file is written as a whole.
    pub(super) is_whole: bool,
    words: Words,
    sides: OnceCell<Vec<Side<'a>>>,
}

/// A text that is written, and the one that it replaces.
#[derive(Clone, Debug)]
pub(super) struct Side<'a> {
    /// What it replaces; `None` if that is unknown or nothing.
    pub(super) before: Option<Cow<'a, str>>,
    pub(super) after: Cow<'a, str>,
    /// The extension of the file.
    pub(super) extension: &'a str,
}

/// The words of the parts of a change.
#[derive(Debug, Default)]
struct Words {
    new: OnceCell<Vec<Vec<String>>>,
    inserted: OnceCell<Vec<Vec<String>>>,
    run: OnceCell<Vec<Vec<String>>>,
}

impl<'a> Change<'a> {
    /// What an action changes.
    pub(in crate::constraints) fn of(action: &'a AnalyzedAction<'_>) -> Self {
        let mut found = Self {
            places: action
                .changed
                .iter()
                .filter(|place| place.is_in_project())
                .collect(),
            is_edit: action.sketch.action_type.modifies_files(),
            is_whole: action.sketch.action_type == ActionType::Write,
            ..Self::default()
        };
        if found.is_edit {
            let change = action.sketch.change.as_deref();
            found.before = change
                .and_then(|change| change.before.as_deref())
                .filter(|before| !before.trim().is_empty());
            found.after = change.map_or(action.content(), |change| change.after.as_str());
            // A new file that mentions a thing changes nothing about it, and neither does prose or a comment.
            let extension = found.places.first().map_or("", |place| place.extension());
            if let Some(before) = found.before.filter(|_| !PROSE.contains(&extension)) {
                let is_code = |line: &&str| !is_comment(line, extension);
                let lines = |text: &'a str, other: &'a str| {
                    let lines = lines_without(text, other).filter(is_code);
                    lines.map(Cow::Borrowed).collect()
                };
                found.removed = lines(before, found.after);
                found.added = lines(found.after, before);
            }
        } else {
            found.replaced = action.programs().iter().flat_map(in_place).collect();
            let clients = action
                .programs()
                .iter()
                .filter(|program| CLIENTS.contains(&program.name()));
            found.statements = clients
                .flat_map(|program| program.words().map(str::to_owned).chain(program.input.clone()))
                .filter(|word| word.contains(' '))
                .collect();
            for one in &found.replaced {
                let lines = |text: &str| {
                    text.lines()
                        .map(|line| Cow::Owned(line.to_owned()))
                        .collect::<Vec<_>>()
                };
                found.removed.extend(lines(&one.old));
                found.added.extend(lines(&one.new));
            }
        }
        found
    }

    /// The texts before and after: of an edit one pair, of a command one for each text that it replaces.
    pub(super) fn sides(&self) -> &[Side<'a>] {
        self.sides.get_or_init(|| {
            let extension = self.places.first().map_or("", |place| place.extension());
            if self.is_edit {
                return vec![Side {
                    before: self.before.map(Cow::Borrowed),
                    after: Cow::Borrowed(self.after),
                    extension,
                }];
            }
            let replaced = self.replaced.iter().map(|one| Side {
                before: Some(Cow::Owned(one.old.clone())),
                after: Cow::Owned(one.new.clone()),
                extension,
            });
            replaced
                .chain(self.statements.iter().map(|text| Side {
                    before: None,
                    after: Cow::Owned(text.clone()),
                    extension: "sql",
                }))
                .collect()
        })
    }

    /// The files and folders of the project that it changes.
    pub(in crate::constraints) fn places(&self) -> &[&'a NormalizedPath] {
        &self.places
    }

    /// All lines that were not there before, those of prose and comments too. Of a file that is written anew all are.
    pub(in crate::constraints) fn added_lines(&self) -> Vec<&str> {
        let pairs = self.sides().iter();
        let pairs = pairs.map(|side| (side.before.as_deref().unwrap_or_default(), &*side.after));
        pairs
            .flat_map(|(before, after)| lines_without(after, before))
            .collect()
    }

    /// All lines that are no longer there.
    pub(in crate::constraints) fn removed_lines(&self) -> Vec<&str> {
        let pairs = self.sides().iter();
        let pairs = pairs.filter_map(|side| Some((side.before.as_deref()?, &*side.after)));
        pairs
            .flat_map(|(before, after)| lines_without(before, after))
            .collect()
    }

    /// Adds places that the action changes besides.
    pub(in crate::constraints) fn add_places<'p: 'a>(
        &mut self,
        places: impl Iterator<Item = &'p NormalizedPath>,
    ) {
        let places = places.map(|place| -> &'a NormalizedPath { place });
        self.places.extend(places.filter(|place| place.is_in_project()));
    }

    /// Whether more than comments changes.
    pub(super) fn changes_code(&self, extension: &str) -> bool {
        match self.before {
            Some(before) if self.is_edit => code_of(before, extension) != code_of(self.after, extension),
            _ => !self.is_edit || !code_of(self.after, extension).is_empty() || self.after.trim().is_empty(),
        }
    }

    /// The words of what each new line imports or calls, without those that the text before has. Other words only mention a thing.
    pub(super) fn new_words(&self) -> &[Vec<String>] {
        self.words.new.get_or_init(|| {
            let known: HashSet<String> = words_of(self.before.unwrap_or_default()).into_iter().collect();
            let is_new = |word: &String| !known.contains(word);
            self.added
                .iter()
                .map(|line| used_words(line).into_iter().filter(is_new).collect())
                .collect()
        })
    }

    /// The words of what each line of a new file, or of an insertion, imports or calls.
    pub(super) fn inserted_words(&self) -> &[Vec<String>] {
        self.words.inserted.get_or_init(|| {
            let extension = self.places.first().map_or("", |place| place.extension());
            let is_code = !PROSE.contains(&extension) && !STYLES.contains(&extension);
            if !self.is_edit || self.before.is_some() || !is_code {
                return Vec::new();
            }
            let lines = self.after.lines().take(MAX_LINES);
            lines
                .filter(|line| !is_comment(line, extension))
                .map(used_words)
                .filter(|words| !words.is_empty())
                .collect()
        })
    }

    /// The words of each command of the action that does something, besides tests.
    pub(super) fn run_words(&self, action: &AnalyzedAction<'_>) -> &[Vec<String>] {
        let tests = |program: &Program| {
            program.operands().any(|word| {
                matches!(
                    word.rsplit(['/', ':']).next(),
                    Some("test" | "tests" | "check" | "verify")
                )
            })
        };
        let acts =
            |program: &&Program| !LOOKING.contains(&program.name()) && !looks(program) && !tests(program);
        self.words.run.get_or_init(|| {
            if action.sketch.effects.contains(&EffectKind::Test) {
                return Vec::new();
            }
            action.programs().iter().filter(acts).map(name_words).collect()
        })
    }
}

/// The lines of a text that another one does not have.
fn lines_without<'t>(text: &'t str, other: &'t str) -> impl Iterator<Item = &'t str> {
    let known: HashSet<&str> = other.lines().map(str::trim).collect();
    let is_new = move |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !known.contains(line)
    };
    text.lines().take(MAX_LINES).filter(is_new)
}

/// The words of a text, folded: `tab` and `bar` of `tabBar`.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let mut found = path_words(text);
    found.retain(|word| !word.is_empty());
    if !text.is_ascii() {
        for word in &mut found {
            *word = fold(word);
        }
    }
    found
}

/// The words of what a line of code imports or calls.
fn used_words(line: &str) -> Vec<String> {
    if IMPORTING.iter().any(|start| line.trim_start().starts_with(start)) || line.contains("require(") {
        return words_of(line);
    }
    let is_name = |letter: &char| letter.is_alphanumeric() || "_.!".contains(*letter);
    let called = line.match_indices('(').map(|(at, _)| {
        let start = line[..at]
            .char_indices()
            .rev()
            .take_while(|(_, letter)| is_name(letter))
            .last();
        &line[start.map_or(at, |(start, _)| start)..at]
    });
    called.flat_map(words_of).collect()
}

/// The words that tell what a command does: its program, and its first two operands before an option.
fn name_words(program: &Program) -> Vec<String> {
    // The client of a server names it in its options.
    if asks_a_server(program) {
        return command_words(program);
    }
    let before_options = program.arguments.iter().map(|argument| argument.text.as_str());
    let operands: Vec<&str> = before_options
        .take_while(|word| !word.starts_with('-'))
        .take(2)
        .collect();
    // "Don't auto-fix": long options tell what is done, too.
    let options = program.words().filter_map(|word| word.strip_prefix("--"));
    // `--no-cache` uses no cache.
    let is_meant = |word: &&str| !word.contains('=') && !word.starts_with("no-");
    let options: Vec<&str> = options.filter(is_meant).take(8).collect();
    words_of(&format!(
        "{} {} {}",
        program.name(),
        operands.join(" "),
        options.join(" ")
    ))
}

/// The words of a command: its program, and its arguments and input without what it leaves out (`--exclude docs`).
pub(in crate::constraints) fn command_words(program: &Program) -> Vec<String> {
    let mut text = String::new();
    let mut is_left_out = false;
    // A script's text mentions more than it does.
    let input = program
        .input
        .as_deref()
        .filter(|_| !INTERPRETERS.contains(&program.name()));
    for word in program
        .words()
        .chain(program.targets.iter().map(String::as_str))
        .chain(input)
    {
        let leaves_out = EXCLUDING.iter().any(|option| word.starts_with(option)) || word == "-x";
        if !(is_left_out || leaves_out) && text.len() + word.len() <= MAX_COMMAND {
            text.push_str(word);
            text.push(' ');
        }
        is_left_out = leaves_out && !word.contains('=');
    }
    words_of(&text)
}

/// Clients of databases.
const CLIENTS: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlcmd",
    "clickhouse-client",
    "duckdb",
    "sqlplus",
];

/// Programs that run their input.
const INTERPRETERS: &[&str] = &[
    "bash", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh",
];

/// Options for what a program leaves out.
const EXCLUDING: &[&str] = &[
    "--exclude",
    "--except",
    "--ignore",
    "--reject",
    "--skip",
    "--not",
    "--omit",
    "--without",
];

/// Programs that change nothing.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "ag", "awk", "basename", "bat", "cat", "cd", "cmp", "comm", "cut", "date", "df", "diff", "dirname", "du", "echo", "env", "export", "fd", "file", "find", "grep", "head", "jq", "less", "ls", "more", "nl", "printf", "ps", "pwd", "rg",
    "sha256sum", "sleep", "sort", "stat", "tail", "test", "tree", "true", "uniq", "wc", "which", "xxd", "yq",
];

/// Subcommands that only show something, of any program.
#[rustfmt::skip]
const SHOWING: &[&str] = &["describe", "devices", "help", "history", "info", "inspect", "list", "logs", "ls", "outdated", "ps", "show", "status", "tree", "version", "view", "why"];

/// Whether a program changes nothing, whatever its arguments are.
pub(in crate::constraints) fn only_reads(program: &Program) -> bool {
    LOOKING.contains(&program.name()) && program.targets.is_empty()
}

/// Whether a program only shows something.
pub(in crate::constraints) fn looks(program: &Program) -> bool {
    let git = program.git().0;
    let is_git_reading = matches!(
        git,
        "log"
            | "diff"
            | "show"
            | "status"
            | "blame"
            | "grep"
            | "ls-files"
            | "branch"
            | "fetch"
            | "rev-parse"
            | "describe"
    ) && !program.has_word(&["-D", "-d", "--delete", "-m", "-M"]);
    let shows = program.git().0.is_empty()
        && program
            .operands()
            .next()
            .is_some_and(|word| SHOWING.contains(&word));
    let checks = match program.name() {
        "make" | "bash" | "sh" | "zsh" => program.has_word(&["-n"]),
        "ruby" | "perl" => program.has_word(&["-c"]),
        "php" => program.has_word(&["-l"]),
        "nginx" | "sshd" => program.has_word(&["-t"]),
        "node" => program.has_word(&["--check"]),
        "python" | "python3" => program.has_word(&["py_compile", "compileall"]),
        _ => false,
    };
    let lists_tags = git == "tag" && program.has_word(&["-l", "--list"]);
    let lists_signals = program.name() == "kill" && program.has_word(&["-l", "-L"]);
    is_git_reading
        || lists_signals
        || shows
        || checks
        || only_shows(program)
        || lists_tags
        || program.has_word(&[
            "--dry-run",
            "--help",
            "--version",
            "--check",
            "-check",
            "--list",
            "--collect-only",
            "-list-avds",
        ])
}
