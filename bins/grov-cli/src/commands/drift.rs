//! `grov drift …`

mod explain;
mod log;
mod replay;
mod status;
mod view;

use crate::arguments::{Common, DriftCommand};
use crate::context::Context;
use crate::output::{Outcome, Terminal};

pub(crate) fn run(common: &Common, command: &DriftCommand, terminal: Terminal) -> Outcome {
    let context = || Context::load(common);
    match command {
        DriftCommand::Status { session } => status::run(&context()?, session.as_deref(), terminal),
        DriftCommand::Log { session, limit } => log::run(&context()?, session.as_deref(), *limit, terminal),
        DriftCommand::Explain { event } => explain::run(&context()?, event, terminal),
        DriftCommand::Replay {
            file: Some(file),
            path,
            every,
            guard,
            ..
        } => {
            let play = replay::Play {
                path: *path,
                every: every.get(),
                guard: *guard,
            };
            replay::file(file, play, terminal)
        }
        DriftCommand::Replay {
            session, file: None, ..
        } => replay::session(&context()?, session.as_deref(), terminal),
    }
}
