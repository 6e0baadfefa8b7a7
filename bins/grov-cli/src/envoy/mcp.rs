//! `envoy mcp [--tools]`: serves the Model Context Protocol on standard input and output. `grov mcp` starts it.

use super::command_line::Preset;
use super::environment::{self, Environment};
use crate::transcript;
use async_trait::async_trait;
use grov_context::Thresholds;
use grov_domain::{Project, SystemClock};
use grov_mcp::{ContextSettings, ExternalTools, GrovServer, Ports, Progress};
use grov_project::ProjectLocation;
use grov_tools::{Arguments, Envelope, Metadata, Tool};
use grov_tools_run::Surroundings;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Bad usage.
const EXIT_USAGE: u8 = 64;
/// The server failed.
const EXIT_ERROR: u8 = 2;

/// Serves until the client closes standard input. Messages for a person go to standard error.
pub(crate) fn run(preset: &Preset, words: &[String]) -> ExitCode {
    let with_tools = match words {
        [] => false,
        [word] if word == "--tools" => true,
        _ => {
            say("unexpected arguments; usage: grov mcp [--tools] [--home DIR] [--project P]");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    match served(preset, with_tools) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&message);
            ExitCode::from(EXIT_ERROR)
        }
    }
}

fn served(preset: &Preset, with_tools: bool) -> Result<(), String> {
    let environment = Environment::load(preset).map_err(|error| error.to_string())?;
    let location = match &preset.directory {
        // The project with a literal key, where no such directory exists.
        Some(key) if !key.is_dir() => None,
        _ => Some(ProjectLocation::locate(&environment.around.directory)),
    };
    let literal = || Project {
        path: preset
            .directory
            .as_ref()
            .map(|key| key.to_string_lossy().into_owned()),
        remote: None,
    };
    let context = environment.context;
    let ports = Ports {
        store: environment::store(&environment.around.home),
        clock: Arc::new(SystemClock),
        intents: Arc::new(grov_rules::extract_intent),
        work_tree: location
            .as_ref()
            .and_then(|place| place.work_tree().map(Path::to_owned)),
        project: location.map_or_else(literal, |place| place.project()),
        context: ContextSettings {
            window: context.window,
            thresholds: Thresholds {
                warning: context.warning_threshold,
                clear: context.clear_threshold,
            },
        },
        open_transcript: |path| Some(Box::new(transcript::open(path)?)),
        external: with_tools.then(|| Arc::new(External(environment)) as Arc<dyn ExternalTools>),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the async runtime: {error}"))?;
    let served = runtime.block_on(grov_mcp::serve_stdio(GrovServer::new(ports)));
    // Without waiting for a thread that still reads standard input.
    runtime.shutdown_background();
    served.map_err(|error| error.to_string())
}

/// The tools of the registry.
struct External(Environment);

#[async_trait]
impl ExternalTools for External {
    fn tools(&self) -> &[Tool] {
        self.0.tools.registry.tools()
    }

    async fn run(
        &self,
        tool: &Tool,
        arguments: Map<String, Value>,
        progress: Progress,
        cancelled: oneshot::Receiver<()>,
    ) -> (Value, bool) {
        let around = Surroundings {
            progress,
            ..self.0.around.clone()
        };
        let envelope = match Arguments::of(tool, arguments) {
            Ok(arguments) => {
                // The sender is dropped when the client cancels.
                let cancelled = async { drop(cancelled.await) };
                grov_tools_run::run(&around, tool, arguments, None, cancelled).await
            }
            Err(error) => Envelope::error(
                error,
                Metadata {
                    command: tool.command(),
                    ..Metadata::default()
                },
            ),
        };
        let value = serde_json::to_value(&envelope).unwrap_or_default();
        let is_error = value["status"] != "success";
        (value, is_error)
    }
}

fn say(text: &str) {
    let text = format!("grov mcp: {text}");
    // There is no other place to report that standard error cannot be written.
    let _ = writeln!(std::io::stderr(), "{}", grov_runtime::printable(&text));
}
