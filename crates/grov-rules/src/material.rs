//! What actions and the texts beside them tell: lines of a trace, decisions, limits, labels.

use super::claims::proves;
use super::clean::clean;
use super::text::{find_phrase, fold, has_phrase, push_new, sentences, shorten, words};
use grov_domain::{ActionSketch, ActionType, Decision, EffectKind};

/// At most so many lines of a trace.
pub(crate) const MOST_LINES: usize = 20;

/// At most so many decisions.
pub(crate) const MOST_DECISIONS: usize = 8;

/// At most so many labels.
const MOST_TAGS: usize = 8;

/// At most so many actions are looked at, the newest.
pub(crate) const MOST_ACTIONS: usize = 2_000;

/// The newest actions, as many as are looked at.
pub(crate) fn newest(actions: &[ActionSketch]) -> &[ActionSketch] {
    &actions[actions.len().saturating_sub(MOST_ACTIONS)..]
}

/// The first sentence of a text that says something, at most `limit` characters.
pub(crate) fn first_sentence(text: &str, limit: usize) -> Option<String> {
    let cleaned = clean(&text[..text.floor_char_boundary(4_000)]);
    sentences(&cleaned.prose)
        .into_iter()
        .find(|sentence| words(sentence).len() >= 3)
        .map(|sentence| shorten(&sentence, limit))
}

/// A file for people: relative where it can be told.
fn shown(file: &str) -> &str {
    file.strip_prefix("./").unwrap_or(file)
}

fn files(action: &ActionSketch) -> String {
    let mut told: Vec<&str> = action.files.iter().take(3).map(|file| shown(file)).collect();
    let more = action.files.len().saturating_sub(told.len());
    let rest = format!("{more} more");
    if more > 0 {
        told.push(&rest);
    }
    shorten(&told.join(", "), 160)
}

