//! Answers on standard output, messages on standard error, and the exit code.

use crate::arguments::Common;
use crate::failure::{EXIT_NEGATIVE, Failure, Report};
use crate::table::{truncated, wrapped};
use clap::ColorChoice;
use grov_query::short_beginning;
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
    wide: bool,
    utc: bool,
    /// Columns of the terminal; `None` if standard output is none, or with `--wide`.
    width: Option<usize>,
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
            wide: common.wide,
            utc: common.utc,
            width: columns().filter(|_| !common.wide),
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
        Style {
            color: self.color,
            wide: self.wide,
            utc: self.utc,
            width: self.width,
        }
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

/// The columns of the terminal that standard output is, else those that `COLUMNS` names.
fn columns() -> Option<usize> {
    let stdout = io::stdout();
    let terminal = stdout
        .is_terminal()
        .then(|| rustix::termios::tcgetwinsize(&stdout).ok());
    let measured = terminal.flatten().map(|size| usize::from(size.ws_col));
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let columns = measured.filter(|columns| *columns > 0).or_else(named)?;
    Some(columns.max(MIN_COLUMNS))
}

/// Narrower terminals break lines themselves.
const MIN_COLUMNS: usize = 40;

/// Emphasis by terminal escape sequences, or none; the width to fit, and the time zone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    color: bool,
    wide: bool,
    utc: bool,
    width: Option<usize>,
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

    /// The columns to fit; `None` if any number may be used.
    pub(crate) fn width(self) -> Option<usize> {
        self.width
    }

    /// Whether nothing is to be shortened.
    pub(crate) fn is_wide(self) -> bool {
        self.wide
    }

    /// An id; its beginning where it has to fit.
    pub(crate) fn id(self, id: &str) -> String {
        match self.width {
            Some(_) => short_beginning(id).to_owned(),
            None => id.to_owned(),
        }
    }

    /// A path, or a text that begins with one; where it has to fit, relative to the current directory or the user's home.
    pub(crate) fn path(self, path: &str) -> String {
        if self.width.is_none() {
            return path.to_owned();
        }
        let below = |folder: Option<std::path::PathBuf>, sign: &str| {
            let folder = folder?.to_str()?.to_owned();
            let rest = path.strip_prefix(&folder)?;
            match (rest.strip_prefix('/'), rest.is_empty(), sign) {
                (_, true, "") => Some(".".to_owned()),
                (_, true, sign) => Some(sign.to_owned()),
                (Some(rest), _, "") => Some(rest.to_owned()),
                (Some(rest), _, sign) => Some(format!("{sign}/{rest}")),
                _ => None,
            }
        };
        let here = std::env::current_dir().ok();
        let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
        below(here, "")
            .or_else(|| below(home, "~"))
            .unwrap_or_else(|| path.to_owned())
    }

    /// A sentence, broken at the width, with its newline.
    pub(crate) fn prose(self, text: &str) -> String {
        let width = self.width.unwrap_or(usize::MAX);
        wrapped(text.trim_end(), width).join("\n") + "\n"
    }

    /// One line that is cut to the width.
    pub(crate) fn line(self, text: &str) -> String {
        truncated(text, self.width.unwrap_or(usize::MAX))
    }

    /// Whether times are shown in UTC.
    pub(crate) fn is_utc(self) -> bool {
        self.utc
    }

    /// No emphasis, any width, times in UTC.
    pub(crate) fn plain() -> Self {
        Self {
            color: false,
            wide: false,
            utc: true,
            width: None,
        }
    }

    /// The same for a terminal with this number of columns.
    #[cfg(test)]
    pub(crate) fn fitted(self, columns: usize) -> Self {
        Self {
            width: Some(columns),
            ..self
        }
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
