//! `grov-proxyd`: the proxy between a coding agent and its model, recording what the agent does.
#![forbid(unsafe_code)]

mod access;
mod api_setup;
mod arguments;
mod assembly;
mod context_material;
mod context_setup;
mod control;
mod daemon;
mod dashboard;
mod drift_setup;
mod embedding;
mod handover;
mod home_monitor;
mod hook_sessions;
mod hooks;
mod judge_setup;
mod launcher;
mod links;
mod listener;
mod mcp;
mod mitm_setup;
mod open_files;
mod project_header;
mod recording;
mod relay;
mod route_setup;
mod screening;
mod scrubbing;
mod service_manager;
mod telemetry;

use arguments::Arguments;
use clap::Parser;
use daemon::Stop;
use grov_runtime::printable;
use handover::Inherited;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let is_refusal = error.use_stderr();
            // A closed terminal must not turn `--help` into a failure.
            let _ = error.print();
            return if is_refusal {
                ExitCode::from(grov_runtime::EXIT_USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let inherited = Inherited::from_environment().map_err(|error| {
        let error = anyhow::Error::new(error).context("a socket from the service manager cannot be used");
        Stop::fault(error).with_hint("its socket unit must have TCP addresses as ListenStream")
    });
    match inherited.and_then(|inherited| daemon::run(&arguments, inherited)) {
        Ok(code) => code,
        Err(stop) => {
            let mut stderr = std::io::stderr();
            let fault = format!("{:#}", stop.error);
            let _ = writeln!(stderr, "grov-proxyd: {}", printable(&fault));
            if let Some(hint) = stop.hint {
                let _ = writeln!(stderr, "hint: {}", printable(&hint));
            }
            ExitCode::from(stop.code)
        }
    }
}
