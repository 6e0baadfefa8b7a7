//! Extracts trace lines and tags from actions and their texts.

use super::claims::{check_result, is_check};
use super::clean::clean;
use super::text::{fold, push_new, sentences, shorten, words};
use grov_domain::{ActionSketch, ActionType, EffectKind};

/// The most lines of a trace.
pub(crate) const MAX_LINES: usize = 20;

/// The most tags.
const MAX_TAGS: usize = 8;

/// The most actions read; the newest count.
pub(crate) const MAX_ACTIONS: usize = 2_000;

/// The newest actions.
pub(crate) fn newest(actions: &[ActionSketch]) -> &[ActionSketch] {
    &actions[actions.len().saturating_sub(MAX_ACTIONS)..]
}

/// The first sentence of at least three words, at most `limit` characters.
pub(crate) fn first_sentence(text: &str, limit: usize) -> Option<String> {
    let cleaned = clean(&text[..text.floor_char_boundary(4_000)]);
    sentences(&cleaned.prose)
        .into_iter()
        .find(|sentence| words(sentence).len() >= 3)
        .map(|sentence| shorten(&sentence, limit))
}

/// A file without a leading `./`.
fn shown(file: &str) -> &str {
    file.strip_prefix("./").unwrap_or(file)
}

fn files(action: &ActionSketch) -> String {
    let mut names: Vec<&str> = action.files.iter().take(3).map(|file| shown(file)).collect();
    let more = action.files.len().saturating_sub(names.len());
    let rest = format!("{more} more");
    if more > 0 {
        names.push(&rest);
    }
    shorten(&names.join(", "), 160)
}

/// The outcome of a command.
fn outcome(action: &ActionSketch) -> &'static str {
    if is_check(action) {
        return match check_result(action) {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "result unknown",
        };
    }
    match action.failed {
        Some(true) => "failed",
        Some(false) if action.is_commit() => "committed",
        Some(false) => "done",
        None => "result unknown",
    }
}

fn command(action: &ActionSketch) -> Option<String> {
    let line = action
        .command
        .as_deref()?
        .lines()
        .find(|line| !line.trim().is_empty())?;
    Some(shorten(line, 100))
}

/// `what`, with the reason the agent gave.
fn with_reason(what: String, action: &ActionSketch) -> String {
    let reason = action.reasoning.as_deref();
    match reason.and_then(|text| first_sentence(text, 160)) {
        Some(reason) => format!("{what}: {reason}"),
        None => what,
    }
}

/// The trace line of an action, if it deserves one.
fn line(action: &ActionSketch) -> Option<String> {
    if action.action_type.modifies_files() && !action.files.is_empty() {
        let verb = match (action.action_type, action.failed) {
            (_, Some(true)) => "Failed to change",
            (ActionType::Write, _) => "Wrote",
            _ => "Edited",
        };
        return Some(with_reason(format!("{verb} {}", files(action)), action));
    }
    if action.action_type == ActionType::Bash || !action.effects.is_empty() {
        let command = command(action)?;
        let is_relevant =
            action.is_commit() || is_check(action) || action.is_change() || action.failed == Some(true);
        return is_relevant.then(|| format!("Ran `{command}`: {}", outcome(action)));
    }
    match action.action_type {
        ActionType::Task => Some(format!("Delegated: {}", shorten(action.command.as_deref()?, 160))),
        ActionType::Web => Some(format!("Looked up {}", shorten(action.command.as_deref()?, 160))),
        _ => None,
    }
}

/// The trace. Of too many lines the first and the last are kept.
pub(crate) fn trace(actions: &[ActionSketch]) -> Vec<String> {
    let mut lines = Vec::new();
    for action in newest(actions) {
        if let Some(line) = line(action) {
            push_new(&mut lines, line, MAX_ACTIONS);
        }
    }
    // Without changes or checks, list what was read.
    if lines.is_empty() {
        for action in newest(actions) {
            let looked = matches!(action.action_type, ActionType::Read | ActionType::Search);
            if looked && !action.files.is_empty() {
                push_new(
                    &mut lines,
                    with_reason(format!("Read {}", files(action)), action),
                    MAX_LINES,
                );
            }
        }
    }
    if lines.len() > MAX_LINES {
        let surplus = lines.len() - MAX_LINES;
        let from = MAX_LINES / 4;
        lines.drain(from..from + surplus);
    }
    lines
}

