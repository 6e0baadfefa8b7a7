//! Programs that run the command in their arguments.

use crate::prefix::{ExecutionHost, Prefix, prefix};
use crate::shell::options::{Options, Valued, skip_options};
use crate::shell::packages;
use crate::shell::words::Argument;

/// How a program runs the command in its arguments.
#[derive(Debug)]
pub(crate) enum Wrapped {
    /// In its own place; the argument that the command begins with. It may begin one word later.
    InPlace { command: usize, is_guess: bool },
    /// As one of the things that it does: `uv run`, `npm exec`.
    Runner { command: usize },
    /// In a shell of its own, in a container or on another machine.
    Apart(Prefix),
    /// As a script that an option holds: `npx -c`.
    Script(String),
    /// It would, but it is given no command.
    Bare,
}

/// The options with a value of a package runner, or `None` if it is none.
fn runner(name: &str) -> Option<Valued> {
    let letters = |letters| Some(Valued { letters, names: &[] });
    match name {
        "npx" | "bunx" | "pnpx" => Some(Valued::new("pc", &["package", "call"])),
        "uvx" | "pipx" => Some(Valued::new("p", &["from", "with", "python", "spec"])),
        "cross-env" | "dotenv" | "dotenvx" => letters("ef"),
        _ => None,
    }
}

/// How a program, by its name without a folder, runs the command in its arguments; `None`: it runs none.
pub(crate) fn wrapped(name: &str, arguments: &[Argument]) -> Option<Wrapped> {
    let from = |rest: &[Argument]| arguments.len() - rest.len();
    if let Some(rest) = packages::runner(name, arguments) {
        let command = from(skip_assignments(rest));
        return Some(Wrapped::Runner { command });
    }
    let words: Vec<&str> = arguments.iter().map(Argument::written).collect();
    if let Some(prefix) = prefix(name, &words) {
        if prefix.is_script || prefix.host != ExecutionHost::Local || !prefix.scripts.is_empty() {
            return Some(Wrapped::Apart(prefix));
        }
        if prefix.command >= arguments.len() {
            // `su` alone is a shell.
            return (name != "su").then_some(Wrapped::Bare);
        }
        return Some(Wrapped::InPlace {
            command: prefix.command,
            is_guess: prefix.is_guess,
        });
    }
    let valued = runner(name)?;
    let mut rest = skip_options(arguments, valued);
    match name {
        "pipx" if rest.first().is_some_and(|word| word.text == "run") => rest = &rest[1..],
        "pipx" => return None,
        "cross-env" | "dotenv" => rest = skip_assignments(rest),
        _ => {}
    }
    if matches!(name, "npx" | "bunx" | "pnpx" | "uvx")
        && let Some(call) = Options::parse(arguments, valued).value(&["-c", "--call"])
    {
        return Some(Wrapped::Script(call.written().to_owned()));
    }
    Some(match rest {
        [] => Wrapped::Bare,
        rest => Wrapped::InPlace {
            command: from(rest),
            is_guess: false,
        },
    })
}

fn skip_assignments(arguments: &[Argument]) -> &[Argument] {
    let assigns = |argument: &&Argument| {
        argument.text.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    &arguments[arguments.iter().take_while(assigns).count()..]
}
