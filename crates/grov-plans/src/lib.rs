//! Plan directories: `.claude/plans/<branch>/{plan.md, queries.jsonl, files.jsonl}` in the working tree of a repository.
//!
//! | To | use |
//! |---|---|
//! | find the plan of a branch | [`PlanDir::find`], [`PlanDir::open`] |
//! | read it | [`PlanDir::text`], [`PlanDir::queries`], [`PlanDir::files`] |
//! | record a verdict or a status in it | [`PlanFile::write_validation`], [`PlanFile::set_status`] |
//! | add a prompt to it | [`capture`] |
//! | archive the plans of merged branches | [`collect`] |
//! | switch plans on and off for a project | [`Switch`] |
//!
//! Branches are compared with the `git` program, by references and commits only; the reflog is not read. [`capture`] starts
//! no process: its caller passes branch and commit. The crate uses no network and does not depend on sessions or the store.
#![forbid(unsafe_code)]

mod archive;
mod branch;
mod capture;
mod collect;
mod error;
mod file;
mod git;
mod lines;
mod plan_dir;
mod plan_file;
mod record;
mod switch;

pub use archive::{ArchiveReason, Archived};
pub use branch::Branch;
pub use capture::{Prompt, capture};
pub use collect::{CollectOptions, Collected, PlanState, States, archive_by_hand, collect, states};
pub use error::PlanError;
pub use git::Git;
pub use lines::{Listed, Query};
pub use plan_dir::{PlanDir, plans_folder};
pub use plan_file::{PlanFile, Status, Validation, ValidationKind};
pub use switch::{Switch, SwitchChange};
