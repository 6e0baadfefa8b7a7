//! `grov-agentd`: the agent service. Parses arguments, connects the libraries, serves, and returns an exit code.
#![forbid(unsafe_code)]

mod admin_key;
mod arguments;
mod assembly;
mod backup;
mod clock;
mod doctor;
mod embedding;
mod import;
mod keys;
mod listener;
mod open_files;
mod output;
mod pdf;
mod providers;
mod qdrant;
mod serve;
mod setup;
mod sole_server;
mod stop;
#[cfg(test)]
mod test_store;
mod webhook;

use arguments::{Arguments, Command};
use clap::Parser;
use grov_runtime::{EXIT_USAGE, printable};
use setup::Setup;
use std::io::Write;
use std::process::ExitCode;
use stop::Stop;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let is_refusal = error.use_stderr();
            // A closed terminal must not turn `--help` into a failure.
            let _ = error.print();
            return if is_refusal {
                ExitCode::from(EXIT_USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    match run(&arguments) {
        Ok(code) => code,
        Err(stop) => report(&stop),
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    if let Some(Command::ReadPdf) = arguments.command {
        return pdf::run();
    }
    let setup = match (Setup::load(arguments), &arguments.command) {
        (Err(stop), Some(Command::Doctor { json })) => return doctor::unusable_settings(stop, *json),
        (loaded, _) => loaded?,
    };
    match &arguments.command {
        None => serve::run(&setup, arguments.insecure),
        Some(Command::Key { command }) => keys::run(&setup, command),
        Some(Command::Import {
            directory,
            project,
            category,
            json,
        }) => import::run(&setup, directory, project, (*category).into(), *json),
        Some(Command::Doctor { json }) => doctor::run(&setup, *json),
        Some(Command::Backup { file }) => backup::backup(&setup, file),
        Some(Command::Restore { file }) => backup::restore(&setup, file),
        Some(Command::ReadPdf) => pdf::run(),
    }
}

fn report(stop: &Stop) -> ExitCode {
    let mut stderr = std::io::stderr();
    // Standard error may be closed.
    let _ = writeln!(stderr, "grov-agentd: {}", printable(&format!("{:#}", stop.error)));
    if let Some(hint) = &stop.hint {
        let _ = writeln!(stderr, "hint: {}", printable(hint));
    }
    ExitCode::from(stop.code)
}
