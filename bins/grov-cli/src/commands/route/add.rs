//! `grov route add`

mod probing;

use super::live;
use super::presets::{self, preset};
use super::source::Source;
use crate::arguments::{AddArguments, AddedApi};
use crate::context::{Context, block_on};
use crate::failure::Failure;
use crate::output::{Outcome, Style};
use grov_route::{NewProvider, ProviderFile, Target, is_label};
use grov_runtime::{EXIT_USAGE, create_private, write_private};
use probing::Found;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::sync::Arc;

#[derive(Serialize)]
struct Answer {
    provider: String,
    label: String,
    model: String,
    endpoint: String,
    file: String,
    /// Whether the file was changed.
    written: bool,
    /// Whether the model called a tool with the entry as it is.
    checked: bool,
    transforms: Vec<TransformView>,
    /// The text that is added to the file.
    entry: String,
}

/// A transform of the entry.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TransformView {
    name: String,
    /// What it is needed for.
    reason: String,
}

pub(super) fn run(context: &Context, source: &Source, arguments: &AddArguments) -> Outcome {
    let text = source.text()?.unwrap_or_default();
    let file = source.parse(&text).map_err(|error| source.invalid(&error))?;
    let mut entry = requested(arguments, source)?;
    check_names(&entry, &file)?;
    let known = preset(&entry.name).map_or(&[][..], |preset| preset.transforms);
    let found = if arguments.unchecked {
        Found::unchecked(known)
    } else {
        let draft = target_of(&entry, source)?;
        block_on(probing::probe(&draft, arguments.model.as_deref(), known))?
    };
    entry.model = found.model.clone().unwrap_or(entry.model);
    entry.transforms = found
        .transforms
        .iter()
        .map(|transform| transform.name.clone())
        .collect();
    target_of(&entry, source)?;

    // Asking the provider takes seconds. The file may have changed meanwhile.
    let lock = (!arguments.dry_run).then(|| lock(context)).transpose()?;
    let text = source.text()?.unwrap_or_default();
    let file = source.parse(&text).map_err(|error| source.invalid(&error))?;
    check_names(&entry, &file)?;
    let yaml = entry.to_yaml(2);
    let by_hand = |reason: &str| {
        Failure::error(
            "providers",
            format!("{} was not changed: {reason}", source.path().display()),
        )
        .hint(format!("add this to `providers` yourself:\n{yaml}"))
    };
    let added = entry.insert(&text).map_err(|error| by_hand(&error.to_string()))?;
    let parsed = source
        .parse(&added)
        .map_err(|error| by_hand(&error.to_string()))?;
    if parsed.targets().len() != file.targets().len() + 1 {
        return Err(by_hand(
            "the result would not have the old models and the new one",
        ));
    }
    if !arguments.dry_run {
        write(source, &text, &added)?;
    }
    drop(lock);
    if !arguments.dry_run {
        live::read_again(context);
    }
    let answer = Answer {
        provider: entry.name,
        label: entry.label,
        model: entry.model,
        endpoint: entry.endpoint,
        file: source.path().display().to_string(),
        written: !arguments.dry_run,
        checked: found.checked,
        transforms: found.transforms,
        entry: yaml,
    };
    context.answer(answer, text_of)
}

/// The entry as far as the arguments and presets determine it.
fn requested(arguments: &AddArguments, source: &Source) -> Result<NewProvider, Failure> {
    let preset = preset(&arguments.name);
    let endpoint = arguments
        .endpoint
        .clone()
        .or(preset.map(|preset| preset.endpoint.to_owned()));
    let Some(endpoint) = endpoint else {
        let message = format!("the endpoint of {:?} is unknown", arguments.name);
        let hint = format!("give it with --endpoint URL; known are {}", presets::names());
        return Err(Failure::usage(message).hint(hint));
    };
    // The usual key belongs to the usual endpoint. It must not reach another server.
    let usual = preset.filter(|_| arguments.endpoint.is_none());
    let key_variable = arguments
        .key_env
        .clone()
        .or(usual.and_then(|preset| preset.key_variable).map(str::to_owned));
    if let Some(name) = &key_variable
        && source.variable(name).is_none()
    {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if !name.chars().all(is_name) {
            // It may be the key itself, which must not be shown.
            let message = "--key-env wants the name of a variable, such as LOCAL_API_KEY, and not a key";
            return Err(Failure::usage(message.to_owned()));
        }
        let message = format!("the variable {name} with the key is not set");
        let hint = format!("export {name}, or add it to {}", source.env_file().display());
        return Err(Failure::new("no_key", EXIT_USAGE, message).hint(hint));
    }
    let label = arguments.label.clone().unwrap_or_else(|| arguments.name.clone());
    if !is_label(&label) {
        return Err(
            Failure::usage(format!("{label:?} is no label")).hint("name one with --label, without spaces")
        );
    }
    Ok(NewProvider {
        name: arguments.name.clone(),
        endpoint,
        api: match arguments.api {
            AddedApi::Chat => None,
            AddedApi::Responses => Some("responses".to_owned()),
            AddedApi::Anthropic => Some("anthropic".to_owned()),
        },
        key_variable,
        transforms: Vec::new(),
        label,
        model: arguments.model.clone().unwrap_or_else(|| "unknown".to_owned()),
    })
}

