//! What destroys files, history and data.

mod bulk;

use super::{CRITICAL, DESTRUCTIVE, EvaluationContext, MINOR, REMOVING, RISKY, finding};
use crate::constraints::pushes_by_force;
use crate::file_kind::{FileKind, is_build_output, is_temporary};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Argument, Finding, Program, operands};

/// Stems of words that ask for a folder to be emptied.
const EMPTYING: &[&str] = &["clean", "empty", "delet", "remov", "sterg", "golest", "curat"];

/// Stems of words that ask for Docker's data to be taken away.
#[rustfmt::skip]
const DOCKER_DATA: &[&str] = &[
    "prun", "clean", "volume", "disk", "space", "delet", "remov", "reset", "fresh", "recreat", "wipe", "sterg", "curat", "spatiu",
];

/// What of a command destroys; `source` is the command whose output it reads.
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
        "git" => git(command, context),
        "dropdb"
            if !speaks_of_data(context)
                && !context.makes_database
                && !command.operands().last().is_some_and(is_for_trial) =>
        {
            finding(DESTRUCTIVE, None, "A database is dropped; nobody asked for it")
        }
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "mongosh" | "mongo" | "redis-cli"
        | "clickhouse-client" | "duckdb"
            if command.operands().any(|word| is_trial_database(word, context)) =>
        {
            None
        }
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "mongosh" | "mongo" | "redis-cli"
        | "clickhouse-client" | "duckdb" => command
            .arguments
            .iter()
            .find_map(|word| of_statement(word, context)),
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
        "terraform" | "tofu" | "pulumi" | "cdk" if command.operands().next() == Some("destroy") => unless(
            context,
            &[
                "destroy", "teardown", "tear", "remov", "delet", "distrug", "sterg",
            ],
            DESTRUCTIVE,
            "Infrastructure is destroyed; nobody asked for it",
        ),
        "kubectl" | "oc" if command.operands().next() == Some("delete") => unless(
            context,
            &[
                "delet", "remov", "restart", "clean", "sterg", "elimin", "reporn", "curat",
            ],
            DESTRUCTIVE,
            "Something in a cluster is deleted; nobody asked for it",
        ),
        "docker-compose" | "podman-compose" if takes_volumes_down(command) => unless(
            context,
            DOCKER_DATA,
            RISKY,
            "Docker's data is removed; nobody asked for it",
        ),
        "docker" | "podman" => {
            let words: Vec<&str> = command.operands().take(2).collect();
            let prunes = matches!(words.as_slice(), ["system", "prune"] | ["volume", "rm" | "prune"]);
            if prunes || words.first() == Some(&"compose") && takes_volumes_down(command) {
                return unless(
                    context,
                    DOCKER_DATA,
                    RISKY,
                    "Docker's data is removed; nobody asked for it",
                );
            }
            None
        }
        "gh" => {
            let words: Vec<&str> = command.operands().take(2).collect();
            let deletes = matches!(
                words.as_slice(),
                ["repo" | "release" | "secret" | "issue", "delete"]
            );
            if deletes {
                return unless(
                    context,
                    REMOVING,
                    DESTRUCTIVE,
                    "Something on GitHub is deleted; nobody asked for it",
                );
            }
            None
        }
        "aws"
            if command.arguments.iter().any(|word| {
                word == "rm" || word == "rb" || word.starts_with("delete-") || word.starts_with("terminate-")
            }) =>
        {
            unless(
                context,
                &[
                    "delet", "remov", "terminat", "clean", "empty", "sterg", "elimin", "goleste", "curat",
                ],
                DESTRUCTIVE,
                "Something in the cloud is deleted; nobody asked for it",
            )
        }
        _ => None,
    }
}

/// Whether containers are taken down together with what they stored, and not those of tests.
fn takes_volumes_down(command: &Program) -> bool {
    command.operands().any(|word| word == "down")
        && command.has("--volumes", 'v')
        && !command.operands().any(is_for_trial)
}

/// `rm -rf`: outside of the project grave, inside of it only where the work is not.
fn removal(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let recursive =
        command.has("--recursive", 'r') || command.has("--recursive", 'R') || command.name() == "rimraf";
    if !recursive {
        return None;
    }
    command.operands().find_map(|path| {
        // What a variable holds is not known, nor what a path means in a folder that nobody knows.
        let from_root = context.directory.path(path)?;
        let folder = from_root.strip_suffix("/*").unwrap_or(&from_root);
        let place = NormalizedPath::new(context.root, if folder == "*" { "." } else { folder });
        if is_everything(&from_root, &place) {
            if matches!(path, "*" | "./*") && context.compiled.asked.speaks_of(EMPTYING) {
                return None;
            }
            return finding(CRITICAL, None, format!("`rm -r {path}` removes everything"));
        }
        if place.is_in_project() && place.name() == ".git" && place.components().count() == 1 {
            return finding(CRITICAL, Some(".git"), "The project's history is removed");
        }
        // Work inside of the project that the same line makes anew is replaced. Nothing else is excused by a `mkdir`.
        let is_replaced = context.created_paths.contains(&path);
        beyond(&place, context).or_else(|| beside(&place, is_replaced, context))
    })
}

