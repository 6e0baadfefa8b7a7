//! What a constraint forbids, as one typed value.

mod context;
mod forbidden_commands;
mod forbidden_texts;
mod parts;
mod reader;

use super::written::Construct;
use crate::file_kind::FileKind;
pub(super) use context::Context;
pub(super) use forbidden_commands::PROGRAMS;
pub(super) use parts::{has_hump, kind_of};
pub(super) use reader::read;

/// Something that a constraint forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Nothing may change.
    ReadOnly,
    /// These places must not change.
    Places(Vec<Place>, PlaceRule),
    /// Nothing but these places, and what belongs to them unless it is strict, may change.
    Only { places: Vec<Place>, is_strict: bool },
    /// No files may be created.
    NewFiles,
    /// A command must not run.
    Command(ForbiddenCommand),
    /// A dependency must not be added; `None` for any.
    Package(Option<String>),
    /// A text must not be written.
    Written(Construct),
}

/// What must not happen to a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlaceRule {
    /// It may change, but not be removed.
    pub(super) removal_only: bool,
    /// New ones may be created.
    pub(super) existing_only: bool,
    /// The places excepted.
    pub(super) except: Vec<Place>,
}

/// A place in the project, as a constraint names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A path or glob.
    Path(String),
    /// A kind of files.
    Kind(FileKind),
    /// Sources that are no tests.
    Source,
    /// What users see, or what serves it.
    Layer(Layer),
    /// Files whose path has these words.
    Words(Vec<String>),
    /// Texts in the languages of users.
    Translations,
    /// Images, fonts and sounds.
    Assets,
    /// Files of other environments than the one that these words name.
    OtherEnvironment(Vec<String>),
    /// Files of a kind whose path has these words.
    KindOf(FileKind, Vec<String>),
}

/// A part of a web application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    Frontend,
    Backend,
}

/// A command that is recognized by what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ForbiddenCommand {
    /// A Git command.
    Git(&'static str),
    /// A Git command that names one of these branches.
    GitOn(&'static str, Vec<String>),
    /// A change to a branch other than these.
    Switch(Vec<String>),
    /// A deployment or publication.
    Deploy,
    /// A change of infrastructure.
    Infrastructure,
    /// An installation of packages.
    Install,
    /// An upgrade of packages.
    Upgrade,
    /// A removal of files.
    Delete,
    /// A restart of something that runs.
    Restart,
    /// Another value of the option that these words name.
    Option { words: Vec<String>, value: String },
    /// A subcommand with this name.
    Named(String),
    /// A command that acts in one of these environments.
    In(Vec<String>),
    /// A formatter that rewrites files.
    Format,
    /// A run of the tests.
    Tests,
    /// A run of all tests: one that names no file and no test.
    AllTests,
    /// An update of recorded outputs.
    Snapshots,
    /// A run of database migrations.
    Migrate,
    /// The generation of a migration.
    GenerateMigration,
    /// A change of stored data.
    DatabaseWrite,
    /// A start of containers.
    Containers,
    /// Access to the network.
    Network,
    /// A push that overwrites.
    ForcePush,
    /// A task of a task runner: `rake db:seed`.
    Task,
    /// An option: `--force`.
    Flag(String),
    /// An installation of this package.
    Package(String),
    /// A program and a subcommand.
    Program(Vec<String>),
    /// A run of a script or program file with one of these names, or whose name has one of these words.
    Script(Vec<String>),
    /// A run of such a script that is no dry run.
    WetRun(Vec<String>),
}

#[cfg(test)]
mod tests;
