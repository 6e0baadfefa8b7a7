//! Interpreters that run code from the command line or from their standard input.

use crate::has_word;
use crate::inline::{Language, inline_code};
use crate::path::file_name;
use crate::shell::options::Options;
use crate::shell::state::{Inner, Reads, Shell};
use crate::shell::words::Argument;

/// Adds the code that a program runs to [`Shell::inner`].
pub(crate) fn add_code(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    if let Some(console) = console(name, arguments) {
        return match console.code {
            Some(code) => push(shell, console.language, code.written().to_owned(), code.unknown),
            None if console.reads_input => shell.reads = Some(Reads::Code(console.language)),
            None => {}
        };
    }
    let Some(given) = inline_code(name, arguments.iter().map(Argument::written)) else {
        return;
    };
    if given.reads_input {
        shell.reads = Some(Reads::Code(given.language));
    }
    if !given.code.is_empty() {
        let is_unknown = arguments.iter().any(|argument| argument.unknown);
        push(shell, given.language, given.code.join("\n"), is_unknown);
    }
}

/// Adds code. The values of shell variables are missing from it, so it may do something else.
fn push(shell: &mut Shell, language: Language, code: String, is_unknown: bool) {
    shell.inner.push(Inner::Code {
        language,
        code,
        is_whole: !is_unknown,
    });
}

/// The console of a framework or a database.
struct Console {
    language: Language,
    /// The code in the arguments.
    code: Option<Argument>,
    /// Without code in the arguments, it runs its standard input.
    reads_input: bool,
}

/// The console that a program is: `manage.py shell`, `rails runner`, `artisan tinker`, `awk`.
fn console(name: &str, arguments: &[Argument]) -> Option<Console> {
    // `python manage.py shell` runs `manage.py`, `php artisan` runs `artisan`.
    let (name, arguments) = match arguments {
        [script, rest @ ..] if has_word("manage.py artisan rails console", file_name(&script.text)) => {
            (file_name(&script.text), rest)
        }
        arguments => (name, arguments),
    };
    // The value of an option, which may be attached: `--execute=CODE`.
    let after = |names: &str| {
        let name_of = |argument: &Argument| argument.text.split('=').next().unwrap_or_default().to_owned();
        let at = arguments
            .iter()
            .position(|argument| has_word(names, &name_of(argument)))?;
        match arguments[at].written().split_once('=') {
            Some((_, code)) => Some(arguments[at].with_text(code)),
            None => arguments.get(at + 1).cloned(),
        }
    };
    let first = arguments.first().map_or("", |first| first.text.as_str());
    let of = |language, code, reads_input| {
        Some(Console {
            language,
            code,
            reads_input,
        })
    };
    match (name, first) {
        ("manage.py" | "django-admin", "shell" | "shell_plus") => {
            of(Language::Python, after("-c --command"), true)
        }
        ("flask", "shell") => of(Language::Python, None, true),
        ("rails", "runner" | "r") => {
            let code = arguments.iter().skip(1).find(|argument| !argument.is_option());
            let code = code.filter(|code| code.text != "-" && !code.text.ends_with(".rb"));
            of(Language::Ruby, code.cloned(), true)
        }
        ("rails", "console" | "c") => of(Language::Ruby, None, true),
        ("artisan", "tinker") => of(Language::Php, after("--execute"), true),
        ("mongosh" | "mongo", _) => {
            let database = arguments
                .iter()
                .find(|argument| !argument.is_option() && !argument.text.contains(['(', ' ', '\'']));
            let code = after("--eval");
            // The statements run in this database.
            let opened = code.zip(database).map(|(code, database)| {
                code.with_text(&format!("connect('{}');\n{}", database.text, code.written()))
            });
            of(Language::JavaScript, opened.or_else(|| after("--eval")), true)
        }
        ("awk" | "gawk" | "mawk" | "nawk", _) => {
            let options = Options::of("awk", arguments);
            let program = options
                .operands
                .first()
                .copied()
                .filter(|_| !options.has("-f --file"));
            // The rules of awk's `system` and of its texts are those of Perl.
            of(
                Language::Perl,
                program.filter(|program| program.text.contains("system")).cloned(),
                false,
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
