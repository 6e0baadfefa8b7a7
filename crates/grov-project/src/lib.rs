//! Which project a directory belongs to, found without starting git.
//!
//! Entry points: [`Place::locate`], then [`Place::project`], [`Place::head`] and [`Place::user`] as needed; each reads
//! a few small files. [`pins`] says how files of a working tree are now.
//! [`normalize_remote`] and [`hash_user`] stand for themselves. [`GrovIgnore`] is what a project wants
//! kept out of memory, and [`without_ignored`] a task without it.
//!
//! Whatever is missing, broken, huge or made to mislead is treated as not there: the answer is then the directory
//! itself. This crate writes nothing, runs nothing, asks no environment variable and knows no session and no store.
#![forbid(unsafe_code)]

mod config;
mod head;
mod ignore;
mod pins;
mod place;
mod read;
mod remote;
mod user;

pub use head::Head;
pub use ignore::{GrovIgnore, IgnoreProblem, without_ignored};
pub use pins::pins;
pub use place::Place;
pub use remote::normalize_remote;
pub use user::{GitUser, hash_user};
