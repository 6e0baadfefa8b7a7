//! Files whose content a command runs: scripts, and the files that define targets for `make`, `npm run` and similar
//! programs.
//!
//! Entry points: [`script_files`] lists the files, and [`ScriptFile::commands`] parses the text of one. Reading the files
//! is up to the caller.

mod justfile;
mod makefile;
mod manifest;
mod rakefile;
mod taskfile;

use crate::inline::Language;
use crate::shell;
use grov_domain::{CommandLine, Program, beginning_to};

/// The maximum number of files that one command line runs.
const MAX_FILES: usize = 8;
/// The maximum length of a script that is parsed, in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// The maximum number of commands that are parsed in one file.
const MAX_COMMANDS: usize = 256;

/// A file whose content a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFile {
    /// The paths where it may be. The first existing one is used.
    pub paths: Vec<String>,
    /// The names of the scripts or targets that run. Empty if the whole file or the default target runs.
    pub targets: Vec<String>,
    /// The folder in which the commands run, if it is known.
    pub folder: Option<String>,
    pub(crate) kind: ScriptKind,
    /// Variables that the command sets: `make NAME=value`.
    pub(crate) variables: Vec<(String, String)>,
}

/// The format of a script file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScriptKind {
    /// Shell commands.
    Shell,
    /// An executable file: its first line or its name says what runs it.
    Executable,
    Code(Language),
    /// A JSON file with scripts under a key: `package.json`.
    Manifest(&'static str),
    Makefile,
    Justfile,
    Taskfile,
    Rakefile,
    /// Rules with commands in texts, for Snakemake.
    Snakefile,
    /// Database statements, and the command that runs them.
    Statements(Vec<String>),
}

/// The commands of a script file.
#[derive(Clone, Debug, Default)]
pub struct ScriptCommands {
    /// The commands.
    pub line: CommandLine,
    /// The files that they run in turn.
    pub files: Vec<ScriptFile>,
}

/// A piece of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScriptPart {
    /// Shell commands.
    Shell(String),
    Code(Language, String),
}

/// The files that a command line runs in `folder`.
///
/// ```
/// let files = grov_actions::script_files("cd web && npm run build", Some("/project"));
/// assert_eq!(files[0].paths[0], "/project/web/package.json");
/// assert_eq!(files[0].targets, ["build"]);
/// ```
pub fn script_files(command: &str, folder: Option<&str>) -> Vec<ScriptFile> {
    let mut files = shell::run_parts(&[ScriptPart::Shell(command.to_owned())], folder).files;
    files.truncate(MAX_FILES);
    files
}

impl ScriptFile {
    /// The commands that run, from the text of the file at `path`.
    pub fn commands(&self, path: &str, text: &str) -> ScriptCommands {
        let mut commands = shell::run_parts(&self.parts(path, text), self.folder.as_deref());
        commands.files.truncate(MAX_FILES);
        commands
    }

    /// The parts that run, from the text of the file at `path`.
    pub(crate) fn parts(&self, path: &str, text: &str) -> Vec<ScriptPart> {
        let text = beginning_to(text, text.floor_char_boundary(MAX_BYTES));
        let mut parts = match &self.kind {
            ScriptKind::Shell => {
                vec![by_first_line(text).unwrap_or_else(|| ScriptPart::Shell(text.to_owned()))]
            }
            ScriptKind::Executable => executable(path, text).into_iter().collect(),
            ScriptKind::Code(language) => vec![ScriptPart::Code(*language, text.to_owned())],
            ScriptKind::Manifest(key) => manifest::parts(text, key, &self.targets),
            ScriptKind::Makefile => makefile::parts(text, &self.targets, &self.variables),
            ScriptKind::Justfile => justfile::parts(text, &self.targets),
            ScriptKind::Taskfile => taskfile::parts(text, &self.targets),
            ScriptKind::Rakefile => rakefile::parts(text, &self.targets),
            ScriptKind::Snakefile => snakefile_parts(text),
            ScriptKind::Statements(command) => vec![statements(command, text)],
        };
        parts.truncate(MAX_COMMANDS);
        parts
    }
}

/// The texts after `shell:` in the rules of Snakemake, joined as Python does.
fn snakefile_parts(text: &str) -> Vec<ScriptPart> {
    const MARKS: [&str; 4] = ["\"\"\"", "'''", "\"", "'"];
    let mut parts = Vec::new();
    for (at, key) in text.match_indices("shell:") {
        let mut command = String::new();
        let mut rest = text[at + key.len()..].trim_start();
        while let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            let inside = &rest[mark.len()..];
            let Some(end) = inside.find(mark) else { break };
            command.push_str(&inside[..end]);
            rest = inside[end + mark.len()..].trim_start();
        }
        if !command.is_empty() {
            parts.push(ScriptPart::Shell(command));
        }
    }
    parts
}

/// The command that runs database statements, with the statements as its argument.
fn statements(command: &[String], text: &str) -> ScriptPart {
    let quote = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let words: Vec<String> = command.iter().map(|word| quote(word)).collect();
    ScriptPart::Shell(format!("{} {}", words.join(" "), quote(text)))
}

/// The content of an executable file: by its first line, else by its name. Files without both are shell scripts.
fn executable(path: &str, text: &str) -> Option<ScriptPart> {
    if text.contains('\0') {
        return None;
    }
    by_first_line(text).or_else(|| match language_of(path) {
        Some(language) => Some(ScriptPart::Code(language, text.to_owned())),
        None => Some(ScriptPart::Shell(text.to_owned())),
    })
}

/// The script by the interpreter that its first line names: `#!/usr/bin/env python3`.
pub(crate) fn by_first_line(text: &str) -> Option<ScriptPart> {
    let first = text.strip_prefix("#!")?.lines().next().unwrap_or_default();
    let mut words = first.split_ascii_whitespace();
    let program =
        words.find(|word| !word.starts_with('-') && !word.ends_with("/env") && !word.contains('='))?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if grov_domain::is_shell(name) {
        return Some(ScriptPart::Shell(text.to_owned()));
    }
    crate::inline::language_of(name).map(|language| ScriptPart::Code(language, text.to_owned()))
}

/// The language of a script by its file extension.
pub(crate) fn language_of(path: &str) -> Option<Language> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "py" | "R" | "r" | "lua" | "jl" | "exs" => Language::Python,
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "tsx" => Language::JavaScript,
        "rb" => Language::Ruby,
        "pl" => Language::Perl,
        "php" => Language::Php,
        _ => return None,
    })
}

/// The number of the line that a program of a script stems from: the first one with most of its words.
pub fn line_of(text: &str, program: &Program) -> Option<usize> {
    let words: Vec<String> = program.words().flat_map(parts_of).take(32).collect();
    let mut best = (0, None);
    for (number, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        let found = words.iter().filter(|word| line.contains(word.as_str())).count();
        if found > best.0 {
            best = (found, Some(number + 1));
        }
    }
    best.1
}

/// The parts of a word that have at least two letters, in lower case.
fn parts_of(word: &str) -> impl Iterator<Item = String> {
    let parts = word.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '/' | '.')));
    parts.filter(|part| part.len() >= 2).map(str::to_lowercase)
}

#[cfg(test)]
mod tests;
