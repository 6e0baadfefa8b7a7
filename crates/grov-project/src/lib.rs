//! Which project a directory belongs to, found without starting git.
//!
//! Entry points: [`ProjectLocation::locate`], then [`ProjectLocation::project`], [`ProjectLocation::head`] and [`ProjectLocation::user`] as needed; each reads
//! a few small files. [`pins`] hashes files of a working tree. [`GrovIgnore`] holds the paths that a project excludes from
//! memory; [`without_ignored`] removes them from a task.
//!
//! Missing, malformed, oversized and misleading files are ignored: the project is then the directory itself. This crate
//! writes no files, starts no processes, reads no environment variables, and does not depend on sessions or the store.
#![forbid(unsafe_code)]

mod config;
mod head;
mod ignore;
mod pins;
mod project_location;
mod read;
mod remote;
mod user;

pub use head::Head;
pub use ignore::{GrovIgnore, IgnoreProblem, without_ignored};
pub use pins::pins;
pub use project_location::ProjectLocation;
pub use remote::normalize_remote;
pub use user::{GitUser, hash_user};
