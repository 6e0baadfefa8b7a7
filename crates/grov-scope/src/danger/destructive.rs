//! Commands that destroy files, history and data.

mod bulk;
mod devices;
mod unseen;
mod windows;

pub(super) use devices::disk_of;
pub(super) use windows::{as_typed, is_error_action, is_option as is_windows_option};

use super::effects::stems::DISCARD;
use super::files::is_made_by_programs;
use super::{CRITICAL, DESTRUCTIVE, EvaluationContext, MINOR, REMOVING, RISKY, finding};
use crate::edits::RESTRUCTURING;
use crate::file_kind::{FileKind, is_build_output, is_temporary};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Argument, ExecutionHost, Finding, Program, operands};

/// Stems of words that request emptying a folder.
const EMPTYING: &[&str] = &["clean", "empty", "delet", "remov", "sterg", "golest", "curat"];

/// The finding for a destructive command. `source` is the command whose output it reads.
pub(super) fn of_command(
    command: &Program,
    source: Option<&Program>,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let found = devices::overwritten(command, context).or_else(|| match command.name() {
        "rm" | "rimraf" | "shred" | "trash" | "unlink" => {
            let is_printed = || unseen::printed(command, programs, context).filter(|_| is_recursive(command));
            removal(command, context)
                .or_else(is_printed)
                .or_else(|| bulk::fed(command, source, context))
                .or_else(|| windows::listed(command, source, context))
        }
        "find" | "fd" | "fdfind" if bulk::removes(command) => bulk::found(command, context),
        name if is_windows_removal(name) || windows::has_attached_options(&command.word) => {
            windows::removal(command, context).or_else(|| windows::listed(command, source, context))
        }
        "rsync" => bulk::mirrored(command, context),
        "git" => discarded(command, context),
        _ => None,
    });
    found.map(|finding| on_machine(finding, command))
}

/// The finding for a removal outside the project, as one on the machine where it happens: a path there is none that the user can allow here.
fn on_machine(mut finding: Finding, command: &Program) -> Finding {
    if command.host == ExecutionHost::Remote
        && let Some(name) = finding.file.take_if(|name| name.starts_with(['/', '~']))
    {
        finding.reason = format!("{name} is removed on another machine, which was not requested");
    }
    finding
}

/// Whether a program removes files in PowerShell or `cmd`.
fn is_windows_removal(name: &str) -> bool {
    let programs = ["remove-item", "ri", "rd", "rmdir", "del", "erase"];
    programs.iter().any(|program| program.eq_ignore_ascii_case(name))
}

/// Whether a command removes folders with all that is in them.
pub(super) fn is_recursive(command: &Program) -> bool {
    command.has("--recursive", 'r') || command.has("--recursive", 'R') || command.name() == "rimraf"
}

