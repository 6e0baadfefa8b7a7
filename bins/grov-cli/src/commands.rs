//! The commands, one module each.

mod completions;
mod config;
mod demo;
mod doctor;
mod drift;
mod drift_test;
mod goal;
mod memory;
mod proxy;
mod proxy_status;
mod registration;
mod status;
mod statusline;
mod steps;
mod store;
mod switch;
mod usage;

use crate::arguments::{Command, ConfigCommand, Grov, StoreCommand};
use crate::output::{Outcome, Terminal};

/// Runs a command.
pub(crate) fn run(grov: Grov, terminal: Terminal) -> Outcome {
    let common = grov.common;
    match grov.command {
        Command::Init(arguments) => registration::init(&common, &arguments, terminal),
        Command::Unregister(arguments) => registration::unregister(&common, &arguments, terminal),
        Command::Uninstall(arguments) => registration::uninstall(&common, &arguments, terminal),
        Command::Doctor { fix } => doctor::run(&common, fix, terminal),
        Command::Proxy(arguments) => proxy::run(&common, &arguments, terminal),
        Command::ProxyStatus { limit } => proxy_status::run(&common, limit, terminal),
        Command::Statusline => statusline::run(&common, terminal),
        Command::Status => status::run(&common, terminal),
        Command::Usage { by, since } => usage::run(&common, by, since.as_deref(), terminal),
        Command::Steps { session } => steps::run(&common, &session, terminal),
        Command::Goal(arguments) => goal::run(&common, &arguments, terminal),
        Command::Drift { command } => drift::run(&common, &command, terminal),
        Command::DriftTest(arguments) => drift_test::run(&common, &arguments, terminal),
        Command::Memory { command } => memory::run(&common, command, terminal),
        Command::Off(arguments) => switch::run(&common, &arguments, false, terminal),
        Command::On(arguments) => switch::run(&common, &arguments, true, terminal),
        Command::Store {
            command: StoreCommand::Stats,
        } => store::stats(&common, terminal),
        Command::Store {
            command: StoreCommand::Prune { dry_run },
        } => store::prune(&common, dry_run, terminal),
        Command::Config {
            command: ConfigCommand::Explain { key },
        } => config::explain(&common, &key, terminal),
        Command::Config {
            command: ConfigCommand::List,
        } => config::list(&common, terminal),
        Command::Demo => demo::run(terminal),
        Command::Completions { shell } => completions::run(shell, terminal),
    }
}
