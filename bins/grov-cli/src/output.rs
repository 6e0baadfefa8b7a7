//! Data on standard output, talk on standard error, and the exit code.

use crate::arguments::Common;
use crate::failure::{EXIT_NEGATIVE, Failure};
use clap::ColorChoice;
use grov_runtime::printable;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// What a command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// What was asked for; exit code 0.
    Found,
    /// Nothing; exit code 1.
    Nothing,
}

pub(crate) type Outcome = Result<Verdict, Failure>;

/// How to print.
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
    error: ErrorBody<'a>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    kind: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
}

impl Terminal {
    /// As the flags and the environment want it.
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

    /// Prints the answer as JSON, or as the text that `text` makes.
    pub(crate) fn answer<T: Serialize>(
        self,
        answer: T,
        text: impl FnOnce(&T, Style) -> String,
    ) -> Result<(), Failure> {
        let printed = if self.json {
            json(&answer)?
        } else {
            printable_styled(&text(&answer, Style { color: self.color }), self.color)
        };
        write_out(printed.as_bytes())
    }
}

/// How text is emphasised.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    color: bool,
}

impl Style {
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrapped("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.wrapped("2", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.wrapped("32", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.wrapped("31", text)
    }

    fn wrapped(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Without any.
    pub(crate) fn plain() -> Self {
        Self { color: false }
    }
}

fn json<T: Serialize>(answer: &T) -> Result<String, Failure> {
    serde_json::to_string(&Envelope { schema: 1, answer })
        .map(|text| text + "\n")
        .map_err(|error| {
            Failure::error(
                "output",
                format!("the answer cannot be written as JSON: {error}"),
                None,
            )
        })
}

fn write_out(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    Ok(stdout.flush()?)
}

/// Prints one line of JSON, without the envelope of a whole answer.
pub(crate) fn line<T: Serialize>(line: &T) -> Result<(), Failure> {
    let mut text = serde_json::to_vec(line).map_err(|error| {
        Failure::error(
            "output",
            format!("a line cannot be written as JSON: {error}"),
            None,
        )
    })?;
    text.push(b'\n');
    write_out(&text)
}

/// Prints text.
pub(crate) fn print(text: &str) -> Outcome {
    write_out(text.as_bytes()).map(|()| Verdict::Found)
}

/// Says something to the person who runs the command.
pub(crate) fn say(text: &str) {
    // Nobody can be told that telling failed.
    let _ = writeln!(io::stderr().lock(), "{}", printable(text));
}

/// The text with everything escaped that a terminal would obey, but for the emphasis of [`Style`].
fn printable_styled(text: &str, color: bool) -> String {
    const EMPHASIS: [&str; 5] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m"];
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, escape) = rest.split_at(at);
        shown.push_str(&printable(before));
        let emphasis = EMPHASIS.iter().find(|code| color && escape.starts_with(**code));
        let length = emphasis.map_or(1, |code| code.len());
        match emphasis {
            Some(code) => shown.push_str(code),
            None => shown.push_str(&printable(&escape[..length])),
        }
        rest = &escape[length..];
    }
    shown.push_str(&printable(rest));
    shown
}

/// Asks the person at the terminal; `None` when nobody sits there.
pub(crate) fn ask(question: &str) -> Option<bool> {
    let (stdin, mut stderr) = (io::stdin(), io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return None;
    }
    let _ = write!(stderr, "{} [y/N] ", printable(question)).and_then(|()| stderr.flush());
    let mut answer = String::new();
    // No answer is no.
    let _ = stdin.read_line(&mut answer);
    Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Tells what went wrong, if anything did, and gives the exit code.
pub(crate) fn finish(outcome: Outcome, as_json: bool) -> ExitCode {
    let told = match outcome {
        Ok(Verdict::Found) | Err(Failure::BrokenPipe) => return ExitCode::SUCCESS,
        Ok(Verdict::Nothing) => return ExitCode::from(EXIT_NEGATIVE),
        Err(Failure::Told(told)) => told,
    };
    if as_json {
        let error = ErrorBody {
            kind: told.kind,
            message: &told.message,
            hint: told.hint.as_deref(),
        };
        if let Ok(text) = json(&ErrorAnswer { error }) {
            // The exit code says it as well.
            let _ = write_out(text.as_bytes());
        }
    } else {
        say(&format!("grov: {}", told.message));
        if let Some(hint) = told.hint {
            say(&format!("hint: {hint}"));
        }
    }
    ExitCode::from(told.exit_code)
}
