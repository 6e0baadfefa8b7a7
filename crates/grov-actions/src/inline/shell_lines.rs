//! Translates the effects of calls into shell command lines.

use super::call_effects::CallEffect;
use super::calls::Call;
use super::token::{Text, UNKNOWN};
use super::values::{MAX_LINE, Value};

/// The maximum number of command lines. Lines longer than [`MAX_LINE`] are left out.
const MAX_LINES: usize = 64;
/// The maximum length of the name of a database in bytes.
const MAX_NAME: usize = 512;
/// The maximum number of evaluated pieces of code.
const MAX_EVALUATED: usize = 16;

/// Command lines equivalent to the code.
#[derive(Debug, Default)]
pub(super) struct ShellLines {
    found: Vec<String>,
    /// The folder that the code changed to, as a shell word.
    folder: Option<String>,
    /// The number of evaluated pieces of code.
    evaluated: usize,
    /// The database that the code opened, as a shell word.
    database: Option<String>,
}

impl ShellLines {
    pub(super) fn into_lines(self) -> Vec<String> {
        self.found
    }

    /// Counts one more evaluated piece of code. Returns whether it may be analyzed.
    pub(super) fn may_evaluate(&mut self) -> bool {
        self.evaluated += 1;
        self.evaluated <= MAX_EVALUATED
    }

    /// Records the database that later statements run in.
    pub(super) fn open_database(&mut self, name: &str) {
        if name.len() <= MAX_NAME && !name.is_empty() {
            self.database = Some(plain(name));
        }
    }

    /// Adds a line.
    pub(super) fn add_line(&mut self, line: &str) {
        self.add(self.folder.clone().as_deref(), line);
    }

    /// Adds the line for decoded code that is run.
    pub(super) fn add_decoded(&mut self) {
        self.add(None, "base64 --decode | sh");
    }

    /// Adds the line for a database statement.
    pub(super) fn add_statement(&mut self, statement: &str) {
        let database = self.database.as_deref().unwrap_or_default();
        self.add(None, format!("psql {database} -c {}", plain(statement)).as_str());
    }

    /// Adds the line for a call.
    pub(super) fn add_call(&mut self, effect: CallEffect, call: &Call) {
        let subject = call.subject.as_ref();
        let first = subject.or_else(|| call.arguments.first());
        // If the path is not an argument, the other arguments begin with the first one.
        let second = call.arguments.get(usize::from(subject.is_none()));
        let is_line = |text: &Text| text.value.contains(char::is_whitespace);
        let line = match effect {
            CallEffect::Run => match (first, second) {
                // A list of words: `system("rm", "-rf", "x")`. After a whole command line, a mode or options follow.
                (Some(Value::Text(text)), Some(Value::Text(_))) if !is_line(text) => {
                    Some(words(&call.arguments))
                }
                (Some(value @ (Value::Text(_) | Value::List(_))), _) => Some(command_line(value)),
                _ => call.named("args").map(command_line),
            },
            CallEffect::RunWithArgs => first.map(|program| match (program, second) {
                // `execvp("rm", ["rm", "-rf"])` repeats the name of the program.
                (_, Some(Value::List(list))) if list.first() == Some(program) => words(list),
                (Value::Text(text), _) if is_line(text) => text.value.clone(),
                (_, Some(list @ Value::List(_))) => words([program, list]),
                _ => words([program]),
            }),
            CallEffect::RunWords => Some(words(&call.arguments)),
            CallEffect::Remove(command) => {
                // The files of a folder, one after the other.
                let folder = first.and_then(Value::text).and_then(|text| {
                    let folder = text.value.strip_suffix(UNKNOWN)?;
                    (folder.ends_with('/') && !folder.contains('$'))
                        .then(|| format!("{command} {}", plain(&format!("{folder}*"))))
                });
                let others = call.arguments.iter().skip(1);
                let others = others.filter(|value| command == "rm" && value.text().is_some());
                folder.or_else(|| Some(format!("{command} {}", words(first.into_iter().chain(others)))))
            }
            CallEffect::PerPath(command) => per_path(command, first),
            CallEffect::FromTo(command) => first
                .zip(second)
                .map(|(from, to)| format!("{command} {} {}", word(from), word(to))),
            CallEffect::Open => self.open_line(call, first, second),
            CallEffect::ChangeDir => {
                self.folder = Some(first.map_or_else(unknown, word));
                None
            }
            CallEffect::Eval => None,
        };
        let folder = match call.named("cwd") {
            Some(folder) => Some(word(folder)),
            None => self.folder.clone(),
        };
        if let Some(line) = line {
            self.add(folder.as_deref(), &line);
        }
    }

