//! Removals whose targets the command line does not show: a variable without a value, or the lines of a list.

use super::bulk::{UNSHOWN_FILES, found};
use super::{EvaluationContext, RISKY, finding};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Argument, Finding, Program, Role};

/// Programs that print the lines of a list.
#[rustfmt::skip]
const LISTS: &[&str] = &["awk", "cat", "curl", "cut", "grep", "head", "jq", "sed", "sort", "tail", "tr", "uniq", "wget", "xargs", "yq"];

/// The finding for a recursive removal of what a substitution prints: `rm -rf $(cat dirs.txt)`.
pub(super) fn printed(
    command: &Program,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let operands = command
        .arguments
        .iter()
        .filter(|argument| argument.role == Role::Operand && is_whole(argument));
    operands.into_iter().find_map(|argument| {
        if let Some(file) = argument.strip_prefix("$(<") {
            let file = file.trim_end_matches(')').trim();
            return UNSHOWN_FILES.finding(context).filter(|_| !is_own(file, context));
        }
        let printers = programs.get(argument.output_of.clone())?;
        if let Some(search) = printers.iter().find(|program| program.name() == "find") {
            return found(search, context);
        }
        let lists = |program: &Program| {
            LISTS.contains(&program.name())
                && !program
                    .operands()
                    .chain(reads(program))
                    .any(|file| is_own(file, context))
        };
        let is_list = !printers.is_empty() && printers.iter().all(lists);
        UNSHOWN_FILES.finding(context).filter(|_| is_list)
    })
}

/// Whether an argument is only a substitution: `$(cat x)`, not `$(brew --prefix)/lib`.
fn is_whole(argument: &Argument) -> bool {
    (!argument.output_of.is_empty() || argument.starts_with("$(<")) && argument.ends_with([')', '`'])
}

fn reads(program: &Program) -> impl Iterator<Item = &str> {
    program.reads.iter().map(String::as_str)
}

/// Whether the agent wrote a file, in this line or before.
fn is_own(file: &str, context: &EvaluationContext<'_>) -> bool {
    context.directory.path(file).is_some_and(|path| {
        const MAX_CHANGES: usize = 256;
        let place = NormalizedPath::new(context.root, &path);
        let mut changed = context.line_changes.iter().rev().take(MAX_CHANGES);
        changed.any(|path| NormalizedPath::new(context.root, path) == place) || context.has_changed(&place)
    })
}

/// The finding for a recursive removal of a variable that the line does not set, unless it sounds like a result: `rm -rf $SRC`.
pub(super) fn of_variable(command: &Program, path: &str, context: &EvaluationContext<'_>) -> Option<Finding> {
    const MAX_LINE: usize = 16 * 1024;
    let name = path.trim_end_matches('/').strip_prefix('$')?;
    let name = name
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .unwrap_or(name);
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let sets = |before: &str| context.line.contains(&format!("{before}{name}"));
    let is_set =
        || context.line.contains(&format!("{name}=")) || sets("for ") || sets("read ") || sets("read -r ");
    let is_listed = command.through.iter().any(|program| program == "xargs");
    // The rules about Grov have a stronger reason.
    let fine = !is_name
        || name.starts_with("GROV")
        || is_listed
        || context.line.is_empty()
        || context.line.len() > MAX_LINE
        || is_set()
        || context.uses_temporary
        || super::is_result(name)
        || context.asks_for_removal();
    let reason = format!("`rm -r {path}` removes a folder that the line does not show");
    finding(RISKY, None, reason).filter(|_| !fine)
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::under;

    #[test]
    fn what_the_line_does_not_show_is_not_removed() {
        under("Fix the parser").asked(&[
            "rm -rf $(cat dirs.txt)",
            "rm -rf `cat dirs.txt`",
            "rm -rf $(< dirs.txt)",
            "rm -rf $(jq -r .paths[] conf.json)",
            "rm -rf node_modules $SRC",
            "rm -rf ${SRC}",
            "rm -rf `pwd`",
            "rm -rf \"$(pwd)\"",
            "rm -rf \"$PWD\"/*",
            "cd \"$(git rev-parse --show-toplevel)\" && rm -rf *",
            "rm -rf \"$(git rev-parse --show-toplevel)/src\"",
        ]);
        under("Fix the parser").silent(&[
            "rm -rf \"$BUILD_DIR\" $OUT",
            "WORK=$(mktemp -d); rm -rf \"$WORK\"",
            "for X in a b; do rm -rf build/$X; done",
            "rm -rf $(pwd)/dist",
            "cd \"$(git rev-parse --show-toplevel)\" && rm -rf target",
            "rm -rf $(find . -name __pycache__)",
            "find . -name '*.o' > list.tmp; rm -rf $(cat list.tmp)",
            "rm -rf $VENV",
            "rm -rf \"$VIRTUAL_ENV\"",
        ]);
    }
}
