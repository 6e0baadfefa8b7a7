//! `grov`, the command line.
//!
//! Parses arguments, connects the libraries, prints answers and returns exit codes. Storage, project discovery and settings
//! are left to the libraries.
#![forbid(unsafe_code)]

mod arguments;
mod assembly;
mod cleared;
mod client_spending;
mod commands;
mod context;
mod daemon_health;
mod daemon_start;
mod embedder;
mod failure;
mod format;
mod hook;
mod judge;
mod lines;
mod link_worker;
mod output;
mod own_command;
mod programs;
mod progress;
mod session;
mod since;
mod table;
mod transcript;
mod written_files;

use arguments::Invocation;
use output::Terminal;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Not parsed by clap, because a hook succeeds even on bad usage.
    if let Some(command) = hook::HookCommand::parse(&arguments) {
        return hook::run(&command);
    }
    match arguments::parse(arguments) {
        Invocation::Command(command) => {
            let terminal = Terminal::of(&command.common);
            let outcome = commands::run(*command, terminal);
            output::finish(outcome, terminal.wants_json())
        }
        Invocation::Text(text) => output::finish(output::print(&text), false),
        Invocation::Invalid { failure, json } => output::finish(Err(failure), json),
    }
}
