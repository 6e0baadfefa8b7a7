//! `envoy`, the command line of external tools.
//!
//! Prints one JSON object on standard output, whatever happens. `grov tools` is this program, and `envoy plans` is `grov plans`.
//! `envoy mcp` is `grov mcp`, a server instead of a command.
#![forbid(unsafe_code)]

mod transcript;

mod envoy {
    pub(crate) mod command_line;
    pub(crate) mod commands;
    pub(crate) mod environment;
    pub(crate) mod mcp;
    pub(crate) mod output;
}

use envoy::command_line::{Invocation, parse, preset};
use envoy::commands::{self, Failure};
use envoy::environment::Environment;
use envoy::output;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let preset = preset(&arguments);
    if let Some(at) = preset.plans {
        return commands::plans(&arguments, at);
    }
    if let Some(words) = &preset.mcp {
        return envoy::mcp::run(&preset, words);
    }
    let environment = match Environment::load(&preset) {
        Ok(environment) => environment,
        Err(error) => return output::finish(commands::envelope("", Err(error))),
    };
    match parse(&environment.tools.registry, arguments) {
        Invocation::Text(text) => output::print(&text),
        Invocation::Invalid(message) => {
            let error = grov_tools::ToolError::usage(message).hint("envoy --help lists all commands");
            output::finish(commands::envelope("", Err(error)))
        }
        Invocation::Run(command) => match commands::run(environment, command) {
            Ok(envelope) => output::finish(envelope),
            Err(Failure { command, error }) => output::finish(commands::envelope(&command, Err(error))),
        },
    }
}