/// How a command ended.
fn outcome(action: &ActionSketch) -> &'static str {
    match action.failed {
        Some(true) => "failed",
        Some(false) => "passed",
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

/// The line that an action is worth, if it is worth one.
fn line(action: &ActionSketch) -> Option<String> {
    let why = || {
        action
            .reasoning
            .as_deref()
            .and_then(|text| first_sentence(text, 160))
    };
    let with_why = |what: String| match why() {
        Some(why) => format!("{what}: {why}"),
        None => what,
    };
    if action.action_type.modifies_files() && !action.files.is_empty() {
        let verb = match (action.action_type, action.failed) {
            (_, Some(true)) => "Failed to change",
            (ActionType::Write, _) => "Wrote",
            _ => "Edited",
        };
        return Some(with_why(format!("{verb} {}", files(action))));
    }
    if action.action_type == ActionType::Bash || !action.effects.is_empty() {
        let command = command(action)?;
        if action.is_commit() || proves(action) {
            let end = if action.is_commit() && action.failed == Some(false) {
                "committed"
            } else {
                outcome(action)
            };
            return Some(format!("Ran `{command}`: {end}"));
        }
        if action.is_change() || action.failed == Some(true) {
            let end = match action.failed {
                Some(true) => "failed",
                Some(false) => "done",
                None => "result unknown",
            };
            return Some(format!("Ran `{command}`: {end}"));
        }
        return None;
    }
    match action.action_type {
        ActionType::Task => Some(format!("Delegated: {}", shorten(action.command.as_deref()?, 160))),
        ActionType::Web => Some(format!("Looked up {}", shorten(action.command.as_deref()?, 160))),
        _ => None,
    }
}

/// The lines of the trace. Where there are more than fit, the beginning and the end are kept.
pub(crate) fn trace(actions: &[ActionSketch]) -> Vec<String> {
    let mut lines = Vec::new();
    for action in newest(actions) {
        if let Some(line) = line(action) {
            push_new(&mut lines, line, MOST_ACTIONS);
        }
    }
    // Nothing was changed or proven: what was looked at is what there is to tell.
    if lines.is_empty() {
        for action in newest(actions) {
            let looked = matches!(action.action_type, ActionType::Read | ActionType::Search);
            if looked && !action.files.is_empty() {
                let what = format!("Read {}", files(action));
                let why = action
                    .reasoning
                    .as_deref()
                    .and_then(|text| first_sentence(text, 160));
                push_new(
                    &mut lines,
                    why.map_or(what.clone(), |why| format!("{what}: {why}")),
                    MOST_LINES,
                );
            }
        }
    }
    if lines.len() > MOST_LINES {
        let surplus = lines.len() - MOST_LINES;
        let from = MOST_LINES / 4;
        lines.drain(from..from + surplus);
    }
    lines
}

/// What work was about that nobody asked for in words: the first thing that was done, or said. At most `limit` characters;
/// empty where nothing was.
pub(crate) fn goal_of_deeds(actions: &[ActionSketch], answer: &str, limit: usize) -> String {
    let deed = trace(actions).into_iter().next();
    deed.map(|line| shorten(&line, limit))
        .or_else(|| first_sentence(answer, limit))
        .unwrap_or_default()
}

/// Forms in which a choice stands before its reason.
#[rustfmt::skip]
const REASONS: &[&str] = &[
    "because", "since", "so that", "in order to", "due to", "as this", "as it", "to avoid", "to keep",
    "which avoids", "which keeps", "pentru ca", "deoarece", "fiindca", "ca sa",
];

/// Words of a choice.
#[rustfmt::skip]
const CHOICES: &[&str] = &[
    "instead of", "rather than", "chose", "decided", "choose", "opted", "went with", "going with", "prefer",
    "preferred", "switched to", "use", "using", "used", "keep", "kept", "in loc de", "am ales", "am decis",
    "mai degraba", "am preferat",
];

/// Choices with an alternative: the alternative is reason enough.
const ALTERNATIVES: &[&str] = &["instead of", "rather than", "over the", "in loc de", "in locul"];

#[rustfmt::skip]
const STRONG_CHOICES: &[&str] = &[
    "chose", "decided", "opted", "went with", "i'll go with", "going with", "am ales", "am decis",
    "switched to", "instead of", "rather than", "in loc de",
];

/// The decisions that texts state with a reason.
pub(crate) fn decisions<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let mut last: Option<&str> = None;
    for text in texts {
        if last == Some(text) {
            continue;
        }
        last = Some(text);
        let cleaned = clean(text);
        for sentence in sentences(&cleaned.prose).iter().take(200) {
            if found.len() >= MOST_DECISIONS {
                return found;
            }
            let Some(decision) = decision(sentence) else {
                continue;
            };
            let key = fold(&decision.choice);
            if !seen.contains(&key) {
                seen.push(key);
                found.push(decision);
            }
        }
    }
    found
}

fn decision(sentence: &str) -> Option<Decision> {
    let all = words(sentence);
    if all.len() < 5 || super::text::ends_with_question(sentence) || !has_phrase(&all, CHOICES) {
        return None;
    }
    let reason_at = find_phrase(&all, REASONS).filter(|at| *at > 0);
    let alternative_at = find_phrase(&all, ALTERNATIVES).filter(|at| *at > 0);
    let (choice, reason) = match (reason_at, alternative_at) {
        (Some(at), _) => (&sentence[..all[at].start], &sentence[all[at].start..]),
        (None, Some(at)) => (&sentence[..all[at].start], &sentence[all[at].start..]),
        _ => return None,
    };
    // "Use" and "keep" are choices only where an alternative or a reason is told as such.
    if alternative_at.is_none()
        && !has_phrase(&all, STRONG_CHOICES)
        && !all[reason_at?].is_any(&["because", "since", "so", "deoarece", "fiindca", "pentru"])
    {
        return None;
    }
    let tidy = |text: &str| {
        shorten(
            text.trim().trim_end_matches([',', '.', ';', ':', '-', '—', ' ']),
            200,
        )
    };
    let (choice, reason) = (tidy(choice), tidy(reason));
    (words(&choice).len() >= 2 && words(&reason).len() >= 2).then_some(Decision { choice, reason })
}

