//! Commands that destroy files, history and data.

mod bulk;

use super::{
    CRITICAL, DESTRUCTIVE, EvaluationContext, MINOR, REMOVING, RISKY, Unrequested, finding, unrequested,
};
use crate::constraints::pushes_by_force;
use crate::file_kind::{FileKind, is_build_output, is_temporary};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Argument, Finding, Program, operands};

/// Stems of words that request emptying a folder.
const EMPTYING: &[&str] = &["clean", "empty", "delet", "remov", "sterg", "golest", "curat"];

/// Stems of words that request removing Docker's data.
#[rustfmt::skip]
const DOCKER_DATA: &[&str] = &[
    "prun", "clean", "volume", "disk", "space", "delet", "remov", "reset", "fresh", "recreat", "wipe", "sterg", "curat", "spatiu",
];

/// Stems of words that request removing stored data.
#[rustfmt::skip]
const DATA: &[&str] = &[
    "drop", "truncat", "migrat", "reset", "seed", "delet", "sterg", "purg", "wipe", "clear", "flush", "recreat",
];

const DATABASE: Unrequested = unrequested(
    DESTRUCTIVE,
    DATA,
    "A database is dropped, which was not requested",
);
#[rustfmt::skip]
const INFRASTRUCTURE: Unrequested = unrequested(
    DESTRUCTIVE, &["destroy", "teardown", "tear", "remov", "delet", "distrug", "sterg"],
    "Infrastructure is destroyed, which was not requested",
);
#[rustfmt::skip]
const CLUSTER: Unrequested = unrequested(
    DESTRUCTIVE, &["delet", "remov", "restart", "clean", "sterg", "elimin", "reporn", "curat"],
    "Something in a cluster is deleted, which was not requested",
);
const DOCKER: Unrequested = unrequested(
    RISKY,
    DOCKER_DATA,
    "Docker's data is removed, which was not requested",
);
const GITHUB: Unrequested = unrequested(
    DESTRUCTIVE,
    REMOVING,
    "Something on GitHub is deleted, which was not requested",
);
#[rustfmt::skip]
const CLOUD: Unrequested = unrequested(
    DESTRUCTIVE, &["delet", "remov", "terminat", "clean", "empty", "sterg", "elimin", "goleste", "curat"],
    "Something in the cloud is deleted, which was not requested",
);

/// The finding for a destructive command. `source` is the command whose output it reads.
pub(super) fn of_command(
    command: &Program,
    source: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    match command.name() {
        "rm" | "rimraf" | "shred" | "trash" | "unlink" => {
            removal(command, context).or_else(|| bulk::fed(command, source, context))
        }
        "find" | "fd" | "fdfind" if bulk::removes(command) => bulk::found(command, context),
        "rsync" => bulk::mirrored(command, context),
        "git" => git(command, context)?.finding(context),
        "dropdb" if !context.makes_database && !command.operands().last().is_some_and(is_for_trial) => {
            DATABASE.finding(context)
        }
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "mongosh" | "mongo" | "redis-cli"
        | "clickhouse-client" | "duckdb" => {
            let is_trial = command.operands().any(|word| is_trial_database(word, context));
            let mut statements = command.arguments.iter().filter(|_| !is_trial);
            statements.find_map(|word| of_statement(word, context))
        }
        "dd" if command
            .operands()
            .any(|word| word.starts_with("of=/dev/") && word != "of=/dev/null") =>
        {
            finding(CRITICAL, None, "A device is overwritten")
        }
        name if name.starts_with("mkfs")
            || matches!(name, "wipefs" | "fdisk" | "parted" | "diskpart" | "sgdisk") =>
        {
            finding(CRITICAL, None, "A disk is formatted or partitioned")
        }
        _ => service(command)?.finding(context),
    }
}

/// The rule for a command that destroys something in a service.
fn service(command: &Program) -> Option<Unrequested> {
    let words: Vec<&str> = command.operands().take(2).collect();
    let deletes_in_cloud = |word: &Argument| {
        word == "rm" || word == "rb" || word.starts_with("delete-") || word.starts_with("terminate-")
    };
    match (command.name(), words.as_slice()) {
        ("terraform" | "tofu" | "pulumi" | "cdk", ["destroy", ..]) => Some(INFRASTRUCTURE),
        ("kubectl" | "oc", ["delete", ..]) => Some(CLUSTER),
        ("docker" | "podman", ["system", "prune"] | ["volume", "rm" | "prune"]) => Some(DOCKER),
        ("docker" | "podman", ["compose", ..]) | ("docker-compose" | "podman-compose", _) => {
            takes_volumes_down(command).then_some(DOCKER)
        }
        ("gh", ["repo" | "release" | "secret" | "issue", "delete"]) => Some(GITHUB),
        ("aws", _) if command.arguments.iter().any(deletes_in_cloud) => Some(CLOUD),
        _ => None,
    }
}

