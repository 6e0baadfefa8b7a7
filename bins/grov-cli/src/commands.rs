//! The commands, one module each.

mod agent;
mod certificate_authority;
mod completions;
mod config;
mod context;
mod cost;
mod demo;
mod doctor;
mod drift;
mod drift_test;
mod eval;
mod goal;
mod injected;
mod man;
mod memory;
mod plans;
mod proxy;
mod proxy_status;
mod registration;
mod route;
mod run;
mod service;
mod sessions;
mod status;
mod statusline;
mod steps;
mod store;
mod switch;
mod token;
mod tools;
mod top;
mod ui;
mod upgrade;
mod usage;
mod watch;

pub(crate) use route::provider_file;

use crate::arguments::{Command, ConfigCommand, Grov, StoreCommand};
use crate::context::Context;
use crate::output::{Outcome, Terminal};

/// Runs a command.
pub(crate) fn run(grov: Grov, terminal: Terminal) -> Outcome {
    let common = &grov.common;
    let context = || Context::load(common, terminal);
    match grov.command {
        Command::Init(arguments) => registration::init(&context()?, &arguments),
        Command::Unregister(arguments) => registration::unregister(&context()?, &arguments),
        Command::Uninstall(arguments) => registration::uninstall(&context()?, &arguments),
        Command::Doctor { fix } => doctor::run(common, fix, terminal),
        Command::Proxy(arguments) => proxy::run(common, &arguments, terminal),
        Command::Run(arguments) => run::run(common, &arguments, terminal),
        Command::Service { command } => service::run(&context()?, &command),
        Command::ProxyStatus { limit } => proxy_status::run(&context()?, limit),
        Command::Statusline => statusline::run(common, terminal),
        Command::Status => status::run(&context()?),
        Command::Usage { by, since } => usage::run(&context()?, by, since.as_deref()),
        Command::Sessions(arguments) => sessions::run(&context()?, &arguments),
        Command::Steps { session } => steps::run(&context()?, session.as_deref()),
        Command::Injected { session } => injected::run(&context()?, session.as_deref()),
        Command::Watch(arguments) => watch::run(&context()?, &arguments),
        Command::Top(arguments) => top::run(&context()?, &arguments),
        Command::Ui(arguments) => ui::run(common, &arguments, terminal),
        Command::Cost(arguments) => cost::run(&context()?, &arguments),
        Command::Goal(arguments) => goal::run(&context()?, &arguments),
        Command::Drift { command } => drift::run(context, &command, terminal),
        Command::Context { command } => self::context::run(&context()?, &command),
        Command::DriftTest(arguments) => drift_test::run(&context()?, &arguments),
        Command::Memory { command } => memory::run(&context()?, command),
        Command::Agent { command } => agent::run(&context()?, &command),
        Command::Plans { command } => plans::run(common, context, &command),
        Command::Route(arguments) => route::run(&context()?, &arguments),
        Command::Token { command } => token::run(&context()?, &command),
        Command::Tools { arguments } => tools::run(common, &arguments),
        Command::Mcp { tools: with_tools } => tools::mcp(common, with_tools),
        Command::Off(arguments) => switch::run(&context()?, &arguments, false),
        Command::On(arguments) => switch::run(&context()?, &arguments, true),
        Command::Store { command } => match command {
            StoreCommand::Stats => store::stats(&context()?),
            StoreCommand::Prune { dry_run } => store::prune(&context()?, dry_run),
        },
        Command::Config { command } => match command {
            ConfigCommand::Explain { key } => config::explain(&context()?, &key),
            ConfigCommand::List => config::list(&context()?),
            ConfigCommand::Set { key, value } => config::set(common, terminal, &key, &value),
            ConfigCommand::Unset { key } => config::unset(common, terminal, &key),
        },
        Command::Eval(arguments) => eval::run(&context()?, &arguments),
        Command::Demo => demo::run(terminal),
        Command::Ca { command } => certificate_authority::run(&context()?, &command),
        Command::Upgrade => upgrade::run(&context()?),
        Command::Man { directory } => man::run(&directory, terminal),
        Command::Completions { shell } => completions::run(shell, terminal),
    }
}
