//! The examples below the help of each command.

use clap::Command;

/// A line with a command's name, followed by its examples, indented.
const EXAMPLES: &str = include_str!("examples.txt");

/// The examples of a command, which is named without `grov`; empty if there are none.
pub(super) fn of(name: &str) -> Vec<&'static str> {
    let mut lines = EXAMPLES.lines().skip_while(|line| *line != name).skip(1);
    let examples = std::iter::from_fn(|| lines.next()?.strip_prefix("  "));
    examples.collect()
}

/// Adds its examples to the help of each command.
pub(super) fn added(command: Command) -> Command {
    below(command, "")
}

fn below(command: Command, path: &str) -> Command {
    let examples = of(path);
    let command = match examples.is_empty() {
        true => command,
        false => command.after_help(format!("Examples:\n  {}", examples.join("\n  "))),
    };
    command.mut_subcommands(|sub| {
        let path = format!("{path} {}", sub.get_name());
        below(sub, path.trim())
    })
}
