//! The tasks of a `Taskfile.yml`, read by their indentation.

use super::{MAX_COMMANDS, ScriptPart};

/// The maximum nesting of dependencies.
const MAX_DEPTH: usize = 8;

/// A line with its indentation.
#[derive(Clone, Copy, Debug)]
struct Line<'t> {
    indent: usize,
    text: &'t str,
}

/// The commands of tasks and their dependencies; of the task `default` if none is named.
pub(super) fn parts(text: &str, names: &[String]) -> Vec<ScriptPart> {
    let lines: Vec<Line<'_>> = text.lines().map(line).collect();
    let default = ["default".to_owned()];
    let names = if names.is_empty() { &default } else { names };
    let mut run = Run {
        tasks: section(&lines, "tasks"),
        done: Vec::new(),
        parts: Vec::new(),
    };
    for name in names {
        run.task(name, 0);
    }
    run.parts
}

fn line(text: &str) -> Line<'_> {
    let bare = text.trim_start();
    Line {
        indent: text.len() - bare.len(),
        text: bare.trim_end(),
    }
}

/// The lines below the first key of this name at the outermost level.
fn section<'l, 't>(lines: &'l [Line<'t>], key: &str) -> &'l [Line<'t>] {
    let used = |line: &&Line<'_>| !line.text.is_empty() && !line.text.starts_with('#');
    let indent = lines
        .iter()
        .filter(used)
        .map(|line| line.indent)
        .min()
        .unwrap_or(0);
    let is_key =
        |line: &Line<'_>| line.indent == indent && key_of(line.text).is_some_and(|(name, _)| name == key);
    let Some(at) = lines.iter().position(is_key) else {
        return &[];
    };
    let below = &lines[at + 1..];
    // The items of a list may have the indentation of its key.
    let ends = |line: &Line<'_>| {
        !line.text.is_empty()
            && (line.indent < indent || line.indent == indent && !line.text.starts_with('-'))
    };
    &below[..below.iter().position(ends).unwrap_or(below.len())]
}

/// The key and the value of `key: value`.
fn key_of(text: &str) -> Option<(&str, &str)> {
    let (key, value) = match text.strip_suffix(':') {
        Some(key) if !key.contains(": ") => (key, ""),
        _ => text.split_once(": ")?,
    };
    Some((key.trim_matches(['"', '\'']), value.trim()))
}

struct Run<'l, 't> {
    tasks: &'l [Line<'t>],
    done: Vec<String>,
    parts: Vec<ScriptPart>,
}

impl Run<'_, '_> {
    fn task(&mut self, name: &str, depth: usize) {
        if depth > MAX_DEPTH || self.parts.len() >= MAX_COMMANDS || self.done.iter().any(|done| done == name)
        {
            return;
        }
        self.done.push(name.to_owned());
        let task = section(self.tasks, name);
        for item in items(section(task, "deps"), value_of(task, "deps")) {
            self.task(item.trim_start_matches("task: "), depth + 1);
        }
        // `name: command`, and a list directly below the name.
        let command = value_of(self.tasks, name).or_else(|| value_of(task, "cmd"));
        let command = command.filter(|command| !command.starts_with(['[', '|', '>']));
        self.command(command.unwrap_or_default());
        let list = if task.iter().any(|line| line.text.starts_with("cmds:")) {
            items(section(task, "cmds"), value_of(task, "cmds"))
        } else {
            items(task, None)
        };
        for item in list {
            match key_of(&item) {
                Some(("task", other)) => self.task(other, depth + 1),
                Some(("cmd", command)) => self.command(command),
                Some(("defer" | "for" | "silent" | "platforms", _)) => {}
                _ => self.command(&item),
            }
        }
    }

    fn command(&mut self, command: &str) {
        let quoted = |quote: char| command.strip_prefix(quote)?.strip_suffix(quote);
        let command = quoted('"').or_else(|| quoted('\'')).unwrap_or(command);
        if !command.is_empty() {
            self.parts.push(ScriptPart::Shell(without_templates(command)));
        }
    }
}

/// The value of a key at the outermost level.
fn value_of<'t>(lines: &[Line<'t>], key: &str) -> Option<&'t str> {
    let indent = lines
        .iter()
        .filter(|line| !line.text.is_empty())
        .map(|line| line.indent)
        .min()?;
    let keys = lines
        .iter()
        .filter(|line| line.indent == indent)
        .filter_map(|line| key_of(line.text));
    let mut values = keys.filter(|(name, value)| *name == key && !value.is_empty());
    values.next().map(|(_, value)| value)
}

/// The items of a list, in lines or as `[a, b]`. A block (`- |`) is one item.
fn items(lines: &[Line<'_>], flow: Option<&str>) -> Vec<String> {
    if let Some(flow) = flow.and_then(|flow| flow.strip_prefix('[')) {
        let items = flow.trim_end_matches(']').split(',');
        return items
            .map(|item| item.trim().trim_matches(['"', '\'']).to_owned())
            .collect();
    }
    let mut found: Vec<String> = Vec::new();
    let mut block: Option<usize> = None;
    for line in lines {
        let is_deeper = block.is_some_and(|indent| line.indent > indent || line.text.is_empty());
        if is_deeper {
            if let Some(last) = found.last_mut() {
                last.push('\n');
                last.push_str(line.text);
            }
            continue;
        }
        block = None;
        if let Some(item) = line.text.strip_prefix("- ") {
            let item = item.trim();
            let opens = ["|", ">", "|-", ">-", "cmd: |", "cmd: >", "cmd: |-", "cmd: >-"].contains(&item);
            if opens {
                block = Some(line.indent);
            }
            found.push(if opens { String::new() } else { item.to_owned() });
        }
    }
    found
}

/// The command with each `{{…}}` as an unknown variable.
fn without_templates(command: &str) -> String {
    let mut plain = String::with_capacity(command.len());
    let mut rest = command;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((_, after)) = after.split_once("}}") else {
            break;
        };
        plain.push_str(before);
        plain.push_str("$_");
        rest = after;
    }
    plain + rest
}
