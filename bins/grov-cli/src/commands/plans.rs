//! `grov plans`

mod cleanup;
mod listing;
mod one;
mod switch;

use crate::arguments::{Common, PlansCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome};
use grov_plans::{Branch, Git, PlanError};
use grov_project::ProjectLocation;
use std::path::{Path, PathBuf};
pub(super) use switch::off_everywhere;

/// Runs a command.
pub(crate) fn run(
    common: &Common,
    context: impl Fn() -> Result<Context, Failure>,
    command: &PlansCommand,
) -> Outcome {
    // Git hooks must not fail, also with a broken configuration.
    if let PlansCommand::Gc(arguments) = command
        && arguments.quiet
    {
        cleanup::quiet(common);
        return Ok(ExitStatus::Success);
    }
    let context = &context()?;
    match command {
        PlansCommand::On => switch::on(context),
        PlansCommand::Off => switch::off(context),
        PlansCommand::List => listing::list(context),
        PlansCommand::Show(arguments) => one::show(context, arguments),
        PlansCommand::Status(arguments) => one::status(context, arguments),
        PlansCommand::Approve(arguments) => one::approve(context, arguments),
        PlansCommand::Archive(arguments) => one::archive(context, arguments),
        PlansCommand::Gc(arguments) => cleanup::gc(context, arguments.dry_run),
    }
}

/// A working tree of a repository.
struct Place {
    location: ProjectLocation,
    tree: PathBuf,
}

impl Place {
    fn of(context: &Context) -> Result<Self, Failure> {
        match context.directory() {
            Some(directory) => Self::at(directory).map_err(Failure::from),
            None => Err(Failure::error("project", "plans need a directory")
                .hint("name the project's directory with --project DIR")),
        }
    }

    fn at(directory: &Path) -> Result<Self, PlanError> {
        let location = ProjectLocation::locate(directory);
        match location.work_tree().map(Path::to_owned) {
            Some(tree) if location.is_git() => Ok(Self { location, tree }),
            _ => Err(PlanError::NoRepository {
                path: directory.to_owned(),
            }),
        }
    }

    fn git(&self) -> Git {
        Git::at(&self.tree)
    }

    /// The branch of this name; without a name the one that is checked out.
    fn branch(&self, name: Option<&str>) -> Result<Branch, PlanError> {
        if let Some(name) = name {
            return Ok(Branch::of(Some(name.strip_prefix("refs/heads/").unwrap_or(name))));
        }
        let head = self.location.head();
        match (&head.branch, &head.commit) {
            // References are not in files: git's format reftable.
            (None, None) => self.git().head().map(|(branch, _)| branch),
            _ => Ok(Branch::of(head.branch.as_deref())),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let failure = match &error {
            PlanError::NoPlan { .. } => Self::negative(error.kind(), error.to_string()),
            _ => Self::error(error.kind(), error.to_string()),
        };
        failure.hint(error.hint())
    }
}
