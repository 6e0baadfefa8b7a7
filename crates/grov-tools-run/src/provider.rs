//! Keys and addresses of providers, from variables.

use crate::Surroundings;
use grov_redact::Secret;
use grov_tools::model::{Api, Model};
use grov_tools::{ErrorKind, Key, ToolError};
use std::process::Stdio;
use std::time::Duration;

/// The time limit of the command that prints a token.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(20);
const TOKEN_COMMAND: &str = "gcloud auth print-access-token";

/// A key, or the error that names its variable and file.
pub(crate) fn key(around: &Surroundings, key: &Key) -> Result<Secret, ToolError> {
    around.variables.secret(&key.variable).ok_or_else(|| {
        let hint = format!(
            "set it in the environment, or add the line {}=… to {}",
            key.variable,
            around.variables.path().display()
        );
        // The file that declares a tool of the user's own does not say where.
        let hint = match key.source.starts_with("https://") {
            true => format!("{hint}; get one at {}", key.source),
            false => hint,
        };
        ToolError::new(
            ErrorKind::NoKey,
            format!("{} is not set, so the tool cannot be used", key.variable),
        )
        .hint(hint)
    })
}

/// The base address of a provider: its variable, else the default. `key` is the variable of the key that is sent there.
///
/// A project's client settings can set the environment. An address from there gets a key only if it is of this machine, or the
/// key comes from the environment too.
pub(crate) fn base(
    around: &Surroundings,
    variable: &str,
    default: &str,
    key: &str,
) -> Result<String, ToolError> {
    let variables = &around.variables;
    let is_own_key = variables.in_environment(key).is_none() && variables.in_file(key).is_some();
    checked_base(around, variable, default, is_own_key.then_some(key))
}

/// As [`base`]; `own_key` names the key if it is the user's and not of the environment.
fn checked_base(
    around: &Surroundings,
    variable: &str,
    default: &str,
    own_key: Option<&str>,
) -> Result<String, ToolError> {
    let Some(text) = around.variables.get(variable) else {
        return Ok(default.to_owned());
    };
    let url = grov_runtime::Url::parse(text.trim().trim_end_matches('/')).map_err(|error| {
        ToolError::new(
            ErrorKind::Configuration,
            format!("{variable} is no base address: {error}"),
        )
        .hint(format!("set it to an address such as {default}, or unset it"))
    })?;
    let is_users = around.variables.in_file(variable) == Some(text) || url.as_str() == default;
    if let Some(key) = own_key
        && !is_users
        && !url.is_loopback()
    {
        let file = around.variables.path().display();
        return Err(ToolError::new(
            ErrorKind::Configuration,
            format!(
                "{variable} comes from the environment, which a project's settings can change, so {key} is not sent to that address"
            ),
        )
        .hint(format!("add the line {variable}=… to {file}, or unset it")));
    }
    Ok(url.as_str().to_owned())
}

/// The model of `--provider` and `--model`, and its address.
pub(crate) async fn model(
    around: &Surroundings,
    provider: Option<&str>,
    name: Option<&str>,
    tool_key: Option<&Key>,
    needs_key: bool,
) -> Result<(Model, String), ToolError> {
    let chosen = provider
        .or(around.variables.get("ENVOY_PROVIDER"))
        .unwrap_or("gemini");
    let chosen = chosen.trim().to_ascii_lowercase();
    match chosen.as_str() {
        "gemini" | "vertex" | "google" => gemini(around, name, tool_key, needs_key).await,
        "anthropic" => {
            let model = name.unwrap_or("claude-sonnet-5-5");
            let base = anthropic_base(around)?;
            named(around, "ANTHROPIC", Api::Anthropic, model, base, needs_key)
        }
        other => {
            let prefix: String = other
                .chars()
                .map(|c| {
                    if c.is_ascii_alphanumeric() {
                        c.to_ascii_uppercase()
                    } else {
                        '_'
                    }
                })
                .collect();
            let default = Api::OpenAi.base_url();
            let variable = format!("{prefix}_BASE_URL");
            if other != "openai" && around.variables.get(&variable).is_none() {
                return Err(ToolError::usage(format!(
                    "there is no provider `{other}`: use gemini, anthropic or openai, or set {variable} to an OpenAI-compatible server"
                )));
            }
            let base = base(around, &variable, &default, &format!("{prefix}_API_KEY"))?;
            // Other clients want it with the version, which the request's path has.
            let base = base.strip_suffix("/v1").unwrap_or(&base).to_owned();
            let model = name.or(around.variables.get(&format!("{prefix}_MODEL")));
            let model = match (model, other) {
                (Some(model), _) => model,
                (None, "openai") if base == default => "gpt-5",
                // Servers with one model accept any name.
                (None, _) if is_local(&base) => "default",
                (None, _) => {
                    return Err(ToolError::usage(format!(
                        "`{other}` needs a model: name one with --model or {prefix}_MODEL"
                    )));
                }
            };
            named(around, &prefix, Api::OpenAi, model, base, needs_key)
        }
    }
}

/// Inside an agent the variable may name Grov's own listener. Then the user's file counts, else the provider itself.
fn anthropic_base(around: &Surroundings) -> Result<String, ToolError> {
    const VARIABLE: &str = "ANTHROPIC_BASE_URL";
    let default = Api::Anthropic.base_url();
    let is_own = |text: &str| {
        grov_runtime::Url::parse(text).is_ok_and(|url| {
            url.is_loopback() && around.own_listeners.iter().any(|own| own.port() == url.port())
        })
    };
    match around.variables.in_environment(VARIABLE) {
        Some(text) if is_own(text) => Ok(around.variables.in_file(VARIABLE).map_or(default, str::to_owned)),
        _ => base(around, VARIABLE, &default, "ANTHROPIC_API_KEY"),
    }
}

