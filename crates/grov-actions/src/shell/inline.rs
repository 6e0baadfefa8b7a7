//! Interpreters that are given code on the command line, or read it from their input.

use crate::inline::inline_code;
use crate::shell::state::{Inner, Reads, Shell};
use crate::shell::words::Argument;

/// Looks at the code that a program is given. What the program itself is, is told already.
pub(crate) fn look(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let Some(given) = inline_code(name, arguments.iter().map(Argument::written)) else {
        return;
    };
    if given.reads_input {
        shell.reads = Some(Reads::Code(given.language));
    }
    if !given.code.is_empty() {
        let code = given.code.join("\n");
        // What a shell puts into the code is left out of it: it says something else then.
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
