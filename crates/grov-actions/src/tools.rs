//! Parses the arguments of each tool.

use crate::arguments;
use crate::content;
use crate::form::{self, Form};
use crate::patch::{self, PatchedFile};
use crate::path::{MAX_FILES, glob_base, has_extension, resolve};
use crate::shell;
use grov_domain::{Action, ActionType, ClientDialect, Effect, EffectKind, beginning_to};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

/// The maximum length of commands, prompts and queries in bytes. Nearly all recorded commands are shorter than 2 KB.
pub(crate) const MAX_COMMAND: usize = 8 * 1024;

/// The names of the arguments that may hold a tool's command, pattern, query, URL or prompt. The first one present is
/// used.
fn command_arguments(name: &str, action_type: ActionType) -> &'static [&'static str] {
    match (name, action_type) {
        (_, ActionType::Edit | ActionType::Write | ActionType::Read | ActionType::Bash) => &[],
        (_, ActionType::Search) => &["pattern", "query"],
        (_, ActionType::Task) => &["prompt", "message", "description"],
        (_, ActionType::Web) => &["url", "query", "prompt"],
        (_, ActionType::Todo) => &["subject"],
        ("Skill", _) => &["skill", "command"],
        (_, ActionType::Mcp | ActionType::Other) => OTHER_ARGUMENTS,
    }
}

#[rustfmt::skip]
const OTHER_ARGUMENTS: &[&str] = &[
    "command", "cmd", "query", "pattern", "url", "prompt", "sql", "question", "script", "expression",
];

/// The action of a call with the arguments `input`. The command is truncated to `most` bytes.
pub(crate) fn parse_action(
    name: &str,
    id: Option<&str>,
    input: &Value,
    folder: Option<&str>,
    most: usize,
) -> Action {
    let action_type = CLIENT.action_type(name);
    let text = |key: &str| {
        input
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let command = command_arguments(name, action_type)
        .iter()
        .find_map(|key| text(key));
    let form = Form::of(name);
    let named_folder = form::folder(input).filter(|_| form != Form::Other);
    let folder_of_call = named_folder.and_then(|named| resolve(folder, named));
    let folder = folder_of_call.as_deref().or(folder);
    let command = match (name, command) {
        _ if form == Form::Shell => form::command_line(input),
        ("Skill", Some(skill)) => {
            Some(text("args").map_or(Cow::Borrowed(skill), |args| format!("{skill} {args}").into()))
        }
        (tool, _) if tool == CLIENT.question_tool => questions(input).map(Cow::Owned),
        (_, command) => command.map(Cow::Borrowed),
    };
    let mut places = Places::new(folder);
    let mut effects = Vec::new();
    let mut line = None;
    let file = || FILE_ARGUMENTS.iter().find_map(|key| text(key));
    match form {
        Form::Shell => {
            let understood = shell::understand(command.as_deref().unwrap_or_default(), folder);
            effects = understood.effects;
            line = Some(Arc::new(understood.line));
            places.files = understood.files;
            places.folders = understood.folders;
        }
        Form::File => places.file(file()),
        Form::Notebook => places.file(text("notebook_path").or_else(|| text("file_path"))),
        Form::Glob => match (text("path"), command.as_deref().map_or("", glob_base)) {
            (path, "") => places.folder(path.or(folder)),
            (Some(path), base) => places.folder(resolve(Some(path), base).as_deref()),
            (None, base) => places.folder(Some(base)),
        },
        Form::Grep => match text("path") {
            Some(path) if has_extension(path) => places.file(Some(path)),
            path => places.folder(path.or(folder)),
        },
        Form::Folder => places.folder(text("path").or(folder)),
        Form::Patch => {
            for file in form::patch(input).into_iter().flat_map(patch::files) {
                effects.extend(places.patched(file));
            }
        }
        _ if matches!(action_type, ActionType::Mcp | ActionType::Other) => {
            for found in arguments::paths(input) {
                if found.is_folder {
                    places.folder(Some(found.path))
                } else {
                    places.file(Some(found.path))
                }
            }
        }
        _ => {}
    }
    Action {
        tool: name.to_owned(),
        tool_use_id: id.map(str::to_owned),
        action_type,
        files: places.files,
        folders: places.folders,
        command: command.map(|text| bounded(&text, most)),
        effects,
        line,
        change: content::change(name, action_type, input).map(Arc::new),
    }
}

/// The names of the argument with a file.
const FILE_ARGUMENTS: [&str; 4] = ["file_path", "path", "filePath", "absolute_path"];

/// The questions to the user, one per line.
fn questions(input: &Value) -> Option<String> {
    let asked = input.get("questions")?.as_array()?.iter();
    let asked: Vec<&str> = asked
        .filter_map(|question| question.get("question")?.as_str())
        .collect();
    (!asked.is_empty()).then(|| asked.join("\n"))
}

/// Truncates a text. A truncated text ends with a mark.
fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let beginning = beginning_to(text, text.floor_char_boundary(most));
    format!("{beginning}… [cut, {} bytes in all]", text.len())
}

/// The files and folders of an action, resolved, without duplicates.
struct Places<'a> {
    base: Option<&'a str>,
    files: Vec<String>,
    folders: Vec<String>,
    known: HashSet<String>,
}

impl<'a> Places<'a> {
    fn new(base: Option<&'a str>) -> Self {
        Self {
            base,
            files: Vec::new(),
            folders: Vec::new(),
            known: HashSet::new(),
        }
    }

    fn file(&mut self, path: Option<&str>) {
        let path = self.new_path(path).filter(|_| self.files.len() < MAX_FILES);
        self.files.extend(path);
    }

    /// Adds a file of a patch. Returns what happens to it.
    fn patched(&mut self, file: PatchedFile<'_>) -> Option<Effect> {
        let (path, kind) = match file {
            PatchedFile::Added(path) => (path, EffectKind::Write),
            PatchedFile::Updated(path) => (path, EffectKind::Modify),
            PatchedFile::Deleted(path) => (path, EffectKind::Delete),
            PatchedFile::MovedTo(path) => (path, EffectKind::Write),
        };
        self.file(Some(path));
        let paths = vec![resolve(self.base, path)?];
        Some(Effect { kind, paths })
    }

    fn folder(&mut self, path: Option<&str>) {
        let path = self.new_path(path).filter(|_| self.folders.len() < MAX_FILES);
        self.folders.extend(path);
    }

    /// The resolved path, unless it was returned before.
    fn new_path(&mut self, path: Option<&str>) -> Option<String> {
        let path = resolve(self.base, path?)?;
        self.known.insert(path.clone()).then_some(path)
    }
}
