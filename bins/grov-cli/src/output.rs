//! Answers on standard output, messages on standard error, and the exit code.

use crate::arguments::Common;
use crate::failure::{EXIT_NEGATIVE, Failure, Report};
use clap::ColorChoice;
use grov_runtime::printable;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// The result of a command that printed its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Exit code 0.
    Success,
    /// Nothing found, or a check failed: exit code 1.
    Negative,
    /// The exit code of the program that the command ran.
    Of(u8),
}

impl ExitStatus {
    pub(crate) fn success_if(is_success: bool) -> Self {
        if is_success { Self::Success } else { Self::Negative }
    }
}

pub(crate) type Outcome = Result<ExitStatus, Failure>;

/// Prints a message on standard error, formatted as by `format!`.
macro_rules! note {
    ($($argument:tt)*) => { $crate::output::message(&format!($($argument)*)) };
}
pub(crate) use note;

/// How answers are printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    json: bool,
    color: bool,
}

#[derive(Serialize)]
struct Envelope<T> {
    schema: u32,
    #[serde(flatten)]
    answer: T,
}

#[derive(Serialize)]
struct ErrorAnswer<'a> {
    error: &'a Report,
}

impl Terminal {
    /// From the flags and the environment.
    pub(crate) fn of(common: &Common) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let color = match common.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                !is_set("NO_COLOR")
                    && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
                    && io::stdout().is_terminal()
            }
        };
        Self {
            json: common.json,
            color: color && !common.json,
        }
    }

    pub(crate) fn wants_json(self) -> bool {
        self.json
    }

    /// How many rows to show: `limit` if given (0 means all); else all with `--json`, and `default` as text.
    pub(crate) fn limit(self, limit: Option<u32>, default: u32) -> Option<u32> {
        match limit {
            None if !self.json => Some(default),
            limit => limit.filter(|limit| *limit > 0),
        }
    }

    /// How text is emphasised.
    pub(crate) fn style(self) -> Style {
        Style { color: self.color }
    }

    /// Prints text with the emphasis of [`Terminal::style`] and without other control characters.
    pub(crate) fn print_text(self, text: &str) -> Outcome {
        print(&escaped(text, self.color))
    }

    /// Prints the answer as JSON, or as the text that `text` makes of it.
    pub(crate) fn answer<T: Serialize>(self, answer: T, text: impl FnOnce(&T, Style) -> String) -> Outcome {
        if self.json {
            print(&json(&Envelope { schema: 1, answer })?)
        } else {
            self.print_text(&text(&answer, self.style()))
        }
    }
}

const RESET: &str = "[0m";
const BOLD: &str = "[1m";
const FAINT: &str = "[2m";
const RED: &str = "[31m";
const GREEN: &str = "[32m";
const YELLOW: &str = "[33m";

/// Emphasis by terminal escape sequences, or none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    color: bool,
}

impl Style {
    /// Whether there is emphasis.
    pub(crate) fn is_colored(self) -> bool {
        self.color
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrapped(BOLD, text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.wrapped(FAINT, text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.wrapped(GREEN, text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrapped(YELLOW, text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.wrapped(RED, text)
    }

    fn wrapped(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}{code}{text}\u{1b}{RESET}")
        } else {
            text.to_owned()
        }
    }

    /// No emphasis.
    pub(crate) fn plain() -> Self {
        Self { color: false }
    }
}

/// Escapes control characters, except for the sequences of [`Style`] when colour is on.
fn escaped(text: &str, color: bool) -> String {
    let mut parts = text.split('\u{1b}');
    let mut shown = printable(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let codes = [RESET, BOLD, FAINT, RED, GREEN, YELLOW];
        if color && codes.iter().any(|code| part.starts_with(code)) {
            shown.push('\u{1b}');
        } else {
            shown.push_str(&printable("\u{1b}"));
        }
        shown.push_str(&printable(part));
    }
    shown
}

fn json<T: Serialize>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map(|text| text + "\n")
        .map_err(|error| Failure::error("output", format!("cannot write the answer as JSON: {error}")))
}

/// Prints one line of JSON, without the `schema` field of an answer.
pub(crate) fn line<T: Serialize>(line: &T) -> Outcome {
    print(&json(line)?)
}

/// Prints text as it is.
pub(crate) fn print(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(ExitStatus::Success)
}

/// Prints a message on standard error; see [`note!`].
pub(crate) fn message(text: &str) {
    // There is no other place to report that standard error cannot be written.
    let _ = writeln!(io::stderr().lock(), "{}", printable(text));
}

/// Asks a yes-or-no question; `None` when there is no terminal.
pub(crate) fn ask(question: &str) -> Option<bool> {
    let (stdin, mut stderr) = (io::stdin(), io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return None;
    }
    let _ = write!(stderr, "{} [y/N] ", printable(question)).and_then(|()| stderr.flush());
    let mut answer = String::new();
    // A failed read leaves the answer empty, which is a no.
    let _ = stdin.read_line(&mut answer);
    Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Reports a failure, if there is one, and returns the exit code.
pub(crate) fn finish(outcome: Outcome, as_json: bool) -> ExitCode {
    let report = match outcome {
        Ok(ExitStatus::Success) | Err(Failure::BrokenPipe) => return ExitCode::SUCCESS,
        Ok(ExitStatus::Of(code)) => return ExitCode::from(code),
        Ok(ExitStatus::Negative) => return ExitCode::from(EXIT_NEGATIVE),
        Err(Failure::Report(report)) => report,
    };
    if as_json {
        let answer = ErrorAnswer { error: &report };
        // If this fails too, only the exit code reports the error.
        let _ = json(&Envelope { schema: 1, answer }).and_then(|text| print(&text));
    } else {
        note!("grov: {}", report.message);
        if let Some(hint) = report.hint {
            note!("hint: {hint}");
        }
    }
    ExitCode::from(report.exit_code)
}
