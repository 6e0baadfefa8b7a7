//! The arguments of `grov plans`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum PlansCommand {
    /// Switch plans on for this project: prompts are added to the plan of their branch, and git hooks clean up
    On,
    /// Switch plans off for this project, and restore every file that was changed; the plans stay
    Off,
    /// List the plans of this working tree, and whether their branches were merged or deleted
    List,
    /// Show the plan of a branch, with its prompts and files
    Show(BranchArguments),
    /// Show the status of a plan, and whether plans are on for this project
    Status(BranchArguments),
    /// Set the status of a plan to approved, with who and when
    Approve(ApproveArguments),
    /// Move the plan of a branch to the archive
    Archive(BranchArguments),
    /// Archive the plans of merged and deleted branches; remove archived plans of merged branches after a month
    #[command(visible_alias = "cleanup")]
    Gc(GcArguments),
}

#[derive(Args, Debug)]
pub(crate) struct BranchArguments {
    /// The branch [default: the one that is checked out]
    pub(crate) branch: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ApproveArguments {
    /// The branch [default: the one that is checked out]
    pub(crate) branch: Option<String>,
    /// Who approves it [default: the git user]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct GcArguments {
    /// Show what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For git hooks: print nothing, end within a second, and always succeed
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) quiet: bool,
}
