//! The git hooks `post-merge` and `post-checkout`, where the repository uses them.

use super::edits::{Edit, is_executable};
use crate::git::Git;
use crate::plan_dir::canonical;
use crate::{PlanError, file};
use std::path::{Path, PathBuf};

const NAMES: [&str; 2] = ["post-merge", "post-checkout"];
/// Shells that understand the text that is added.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];
const MAX_HOOK: u64 = 1024 * 1024;

/// A git hook to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hook {
    /// Its file.
    pub(super) path: PathBuf,
    name: &'static str,
    /// The program, and the whole command, quoted for the shell.
    program: String,
    command: String,
    /// Husky runs its files with a shell, executable or not.
    is_husky: bool,
    /// The rule that ignores the file, if it is in the working tree and new.
    rule: Option<String>,
}

/// The hooks of a repository.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) hooks: Vec<Hook>,
}

impl Wanted {
    /// Ignore rules for hooks that are created in the working tree.
    pub(super) fn created_in_tree(&self) -> Vec<String> {
        self.hooks.iter().filter_map(|hook| hook.rule.clone()).collect()
    }
}

/// The hooks to install, in the folder that git reads.
pub(super) fn wanted(git: &Git, command: &[String], notes: &mut Vec<String>) -> Result<Wanted, PlanError> {
    let folder = git.read(&["rev-parse", "--git-path", "hooks"])?;
    let folder = git.tree().join(folder.trim_end_matches('\n'));
    let folder = folder.canonicalize().unwrap_or(folder);
    // Husky 9 generates the folder `_` and runs the files above it.
    let is_husky_9 = folder.file_name().is_some_and(|name| name == "_")
        && (folder.join("h").is_file() || folder.join("husky.sh").is_file());
    let (folder, is_husky) = match folder.parent() {
        Some(parent) if is_husky_9 => (parent.to_owned(), true),
        _ => (folder, false),
    };
    let command: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let tree = canonical(git.tree())?;
    let mut hooks = Vec::new();
    for name in NAMES {
        let path = folder.join(name);
        let inside = path
            .strip_prefix(&tree)
            .ok()
            .filter(|inside| !inside.starts_with(".git"));
        let inside = inside.map(|inside| inside.to_string_lossy().into_owned());
        let exists = file::status(&path)?.is_some();
        if let (Some(inside), true) = (&inside, exists)
            && !git.read(&["ls-files", "--", inside])?.is_empty()
        {
            notes.push(format!(
                "{inside} is tracked: git shows the added lines as a change; do not commit them"
            ));
        }
        hooks.push(Hook {
            rule: inside.filter(|_| !exists).map(|inside| format!("/{inside}")),
            path,
            name,
            program: command.first().cloned().unwrap_or_default(),
            command: command.join(" "),
            is_husky,
        });
    }
    Ok(Wanted { hooks })
}

impl Hook {
    /// Whether an edit runs the same command.
    pub(super) fn is_run_by(&self, edit: &Edit) -> bool {
        edit.text().contains(&self.block())
    }

    /// Installs the hook before what is there.
    pub(super) fn install(&self) -> Result<Edit, PlanError> {
        let Some(status) = file::status(&self.path)? else {
            let start = if self.is_husky { "" } else { "#!/bin/sh\n" };
            return Edit::add(&self.path, &format!("{start}{}", self.block()), 0o755, |_| 0);
        };
        let text = match status.is_file() {
            true => file::read_text(&self.path, MAX_HOOK).ok().flatten(),
            false => None,
        };
        match text {
            Some(text) if self.is_husky || (is_shell(&text) && is_executable(&self.path)) => {
                Edit::add(&self.path, &self.block(), 0o755, after_first_line)
            }
            // A program, a link, or a hook that is switched off: it must stay as it is.
            _ => Edit::replace(&self.path, |aside| self.wrapper(aside)),
        }
    }

    /// The lines that run the command. They never fail, and print nothing.
    fn block(&self) -> String {
        // Git passes 1 as the third argument if the checkout changed the branch, and 0 for files.
        let condition = match self.name {
            "post-checkout" => "[ \"${3-1}\" = 1 ] && ",
            _ => "",
        };
        format!(
            "# >>> plans of Grov\nif {condition}[ -x {} ]; then\n  {} plans gc --quiet </dev/null >/dev/null 2>&1 || :\nfi\n# <<< plans of Grov\n",
            self.program, self.command
        )
    }

    /// A hook that runs the command, and then the file that was there.
    fn wrapper(&self, aside: &Path) -> String {
        let name = aside.file_name().unwrap_or_default().to_string_lossy();
        let name = quoted(&name);
        format!(
            "#!/bin/sh\n{}hook=$(dirname \"$0\")/{name}\nif [ -x \"$hook\" ]; then exec \"$hook\" \"$@\"; fi\n",
            self.block()
        )
    }
}

/// The place after a first line that names the shell.
fn after_first_line(text: &str) -> usize {
    match text.starts_with("#!") {
        true => text.find('\n').map_or(text.len(), |at| at + 1),
        false => 0,
    }
}

/// Whether a script is run by a shell: its first line names one, or no program.
fn is_shell(text: &str) -> bool {
    let Some(line) = text.strip_prefix("#!") else {
        return !text.contains('\0');
    };
    let words: Vec<&str> = line
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let program = match words.as_slice() {
        [program, ..] if name(program) != "env" => name(program),
        [_, rest @ ..] => {
            let program = rest
                .iter()
                .find(|word| !word.starts_with('-') && !word.contains('='));
            program.map(|program| name(program)).unwrap_or_default()
        }
        [] => String::new(),
    };
    SHELLS.contains(&program.as_str())
}

/// A word as the shell reads it unchanged.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_recognized() {
        for text in [
            "#!/bin/sh\n",
            "#!/usr/bin/env bash\n",
            "#! /bin/dash -e\n",
            "#!/usr/bin/env -S FOO=1 zsh -f\n",
            "npm test\n",
        ] {
            assert!(is_shell(text), "{text:?}");
        }
        for text in [
            "#!/usr/bin/env node\n",
            "#!/usr/bin/python3\n",
            "#!/usr/bin/env fish\n",
            "#!",
            "\u{7f}ELF\0",
        ] {
            assert!(!is_shell(text), "{text:?}");
        }
    }

    #[test]
    fn words_are_quoted() {
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }
}
