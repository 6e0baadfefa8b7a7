//! `grov context`: how full the context window is, what compactions lost, and the summary of a session.

mod audit;
mod status;
mod summary;

use crate::arguments::ContextCommand;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Outcome;
use crate::session;
use grov_domain::{ClientSessionId, StoreConnection};

pub(super) fn run(context: &Context, command: &ContextCommand) -> Outcome {
    match command {
        ContextCommand::Status { session } => status::run(context, session.as_deref()),
        ContextCommand::Audit { session } => audit::run(context, session.as_deref()),
        ContextCommand::Summary { session } => summary::run(context, session.as_deref()),
    }
}

/// The session that a command is about.
async fn resolve(
    store: &dyn StoreConnection,
    wanted: Option<&str>,
    project: &str,
) -> Result<ClientSessionId, Failure> {
    Ok(session::resolve(store, wanted, project).await?.id)
}
