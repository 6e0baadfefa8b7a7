//! Analyzes code that is passed to an interpreter on a command line, or read from a script.
//!
//! `python3 -c "import shutil; shutil.rmtree('/srv/x')"` removes a folder just as `rm -r /srv/x` does.
//! [`as_shell_lines`] translates calls that run commands and calls that remove, write, move or copy files into
//! equivalent command lines, which are then analyzed like any other.
//!
//! Entry point: [`inline_code`]. Texts and comments are not calls: `print('rm -rf /')` has no effect. A value is
//! known if it is a literal, or a variable to which only one literal is assigned. Any other value becomes an
//! undefined shell variable. Deliberately obfuscated code (assembled from parts, decoded) is not recognized.

mod budget;
mod call_effects;
mod calls;
mod file_paths;
mod names;
mod sending;
mod shell_lines;
mod statements;
mod token;
mod values;

pub(crate) use budget::ScanBudget;

/// The length of the code that is analyzed, in bytes.
const MAX_CODE: usize = 64 * 1024;
/// The maximum nesting of code that evaluates code.
const MAX_DEPTH: u8 = 3;

/// A language whose interpreters accept code on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    /// `python -c`
    Python,
    /// `node -e`, `bun -e`, `deno eval`; also TypeScript.
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
    pub(crate) language: Language,
    /// The code in the arguments.
    pub(crate) code: Vec<&'a str>,
    /// The interpreter runs code from its standard input.
    pub(crate) reads_input: bool,
    /// The interpreter runs a module, which the first operand names.
    pub(crate) is_module: bool,
    /// The index of the first argument after the options and the code.
    pub(crate) operands: usize,
}

/// The code that a program runs, or `None` if the program is not an interpreter. `program` is its name without a
/// folder.
pub(crate) fn inline_code<'a>(
    program: &str,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Option<InlineCode<'a>> {
    let language = language_of(program)?;
    let arguments: Vec<&'a str> = arguments.into_iter().collect();
    let is_deno = program == "deno";
    if is_deno && arguments.first() != Some(&"eval") {
        return None;
    }
    let (mut code, mut is_module) = (Vec::new(), false);
    let mut at = usize::from(is_deno);
    while let Some(argument) = arguments.get(at).filter(|argument| argument.starts_with('-')) {
        if *argument == "-" {
            break;
        }
        at += 1;
        match takes(program, language, argument) {
            Takes::Nothing => {}
            Takes::Value => at += 1,
            Takes::Module => is_module = true,
            Takes::Code => {
                code.extend(arguments.get(at).copied());
                at += 1;
            }
            Takes::Attached(rest) => code.push(rest),
        }
        // Python passes everything after the code or the module to it.
        if is_module || language == Language::Python && !code.is_empty() {
            break;
        }
    }
    let operands = at.min(arguments.len());
    let operand = arguments.get(operands).filter(|operand| **operand != "-");
    if is_deno {
        code.extend(operand);
    }
    Some(InlineCode {
        language,
        reads_input: code.is_empty() && !is_module && operand.is_none(),
        code,
        is_module,
        operands,
    })
}

/// The language of an interpreter, by its name without a folder.
pub(crate) fn language_of(program: &str) -> Option<Language> {
    let is_version = |rest: &str| {
        rest.bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'w'))
    };
    let is = |name: &str| program.strip_prefix(name).is_some_and(is_version);
    // Their calls and comments are written as in Python.
    let is_similar = is("lua") || matches!(program, "Rscript" | "R" | "luajit" | "julia" | "elixir");
    if is("python") || is("pypy") || is_similar || matches!(program, "py" | "ipython" | "ipython3") {
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

/// The value of an interpreter's option.
enum Takes<'a> {
    Nothing,
    /// The next argument, which is not code.
    Value,
    /// The next argument is the module to run.
    Module,
    /// The next argument is code.
    Code,
    /// The code follows in the same argument: `-cCODE`, `--eval=CODE`.
    Attached(&'a str),
}

fn takes<'a>(program: &str, language: Language, option: &'a str) -> Takes<'a> {
    if let Some(long) = option.strip_prefix("--") {
        return match long.split_once('=') {
            Some(("eval" | "print" | "run", code)) => Takes::Attached(code),
            None if matches!(long, "eval" | "print" | "run") => Takes::Code,
            None if matches!(long, "require" | "import" | "loader" | "input-type") => Takes::Value,
            _ => Takes::Nothing,
        };
    }
    // The letters of options for code, of options with a value, and of options whose value is in the same argument.
    let (code, valued, attached) = match language {
        Language::Python
            if program.starts_with("lua") || matches!(program, "Rscript" | "R" | "julia" | "elixir") =>
        {
            ("eE", "", "l")
        }
        Language::Python => ("c", "WX", ""),
        Language::JavaScript => ("ep", "rC", ""),
        Language::Perl => ("eE", "", "iFMmI"),
        Language::Ruby => ("e", "CEI", "rFi"),
        Language::Php => ("rBRE", "cdz", ""),
    };
    for (at, letter) in option.char_indices().skip(1) {
        let rest = &option[at + letter.len_utf8()..];
        if language == Language::JavaScript && letter == 'p' && rest.starts_with('e') {
            continue;
        }
        return match letter {
            'm' if language == Language::Python && rest.is_empty() => Takes::Module,
            _ if code.contains(letter) && rest.is_empty() => Takes::Code,
            _ if code.contains(letter) => Takes::Attached(rest),
            _ if valued.contains(letter) && rest.is_empty() => Takes::Value,
            _ if valued.contains(letter) || attached.contains(letter) => Takes::Nothing,
            _ => continue,
        };
    }
    Takes::Nothing
}

/// The command lines equivalent to a piece of code, in order. Each is meant for a separate shell that starts in the
/// folder of the interpreter. At most 64 different lines of at most 8 KiB each.
pub(crate) fn as_shell_lines(language: Language, code: &str) -> Vec<String> {
    let mut lines = shell_lines::ShellLines::default();
    analyze(language, code, &mut lines, 0);
    lines.into_lines()
}

/// Analyzes code at a nesting of `depth`.
fn analyze(language: Language, code: &str, lines: &mut shell_lines::ShellLines, depth: u8) {
    if depth >= MAX_DEPTH {
        return;
    }
    let code = &code[..code.floor_char_boundary(MAX_CODE)];
    let tokens = token::tokens(language, code);
    let code = values::Code::new(language, &tokens);
    for mut call in calls::calls(&code) {
        if language == Language::Php {
            call.apply_function();
        }
        for line in sending::lines(&call) {
            lines.add_line(&line);
        }
        if call.is_opaque {
            lines.add_decoded();
        }
        if let Some(name) = statements::opened_database(&call) {
            lines.open_database(name);
        }
        if let Some(statement) = statements::statement(language, &call) {
            lines.add_statement(&statement);
            continue;
        }
        if let Some(line) = statements::service_removal(&call) {
            lines.add_line(&line);
            continue;
        }
        match call_effects::call_effect(language, &call) {
            Some(call_effects::CallEffect::Eval) => {
                if let Some(inner) = call.text(0).filter(|text| !text.has_unknown)
                    && lines.may_evaluate()
                {
                    analyze(language, &inner.value, lines, depth + 1);
                }
            }
            Some(effect) => lines.add_call(effect, &call),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