/// The finding for a recursive removal.
fn removal(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    if !is_recursive(command) {
        return None;
    }

    command.operands().find_map(|path| {
        if empties_with_unset_variable(path) && !context.asks_for_removal() {
            let reason = format!("`rm -r {path}` removes everything if the variable is unset");
            return finding(RISKY, None, reason);
        }
        if let Some(found) = unseen::of_variable(command, path, context) {
            return Some(found);
        }
        if path.starts_with("!(") && !context.asks_for_removal() {
            return finding(
                RISKY,
                None,
                "Everything but some files is removed, which was not requested",
            );
        }
        if let Some(found) = below_outside(path, context) {
            return Some(found);
        }
        // The path is unknown if it contains a variable or if the working directory is unknown.
        let from_root = context.directory.path(path)?;
        let folder = from_root.strip_suffix("/*").unwrap_or(&from_root);
        let place = NormalizedPath::new(context.root, if folder == "*" { "." } else { folder });
        if is_everything(&from_root, &place) {
            if matches!(path, "*" | "./*") && context.compiled.request.orders_any(EMPTYING) {
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

/// Whether the name of a variable sounds like a result, which scripts remove: `BUILD_DIR`.
fn is_result(name: &str) -> bool {
    #[rustfmt::skip]
    const RESULTS: &[&str] = &["tmp", "temp", "cache", "build", "out", "dist", "target", "artifact", "stage", "staging", "work", "pwd", "dir", "test", "venv", "virtual_env", "coverage", "node_modules"];
    let name = name.to_ascii_lowercase();
    RESULTS.iter().any(|result| name.contains(result))
}

/// Whether a path is all of a folder that only a variable names: `"$DATA"/*`. Variables for results are ordinary.
fn empties_with_unset_variable(path: &str) -> bool {
    let name = path.strip_prefix('$').and_then(|rest| rest.strip_suffix("/*"));
    let Some(name) = name.map(|name| name.trim_matches(['{', '}'])) else {
        return false;
    };
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && !is_result(name)
}

/// The finding for a path whose fixed beginning is outside the project and whose end is a variable: `/srv/data/$name`.
fn below_outside(path: &str, context: &EvaluationContext<'_>) -> Option<Finding> {
    let path = path
        .strip_prefix("$HOME/")
        .map_or_else(|| path.to_owned(), |rest| format!("~/{rest}"));
    let (fixed, _) = path.split_at(path.find('$')?);
    let is_rooted = fixed.len() > 1 && fixed.starts_with(['/', '~']);
    let place = NormalizedPath::new(context.root, &format!("{fixed}x"));
    let found = outside_removal(&place, context).filter(|_| is_rooted)?;
    let reason = format!("A part of {fixed} is outside the project and is removed");
    finding(RISKY.max(found.at_most), None, reason)
}

/// Whether a path is the whole file system, a home directory or the project. `path` is relative to the root.
fn is_everything(path: &str, place: &NormalizedPath) -> bool {
    let bare = path.trim_end_matches("/*").trim_end_matches('/');
    matches!(bare, "" | "~" | "$HOME" | "." | "./" | "*" | "..")
        || place.as_str().is_empty()
        || place.as_str() == "/"
}

/// Whether a path lies outside any project: in the home directory, or where a system keeps its own files.
fn is_surely_outside(path: &str) -> bool {
    const SYSTEM: &[&str] = &["/etc/", "/usr/", "/var/log", "/var/lib", "/boot", "/lib/"];
    path.starts_with(['~', '$']) || SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// The finding for a removal outside the project.
pub(super) fn outside_removal(place: &NormalizedPath, context: &EvaluationContext<'_>) -> Option<Finding> {
    // Without a known root, only paths in the home directory are certainly outside.
    const CACHES: &[&str] = &[
        "/.julia/compiled",
        "/.ivy2/",
        "/.m2/repository",
        "/.gradle/caches",
        "/.sbt/",
        "/.nuget/packages",
        "/.pub-cache",
        "/go/pkg/",
        "/deriveddata",
        "/.npm/",
        "/.cache/",
        "/caches/",
        // What shells and package managers make again.
        "/.zcompdump",
        "/.zcompcache",
        "/root/.cache",
        "/var/cache/apk",
        "/var/cache/apt/",
        "/var/cache/dnf",
        "/var/cache/pacman",
        "/var/cache/yum",
        "/var/cache/zypp",
        "/var/lib/apt/lists",
    ];
    if CACHES.iter().any(|cache| place.as_str().contains(cache)) {
        return None;
    }
    let outside = !place.is_in_project() && (context.root.is_known() || is_surely_outside(place.as_str()));
    if !outside
        || is_temporary(place)
        || is_build_output(place) && place.components().count() > 2
        || is_excused(place, context)
        || is_removal_named(place, context)
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

/// Whether the request asks for a removal and names this place, by a name that is no ordinary word: `backup-2021`.
fn is_removal_named(place: &NormalizedPath, context: &EvaluationContext<'_>) -> bool {
    let name = place.name();
    let is_name =
        name.len() >= 5 && name.contains(|letter: char| letter.is_ascii_digit() || "-_.".contains(letter));
    let request = &context.compiled.request;
    is_name
        && !name.starts_with('.')
        && !name.contains('*')
        && request.orders_any(REMOVING)
        && request.names_path(name)
}

/// Stems of words for work that removes files as a side effect, such as a restructuring.
#[rustfmt::skip]
pub(super) const REARRANGING: &[&str] = &[
    "renam", "mov", "replac", "restructur", "reorgan", "refactor", "rewrit", "migrat", "upgrad", "regenerat", "plan", "scaffold",
    "drop", "unused", "obsolete", "legacy", "deprecat", "redenum", "mut", "inlocui", "rescri", "migr",
];

/// Words of a request in which something else takes the place of what is removed: "use the shared package instead of our hooks".
const TAKING_ITS_PLACE: &[&str] = &[
    "instead", "lives", "scaffold", "undo", "statt", "anstatt", "remplac", "lugar", "invece", "zamiast",
];

/// Stems of words for all of a project.
#[rustfmt::skip]
const EVERYTHING: &[&str] = &["all.", "everything", "whole", "entire", "alles", "tout", "todo", "tutto", "tudo", "wszystk", "tot.", "source", "codebase"];

/// Names of folders that contain most of a project.
#[rustfmt::skip]
pub(super) const SOURCES: &[&str] = &[
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
    let is_part = !is_replaced && is_part_of_sources(place);
    let is_weighed = whole || is_part || has_scope && !is_replaced;
    let fine = !is_weighed
        || !place.is_in_project()
        || is_temporary(place)
        || is_build_output(place)
        || is_excused(place, context)
        || FileKind::Lock.is(place)
        || context.compiled.is_in_scope(place)
        || place.as_str().contains(['*', '$'])
        // "Clean the build" does not ask for the removal of `src`.
        || context.asks_for_removal()
            && (!whole || context.names(place) || context.compiled.request.is_about(EVERYTHING))
        || context.compiled.request.mentions_any(REARRANGING)
            && !(whole && context.compiled.request.orders_any(&["renam"]))
        || is_part && context.compiled.request.mentions_any(RESTRUCTURING)
        || is_part && context.compiled.request.is_about(TAKING_ITS_PLACE);
    if fine {
        return None;
    }
    let name = place.display();
    if whole || is_part {
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

/// Whether a place is a folder directly in one of sources: `src/components`, `packages/ui`. What is generated, for trials, or old by
/// its name is removed in ordinary work.
fn is_part_of_sources(place: &NormalizedPath) -> bool {
    const SPENT: &[&str] = &[
        "auto",
        "dead",
        "deprecated",
        "gen",
        "generated",
        "legacy",
        "obsolete",
        "old",
        "unused",
    ];
    let parts: Vec<&str> = place.components().collect();
    let [sources, part] = parts[..] else {
        return false;
    };
    let is_spent = part
        .split(['-', '_'])
        .any(|word| SPENT.contains(&word) || word.starts_with("generat"));
    let is_plain = !part.contains(['.', '*', '$']);
    SOURCES.contains(&sources)
        && is_plain
        && !is_spent
        && !super::is_for_trial(part)
        && !is_made_by_programs(place)
}

/// Whether the agent created or changed the path, or the user named or allowed it.
pub(super) fn is_excused(place: &NormalizedPath, context: &EvaluationContext<'_>) -> bool {
    // A question about a path does not ask for its removal.
    let is_named = context.compiled.is_named(place) && !context.compiled.request.is_question();
    context.has_changed(place) || context.compiled.is_allowed(place) || is_named
}

/// Stems of words that ask for the loss of uncommitted changes.
const DISCARDING: &[&[&str]] = &[REMOVING, DISCARD];

const DISCARDED: &str = "Uncommitted changes are discarded, which was not requested";

/// The finding for a Git command that discards uncommitted changes.
fn discarded(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let (verb, rest) = command.git();
    let discards = matches!(verb, "checkout" | "restore" | "switch") && throws_away(verb, rest, context);
    let request = &context.compiled.request;
    let is_asked = || DISCARDING.iter().any(|stems| request.orders_any(stems));
    // "Revert the README only" and "restore the README" ask for less.
    let is_requested = !request.asks_for_less_than_all() && is_asked();
    finding(RISKY, None, DISCARDED).filter(|_| discards && !is_requested)
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