/// Whether containers are taken down together with their volumes, except those of tests.
fn takes_volumes_down(command: &Program) -> bool {
    command.operands().any(|word| word == "down")
        && command.has("--volumes", 'v')
        && !command.operands().any(is_for_trial)
}

/// The finding for a recursive removal.
fn removal(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let recursive =
        command.has("--recursive", 'r') || command.has("--recursive", 'R') || command.name() == "rimraf";
    if !recursive {
        return None;
    }
    command.operands().find_map(|path| {
        // The path is unknown if it contains a variable or if the working directory is unknown.
        let from_root = context.directory.path(path)?;
        let folder = from_root.strip_suffix("/*").unwrap_or(&from_root);
        let place = NormalizedPath::new(context.root, if folder == "*" { "." } else { folder });
        if is_everything(&from_root, &place) {
            if matches!(path, "*" | "./*") && context.compiled.request.mentions_any(EMPTYING) {
                return None;
            }
            return finding(CRITICAL, None, format!("`rm -r {path}` removes everything"));
        }
        if place.is_in_project() && place.name() == ".git" && place.components().count() == 1 {
            return finding(CRITICAL, Some(".git"), "The project's history is removed");
        }
        // A folder that the same line recreates is replaced. This excuses only removals in the project.
        let is_replaced = context.created_paths.contains(&path);
        outside_removal(&place, context).or_else(|| unrelated_removal(&place, is_replaced, context))
    })
}

/// Whether a path is the whole file system, a home directory or the project. `path` is relative to the root.
fn is_everything(path: &str, place: &NormalizedPath) -> bool {
    let bare = path.trim_end_matches("/*").trim_end_matches('/');
    matches!(bare, "" | "~" | "$HOME" | "." | "./" | "*" | "..")
        || place.as_str().is_empty()
        || place.as_str() == "/"
}

/// The finding for a removal outside the project.
fn outside_removal(place: &NormalizedPath, context: &EvaluationContext<'_>) -> Option<Finding> {
    // Without a known root, only paths in the home directory are certainly outside.
    let outside =
        !place.is_in_project() && (context.root.is_known() || place.as_str().starts_with(['~', '$']));
    if !outside
        || is_temporary(place)
        || is_build_output(place) && place.components().count() > 2
        || is_excused(place, context)
    {
        return None;
    }
    let name = place.display();
    finding(
        DESTRUCTIVE,
        Some(name),
        format!("{name} is outside the project and is removed"),
    )
}

/// Stems of words for work that removes files as a side effect, such as a restructuring.
#[rustfmt::skip]
const REARRANGING: &[&str] = &[
    "renam", "mov", "replac", "restructur", "reorgan", "refactor", "rewrit", "migrat", "upgrad", "regenerat", "plan", "scaffold",
    "drop", "unused", "obsolete", "legacy", "deprecat", "redenum", "mut", "inlocui", "rescri", "migr",
];

/// Names of folders that contain most of a project.
#[rustfmt::skip]
const SOURCES: &[&str] = &[
    "src", "lib", "app", "apps", "crates", "packages", "include", "internal", "cmd", "pkg", "server", "client",
    "frontend", "backend", "web", "tests", "test", "docs", "migrations",
];

/// The finding for a removal in the project outside the expected scope, or of a whole source folder.
fn unrelated_removal(
    place: &NormalizedPath,
    is_replaced: bool,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let has_scope = !context.compiled.scope.is_empty();
    let whole = place.components().count() == 1 && SOURCES.contains(&place.name());
    let is_weighed = whole || has_scope && !is_replaced;
    let fine = !is_weighed
        || !place.is_in_project()
        || is_temporary(place)
        || is_build_output(place)
        || is_excused(place, context)
        || FileKind::Lock.is(place)
        || context.compiled.is_in_scope(place)
        || place.as_str().contains(['*', '$'])
        || context.compiled.request.mentions_any(REMOVING)
        || context.compiled.request.mentions_any(REARRANGING);
    if fine {
        return None;
    }
    let name = place.display();
    if whole {
        return finding(
            RISKY,
            Some(name),
            format!("The whole folder {name} is removed, which was not requested"),
        );
    }
    finding(
        MINOR,
        Some(name),
        format!("{name} is removed, and is unrelated to the request"),
    )
}

