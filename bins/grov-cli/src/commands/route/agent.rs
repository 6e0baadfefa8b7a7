//! `grov route agent`

use super::source::{Source, unknown_label};
use crate::arguments::{AgentArguments, AgentScope};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, note};
use grov_route::{Target, is_label, marker};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Answer {
    agent: String,
    file: String,
    label: String,
    /// `None` if there is no provider file.
    provider: Option<String>,
    model: Option<String>,
}

pub(super) fn run(context: &Context, source: &Source, arguments: &AgentArguments) -> Outcome {
    let (name, label) = (arguments.name.as_str(), arguments.model.as_str());
    if !is_agent_name(name) {
        let message = format!("{name:?} is no name of an agent");
        return Err(Failure::usage(message).hint("use lower-case letters, digits and hyphens"));
    }
    if !is_label(label) {
        return Err(Failure::usage(format!("{label:?} is no label")).hint("a label has no spaces"));
    }
    let file = source.load()?;
    let target = match &file {
        Some(file) => Some(file.target(label).ok_or_else(|| unknown_label(label, file))?),
        None => {
            note!("warning: there is no provider file; until then Grov answers the agent's requests itself");
            None
        }
    };
    let path = directory(context, arguments.scope)?.join(format!("{name}.md"));
    let text = agent_file(
        name,
        label,
        arguments.description.as_deref(),
        target.map(|target| &**target),
    );
    write(&path, &text, arguments.force)?;
    let answer = Answer {
        agent: name.to_owned(),
        file: path.display().to_string(),
        label: label.to_owned(),
        provider: target.map(|target| target.provider.clone()),
        model: target.map(|target| target.model.clone()),
    };
    context.answer(answer, text_of)
}

fn is_agent_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(allowed) && !name.starts_with('-')
}

fn directory(context: &Context, scope: AgentScope) -> Result<PathBuf, Failure> {
    let base = match scope {
        AgentScope::Project => context.top(),
        AgentScope::User => std::env::var_os("HOME").map(PathBuf::from),
    };
    let base = base.ok_or_else(|| Failure::error("project", "cannot find the directory of agents"))?;
    Ok(base.join(".claude/agents"))
}

/// The front matter, the marker, and a system prompt to edit.
fn agent_file(name: &str, label: &str, description: Option<&str>, target: Option<&Target>) -> String {
    let model = target.map_or_else(
        || label.to_owned(),
        |target| format!("{} of {}", target.model, target.provider),
    );
    let description = description.map_or_else(
        || format!("Works on self-contained tasks with the model {model}."),
        |text| text.split_whitespace().collect::<Vec<_>>().join(" "),
    );
    // A JSON string is a YAML string.
    let description = serde_json::Value::from(description);
    format!(
        "---\nname: {name}\ndescription: {description}\n---\n{}\n\nYou are a coding agent. Do the task that you are given, \
         check the result, and report briefly what you changed.\n",
        marker(label)
    )
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::error("exists", format!("{} already exists", path.display()))
                .hint("replace it with --force")
        }
        _ => Failure::error("output", format!("cannot write {}: {error}", path.display())),
    };
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options
        .write(true)
        .create(true)
        .truncate(force)
        .create_new(!force);
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

fn text_of(answer: &Answer, style: Style) -> String {
    let model = match (&answer.provider, &answer.model) {
        (Some(provider), Some(model)) => format!(" ({provider}/{model})"),
        _ => String::new(),
    };
    format!(
        "wrote {}\nIts requests go to {}{model}. Edit its description and its prompt; keep the marker.\n",
        style.bold(&answer.file),
        answer.label
    )
}
