//! Analyzes command lines: their effects, files, folders and programs.

mod container;
mod definitions;
mod embedded;
mod files;
mod git;
mod inline;
mod lexer;
mod network;
mod options;
mod packages;
mod programs;
mod record;
mod run;
mod scripts;
mod state;
mod windows;
mod words;
mod wrapper_command;

use crate::script::{ScriptCommands, ScriptPart};
use grov_domain::{CommandLine, Effect};
use run::Walk;

/// The result of analyzing a command line.
#[derive(Debug, Default)]
pub(crate) struct ShellEffects {
    pub(crate) effects: Vec<Effect>,
    pub(crate) files: Vec<String>,
    pub(crate) folders: Vec<String>,
    pub(crate) line: CommandLine,
}

/// Analyzes a command line that runs in `folder`.
pub(crate) fn understand(script: &str, folder: Option<&str>) -> ShellEffects {
    let mut walk = Walk::new(folder);
    walk.script(script);
    let findings = walk.shell.findings;
    let (mut files, mut folders) = (findings.files, findings.folders);
    files.truncate(crate::path::MAX_FILES);
    folders.truncate(crate::path::MAX_FILES);
    ShellEffects {
        effects: findings.effects,
        files,
        folders,
        line: walk.record.into_command_line(),
    }
}

/// Analyzes the parts of a script, each in a separate shell that starts in `folder`.
pub(crate) fn run_parts(parts: &[ScriptPart], folder: Option<&str>) -> ScriptCommands {
    let mut walk = Walk::new(folder);
    for part in parts {
        walk.part(part);
    }
    ScriptCommands {
        line: walk.record.into_command_line(),
        files: walk.shell.scripts,
    }
}

#[cfg(test)]
mod tests;
