//! `grov memory …`

mod forget;
mod import;
mod lines;
mod listing;
mod record;
mod search;

use crate::arguments::{Common, MemoryCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Terminal};
use grov_domain::MemoryScope;

pub(crate) fn run(common: &Common, command: MemoryCommand, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    match command {
        MemoryCommand::List { limit } => listing::list(&context, limit, terminal),
        MemoryCommand::Show { id } => listing::show(&context, &id, terminal),
        MemoryCommand::Search(arguments) => search::run(&context, &arguments, terminal),
        MemoryCommand::Import { file } => import::run(&context, &file, terminal),
        MemoryCommand::Export => listing::export(&context),
        MemoryCommand::Forget { ids } => forget::run(&context, &ids, terminal),
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
