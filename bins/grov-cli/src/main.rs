//! `grov`, the command line: what a person or a script asks of Grov.
//!
//! Parses, wires the libraries together, prints, and turns the outcome into an exit code. What is stored and how,
//! which project a directory belongs to and where a setting comes from is known by the libraries alone.
#![forbid(unsafe_code)]

mod arguments;
mod assembly;
mod chosen;
mod commands;
mod context;
mod daemon_health;
mod embedder;
mod failure;
mod hook;
mod judge;
mod lines;
mod output;
mod progress;
mod show;
mod table;

use arguments::Invocation;
use output::Terminal;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if matches!(arguments.as_slice(), [_, only] if only == "--version" || only == "-V") {
        return output::finish(
            output::print(concat!("grov ", env!("CARGO_PKG_VERSION"), "\n")),
            false,
        );
    }
    // Before anything that has opinions about the words: a hook always succeeds.
    if let Some(asked) = hook::Asked::of(&arguments) {
        return hook::run(&asked);
    }
    match arguments::parse(arguments) {
        Invocation::Command(command) => {
            let terminal = Terminal::of(&command.common);
            let outcome = commands::run(*command, terminal);
            output::finish(outcome, terminal.wants_json())
        }
        Invocation::Text(text) => output::finish(output::print(&text), false),
        Invocation::Mistake { failure, json } => output::finish(Err(failure), json),
    }
}
