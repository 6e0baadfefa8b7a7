//! Removal of files that another program finds or lists: `find … -delete`, `… | xargs rm`.

use super::{
    CRITICAL, DESTRUCTIVE, EvaluationContext, REARRANGING, REMOVING, RISKY, finding, is_everything,
    outside_removal, removal,
};
use crate::danger::content::{holds_content, is_removal_welcome};
use crate::danger::files::is_made_by_programs;
use crate::danger::stems::TIDY;
use crate::danger::{Unrequested, unrequested};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Argument, ExecutionHost, Finding, Program};

pub(super) const UNSHOWN_FILES: Unrequested = unrequested(
    RISKY,
    REMOVING,
    "Files from a list that is not shown are removed, which was not requested",
);

#[rustfmt::skip]
const MIRRORED: Unrequested = unrequested(
    RISKY, &["sync", "mirror", "deploy", "publish", "releas", "ship", "delet", "remov", "sinc", "spiegel", "abgleich", "espej", "miroir", "specch", "зеркал", "синхрон", "同步", "镜像", "同期", "ミラー", "senkron", "lustr"],
    "Files on another machine are replaced and removed, which was not requested",
);

/// Whether a program removes its operands.
fn is_remover(program: &str) -> bool {
    matches!(
        program,
        "rm" | "rimraf" | "shred" | "trash" | "unlink" | "rmdir" | "truncate"
    )
}

/// Whether an option of `find` or `fd` runs a command for each file.
fn is_exec(word: &str) -> bool {
    matches!(
        word,
        "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
    )
}

/// Whether `find` or `fd` removes the files that it finds.
pub(super) fn removes(command: &Program) -> bool {
    command.for_each.iter().any(|program| is_remover(program)) || command.has_word(&["-delete"])
}

/// The folders that `find` or `fd` searches.
fn folders(command: &Program) -> Vec<&str> {
    let words = command.arguments.iter().map(Argument::as_str);
    let found: Vec<&str> = if command.name() == "find" {
        words
            .skip_while(|word| matches!(*word, "-H" | "-L" | "-P"))
            .take_while(|word| !word.starts_with('-') && !matches!(*word, "(" | "!"))
            .collect()
    } else {
        // The first operand of `fd` is the pattern.
        words
            .take_while(|word| !is_exec(word))
            .filter(|word| !word.starts_with('-'))
            .skip(1)
            .collect()
    };
    if found.is_empty() { vec!["."] } else { found }
}

/// Whether a search is limited by name, age, size or another property.
fn selects(command: &Program) -> bool {
    #[rustfmt::skip]
    const ALL: &[&str] = &[
        "-H", "-L", "-P", "-delete", "-depth", "-d", "-exec", "-execdir", "-f", "-maxdepth", "-mindepth", "-mount",
        "-o", "-ok", "-okdir", "-print", "-print0", "-r", "-rf", "-fr", "-type", "-v", "-xdev",
    ];
    // `find . -delete -name x` removes everything: the tests after the action select nothing.
    let tests = command
        .arguments
        .iter()
        .take_while(|word| !is_exec(word) && *word != "-delete");
    let mut options = tests.filter(|word| word.starts_with('-'));
    command.name() != "find" || options.any(|word| !ALL.contains(&word.as_str()))
}

/// The finding for a removal of the files that `find` or `fd` finds.
pub(super) fn found(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    folders(command).into_iter().find_map(|folder| {
        if are_logs_of_machine(command, folder, context) {
            return None;
        }
        below(folder, selects(command), context).or_else(|| selected(command, folder, context))
    })
}

/// "Clean up old logs (ssh web1)": selected logs of another machine that the request names together with its logs.
fn are_logs_of_machine(command: &Program, folder: &str, context: &EvaluationContext<'_>) -> bool {
    let request = &context.compiled.request;
    command.host == ExecutionHost::Remote
        && folder.starts_with("/var/log")
        && selects(command)
        && context.is_on_named_machine()
        && request.is_about(&["log", "日志", "ログ"])
        && (request.mentions_any(TIDY) || request.mentions_any(REMOVING))
}

/// The finding for a removal of all or selected files below a folder.
fn below(folder: &str, selects: bool, context: &EvaluationContext<'_>) -> Option<Finding> {
    let from_root = context.directory.path(folder)?;
    let place = NormalizedPath::new(context.root, &from_root);
    if is_everything(&from_root, &place) {
        let is_project = place.is_in_project() && !place.as_str().starts_with(['/', '~', '$', '.']);
        if !is_project || !selects {
            let at_most = if selects { DESTRUCTIVE } else { CRITICAL };
            let what = if selects { "Files" } else { "All files" };
            return finding(at_most, None, format!("{what} below {folder} are removed"));
        }
        return None;
    }
    outside_removal(&place, context)
}