/// Words of a limit that was found.
#[rustfmt::skip]
const LIMITS: &[&str] = &[
    "requires", "rate limit", "rate limits", "rate limited", "incompatible", "only supports",
    "does not support", "doesn't support", "not supported", "at most", "limited to", "maximum of",
    "cannot be used", "is deprecated", "must not", "must be", "deprecated in", "no longer supports",
    "minimum version", "is read-only", "needs at least", "necesita", "nu suporta", "suporta doar",
    "incompatibil", "limita de", "cel mult",
];

/// Limits that texts tell of, added to those known.
pub(crate) fn limits<'a>(texts: impl Iterator<Item = &'a str>, found: &mut Vec<String>) {
    for text in texts {
        let cleaned = clean(text);
        for sentence in sentences(&cleaned.prose).iter().take(200) {
            if found.len() >= super::constraints::MOST {
                return;
            }
            let all = words(sentence);
            if (4..=40).contains(&all.len())
                && !super::text::ends_with_question(sentence)
                && has_phrase(&all, LIMITS)
            {
                push_new(found, shorten(sentence, 200), super::constraints::MOST);
            }
        }
    }
}

/// Labels from the files, the effects and the goal.
pub(crate) fn tags(actions: &[ActionSketch], goal: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let goal_words = words(goal);
    let verbs: &[(&str, &[&str])] = &[
        (
            "bugfix",
            &[
                "fix", "fixes", "bug", "repair", "repara", "rezolva", "crash", "crashes",
            ],
        ),
        (
            "feature",
            &[
                "add",
                "implement",
                "create",
                "adauga",
                "implementeaza",
                "creeaza",
                "adaugi",
            ],
        ),
        (
            "refactor",
            &[
                "refactor",
                "rename",
                "restructure",
                "simplify",
                "refactorizeaza",
                "redenumeste",
                "split",
                "extract",
            ],
        ),
        (
            "performance",
            &[
                "optimize",
                "optimise",
                "faster",
                "slow",
                "performance",
                "optimizeaza",
            ],
        ),
        ("docs", &["document", "readme", "docs", "documenteaza"]),
        ("upgrade", &["upgrade", "migrate", "bump", "migreaza"]),
        ("removal", &["remove", "delete", "drop", "sterge", "elimina"]),
    ];
    for (tag, of) in verbs {
        if goal_words.iter().any(|word| word.is_any(of)) {
            push_new(&mut tags, (*tag).to_owned(), 3);
        }
    }
    let newest = newest(actions);
    if newest.iter().any(proves) {
        push_new(&mut tags, "tests".to_owned(), MOST_TAGS);
    }
    if newest
        .iter()
        .any(|action| action.effects.contains(&EffectKind::Install))
    {
        push_new(&mut tags, "dependencies".to_owned(), MOST_TAGS);
    }
    let changed = newest
        .iter()
        .filter(|action| action.changes_build_inputs())
        .flat_map(|action| &action.files);
    for file in changed {
        if let Some(kind) = kind_of(file) {
            push_new(&mut tags, kind.to_owned(), MOST_TAGS);
        }
        if let Some(area) = area_of(file) {
            push_new(&mut tags, area, MOST_TAGS);
        }
        if tags.len() >= MOST_TAGS {
            break;
        }
    }
    tags
}

/// What kind of file it is, by its ending.
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

/// The part of the project a file lies in: the folder below the usual roots.
fn area_of(file: &str) -> Option<String> {
    if file.starts_with('/') {
        return None;
    }
    let folders: Vec<&str> = file.split('/').collect();
    let (_, folders) = folders.split_last()?;
    let area = folders.iter().find(|folder| {
        !matches!(
            **folder,
            "src"
                | "lib"
                | "crates"
                | "packages"
                | "apps"
                | "app"
                | "."
                | ".."
                | "main"
                | "java"
                | "internal"
                | "pkg"
        )
    })?;
    let plain = (2..=30).contains(&area.len())
        && area
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'));
    plain.then(|| fold(area))
}