/// A goal for work without a prompt: the first action that did not fail, or the first sentence of the answer. At most `limit` characters; may be
/// empty.
pub(crate) fn goal_from_actions(actions: &[ActionSketch], answer: &str, limit: usize) -> String {
    // What failed was not the work.
    let succeeded = newest(actions)
        .iter()
        .filter(|action| action.failed != Some(true));
    let succeeded: Vec<ActionSketch> = succeeded.cloned().collect();
    let first = trace(&succeeded).into_iter().next();
    first
        .map(|line| shorten(&line, limit))
        .or_else(|| first_sentence(answer, limit))
        .unwrap_or_default()
}

/// Tags by words of the goal.
#[rustfmt::skip]
const GOAL_TAGS: &[(&str, &[&str])] = &[
    ("bugfix", &["fix", "fixes", "bug", "repair", "repara", "rezolva", "crash", "crashes"]),
    ("feature", &["add", "implement", "create", "adauga", "implementeaza", "creeaza", "adaugi"]),
    ("refactor", &["refactor", "rename", "restructure", "simplify", "refactorizeaza", "redenumeste", "split", "extract"]),
    ("performance", &["optimize", "optimise", "faster", "slow", "performance", "optimizeaza"]),
    ("docs", &["document", "readme", "docs", "documenteaza"]),
    ("upgrade", &["upgrade", "migrate", "bump", "migreaza"]),
    ("removal", &["remove", "delete", "drop", "sterge", "elimina"]),
];

/// Tags from the files, the effects and the goal.
pub(crate) fn tags(actions: &[ActionSketch], goal: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let goal_words = words(goal);
    for (tag, of) in GOAL_TAGS {
        if goal_words.iter().any(|word| word.is_any(of)) {
            push_new(&mut tags, (*tag).to_owned(), 3);
        }
    }
    let newest = newest(actions);
    if newest.iter().any(is_check) {
        push_new(&mut tags, "tests".to_owned(), MAX_TAGS);
    }
    if newest
        .iter()
        .any(|action| action.effects.contains(&EffectKind::Install))
    {
        push_new(&mut tags, "dependencies".to_owned(), MAX_TAGS);
    }
    let changed = newest
        .iter()
        .filter(|action| action.changes_build_inputs())
        .flat_map(|action| &action.files);
    for file in changed {
        if let Some(kind) = kind_of(file) {
            push_new(&mut tags, kind.to_owned(), MAX_TAGS);
        }
        if let Some(area) = area_of(file) {
            push_new(&mut tags, area, MAX_TAGS);
        }
        if tags.len() >= MAX_TAGS {
            break;
        }
    }
    tags
}

/// The tag of a file's extension.
fn kind_of(file: &str) -> Option<&'static str> {
    let name = file.rsplit('/').next()?;
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "rs" => "rust",
        "py" | "ipynb" => "python",
        "ts" | "tsx" => "typescript",
        "js" | "jsx" | "mjs" | "cjs" => "javascript",
        "go" => "go",
        "java" => "java",
        "kt" => "kotlin",
        "rb" => "ruby",
        "php" => "php",
        "c" | "h" => "c",
        "cc" | "cpp" | "hpp" => "cpp",
        "cs" => "csharp",
        "swift" => "swift",
        "sql" => "sql",
        "md" | "mdx" | "rst" => "docs",
        "css" | "scss" | "less" => "css",
        "html" | "htm" => "html",
        "sh" | "bash" => "shell",
        "yml" | "yaml" | "toml" | "json" | "ini" | "cfg" => "config",
        _ => return None,
    })
}

/// Names of folders that contain the areas of a project.
#[rustfmt::skip]
const ROOTS: &[&str] = &[
    "src", "lib", "crates", "packages", "apps", "app", ".", "..", "main", "java", "internal", "pkg",
];

/// The area of a project that a file belongs to: its first folder below the usual roots.
fn area_of(file: &str) -> Option<String> {
    if file.starts_with('/') {
        return None;
    }
    let folders: Vec<&str> = file.split('/').collect();
    let (_, folders) = folders.split_last()?;
    let area = folders.iter().find(|folder| !ROOTS.contains(folder))?;
    let plain = (2..=30).contains(&area.len())
        && area
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'));
    plain.then(|| fold(area))
}
