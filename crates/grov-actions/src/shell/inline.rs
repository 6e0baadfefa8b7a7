//! Interpreters that run code from the command line or from their standard input.

use crate::inline::inline_code;
use crate::shell::state::{Inner, Reads, Shell};
use crate::shell::words::Argument;

/// Adds the code that a program runs to [`Shell::inner`].
pub(crate) fn add_code(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let Some(given) = inline_code(name, arguments.iter().map(Argument::written)) else {
        return;
    };
    if given.reads_input {
        shell.reads = Some(Reads::Code(given.language));
    }
    if !given.code.is_empty() {
        let code = given.code.join("\n");
        // The values of shell variables are missing from the code, so it may do something else.
        let is_whole = !arguments.iter().any(|argument| argument.unknown);
        shell.inner.push(Inner::Code {
            language: given.language,
            code,
            is_whole,
        });
    }
}

#[cfg(test)]
mod tests;
