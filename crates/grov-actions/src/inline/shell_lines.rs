//! Translates the effects of calls into shell command lines.

use super::call_effects::CallEffect;
use super::calls::Call;
use super::token::{LEFT_OPEN, Text};
use super::values::{MAX_LINE, Value};

/// At most so many command lines are told, and none that is longer than [`MAX_LINE`].
const MAX_LINES: usize = 64;
/// More pieces of code in the code are not read.
const MAX_EVALUATED: usize = 16;

/// Command lines that would do the same as the code.
#[derive(Debug, Default)]
pub(super) struct ShellLines {
    found: Vec<String>,
    /// Where the code went, as a word for a shell.
    folder: Option<String>,
    /// Pieces of code in the code that were read.
    evaluated: usize,
}

impl ShellLines {
    pub(super) fn into_found(self) -> Vec<String> {
        self.found
    }

    /// Whether one more piece of code in the code is read.
    pub(super) fn may_evaluate(&mut self) -> bool {
        self.evaluated += 1;
        self.evaluated <= MAX_EVALUATED
    }

    /// Tells what a call does.
    pub(super) fn add_call(&mut self, effect: CallEffect, call: &Call) {
        let subject = call.subject.as_ref();
        let first = subject.or_else(|| call.arguments.first());
        // Where the path is not an argument the arguments begin with what comes behind it.
        let second = call.arguments.get(usize::from(subject.is_none()));
        let all = || words(call.arguments.iter());
        let line = match effect {
            CallEffect::Run => match (first, second) {
                (Some(Value::Text(text)), Some(Value::Text(_))) => {
                    // A list of words: `system("rm", "-rf", "x")`. Behind a whole command line stand a mode or options.
                    if text.value.contains(char::is_whitespace) {
                        Some(text.value.clone())
                    } else {
                        Some(all())
                    }
                }
                (Some(Value::Text(text)), _) => Some(text.value.clone()),
                (Some(list @ Value::List(_)), _) => Some(words(std::iter::once(list))),
                _ => call.named("args").map(|value| match value {
                    Value::Text(text) => text.value.clone(),
                    value => words(std::iter::once(value)),
                }),
            },
            CallEffect::RunWithArgs => first.map(|program| match (program, second) {
                // `execvp("rm", ["rm", "-rf"])` tells the program twice.
                (Value::Text(program), Some(Value::List(list)))
                    if list
                        .first()
                        .and_then(Value::text)
                        .is_some_and(|word| word.value == program.value) =>
                {
                    words(list.iter())
                }
                // A whole line for a shell.
                (Value::Text(program), _) if program.value.contains(char::is_whitespace) => {
                    program.value.clone()
                }
                (_, Some(list @ Value::List(_))) => words([program, list].into_iter()),
                _ => words(std::iter::once(program)),
            }),
            CallEffect::RunWords => Some(words(call.arguments.iter())),
            CallEffect::Remove(command) => {
                let others = call
                    .arguments
                    .iter()
                    .skip(1)
                    .filter(|value| value.text().is_some());
                let others = others.filter(|_| command == "rm");
                Some(format!("{command} {}", words(first.into_iter().chain(others))))
            }
            CallEffect::PerPath(command) => per_path(command, first),
            CallEffect::FromTo(command) => first
                .zip(second)
                .map(|(from, to)| format!("{command} {} {}", word(from), word(to))),
            CallEffect::Open => self.opening(call, first, second),
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

    /// Opening a file writes it where that is said.
    fn opening(&self, call: &Call, path: Option<&Value>, mode: Option<&Value>) -> Option<String> {
        let mode = mode.or_else(|| call.named("mode")).and_then(Value::text);
        let mode = mode.map_or("", |mode| mode.value.as_str());
        // Perl: `open(my $f, ">", "x")`, `open(F, ">x")`. The handle comes first.
        if let Some(rest) = mode.trim_start().strip_prefix('>') {
            let (sign, rest) = rest.strip_prefix('>').map_or((">", rest), |rest| (">>", rest));
            let behind = rest.trim();
            let target = if behind.is_empty() || behind.starts_with(':') {
                call.text(2).map(quoted)
            } else {
                Some(quoted(&Text {
                    value: behind.to_owned(),
                    ..Text::default()
                }))
            };
            return target.map(|target| format!("{sign} {target}"));
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
        Some(format!("{sign} {}", quoted(path)))
    }

    /// Adds a line that is not told yet.
    fn add(&mut self, folder: Option<&str>, line: &str) {
        if self.found.len() >= MAX_LINES {
            return;
        }
        let line = match folder {
            Some(folder) => format!("cd {folder} && {line}"),
            None => line.to_owned(),
        };
        let is_known = line.split_whitespace().any(|word| word != LEFT_OPEN);
        if line.len() <= MAX_LINE && is_known && !self.found.contains(&line) {
            self.found.push(line);
        }
    }
}

/// What is done with the paths of a value, if it names any.
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

/// Values as words, those of lists one after the other; what would make the line too long to be told ends it.
fn words<'a>(values: impl Iterator<Item = &'a Value>) -> String {
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

fn word(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::List(_) | Value::Unknown => unknown(),
    }
}

fn unknown() -> String {
    format!("\"{LEFT_OPEN}\"")
}

/// A text as one word for a shell.
fn quoted(text: &Text) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@%:=,".contains(letter);
    let value = text.value.as_str();
    if text.is_open {
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