/// Whether the agent created or changed the path, or the user named or allowed it.
fn is_excused(place: &NormalizedPath, context: &EvaluationContext<'_>) -> bool {
    context.has_changed(place) || context.compiled.is_allowed(place) || context.compiled.is_named(place)
}

const FORCED: &[&str] = &["force", "rebas", "amend", "squash", "overwrit", "rewrit"];
const OVERWRITES: &str = "`git push --force` overwrites the remote branch, which was not requested";
const FORCE_PUSH: Unrequested = unrequested(DESTRUCTIVE, FORCED, OVERWRITES);
const LEASED_PUSH: Unrequested = unrequested(RISKY, FORCED, OVERWRITES);
const BRANCH_PUSH: Unrequested = unrequested(
    DESTRUCTIVE,
    REMOVING,
    "`git push --delete` removes a branch for everybody, which was not requested",
);
#[rustfmt::skip]
const HARD_RESET: Unrequested = unrequested(
    RISKY, &[
        "reset", "revert", "undo", "discard", "rollback", "roll", "throw", "start over", "restor", "clean", "sync", "rebas", "anul",
    ],
    "`git reset --hard` discards uncommitted changes, which was not requested",
);
#[rustfmt::skip]
const CLEAN: Unrequested = unrequested(
    DESTRUCTIVE, &["clean", "untrack", "discard", "reset", "curat"],
    "`git clean` removes untracked files, which was not requested",
);
#[rustfmt::skip]
const BRANCH: Unrequested = unrequested(
    RISKY, &["delet", "remov", "clean", "prun", "branch", "sterg", "worktree", "rebas", "merg"],
    "`git branch -D` removes a branch with its commits, which was not requested",
);
#[rustfmt::skip]
const CHECKOUT: Unrequested = unrequested(
    RISKY, &["reset", "revert", "undo", "discard", "restor", "rollback", "anul"],
    "Uncommitted changes are discarded, which was not requested",
);
const STASH: Unrequested = unrequested(
    RISKY,
    &["stash"],
    "Stashed work is discarded, which was not requested",
);
#[rustfmt::skip]
const HISTORY: Unrequested = unrequested(
    DESTRUCTIVE, &["histor", "filter", "rewrit", "purg"],
    "The repository's history is rewritten, which was not requested",
);
#[rustfmt::skip]
const REFLOG: Unrequested = unrequested(
    DESTRUCTIVE, &["reflog", "purg"],
    "The reflog, which can recover lost commits, is deleted, which was not requested",
);
#[rustfmt::skip]
const REFERENCE: Unrequested = unrequested(
    DESTRUCTIVE, &["ref", "branch", "delet"],
    "A Git reference is deleted, which was not requested",
);

