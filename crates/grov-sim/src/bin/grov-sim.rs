//! Runs the simulated Messages API until it is interrupted.
#![forbid(unsafe_code)]

use clap::Parser;
use grov_sim::{Behaviour, Recording, ScenarioSet, Sim, SimConfig};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A simulated Anthropic Messages API on loopback.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// A built-in scenario, or a scenario file, for prompts without a marker.
    #[arg(long, value_name = "NAME|FILE")]
    scenario: Option<String>,
    /// Directory to which every request is written.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// How every answer is delivered, for example `encoding=gzip,event-delay=20`.
    #[arg(long, value_name = "LIST", default_value = "")]
    behaviour: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "grov-sim: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let scenarios = match arguments.scenario {
        None => ScenarioSet::default(),
        Some(file) if Path::new(&file).is_file() => ScenarioSet::default().with_file(Path::new(&file))?,
        Some(name) => ScenarioSet::default().with_default(&name)?,
    };
    let sim = Sim::start(SimConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port)),
        scenarios,
        behaviour: arguments.behaviour.parse::<Behaviour>()?,
        recording: Recording::Nothing,
        directory: arguments.record,
        ..SimConfig::default()
    })
    .await?;
    // Flushed immediately: scripts wait for the line to learn the port.
    let mut out = std::io::stdout();
    writeln!(out, "{}", sim.url())?;
    out.flush()?;
    tokio::signal::ctrl_c().await?;
    sim.shutdown().await;
    Ok(())
}
