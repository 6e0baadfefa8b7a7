//! `grov memory …`

mod audit;
mod edit;
mod forget;
mod import;
mod listing;
mod named;
mod record;
mod search;
mod show;
mod supersede;

use crate::arguments::{Common, MemoryCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Terminal};
use grov_domain::MemoryScope;

pub(crate) fn run(common: &Common, command: MemoryCommand, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    match command {
        MemoryCommand::List { limit } => listing::list(&context, limit, terminal),
        MemoryCommand::Show { id } => show::run(&context, &id, terminal),
        MemoryCommand::Search(arguments) => search::run(&context, &arguments, terminal),
        MemoryCommand::Import(arguments) => import::run(&context, &arguments, terminal),
        MemoryCommand::Export => listing::export(&context),
        MemoryCommand::Edit(arguments) => edit::run(&context, &arguments, terminal),
        MemoryCommand::Supersede { old, new, undo: _ } => {
            supersede::run(&context, &old, new.as_deref(), terminal)
        }
        MemoryCommand::Audit => audit::run(&context, terminal),
        MemoryCommand::Forget(arguments) => forget::run(&context, &arguments, terminal),
        MemoryCommand::Stats => listing::stats(&context, terminal),
    }
}

/// The memory of the project that the command is about.
fn scope(context: &Context) -> Result<MemoryScope, Failure> {
    let project = context.project()?;
    Ok(MemoryScope {
        project_path: project.key().to_owned(),
        project_remote: project.remote,
    })
}
