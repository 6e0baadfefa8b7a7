//! What of a command line a finding is about: `docker push` with its arguments, whatever the line builds and tags before it.

use super::EvaluationContext;
use crate::history::WorkingDirectory;
use crate::normalized_path::NormalizedPath;
use grov_domain::{ExecutionHost, Program};

/// Programs whose operands are images, with a tag that changes from one version to the next.
const IMAGE_PROGRAMS: &[&str] = &["crane", "docker", "nerdctl", "podman", "skopeo"];

/// The program as it is run, without the tag of an image. `None` if something else of the line decides what it does: its input, a
/// variable, a pattern, another machine, a directory that is not known.
pub(super) fn of(command: &Program, context: &EvaluationContext<'_>) -> Option<String> {
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
