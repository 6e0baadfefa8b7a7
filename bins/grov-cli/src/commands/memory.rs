//! `grov memory …`

mod adopt;
mod audit;
mod edit;
mod forget;
mod import;
mod inbox;
mod listing;
mod named;
mod record;
mod search;
mod show;
mod supersede;
mod trust;

use crate::arguments::MemoryCommand;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Outcome;
use grov_domain::MemoryScope;

pub(crate) fn run(context: &Context, command: MemoryCommand) -> Outcome {
    match command {
        MemoryCommand::List { limit } => listing::list(context, limit),
        MemoryCommand::Show { id } => show::run(context, &id),
        MemoryCommand::Search(arguments) => search::run(context, &arguments),
        MemoryCommand::Import(arguments) => import::run(context, &arguments),
        MemoryCommand::Export => listing::export(context),
        MemoryCommand::Edit(arguments) => match &arguments.content {
            Some(content) => inbox::decide(context, &arguments.id, inbox::Decision::Edit, Some(content)),
            None => edit::run(context, &arguments),
        },
        MemoryCommand::Inbox => inbox::list(context),
        MemoryCommand::Approve { id, content } => {
            inbox::decide(context, &id, inbox::Decision::Approve, content.as_deref())
        }
        MemoryCommand::Reject { id } => inbox::decide(context, &id, inbox::Decision::Reject, None),
        MemoryCommand::Settle { id, here, there: _ } => inbox::settle(context, &id, here),
        MemoryCommand::Done { id } => inbox::decide(context, &id, inbox::Decision::Done, None),
        MemoryCommand::Supersede { old, new, undo: _ } => supersede::run(context, &old, new.as_deref()),
        MemoryCommand::Adopt(arguments) => adopt::run(context, &arguments),
        MemoryCommand::Trust { id } => trust::run(context, &id),
        MemoryCommand::Audit => audit::run(context),
        MemoryCommand::Forget(arguments) => forget::run(context, &arguments),
        MemoryCommand::Stats => listing::stats(context),
    }
}

/// The memories of the selected project.
fn scope(context: &Context) -> Result<MemoryScope, Failure> {
    let project = context.project()?;
    Ok(MemoryScope {
        project_path: project.key().to_owned(),
        project_remote: project.remote,
    })
}
