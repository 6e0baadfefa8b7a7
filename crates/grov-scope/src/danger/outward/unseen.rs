//! Scripts that are run unseen: what a download or a decoder puts out goes to a shell or an interpreter.

use crate::command_line::{SimpleCommand, is_shell, split};

/// Whether a command runs a script that was downloaded or decoded by the same line.
pub(super) fn runs(
    command: &SimpleCommand,
    before: Option<&SimpleCommand>,
    source: Option<&SimpleCommand>,
) -> bool {
    let reads = command.piped && runs_input(command);
    let source = source.or(before);
    reads && source.is_some_and(hides) || script_of(command).is_some_and(|script| is_put_out(command, script))
}

fn is_interpreter(program: &str) -> bool {
    let bare = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    matches!(
        bare,
        "python" | "pypy" | "node" | "deno" | "bun" | "perl" | "ruby" | "php" | "lua" | "osascript" | "pwsh"
    )
}

/// Whether it runs what it reads, and does not take it for data.
fn runs_input(command: &SimpleCommand) -> bool {
    let is_input = |word: &str| matches!(word, "-" | "/dev/stdin");
    let first = command
        .arguments()
        .iter()
        .find(|word| !word.starts_with('-') || is_input(word));
    let reads = first.is_none_or(|word| is_input(word));
    let short = |letter: char| command.has("", letter);
    match command.program() {
        program if is_shell(program) => !short('c') && (reads || short('s')),
        program if is_interpreter(program) => {
            let is_told = ["--eval", "--print", "--module"]
                .iter()
                .any(|long| command.has(long, '\0'));
            let from_input = command.arguments().first().is_some_and(|word| word == "-");
            from_input || reads && !is_told && !['c', 'e', 'm', 'n', 'p', 'r'].into_iter().any(short)
        }
        "source" | "." => first.is_some_and(|word| is_input(word)),
        _ => false,
    }
}

/// Whether what a command puts out comes from another machine, or was encoded.
fn hides(command: &SimpleCommand) -> bool {
    let decodes = || command.has("--decode", 'd') || command.has("--decompress", 'D');
    match command.program() {
        "curl" | "wget" | "fetch" | "aria2c" | "http" | "https" | "xh" | "lynx" | "nc" | "ncat"
        | "netcat" | "socat" | "ftp" => true,
        "base64" | "base32" | "basenc" | "gzip" | "xz" | "bzip2" | "zstd" | "gpg" | "openssl" => decodes(),
        "xxd" => command.has("-revert", 'r'),
        "uudecode" | "gunzip" | "zcat" | "unxz" | "xzcat" | "bunzip2" | "bzcat" | "zstdcat" | "rev"
        | "tr" => true,
        _ => false,
    }
}

/// The word that a command runs as a script, or reads one from.
fn script_of(command: &SimpleCommand) -> Option<&str> {
    let arguments = command.arguments();
    let first = || command.operands().next();
    match command.program() {
        "eval" | "source" | "." => first(),
        program if is_shell(program) || is_interpreter(program) => {
            let is_option = |word: &String| {
                word.starts_with('-') && !word.starts_with("--") && word.ends_with(['c', 'e'])
                    || word == "--eval"
            };
            match arguments.iter().position(is_option) {
                Some(at) => arguments.get(at + 1).map(String::as_str),
                None => first(),
            }
        }
        _ => None,
    }
}

/// Whether a word is what a command puts out that hides it: `$(curl …)`.
fn is_put_out(command: &SimpleCommand, word: &str) -> bool {
    let word = word.trim_start();
    let mut scripts = command.substituted.iter();
    scripts.any(|script| {
        let is_word = word
            .strip_prefix("$(")
            .is_some_and(|rest| rest.starts_with(script.as_str()))
            || word
                .strip_prefix('`')
                .is_some_and(|rest| rest.starts_with(script.as_str()));
        is_word && split(script).iter().any(hides)
    })
}
