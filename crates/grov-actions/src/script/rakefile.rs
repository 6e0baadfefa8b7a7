//! The tasks of a Rakefile.

use super::{MAX_COMMANDS, ScriptPart};
use crate::inline::Language;

/// The maximum nesting of prerequisites.
const MAX_DEPTH: usize = 8;

/// The bodies of tasks and of those before them; of the task `default` if none is named.
pub(super) fn parts(text: &str, names: &[String]) -> Vec<ScriptPart> {
    let lines: Vec<&str> = text.lines().collect();
    let default = ["default".to_owned()];
    let names = if names.is_empty() { &default } else { names };
    let (mut done, mut parts) = (Vec::new(), Vec::new());
    for name in names {
        let bare = name.split('[').next().unwrap_or_default();
        task(
            &lines,
            bare.rsplit(':').next().unwrap_or(bare),
            0,
            &mut done,
            &mut parts,
        );
    }
    parts
}

/// Adds the bodies of the tasks with this name, in any namespace.
fn task(lines: &[&str], name: &str, depth: usize, done: &mut Vec<String>, parts: &mut Vec<ScriptPart>) {
    if depth > MAX_DEPTH || parts.len() >= MAX_COMMANDS || done.iter().any(|done| done == name) {
        return;
    }
    done.push(name.to_owned());
    for (at, line) in lines.iter().enumerate() {
        let bare = line.trim_start();
        let Some(head) = bare.strip_prefix("task ").or_else(|| bare.strip_prefix("task(")) else {
            continue;
        };
        let mut words = names_in(head);
        if words.next() != Some(name) {
            continue;
        }
        let before = head.split_once("=>").or_else(|| head.split_once(": "));
        for prerequisite in before.into_iter().flat_map(|(_, rest)| names_in(rest)) {
            task(lines, prerequisite, depth + 1, done, parts);
        }
        let opens =
            head.trim_end().ends_with(" do") || head.contains(" do |") || head.trim_end().ends_with('{');
        if !opens {
            continue;
        }
        let indent = line.len() - bare.len();
        let body = lines[at + 1..].iter().take_while(|line| {
            let bare = line.trim_start();
            !(line.len() - bare.len() <= indent && (bare.starts_with("end") || bare.starts_with('}')))
        });
        let body: Vec<&str> = body.copied().collect();
        parts.push(ScriptPart::Code(Language::Ruby, body.join("\n")));
    }
}

/// The names in the head of a task.
fn names_in(head: &str) -> impl Iterator<Item = &str> {
    let words = head.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-')));
    words.filter(|word| !word.is_empty() && *word != "do")
}