fn check_names(entry: &NewProvider, file: &ProviderFile) -> Result<(), Failure> {
    if let Some(target) = file.targets().iter().find(|target| target.provider == entry.name) {
        let message = format!(
            "the provider `{}` is in the file already, see line {}",
            entry.name, target.line
        );
        let hint = "add a label to its `models`, or choose another name and give --endpoint";
        return Err(Failure::error("exists", message).hint(hint));
    }
    if let Some(target) = file.target(&entry.label) {
        let message = format!(
            "the label `{}` is in the file already, on line {}",
            entry.label, target.line
        );
        return Err(Failure::error("exists", message).hint("choose another one with --label"));
    }
    Ok(())
}

/// The target of an entry, as a file with it alone would have it.
fn target_of(entry: &NewProvider, source: &Source) -> Result<Arc<Target>, Failure> {
    let problem = |message: String| Failure::usage(format!("the provider cannot be added: {message}"));
    let text = entry.insert("").map_err(|error| problem(error.to_string()))?;
    let file = source.parse(&text).map_err(|error| {
        let first = error.problems.first();
        let message = first.map_or_else(|| error.to_string(), |first| first.message.clone());
        match first.and_then(|first| first.hint.clone()) {
            Some(hint) => problem(message).hint(hint),
            None => problem(message),
        }
    })?;
    file.targets()
        .first()
        .cloned()
        .ok_or_else(|| problem("it has no model".to_owned()))
}

/// Waits until no other `grov route add` writes the file. The lock ends when it is dropped.
fn lock(context: &Context) -> Result<File, Failure> {
    context.home.create()?;
    let path = context.home.root().join("providers.lock");
    let failed = |error| Failure::error("output", format!("cannot lock {}: {error}", path.display()));
    let file = create_private(&path, OpenOptions::new().write(true).create(true)).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

/// Replaces `old`, the text of the file, unless an editor wrote another one meanwhile.
fn write(source: &Source, old: &str, text: &str) -> Result<(), Failure> {
    if source.text()?.unwrap_or_default() != old {
        let message = format!("{} was changed meanwhile", source.path().display());
        return Err(Failure::error("changed", message).hint("run the command again"));
    }
    let path = source.path();
    // A linked file is replaced where it is.
    let path = path.canonicalize().unwrap_or(path);
    write_private(&path, text.as_bytes())
        .map_err(|error| Failure::error("output", format!("cannot write {}: {error}", path.display())))
}

fn text_of(answer: &Answer, style: Style) -> String {
    let mut text = String::new();
    let checked = match answer.checked {
        true => style.green("the model called a tool"),
        false => "not checked".to_owned(),
    };
    let name = format!("{} ({}/{})", answer.label, answer.provider, answer.model);
    text.push_str(&format!("{}: {checked}\n", style.bold(&name)));
    for transform in &answer.transforms {
        text.push_str(&format!("  {}: {}\n", transform.name, transform.reason));
    }
    if answer.written {
        text.push_str(&format!("added to {}\n", answer.file));
        text.push_str(&format!(
            "an agent for it: grov route agent NAME --model {}\n",
            answer.label
        ));
    } else {
        text.push_str(&format!("would be added to {}:\n{}", answer.file, answer.entry));
    }
    text
}