/// The rule for a Git command that destroys history or work.
fn git(command: &Program, context: &EvaluationContext<'_>) -> Option<Unrequested> {
    let (verb, rest) = command.git();
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let short = |letter: char| {
        rest.iter()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    match verb {
        "push" if has(&["--dry-run", "-n"]) => None,
        "push" if pushes_by_force(command) => {
            let leased = rest.iter().any(|word| word.starts_with("--force-with-lease"));
            // Rewritten commits can only be pushed by force; the lease protects what others pushed.
            match leased {
                true if context.has_rewritten() => None,
                true => Some(LEASED_PUSH),
                false => Some(FORCE_PUSH),
            }
        }
        "push" => {
            let deletes = rest.iter().any(|word| word.starts_with(':') && word.len() > 1);
            (deletes || has(&["--delete", "-d"])).then_some(BRANCH_PUSH)
        }
        "reset" if has(&["--hard"]) => {
            // "Update my branch" requests the state of the remote branch.
            let is_upstream =
                |word: &Argument| word.contains('/') || word.contains("@{") || word == "FETCH_HEAD";
            let updates = rest.iter().any(is_upstream)
                && context.compiled.request.mentions_any(&[
                    "updat", "latest", "upstream", "pull", "fetch", "actualiz", "align", "match",
                ]);
            (!updates && !context.saves_changes).then_some(HARD_RESET)
        }
        "clean" => {
            let forces = short('f') || has(&["--force"]);
            (forces && !short('n') && !has(&["--dry-run"])).then_some(CLEAN)
        }
        "branch" => short('D').then_some(BRANCH),
        "checkout" | "restore" | "switch" => throws_away(verb, rest, context).then_some(CHECKOUT),
        "stash" => match rest.first().map(Argument::as_str) {
            // `apply` and `drop` together are a `pop`.
            Some("drop") if context.applies_stash || context.has_run("apply") => None,
            Some("drop" | "clear") => Some(STASH),
            _ => None,
        },
        "filter-branch" | "filter-repo" => Some(HISTORY),
        "reflog" => has(&["expire", "delete"]).then_some(REFLOG),
        "update-ref" => has(&["-d"]).then_some(REFERENCE),
        _ => None,
    }
}

/// Whether `git checkout`, `restore` or `switch` discards all uncommitted changes, or those of a whole source folder.
/// Restoring single files and switching branches are ordinary work.
fn throws_away(verb: &str, rest: &[Argument], context: &EvaluationContext<'_>) -> bool {
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let is_forced = rest.iter().any(|word| {
        let is_short = word.starts_with('-') && !word.starts_with("--");
        // `-b` may be followed by a name that contains an `f`.
        is_short && word.contains('f') && !word.contains(['b', 'B', 'c', 'C'])
    });
    if verb != "restore" && (is_forced || has(&["--force", "--discard-changes"])) {
        return true;
    }
    if verb == "switch" || has(&["--staged", "-S"]) && !has(&["--worktree", "-W"]) {
        return false;
    }
    let operands: Vec<&str> = operands(rest).collect();
    let names_files = verb == "restore" || has(&["--"]) || operands.len() > 1;
    operands.iter().any(|path| {
        let is_sources = || {
            let place = context
                .directory
                .path(path)
                .map(|path| NormalizedPath::new(context.root, &path));
            place.is_some_and(|place| place.components().count() == 1 && SOURCES.contains(&place.name()))
        };
        matches!(*path, "." | "./" | ":/" | "*") || names_files && is_sources()
    })
}

/// The finding for a database statement that destroys data.
pub(super) fn of_statement(text: &str, context: &EvaluationContext<'_>) -> Option<Finding> {
    let text = text.to_ascii_lowercase();
    let statement = without_literals(&text);
    // A string literal may be executed as a statement.
    let runs_text = words_of(&statement).any(|word| matches!(word, "execute" | "exec" | "prepare" | "do"));
    let words: Vec<&str> = words_of(if runs_text { &text } else { &statement }).collect();
    let destroys = words.iter().enumerate().find_map(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        match (*word, next) {
            // A table that the same statement recreates is set up, not discarded.
            ("drop", "table" | "database" | "schema" | "view" | "collection") => {
                (!words[at..].contains(&"create")).then_some("DROP")
            }
            ("truncate", "table") => Some("TRUNCATE"),
            ("delete", "from") if !words[at..].contains(&"where") => Some("DELETE without WHERE"),
            ("flushall" | "flushdb" | "dropdatabase", _) => Some("a flush"),
            _ => None,
        }
    })?;
    if context.compiled.request.mentions_any(DATA) {
        return None;
    }
    finding(
        DESTRUCTIVE,
        None,
        format!("Stored data is removed ({destroys}), which was not requested"),
    )
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
}

/// A statement without comments and string literals: `like 'drop table%'` drops nothing. An unclosed quotation mark is
/// kept.
fn without_literals(statement: &str) -> String {
    let mut plain = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some(at) = rest.find(['\'', '"', '-', '/']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let ends_at = |opens: &str, closes: &str| {
            let behind = rest.strip_prefix(opens)?;
            Some(opens.len() + behind.find(closes)? + closes.len())
        };
        // Command-line options also start with two hyphens.
        let comment = || {
            let behind = rest.strip_prefix("--")?;
            let end = rest.find('\n').unwrap_or(rest.len());
            behind.starts_with(char::is_whitespace).then_some(end)
        };
        let text = ends_at("'", "'").or_else(|| ends_at("/*", "*/")).or_else(comment);
        let kept = ends_at("\"", "\"").unwrap_or(1);
        plain.push_str(if text.is_some() { " " } else { &rest[..kept] });
        rest = &rest[text.unwrap_or(kept)..];
    }
    plain + rest
}

/// Whether the name of a database marks it as disposable: `app_test`.
pub(super) fn is_for_trial(name: &str) -> bool {
    name.to_ascii_lowercase()
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| {
            matches!(
                part,
                "test" | "tests" | "testing" | "tmp" | "temp" | "scratch" | "ci" | "spec" | "e2e"
            )
        })
}

/// Whether an argument names a disposable database: in memory, a temporary file, or a name for tests.
fn is_trial_database(word: &str, context: &EvaluationContext<'_>) -> bool {
    if word == ":memory:" {
        return true;
    }
    // The argument is a statement.
    if word.contains(char::is_whitespace) {
        return false;
    }
    let is_file = context
        .directory
        .path(word)
        .is_some_and(|path| is_temporary(&NormalizedPath::new(context.root, &path)));
    is_file || is_for_trial(word)
}