/// Whether a path, meant from the root, is all that there is: the machine, somebody's home, the project.
fn is_everything(path: &str, place: &NormalizedPath) -> bool {
    let bare = path.trim_end_matches("/*").trim_end_matches('/');
    matches!(bare, "" | "~" | "$HOME" | "." | "./" | "*" | "..")
        || place.as_str().is_empty()
        || place.as_str() == "/"
}

/// A removal outside of the project.
fn beyond(place: &NormalizedPath, context: &EvaluationContext<'_>) -> Option<Finding> {
    // Without a root nobody knows what is outside; home and the system's folders are.
    let outside =
        !place.is_in_project() && (context.root.is_known() || place.as_str().starts_with(['~', '$']));
    if !outside
        || is_temporary(place)
        || is_build_output(place) && place.components().count() > 2
        || is_ours(place, context)
    {
        return None;
    }
    let name = place.display();
    finding(
        DESTRUCTIVE,
        Some(name),
        format!("{name} lies outside of the project and is removed"),
    )
}

/// Stems of words that ask for work in the course of which files go: another layout, a plan written other_shells.
#[rustfmt::skip]
const REARRANGING: &[&str] = &[
    "renam", "mov", "replac", "restructur", "reorgan", "refactor", "rewrit", "migrat", "upgrad", "regenerat", "plan", "scaffold",
    "drop", "unused", "obsolete", "legacy", "deprecat", "redenum", "mut", "inlocui", "rescri", "migr",
];

/// Names of folders in which the most of a project is.
const SOURCES: &[&str] = &[
    "src",
    "lib",
    "app",
    "apps",
    "crates",
    "packages",
    "include",
    "internal",
    "cmd",
    "pkg",
    "server",
    "client",
    "frontend",
    "backend",
    "web",
    "tests",
    "test",
    "docs",
    "migrations",
];

/// A removal inside of the project where the work is not, as far as that is told, or of the sources as a whole.
fn beside(place: &NormalizedPath, is_replaced: bool, context: &EvaluationContext<'_>) -> Option<Finding> {
    let told = !context.compiled.scope.is_empty();
    let whole = place.components().count() == 1 && SOURCES.contains(&place.name());
    let is_weighed = whole || told && !is_replaced;
    let fine = !is_weighed
        || !place.is_in_project()
        || is_temporary(place)
        || is_build_output(place)
        || is_ours(place, context)
        || FileKind::Lock.is(place)
        || context.compiled.is_in_scope(place)
        || place.as_str().contains(['*', '$'])
        || context.compiled.asked.speaks_of(REMOVING)
        || context.compiled.asked.speaks_of(REARRANGING);
    if fine {
        return None;
    }
    let name = place.display();
    if whole {
        return finding(
            RISKY,
            Some(name),
            format!("The whole folder {name} is removed; nobody asked for it"),
        );
    }
    finding(
        MINOR,
        Some(name),
        format!("{name} is removed, and has nothing to do with what was asked for"),
    )
}

/// Whether the conversation made it, or the user named or allowed it.
fn is_ours(place: &NormalizedPath, context: &EvaluationContext<'_>) -> bool {
    context.has_changed(place) || context.compiled.is_allowed(place) || context.compiled.is_named(place)
}

