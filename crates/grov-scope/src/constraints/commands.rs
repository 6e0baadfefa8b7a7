//! Commands that constraints forbid.

use super::command_effects;
use super::limit::ForbiddenCommand;
use super::request::Sentence;
use crate::analyzed_action::AnalyzedAction;
use grov_domain::Program;

/// A constraint on a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandConstraint {
    /// The text of the constraint.
    pub(super) text: String,
    /// The command.
    pub(super) what: ForbiddenCommand,
}

impl CommandConstraint {
    /// Whether the user ordered the forbidden command by one of these effects.
    pub(super) fn is_ordered(&self, ordered: &[&'static str]) -> bool {
        effect_of(&self.what).is_some_and(|effect| ordered.contains(&effect))
    }

    /// Whether a sentence requests the forbidden command. `is_younger` says that it was typed after the constraint.
    pub(super) fn is_lifted_by(&self, sentence: &Sentence, is_younger: bool) -> bool {
        let subjects = requested_by(&self.what);
        // "Remove the handlers, but don't delete any files"
        let is_told = match &self.what {
            // "Write a script that …, but don't run it"
            ForbiddenCommand::Script(_) => is_younger,
            ForbiddenCommand::Delete => is_younger || sentence.has_any(FILES),
            ForbiddenCommand::Program(line) if line.len() > 1 => {
                line.first().is_none_or(|name| sentence.has_any(&[name.as_str()]))
            }
            _ => true,
        };
        is_told && self.is_requested_by(sentence, is_younger, &subjects)
    }

    fn is_requested_by(&self, sentence: &Sentence, is_younger: bool, subjects: &[&str]) -> bool {
        sentence.requests(subjects)
            || sentence.opens_with(subjects)
            || is_younger && sentence.permits(subjects)
    }

    /// Whether an action runs the forbidden command.
    pub(super) fn is_broken_by(&self, action: &AnalyzedAction<'_>) -> bool {
        command_effects::is_run(&self.what, action)
    }
}

/// Words for files.
#[rustfmt::skip]
const FILES: &[&str] = &[
    "archivo", "archivos", "arquivo", "arquivos", "bestand", "bestanden", "datei", "dateien", "dossier", "fichier", "fichiers", "file", "files", "fisier", "fisierele", "fisierul", "folder", "ordner", "plik", "pliki",
];

/// The name of what a command does, in the table of effects.
fn effect_of(what: &ForbiddenCommand) -> Option<&'static str> {
    Some(match what {
        ForbiddenCommand::Git("branch") => return None,
        ForbiddenCommand::Git(command) => command,
        ForbiddenCommand::Deploy => "deploy",
        ForbiddenCommand::Install => "install",
        ForbiddenCommand::Upgrade => "upgrade",
        ForbiddenCommand::Restart => "restart",
        ForbiddenCommand::Format => "format",
        ForbiddenCommand::Tests => "tests",
        ForbiddenCommand::Migrate => "migrate",
        ForbiddenCommand::ForcePush => "force",
        _ => return None,
    })
}

/// The words that request a command.
fn requested_by(what: &ForbiddenCommand) -> Vec<&str> {
    match what {
        ForbiddenCommand::Git("push") => vec!["push", "pr", "mr"],
        ForbiddenCommand::Git("commit") => vec!["commit", "push", "pr", "mr", "comite", "committe"],
        ForbiddenCommand::Git(command) | ForbiddenCommand::GitOn(command, _) => vec![command],
        ForbiddenCommand::Restart => vec!["restart", "reboot", "rerun"],
        ForbiddenCommand::Option { words, .. } => words.iter().map(String::as_str).collect(),
        ForbiddenCommand::Named(name) => vec![name],
        ForbiddenCommand::In(names) => names.iter().map(String::as_str).collect(),
        ForbiddenCommand::Delete => vec!["delete", "remove", "sterge"],
        ForbiddenCommand::Switch(_) => vec!["switch", "checkout", "branch"],
        ForbiddenCommand::Deploy => vec!["publish", "deploy", "release", "publica"],
        ForbiddenCommand::Infrastructure => vec!["apply", "destroy", "upgrade"],
        ForbiddenCommand::Install => vec!["install", "instaleaza"],
        ForbiddenCommand::Upgrade => vec!["upgrade", "bump"],
        ForbiddenCommand::Format => vec!["format", "reformat", "fmt"],
        ForbiddenCommand::Tests => vec!["tests", "testele"],
        ForbiddenCommand::AllTests => vec!["suite", "everything", "all"],
        ForbiddenCommand::Snapshots => vec!["snapshots", "snapshot"],
        ForbiddenCommand::Migrate | ForbiddenCommand::GenerateMigration => {
            vec!["migrate", "migration", "migrations"]
        }
        ForbiddenCommand::DatabaseWrite => vec!["database"],
        ForbiddenCommand::Containers => vec!["docker", "containers", "container"],
        ForbiddenCommand::Network => vec!["network", "internet"],
        ForbiddenCommand::ForcePush => vec!["force", "force-push"],
        ForbiddenCommand::Task => vec!["run", "execute"],
        ForbiddenCommand::WetRun(_) => vec!["execute", "apply", "live", "real"],
        ForbiddenCommand::Script(names) => names.iter().map(String::as_str).collect(),
        ForbiddenCommand::Flag(flag) => vec![flag],
        ForbiddenCommand::Package(name) => vec![name],
        ForbiddenCommand::Program(line) => line.last().map(String::as_str).into_iter().collect(),
    }
}

/// Whether a command is a `git push` that overwrites the remote branch.
pub(crate) fn pushes_by_force(command: &Program) -> bool {
    let ("push", rest) = command.git() else {
        return false;
    };
    rest.iter().any(|word| {
        word.starts_with("--force")
            || word.starts_with('+') && word.len() > 1
            || word == "--mirror"
            || word.starts_with('-') && !word.starts_with("--") && word.contains('f')
    })
}
