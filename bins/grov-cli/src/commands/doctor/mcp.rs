//! The MCP server of `grov init --mcp`.

use super::Check;
use crate::commands::registration::{client_folder, state_file};
use crate::commands::tools;
use crate::context::Context;
use grov_runtime::Environment;
use serde_json::Value;
use std::path::{Path, PathBuf};

const NAME: &str = "mcp server";

/// `None` if the client starts none in this directory.
pub(super) fn check(context: &Context) -> Option<Check> {
    let environment = Environment::of_process();
    let file = registered_in(context, &environment)?;
    let file = file.display();
    if tools::is_installed(&environment) {
        return Some(Check::ok(NAME, format!("registered in {file}")));
    }
    Some(
        Check::fail(NAME, format!("registered in {file}, but {}", tools::MISSING))
            .consequence("`grov mcp` does not start, so the agent cannot search memory or read its goal.")
            .fix(tools::INSTALL),
    )
}

/// The file from which the client takes Grov's server.
fn registered_in(context: &Context, environment: &Environment) -> Option<PathBuf> {
    let project = context.top();
    let state = state_file(environment, &client_folder(environment).ok()?);
    let in_state = read(&state).is_some_and(|state| {
        let local = project.as_ref().and_then(|project| project.to_str());
        let local = local.and_then(|project| state.get("projects")?.get(project));
        has_server(&state) || local.is_some_and(has_server)
    });
    if in_state {
        return Some(state);
    }
    let shared = project?.join(".mcp.json");
    read(&shared)
        .is_some_and(|shared| has_server(&shared))
        .then_some(shared)
}

/// A file that the client cannot read either has no server.
fn read(path: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// Whether one of the servers is `grov mcp`.
fn has_server(object: &Value) -> bool {
    let servers = object.get("mcpServers").and_then(Value::as_object);
    servers.is_some_and(|servers| {
        servers.values().any(|server| {
            let command = server.get("command").and_then(Value::as_str).map(Path::new);
            let first = server.get("args").and_then(|arguments| arguments.get(0));
            command
                .and_then(Path::file_name)
                .is_some_and(|name| name == "grov")
                && first.is_some_and(|first| first == "mcp")
        })
    })
}