fn git(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
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
            // What was rebased or amended before can go out in no other way; the lease guards what others pushed.
            if leased && context.has_rewritten() {
                return None;
            }
            unless(
                context,
                &["force", "rebas", "amend", "squash", "overwrit", "rewrit"],
                if leased { RISKY } else { DESTRUCTIVE },
                "`git push --force` overwrites what is there; nobody asked for it",
            )
        }
        "push"
            if has(&["--delete", "-d"])
                || rest.iter().any(|word| word.starts_with(':') && word.len() > 1) =>
        {
            unless(
                context,
                REMOVING,
                DESTRUCTIVE,
                "`git push --delete` removes a branch for everybody; nobody asked for it",
            )
        }
        // To be where the others are is what "update my branch" asks for.
        "reset"
            if has(&["--hard"])
                && rest
                    .iter()
                    .any(|word| word.contains('/') || word.contains("@{") || word == "FETCH_HEAD")
                && context.compiled.asked.speaks_of(&[
                    "updat", "latest", "upstream", "pull", "fetch", "actualiz", "align", "match",
                ]) =>
        {
            None
        }
        "reset" if has(&["--hard"]) && !context.saves_changes => unless(
            context,
            &[
                "reset",
                "revert",
                "undo",
                "discard",
                "rollback",
                "roll",
                "throw",
                "start over",
                "restor",
                "clean",
                "sync",
                "rebas",
                "anul",
            ],
            RISKY,
            "`git reset --hard` throws away what is not committed; nobody asked for it",
        ),
        "clean" if (short('f') || has(&["--force"])) && !short('n') && !has(&["--dry-run"]) => unless(
            context,
            &["clean", "untrack", "discard", "reset", "curat"],
            DESTRUCTIVE,
            "`git clean` removes files that are not in the repository; nobody asked for it",
        ),
        "branch" if short('D') => unless(
            context,
            &[
                "delet", "remov", "clean", "prun", "branch", "sterg", "worktree", "rebas", "merg",
            ],
            RISKY,
            "`git branch -D` removes a branch with its commits; nobody asked for it",
        ),
        "checkout" | "restore" | "switch" if throws_away(verb, rest, context) => unless(
            context,
            &["reset", "revert", "undo", "discard", "restor", "rollback", "anul"],
            RISKY,
            "Changes that are not committed are thrown away; nobody asked for it",
        ),
        // `apply` and `drop` together are a `pop`.
        "stash"
            if rest.first().is_some_and(|word| word == "drop")
                && (context.applies_stash || context.has_run("apply")) =>
        {
            None
        }
        "stash" if rest.first().is_some_and(|word| word == "clear" || word == "drop") => unless(
            context,
            &["stash"],
            RISKY,
            "Stashed work is thrown away; nobody asked for it",
        ),
        "filter-branch" | "filter-repo" => unless(
            context,
            &["histor", "filter", "rewrit", "purg"],
            DESTRUCTIVE,
            "The repository's history is rewritten; nobody asked for it",
        ),
        "reflog" if has(&["expire", "delete"]) => unless(
            context,
            &["reflog", "purg"],
            DESTRUCTIVE,
            "Git's way back to lost commits is removed; nobody asked for it",
        ),
        "update-ref" if has(&["-d"]) => unless(
            context,
            &["ref", "branch", "delet"],
            DESTRUCTIVE,
            "A reference of the repository is removed; nobody asked for it",
        ),
        _ => None,
    }
}

/// Whether `git checkout`, `restore` or `switch` throws away all changes that are not committed, or those of all sources. One
/// file, and a branch, are ordinary work.
fn throws_away(verb: &str, rest: &[Argument], context: &EvaluationContext<'_>) -> bool {
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let is_forced = rest.iter().any(|word| {
        let is_short = word.starts_with('-') && !word.starts_with("--");
        // A name may stand behind `-b`.
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

/// What of a database statement destroys.
pub(super) fn of_statement(text: &str, context: &EvaluationContext<'_>) -> Option<Finding> {
    let text = text.to_ascii_lowercase();
    let statement = without_literals(&text);
    // A text may be run as a statement.
    let runs_text = words_of(&statement).any(|word| matches!(word, "execute" | "exec" | "prepare" | "do"));
    let words: Vec<&str> = words_of(if runs_text { &text } else { &statement }).collect();
    let destroys = words.iter().enumerate().find_map(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        match (*word, next) {
            // What the same statement makes anew is set up, not thrown away.
            ("drop", "table" | "database" | "schema" | "view" | "collection") => {
                (!words[at..].contains(&"create")).then_some("DROP")
            }
            ("truncate", "table") => Some("TRUNCATE"),
            ("delete", "from") if !words[at..].contains(&"where") => Some("DELETE without WHERE"),
            ("flushall" | "flushdb" | "dropdatabase", _) => Some("a flush"),
            _ => None,
        }
    })?;
    if speaks_of_data(context) {
        return None;
    }
    finding(
        DESTRUCTIVE,
        None,
        format!("Stored data is removed ({destroys}); nobody asked for it"),
    )
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
}

/// A statement without its comments and the texts in it: `like 'drop table%'` drops nothing. A quotation that does not end is
/// none.
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
        // An option begins with two hyphens as well.
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

/// Whether a database's name says that it is there to be thrown away: `app_test`.
fn is_for_trial(name: &str) -> bool {
    name.to_ascii_lowercase()
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| {
            matches!(
                part,
                "test" | "tests" | "testing" | "tmp" | "temp" | "scratch" | "ci" | "spec" | "e2e"
            )
        })
}

/// Whether an argument names a database that is there to be thrown away: a file for a time, a name for tests.
fn is_trial_database(word: &str, context: &EvaluationContext<'_>) -> bool {
    if word == ":memory:" {
        return true;
    }
    // A statement is no name.
    if word.contains(char::is_whitespace) {
        return false;
    }
    let is_file = context
        .directory
        .path(word)
        .is_some_and(|path| is_temporary(&NormalizedPath::new(context.root, &path)));
    is_file || is_for_trial(word)
}

fn speaks_of_data(context: &EvaluationContext<'_>) -> bool {
    context.compiled.asked.speaks_of(&[
        "drop", "truncat", "migrat", "reset", "seed", "delet", "sterg", "purg", "wipe", "clear", "flush",
        "recreat",
    ])
}

/// A finding, unless the user spoke of it.
fn unless(context: &EvaluationContext<'_>, stems: &[&str], at_most: u8, reason: &str) -> Option<Finding> {
    if context.compiled.asked.speaks_of(stems) {
        return None;
    }
    finding(at_most, None, reason)
}