    /// The line for opening a file; `None` unless the mode allows writing.
    fn open_line(&self, call: &Call, path: Option<&Value>, mode: Option<&Value>) -> Option<String> {
        let mode = mode.or_else(|| call.named("mode")).and_then(Value::text);
        let mode = mode.map_or("", |mode| mode.value.as_str());
        // Perl: `open(my $f, ">", "x")` and `open(F, ">x")`. The first argument is the handle.
        if let Some(rest) = mode.trim_start().strip_prefix('>') {
            let (sign, rest) = rest.strip_prefix('>').map_or((">", rest), |rest| (">>", rest));
            let path = rest.trim();
            let target = if path.is_empty() || path.starts_with(':') {
                call.text(2).map(quoted)
            } else {
                Some(quoted(&Text {
                    value: path.to_owned(),
                    ..Text::default()
                }))
            };
            return target.map(|target| format!("cat {sign} {target}"));
        }
        let sign = if mode.contains(['w', 'x']) {
            ">"
        } else if mode.contains(['a', '+']) {
            ">>"
        } else {
            return None;
        };
        let is_mode = mode.len() <= 4 && mode.chars().all(|letter| "rwxabt+U".contains(letter));
        let path = path?.text().filter(|_| is_mode)?;
        let printer = if call.writes_nothing { ":" } else { "cat" };
        Some(format!("{printer} {sign} {}", quoted(path)))
    }

    /// Adds a line unless it is a duplicate or consists of unknown values.
    fn add(&mut self, folder: Option<&str>, line: &str) {
        if self.found.len() >= MAX_LINES {
            return;
        }
        let line = match folder {
            Some(folder) => format!("cd {folder} && {line}"),
            None => line.to_owned(),
        };
        let is_known = line.split_whitespace().any(|word| word != UNKNOWN);
        if line.len() <= MAX_LINE && is_known && !self.found.contains(&line) {
            self.found.push(line);
        }
    }
}

/// The command for each known path of a value.
fn per_path(start: &str, paths: Option<&Value>) -> Option<String> {
    match paths? {
        Value::Text(path) => Some(format!("{start} {}", quoted(path))),
        Value::List(paths) => {
            let paths: Vec<String> = paths
                .iter()
                .filter_map(Value::text)
                .map(|path| format!("{start} {}", quoted(path)))
                .collect();
            (!paths.is_empty()).then(|| paths.join("; "))
        }
        Value::Unknown => Some(format!("{start} {}", unknown())),
    }
}

/// A text as one shell word.
fn plain(text: &str) -> String {
    quoted(&Text {
        value: text.to_owned(),
        ..Text::default()
    })
}

/// The values as shell words, with the items of lists. Stops if the line becomes too long.
fn words<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut all = String::new();
    for value in values {
        let values = match value {
            Value::List(list) => list.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            if all.len() > MAX_LINE {
                return all;
            }
            if !all.is_empty() {
                all.push(' ');
            }
            all.push_str(&word(value));
        }
    }
    all
}

/// A whole command line, or a list of its words.
fn command_line(value: &Value) -> String {
    match value {
        Value::Text(text) => text.value.clone(),
        value => words([value]),
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::List(_) | Value::Unknown => unknown(),
    }
}

fn unknown() -> String {
    format!("\"{UNKNOWN}\"")
}

/// A text as one shell word.
fn quoted(text: &Text) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@%:=,".contains(letter);
    let value = text.value.as_str();
    if text.has_unknown {
        let mut quoted = String::with_capacity(value.len() + 2);
        quoted.push('"');
        for letter in value.chars() {
            if matches!(letter, '"' | '\\' | '`') {
                quoted.push('\\');
            }
            quoted.push(letter);
        }
        quoted.push('"');
        quoted
    } else if !value.is_empty() && value.chars().all(is_plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}
