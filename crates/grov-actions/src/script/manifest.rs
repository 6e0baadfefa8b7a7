//! Scripts in a JSON file: `package.json`, `composer.json`, `deno.json`.

use super::ScriptPart;
use serde_json::Value;

/// The commands of scripts, with those that run before and after them.
pub(super) fn parts(text: &str, key: &str, names: &[String]) -> Vec<ScriptPart> {
    let Ok(manifest) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let Some(scripts) = manifest.get(key) else {
        return Vec::new();
    };
    let around = |name: &String| [format!("pre{name}"), name.clone(), format!("post{name}")];
    let scripts = names.iter().flat_map(around).filter_map(|name| scripts.get(name));
    scripts.flat_map(commands).map(ScriptPart::Shell).collect()
}

/// A script is a command, a list of commands, or an object with a command.
fn commands(script: &Value) -> Vec<String> {
    match script {
        Value::String(command) => vec![plain(command)],
        Value::Array(commands) => commands.iter().filter_map(Value::as_str).map(plain).collect(),
        Value::Object(task) => task
            .get("command")
            .and_then(Value::as_str)
            .map(str::to_owned)
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// The command without the `@` of Composer: `@php artisan migrate`, and `@build` for another script.
fn plain(command: &str) -> String {
    match command.strip_prefix('@') {
        Some(rest) if rest.starts_with("php ") || rest.starts_with("composer ") => rest.to_owned(),
        Some(script) => format!("composer run {script}"),
        None => command.to_owned(),
    }
}