/// The finding for the removal of files of the project that a search selects, unless programs make such files again.
fn selected(command: &Program, folder: &str, context: &EvaluationContext<'_>) -> Option<Finding> {
    let request = &context.compiled.request;
    let place = NormalizedPath::new(context.root, &context.directory.path(folder)?);
    let patterns: Vec<&str> = if command.name() == "find" {
        let named = command.arguments.windows(2).filter(|pair| {
            matches!(
                pair[0].as_str(),
                "-name" | "-iname" | "-path" | "-wholename" | "-ipath" | "-regex" | "-iregex"
            )
        });
        let named = named.filter(|pair| !is_negated(command, &pair[1]));
        named.map(|pair| pair[1].as_str()).collect()
    } else {
        command
            .operands()
            .take(1)
            .chain(
                command
                    .arguments
                    .windows(2)
                    .filter(|pair| matches!(pair[0].as_str(), "-e" | "--extension"))
                    .map(|pair| pair[1].as_str()),
            )
            .collect()
    };
    let is_made = |pattern: &&str| {
        let name = pattern
            .trim_start_matches(['*', '^', '\\'])
            .trim_end_matches(['$', '*', '/']);
        is_made_by_programs(&NormalizedPath::new(context.root, &format!("x{name}")))
            || !name.starts_with('.') && is_made_by_programs(&NormalizedPath::new(context.root, name))
            || pattern.starts_with('.') && is_made_by_programs(&NormalizedPath::new(context.root, pattern))
            || is_made_by_programs(&NormalizedPath::new(context.root, &format!("x.{name}")))
    };
    let fine = !place.is_in_project()
        || is_made_by_programs(&place) && !holds_content(&place)
        || command.has_word(&["-empty"])
        || !patterns.is_empty() && patterns.iter().all(is_made)
        || context.asks_for_removal_of(&place)
        || !request.only_looks() && request.mentions_any(REARRANGING)
        || super::is_excused(&place, context);
    let reason = format!("Files below {folder} are removed, which was not requested");
    finding(RISKY, None, reason).filter(|_| !fine)
}

/// Whether `-not` or `!` precedes the test of `find` with this value.
fn is_negated(command: &Program, value: &Argument) -> bool {
    let at = command
        .arguments
        .iter()
        .position(|argument| std::ptr::eq(argument, value));
    at.and_then(|at| at.checked_sub(2))
        .is_some_and(|before| matches!(command.arguments[before].as_str(), "-not" | "!"))
}

/// The finding for `rsync --delete`, which removes files in the target that are not in the source.
pub(super) fn mirrored(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let deletes = |word: &Argument| word.starts_with("--delete") || word == "--del";
    if !command.arguments.iter().any(deletes) || command.has("--dry-run", 'n') {
        return None;
    }
    let target = command.operands().last()?;
    if target.contains(':') {
        // "Upload the site": what is not in it any more goes.
        return MIRRORED.finding(context).filter(|_| !context.uploads_whole());
    }
    below(target, true, context)
}

/// The finding for a removal of files that `xargs` or `parallel` reads from another program.
pub(super) fn fed(
    command: &Program,
    source: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let is_fed = |program: &String| matches!(program.as_str(), "xargs" | "parallel");
    if !command.through.iter().any(is_fed) {
        return None;
    }
    if let Some(text) = &command.input {
        let mut shown = command.clone();
        let words = text.split_whitespace().map(|word| Argument {
            text: word.to_owned(),
            ..Argument::default()
        });
        shown.arguments.extend(words);
        return removal(&shown, context);
    }
    // `parallel rm ::: a b`
    let is_parallel = command.through.iter().any(|program| program == "parallel");
    if is_parallel && source.is_none() && command.operands().next().is_some() {
        return None;
    }
    let of_folders = |source: &Program, skipped: usize| {
        let mut folders = source.operands().skip(skipped);
        folders.find_map(|folder| {
            outside_removal(
                &NormalizedPath::new(context.root, &context.directory.path(folder)?),
                context,
            )
        })
    };
    match source.map(|source| (source, source.name())) {
        Some((source, "find" | "fd" | "fdfind")) => found(source, context),
        Some((source, "ls")) => of_folders(source, 0),
        Some((source, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack")) => {
            let reason = "Files are removed because of what is in them, which was not requested";
            of_folders(source, 1)
                .or_else(|| finding(RISKY, None, reason).filter(|_| !is_removal_welcome(context)))
        }
        Some((_, "git" | "mktemp")) => None,
        _ => UNSHOWN_FILES.finding(context),
    }
}
