//! Removals of files that another program finds or lists: `find … -delete`, `… | xargs rm`.

use super::{
    CRITICAL, DESTRUCTIVE, EvaluationContext, REMOVING, RISKY, Unrequested, finding, is_everything,
    outside_removal, removal, unrequested,
};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Argument, Finding, Program};

const UNSHOWN_FILES: Unrequested = unrequested(
    RISKY,
    REMOVING,
    "Files from a list that is not shown are removed, which was not requested",
);

/// Whether a program removes its operands.
fn is_remover(program: &str) -> bool {
    matches!(
        program,
        "rm" | "rimraf" | "shred" | "trash" | "unlink" | "rmdir" | "truncate"
    )
}

/// Whether a command for each file follows.
fn is_exec(word: &str) -> bool {
    matches!(
        word,
        "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
    )
}

/// Whether `find` or `fd` removes what it finds.
pub(super) fn removes(command: &Program) -> bool {
    command.for_each.iter().any(|program| is_remover(program)) || command.has_word(&["-delete"])
}

/// Whether a program finds files, and in which folders.
fn folders(command: &Program) -> Vec<&str> {
    let words = command.arguments.iter().map(Argument::as_str);
    let found: Vec<&str> = if command.name() == "find" {
        words
            .skip_while(|word| matches!(*word, "-H" | "-L" | "-P"))
            .take_while(|word| !word.starts_with('-') && !matches!(*word, "(" | "!"))
            .collect()
    } else {
        // The pattern stands first.
        words
            .take_while(|word| !is_exec(word))
            .filter(|word| !word.starts_with('-'))
            .skip(1)
            .collect()
    };
    if found.is_empty() { vec!["."] } else { found }
}

/// Whether only some of the files are found: those of a name, an age, a size.
fn selects(command: &Program) -> bool {
    #[rustfmt::skip]
    const ALL: &[&str] = &[
        "-H", "-L", "-P", "-delete", "-depth", "-d", "-exec", "-execdir", "-f", "-maxdepth", "-mindepth", "-mount",
        "-o", "-ok", "-okdir", "-print", "-print0", "-r", "-rf", "-fr", "-type", "-v", "-xdev",
    ];
    let tests = command.arguments.iter().take_while(|word| !is_exec(word));
    let mut options = tests.filter(|word| word.starts_with('-'));
    command.name() != "find" || options.any(|word| !ALL.contains(&word.as_str()))
}

/// The removal of what `find` or `fd` finds.
pub(super) fn found(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    folders(command)
        .into_iter()
        .find_map(|folder| below(folder, selects(command), context))
}

/// The removal of files below a folder: of all of them, or of some.
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

/// What `rsync --delete` removes: all of its target that the source does not hold.
pub(super) fn mirrored(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let deletes = |word: &Argument| word.starts_with("--delete") || word == "--del";
    if !command.arguments.iter().any(deletes) || command.has("--dry-run", 'n') {
        return None;
    }
    let target = command.operands().last()?;
    // What lies on another machine is meant to become a copy.
    if target.contains(':') {
        return None;
    }
    below(target, true, context)
}

/// The removal of files that `xargs` or `parallel` is told by another program.
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
        Some((source, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack")) => of_folders(source, 1),
        Some((_, "git" | "mktemp")) => None,
        _ => UNSHOWN_FILES.finding(context),
    }
}
