//! Analyzes code that is passed to an interpreter on a command line.
//!
//! `python3 -c "import shutil; shutil.rmtree('/srv/x')"` removes a folder like `rm -r /srv/x`. So the calls of a piece of
//! code that run commands, remove, write, move or copy files are told as the command lines that would do the same
//! ([`as_shell_lines`]), and the reader of command lines understands them.
//!
//! Entry point: [`inline_code`]. What stands in texts and comments is no call: `print('rm -rf /')` does nothing. A value that is
//! neither a text in the code nor a name that is given one text alone is not known; it stands as a variable that nobody
//! set. What is hidden on purpose (put together from parts, decoded) is not found.

mod budget;
mod call_effects;
mod calls;
mod names;
mod shell_lines;
mod token;
mod values;

pub(crate) use budget::ScanBudget;

/// Of longer code the beginning is read.
const MAX_CODE: usize = 64 * 1024;
/// Code that runs code is followed this deep.
const MAX_DEPTH: u8 = 3;

/// A language in which code is given on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    /// `python -c`
    Python,
    /// `node -e`, `bun -e`, `deno eval`; TypeScript as well.
    JavaScript,
    /// `perl -e`
    Perl,
    /// `ruby -e`
    Ruby,
    /// `php -r`
    Php,
}

/// The code that an interpreter runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InlineCode<'a> {
    /// The language.
    pub(crate) language: Language,
    /// The code that stands among its arguments.
    pub(crate) code: Vec<&'a str>,
    /// It runs what it reads from its input.
    pub(crate) reads_input: bool,
}

/// The code that a program runs, by its name (without a folder) and its arguments; `None` if it is no interpreter.
pub(crate) fn inline_code<'a>(
    program: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Option<InlineCode<'a>> {
    let language = language_of(program)?;
    let mut arguments = arguments.into_iter().peekable();
    let mut code = Vec::new();
    let mut runs_file = false;
    if program == "deno" && arguments.next_if_eq(&"eval").is_none() {
        return None;
    }
    while let Some(argument) = arguments.next() {
        if argument == "-" {
            break;
        }
        if !argument.starts_with('-') {
            // `deno eval CODE`; a script otherwise, and what follows is for it.
            if program == "deno" {
                code.push(argument);
            } else {
                runs_file = code.is_empty();
            }
            break;
        }
        match takes(language, argument) {
            Takes::Nothing => {}
            Takes::Value => {
                arguments.next();
            }
            Takes::Module => {
                runs_file = true;
                break;
            }
            Takes::Code => {
                code.extend(arguments.next());
                // What follows is for the code.
                if language == Language::Python {
                    break;
                }
            }
            Takes::CodeBehind(rest) => code.push(rest),
        }
    }
    let reads_input = code.is_empty() && !runs_file;
    Some(InlineCode {
        language,
        code,
        reads_input,
    })
}

fn language_of(program: &str) -> Option<Language> {
    let is_version = |rest: &str| {
        rest.bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'w'))
    };
    let is = |name: &str| program.strip_prefix(name).is_some_and(is_version);
    if is("python") || is("pypy") || matches!(program, "py" | "ipython" | "ipython3") {
        Some(Language::Python)
    } else if matches!(program, "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node") {
        Some(Language::JavaScript)
    } else if is("perl") {
        Some(Language::Perl)
    } else if is("ruby") {
        Some(Language::Ruby)
    } else if is("php") {
        Some(Language::Php)
    } else {
        None
    }
}

/// What an option of an interpreter takes.
enum Takes<'a> {
    Nothing,
    Value,
    /// The name of something to be run.
    Module,
    Code,
    /// The code itself: `-cCODE`, `--eval=CODE`.
    CodeBehind(&'a str),
}

fn takes(language: Language, option: &str) -> Takes<'_> {
    if let Some(long) = option.strip_prefix("--") {
        return match (language, long.split_once('=')) {
            (Language::JavaScript, None) if matches!(long, "eval" | "print") => Takes::Code,
            (Language::JavaScript, Some(("eval" | "print", code))) => Takes::CodeBehind(code),
            (Language::JavaScript, None)
                if matches!(long, "require" | "import" | "loader" | "input-type") =>
            {
                Takes::Value
            }
            (Language::Php, None) if long == "run" => Takes::Code,
            _ => Takes::Nothing,
        };
    }
    let (code, module, valued) = match language {
        Language::Python => ("c", "m", "WX"),
        Language::JavaScript => ("ep", "", "rC"),
        // `-i.bak` and `-F:` carry their values.
        Language::Perl => ("eE", "", ""),
        Language::Ruby => ("e", "", "CEI"),
        Language::Php => ("rBRE", "", "cdz"),
    };
    for (at, letter) in option.char_indices().skip(1) {
        let behind = &option[at + letter.len_utf8()..];
        if language == Language::JavaScript && letter == 'p' && behind.starts_with('e') {
            continue;
        }
        if code.contains(letter) {
            return if behind.is_empty() {
                Takes::Code
            } else {
                Takes::CodeBehind(behind)
            };
        }
        if module.contains(letter) {
            return Takes::Module;
        }
        if valued.contains(letter) {
            return if behind.is_empty() {
                Takes::Value
            } else {
                Takes::Nothing
            };
        }
        // These take the rest of the word.
        if language == Language::Perl && matches!(letter, 'i' | 'F' | 'M' | 'm' | 'I')
            || language == Language::Ruby && matches!(letter, 'r' | 'F' | 'i')
        {
            return Takes::Nothing;
        }
    }
    Takes::Nothing
}

/// What a piece of code does, as far as it shows that: the command lines that would do the same, in order. Each is meant
/// for a shell of its own that begins where the interpreter does. At most 64, each once and of at most 8 KB.
pub(crate) fn as_shell_lines(language: Language, code: &str) -> Vec<String> {
    let mut lines = shell_lines::ShellLines::default();
    read(language, code, &mut lines, 0);
    lines.into_found()
}

/// Reads code that `depth` others run.
fn read(language: Language, code: &str, lines: &mut shell_lines::ShellLines, depth: u8) {
    if depth >= MAX_DEPTH {
        return;
    }
    let code = &code[..code.floor_char_boundary(MAX_CODE)];
    let tokens = token::tokens(language, code);
    let code = values::Code::new(language, &tokens);
    for call in calls::calls(&code) {
        match call_effects::call_effect(language, &call) {
            Some(call_effects::CallEffect::Eval) => {
                if let Some(inner) = call.text(0).filter(|text| !text.is_open)
                    && lines.may_evaluate()
                {
                    read(language, &inner.value, lines, depth + 1);
                }
            }
            Some(effect) => lines.add_call(effect, &call),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
