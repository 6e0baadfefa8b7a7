//! Interpreters that are given code on the command line, or read it from their input.

use crate::inline::{Language, given, shown};
use crate::shell::run::Shell;
use crate::shell::words::Argument;

/// What a program runs that it reads from its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Commands.
    Shell,
    Code(Language),
}

/// Looks at the code that a program is given. What the program itself is, is told already.
pub(crate) fn look(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let Some(given) = given(name, arguments.iter().map(|argument| argument.text.as_str())) else {
        return;
    };
    // What a shell puts into the code is left out of it: it says something else then.
    if arguments.iter().any(|argument| argument.unknown) {
        return;
    }
    if given.reads_input {
        shell.reads = Some(Reads::Code(given.language));
    }
    // Reading code costs more than walking through a line.
    if shell.allowance.is_spent() {
        return;
    }
    for line in given.shown() {
        shell.inner_script(&line);
    }
}

/// Looks at what a program reads from its input and runs.
pub(crate) fn look_at_input(shell: &mut Shell, reads: Reads, text: &str) {
    match reads {
        Reads::Shell => shell.inner_script(text),
        Reads::Code(_) if shell.allowance.is_spent() => {}
        Reads::Code(language) => {
            for line in shown(language, text) {
                shell.inner_script(&line);
            }
        }
    }
}

#[cfg(test)]
mod tests;
