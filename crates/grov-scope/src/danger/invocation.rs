//! What of a command line a finding is about: `docker push` with its arguments, if the rest of the line only builds or shows something.

use super::EvaluationContext;
use crate::history::WorkingDirectory;
use crate::normalized_path::NormalizedPath;
use grov_domain::{ExecutionHost, Program};

/// Programs whose operands are images, with a tag that changes from one version to the next.
const IMAGE_PROGRAMS: &[&str] = &["crane", "docker", "nerdctl", "podman", "skopeo"];

/// Programs that change nothing for the programs after them.
const INERT: &[&str] = &[
    "cat", "cd", "date", "df", "du", "echo", "grep", "head", "jq", "ls", "printf", "pwd", "sleep", "sort",
    "tail", "time", "true", "uniq", "wc",
];

/// Programs that build, test or commit what is there, by their first operand.
#[rustfmt::skip]
const PREPARING: &[(&str, &[&str])] = &[
    ("cargo", &["build", "check", "clippy", "fmt", "test"]),
    ("docker", &["build"]),
    ("git", &["add", "commit", "diff", "fetch", "log", "status"]),
    ("go", &["build", "test", "vet"]),
    ("gradle", &["assemble", "build", "test"]),
    ("make", &["all", "build", "check", "test"]),
    ("mvn", &["package", "test", "verify"]),
    ("nerdctl", &["build"]),
    ("npm", &["ci", "test"]),
    ("podman", &["build"]),
    ("terraform", &["fmt", "plan", "validate"]),
];

/// Whether a program decides nothing about the programs after it.
fn is_preparation(program: &Program) -> bool {
    let runs = |list: &[&str]| {
        let first = program.operands().next().unwrap_or_default();
        list.contains(&first) || first == "run" && program.operands().nth(1) == Some("build")
    };
    let is_plain = program.assignments.is_empty() && program.host == ExecutionHost::Local;
    is_plain
        && (INERT.contains(&program.name()) && program.targets.is_empty()
            || PREPARING
                .iter()
                .any(|(name, first)| *name == program.name() && runs(first)))
}

/// The program as it is run, without the tag of an image. `None` if something else of the line decides what it does: its input, a
/// variable, a pattern, another machine, a directory that is not known, or another program of the line, which may set what it reads
/// or change what it is.
pub(super) fn of(command: &Program, line: &[Program], context: &EvaluationContext<'_>) -> Option<String> {
    let is_other = |other: &&Program| !std::ptr::eq(*other, command);
    if !line.iter().filter(is_other).all(is_preparation) {
        return None;
    }
    let folder = match &context.directory {
        WorkingDirectory::Root => None,
        WorkingDirectory::Folder(folder) => Some(NormalizedPath::new(context.root, folder)),
        WorkingDirectory::Unknown => return None,
    };
    let is_whole = command.host == ExecutionHost::Local
        && command.input.is_none()
        && command.source.is_none()
        && command.through.is_empty()
        && command.for_each.is_empty()
        && command.reads.is_empty()
        && command.targets.is_empty();
    let words = || {
        command
            .assignments
            .iter()
            .map(String::as_str)
            .chain(command.words())
    };
    if !is_whole || words().any(|word| word.contains(['$', '`', '*', '?', '{', '\n'])) {
        return None;
    }
    let pushes_image = IMAGE_PROGRAMS.contains(&command.name()) && command.has_word(&["push"]);
    let words: Vec<String> = words()
        .map(|word| if pushes_image { without_tag(word) } else { word })
        .map(|word| match word.contains(char::is_whitespace) {
            true => format!("'{word}'"),
            false => word.to_owned(),
        })
        .collect();
    let words = words.join(" ");
    Some(match folder {
        Some(folder) if !folder.as_str().is_empty() => format!("{words} in {}", folder.as_str()),
        _ => words,
    })
}

/// An image without its tag: the registry may have a port.
fn without_tag(image: &str) -> &str {
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    }
}
