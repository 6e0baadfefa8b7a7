//! The words of a command that decide what it does, without those that only change how it looks: `time`, `-v`, `2>&1 | tail`.

use crate::analyzed_action::AnalyzedAction;
use crate::history::WorkingDirectory;
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::Program;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Programs that only prepare, wait or tell.
#[rustfmt::skip]
const PADDING: &[&str] = &["cd", "pushd", "popd", "sleep", "wait", "echo", "printf", "true", ":", "set", "date", "clear", "exit", "pwd", "reset"];

/// Programs that show a part of the output of another one.
#[rustfmt::skip]
const VIEWS: &[&str] = &["tail", "head", "grep", "egrep", "rg", "tee", "cat", "less", "more", "sed", "awk", "sort", "uniq", "wc", "nl", "tac", "cut", "ts", "tr", "column", "jq", "xcpretty", "ansifilter"];

/// Programs that run another one without changing what it does.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &["time", "gtime", "timeout", "gtimeout", "nice", "ionice", "nohup", "env", "stdbuf", "unbuffer", "command", "exec", "caffeinate", "script", "strace"];

/// Options that only change what is shown.
#[rustfmt::skip]
const DISPLAY: &[&str] = &[
    "-v", "-vv", "-vvv", "-vvvv", "-V", "-q", "-qq", "-s", "--verbose", "--quiet", "--silent", "--debug", "--trace", "--stacktrace", "--full-stacktrace", "--info", "--backtrace", "--color", "--colour", "--no-color", "--no-colour", "--colors", "--no-colors",
    "--progress", "--no-progress", "--tb", "--nocapture", "--no-capture", "--show-output", "-ra", "-rA", "-rf", "--no-header", "--no-pager", "--reporter", "--reporters", "--log-level", "--loglevel", "--verbosity", "--message-format", "--diff", "--show-trace", "--details", "--summary", "--durations", "--console", "--plain", "--pretty", "--ansi", "--no-ansi", "--print-logs", "-x",
];

/// Long options and their letters, in the programs that have both.
#[rustfmt::skip]
const LETTERS: &[(&str, &str)] = &[
    ("--limit", "-l"), ("--inventory", "-i"), ("--tags", "-t"), ("--extra-vars", "-e"), ("--file", "-f"), ("--namespace", "-n"), ("--jobs", "-j"), ("--package", "-p"), ("--output", "-o"), ("--yes", "-y"), ("--assume-yes", "-y"),
    ("--user", "-u"), ("--port", "-p"), ("--recursive", "-r"), ("--all", "-a"), ("--config", "-c"), ("--directory", "-C"), ("--project", "-p"), ("--keyword", "-k"), ("--test-name-pattern", "-t"), ("--workspace", "-w"), ("--filter", "-f"), ("--upgrade", "-U"),
    ("--requirement", "-r"), ("--editable", "-e"), ("--detach", "-d"), ("--tag", "-t"), ("--force", "-f"), ("--message", "-m"), ("--host", "-h"), ("--database", "-d"), ("--release", "-r"), ("--features", "-F"), ("--become", "-b"), ("--check", "-C"), ("--target", "-t"), ("--env", "-e"),
];

/// Variables that only change what is shown.
#[rustfmt::skip]
const DISPLAY_VARIABLES: &[&str] = &[
    "RUST_BACKTRACE", "RUST_LOG", "DEBUG", "VERBOSE", "V", "FORCE_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PYTHONUNBUFFERED", "PYTHONFAULTHANDLER", "TERM", "LANG", "LC_ALL", "CARGO_TERM_COLOR", "CARGO_TERM_VERBOSE", "PAGER", "GIT_PAGER", "GIT_TRACE", "COLUMNS",
    "ANSIBLE_STDOUT_CALLBACK", "ANSIBLE_FORCE_COLOR", "ANSIBLE_NOCOLOR", "ANSIBLE_DEBUG", "ANSIBLE_VERBOSITY", "TF_LOG", "CI", "GOTRACEBACK", "NODE_DEBUG", "LOG_LEVEL", "LOGLEVEL", "COMPOSE_ANSI", "BUILDKIT_PROGRESS", "COMPOSE_PROGRESS", "NEXT_TELEMETRY_DISABLED", "DOTNET_CLI_TELEMETRY_OPTOUT",
];

/// The hash of the essential words of a command that runs in a folder, whatever their order. `None` if it runs nothing.
pub(crate) fn essential_hash(
    action: &AnalyzedAction<'_>,
    root: &ProjectRoot,
    directory: &WorkingDirectory,
) -> Option<u64> {
    let programs = action.programs();
    if programs.is_empty() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    let mut here = directory.clone();
    let mut is_padded = true;
    for command in programs {
        here.follow(command);
        if !is_padding(command) {
            is_padded = false;
            place(&here, root).hash(&mut hasher);
            hash_words(command, &mut hasher);
        }
    }
    // Nothing but padding: all of it counts.
    if is_padded {
        for command in programs {
            command.words().for_each(|word| word.hash(&mut hasher));
        }
    }
    Some(hasher.finish())
}

/// Whether the last program only shows the output of another one, so that its success says nothing of the other's.
pub(crate) fn hides_result(action: &AnalyzedAction<'_>) -> bool {
    let last = action.programs().last();
    let swallows = last.is_some_and(|last| last.is_fallback || matches!(last.name(), "echo" | "true"));
    swallows || last.is_some_and(is_view)
}

fn is_padding(command: &Program) -> bool {
    let exports_display = || command.name() == "export" && command.operands().all(is_display_variable);
    PADDING.contains(&command.name()) && command.targets.is_empty() || is_view(command) || exports_display()
}

fn is_view(command: &Program) -> bool {
    command.source.is_some() && VIEWS.contains(&command.name())
}

fn is_display_variable(assignment: &str) -> bool {
    let name = assignment.split('=').next().unwrap_or(assignment);
    DISPLAY_VARIABLES.contains(&name)
}

/// The folder of a command relative to the root; `None` if it is unknown.
fn place(here: &WorkingDirectory, root: &ProjectRoot) -> Option<String> {
    here.path(".").map(|path| {
        let place = NormalizedPath::new(root, &path);
        place.as_str().to_owned()
    })
}

fn hash_words(command: &Program, hasher: &mut DefaultHasher) {
    let mut words: Vec<&str> = vec![command.name()];
    for argument in &command.arguments {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (argument.as_str(), None),
        };
        if DISPLAY.contains(&name) {
            continue;
        }
        let letter = LETTERS.iter().find(|(long, _)| *long == name);
        words.push(letter.map_or(name, |(_, letter)| letter));
        words.extend(value);
    }
    let wrappers = command.through.iter().map(String::as_str);
    words.extend(wrappers.filter(|wrapper| !WRAPPERS.contains(wrapper)));
    let set = command.assignments.iter().map(String::as_str);
    words.extend(set.filter(|one| !is_display_variable(one)));
    let is_log = |target: &&str| {
        target.starts_with("/dev/")
            || target.starts_with("/tmp/")
            || target.ends_with(".log")
            || target.ends_with(".txt")
    };
    words.extend(
        command
            .targets
            .iter()
            .map(String::as_str)
            .filter(|target| !is_log(target)),
    );
    words.sort_unstable();
    words.hash(hasher);
    command.input.hash(hasher);
}
