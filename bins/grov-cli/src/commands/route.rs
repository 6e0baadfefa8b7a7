//! `grov route …`

mod add;
mod agent;
mod check;
mod exchange;
mod explain;
mod list;
mod live;
mod presets;
mod source;
mod test;

use crate::arguments::{RouteArguments, RouteCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Outcome;
use grov_route::ProviderFile;
use source::Source;
use std::path::Path;

/// The provider file of the settings; `None` if there is none.
pub(crate) fn provider_file(context: &Context) -> Result<Option<ProviderFile>, Failure> {
    Source::new(context, None).load()
}

/// Checks that the provider file of `flag`, else of the settings, is valid if there is one. One that is named must exist.
pub(crate) fn check_providers(context: &Context, flag: Option<&Path>) -> Result<(), Failure> {
    let source = Source::new(context, flag);
    if source.load()?.is_none() && flag.is_some() {
        let message = format!("there is no provider file at {}", source.path().display());
        return Err(Failure::usage(message).hint("name another with --providers FILE"));
    }
    Ok(())
}

pub(crate) fn run(context: &Context, arguments: &RouteArguments) -> Outcome {
    let source = Source::new(context, arguments.providers.as_deref());
    match &arguments.command {
        RouteCommand::Check => check::run(context, &source),
        RouteCommand::List => list::run(context, &source),
        RouteCommand::Explain(arguments) => explain::run(context, &source, arguments),
        RouteCommand::Test { label, stream } => test::run(context, &source, label, *stream),
        RouteCommand::Add(arguments) => add::run(context, &source, arguments),
        RouteCommand::Agent(arguments) => agent::run(context, &source, arguments),
    }
}