fn is_local(base: &str) -> bool {
    grov_runtime::Url::parse(base).is_ok_and(|url| url.is_loopback())
}

fn named(
    around: &Surroundings,
    prefix: &str,
    api: Api,
    model: &str,
    base: String,
    needs_key: bool,
) -> Result<(Model, String), ToolError> {
    let is_local = is_local(&base);
    let variable = format!("{prefix}_API_KEY");
    let found = around.variables.secret(&variable);
    if found.is_none() && needs_key && !is_local {
        let wanted = Key {
            variable: variable.into(),
            source: "the provider".into(),
        };
        return Err(key(around, &wanted)
            .err()
            .unwrap_or_else(|| ToolError::usage("no key")));
    }
    let model = Model {
        api,
        name: model.to_owned(),
        key: found,
        is_local,
    };
    Ok((model, base))
}

/// Express mode with `VERTEX_API_KEY`, else Vertex AI with `VERTEX_PROJECT` and a token, else AI Studio.
async fn gemini(
    around: &Surroundings,
    name: Option<&str>,
    tool_key: Option<&Key>,
    needs_key: bool,
) -> Result<(Model, String), ToolError> {
    let variables = &around.variables;
    let name = name.or(variables.get("VERTEX_MODEL")).unwrap_or("gemini-2.5-pro");
    if !name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-._@".contains(c))
        || name.is_empty()
    {
        return Err(ToolError::usage(format!("{name:?} is no name of a model")));
    }
    let studio_key = match variables.secret("GOOGLE_API_KEY") {
        Some(_) => "GOOGLE_API_KEY",
        None => "GEMINI_API_KEY",
    };
    let studio = variables.secret(studio_key);
    let (api, found) = if let Some(found) = variables.secret("VERTEX_API_KEY") {
        (Api::GeminiExpress, Some(found))
    } else if let Some(project) = variables
        .get("VERTEX_PROJECT")
        .or(variables.get("GOOGLE_CLOUD_PROJECT").filter(|_| studio.is_none()))
    {
        let location = variables
            .get("VERTEX_LOCATION")
            .or(variables.get("GOOGLE_CLOUD_LOCATION"))
            .unwrap_or("global");
        for part in [project, location] {
            if part.is_empty()
                || !part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c))
            {
                return Err(ToolError::new(
                    ErrorKind::Configuration,
                    format!("{part:?} is no project or location of Google Cloud"),
                )
                .hint("check VERTEX_PROJECT and VERTEX_LOCATION"));
            }
        }
        let api = Api::GeminiVertex {
            project: project.to_owned(),
            location: location.to_owned(),
        };
        let token = if needs_key {
            Some(token(around).await?)
        } else {
            None
        };
        (api, token)
    } else if studio.is_some() {
        (Api::GeminiStudio, studio)
    } else if needs_key {
        let missing = tool_key.map(|tool_key| key(around, tool_key));
        return Err(missing
            .and_then(Result::err)
            .unwrap_or_else(|| ToolError::new(ErrorKind::NoKey, "VERTEX_API_KEY is not set")));
    } else {
        (Api::GeminiExpress, None)
    };
    let (variable, default) = ("VERTEX_BASE_URL", api.base_url());
    let base = match api {
        Api::GeminiStudio => base(around, variable, &default, studio_key)?,
        // The token is always of the user.
        Api::GeminiVertex { .. } => checked_base(around, variable, &default, Some("the Google Cloud token"))?,
        _ => base(around, variable, &default, "VERTEX_API_KEY")?,
    };
    let model = Model {
        is_local: is_local(&base),
        api,
        name: name.to_owned(),
        key: found,
    };
    Ok((model, base))
}

/// The output of the token command, which runs without a shell.
async fn token(around: &Surroundings) -> Result<Secret, ToolError> {
    const VARIABLE: &str = "VERTEX_TOKEN_COMMAND";
    let variables = &around.variables;
    let text = match (variables.in_file(VARIABLE), variables.in_environment(VARIABLE)) {
        (Some(text), _) => text,
        (None, None) => TOKEN_COMMAND,
        (None, Some(_)) => {
            return Err(ToolError::new(
                ErrorKind::Configuration,
                format!("{VARIABLE} comes from the environment, which a project's settings can change, so it is not run"),
            )
            .hint(format!("add the line {VARIABLE}=… to {}", variables.path().display())));
        }
    };
    let failed = |reason: String| {
        ToolError::new(
            ErrorKind::NoKey,
            format!("the command for a Google Cloud token failed: {reason}"),
        )
        .hint("run `gcloud auth login`, or set VERTEX_TOKEN_COMMAND or VERTEX_API_KEY")
    };
    let words = shlex::split(text).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| failed("VERTEX_TOKEN_COMMAND is no command line".to_owned()))?;
    let mut command = tokio::process::Command::new(&words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(TOKEN_TIMEOUT, command.output()).await;
    let output = output.map_err(|_| failed("it took too long".to_owned()))?;
    let output = output.map_err(|error| failed(format!("{}: {error}", words[0])))?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || printed.is_empty() || printed.contains(char::is_whitespace) {
        return Err(failed(format!("{} ({})", words[0], output.status)));
    }
    Ok(Secret::new(printed))
}
