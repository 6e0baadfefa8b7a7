//! Finds the calls in a piece of code.

use super::Language;
use super::call_effects::is_called_bare;
use super::names::module_name;
use super::token::{Text, Token};
use super::values::{Code, TextBudget, Value};

/// The maximum number of calls.
const MAX_CALLS: usize = 1024;
/// The number of tokens taken as the arguments of a call without a closing parenthesis.
const MAX_UNCLOSED: usize = 64;
/// The maximum number of names in `a.b.c`.
const MAX_CHAIN: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    /// The full name of the function, with imports resolved: `subprocess.run`. `Path(…)` as the object is written
    /// `Path()`, any other computed object `?`. The name of a backtick command is "`".
    pub(super) name: String,
    /// The path in `Path("a").unlink()`.
    pub(super) subject: Option<Value>,
    pub(super) arguments: Vec<Value>,
    /// Keyword arguments and the entries of objects.
    pub(super) named: Vec<(String, Value)>,
}

impl Call {
    /// The argument at `at`, if it is a text.
    pub(super) fn text(&self, at: usize) -> Option<&Text> {
        self.arguments.get(at)?.text()
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        let (_, value) = self.named.iter().find(|(known, _)| known == name)?;
        Some(value)
    }
}

/// The calls in a piece of code, in order. They are created one at a time to save memory.
pub(super) fn calls(code: &Code<'_>) -> impl Iterator<Item = Call> {
    (0..code.tokens.len())
        .filter_map(|at| call_at(code, at))
        .take(MAX_CALLS)
}

fn call_at(code: &Code<'_>, at: usize) -> Option<Call> {
    match code.token(at)? {
        Token::Text(text) if text.is_run => Some(Call {
            name: "`".to_owned(),
            arguments: vec![Value::Text(text.clone())],
            ..Call::default()
        }),
        Token::Sign('(') => {
            let last = at.checked_sub(1)?;
            // Truncated code may lack the parenthesis.
            let close = code
                .partner(at)
                .unwrap_or_else(|| code.tokens.len().min(at + MAX_UNCLOSED));
            Some(with_arguments(called(code, last)?, code, at + 1, close))
        }
        // Without parentheses: `system "ls"`, `FileUtils.rm_rf "x"`.
        Token::Name(name) if matches!(code.language, Language::Perl | Language::Ruby) => {
            let begins_value = matches!(code.token(at + 1)?, Token::Text(_) | Token::Sign('[' | '$'));
            if !begins_value || !is_called_bare(code.language, name) {
                return None;
            }
            Some(with_arguments(
                called(code, at)?,
                code,
                at + 1,
                code.statement_end(at + 1),
            ))
        }
        _ => None,
    }
}

/// A call without arguments of the function whose name ends at `last`.
fn called(code: &Code<'_>, last: usize) -> Option<Call> {
    let mut parts = vec![code.token(last)?.name()?.to_owned()];
    let mut at = last;
    let mut subject = None;
    while parts.len() < MAX_CHAIN {
        let Some(before) = before_separator(code, at) else {
            break;
        };
        match code.token(before)? {
            Token::Name(name) => {
                parts.push(name.clone());
                at = before;
            }
            Token::Sign(')') => {
                let open = code.partner(before)?;
                let name = open
                    .checked_sub(1)
                    .and_then(|at| code.token(at))
                    .and_then(Token::name);
                let value = code.value(open + 1, before);
                let module = value.text().filter(|text| !text.has_unknown);
                match (name, module) {
                    (Some("require" | "__import__" | "import_module"), Some(module)) => {
                        parts.push(module_name(&module.value))
                    }
                    (Some("Path" | "PosixPath" | "Pathname"), _) => {
                        parts.push("Path()".to_owned());
                        subject = Some(value);
                    }
                    _ => parts.push("?".to_owned()),
                }
                break;
            }
            _ => {
                parts.push("?".to_owned());
                break;
            }
        }
    }
    // `p = Path("a")` and later `p.unlink()`: strings do not have these methods.
    if let (Language::Python, [method, own], None) = (code.language, parts.as_slice(), &subject)
        && matches!(
            method.as_str(),
            "unlink" | "rmdir" | "write_text" | "write_bytes" | "touch" | "mkdir" | "rename" | "open"
        )
        && let Some(text) = code.names.text(own)
    {
        subject = Some(Value::Text(text.clone()));
        parts[1] = "Path()".to_owned();
    }
    if let Some(origin) = parts.last().and_then(|first| code.names.origin(first)) {
        let origin = origin.to_owned();
        parts.pop();
        parts.push(origin);
    }
    parts.reverse();
    Some(Call {
        name: parts.join("."),
        subject,
        ..Call::default()
    })
}

/// The index of the token before the separator (`.`, `?.`, `::` or `->`) that precedes the name at `at`.
fn before_separator(code: &Code<'_>, at: usize) -> Option<usize> {
    let sign = |back: usize| at.checked_sub(back).and_then(|at| code.token(at));
    match (sign(2), sign(1)?) {
        (Some(Token::Sign('?')), Token::Sign('.')) => at.checked_sub(3),
        (Some(Token::Sign('&')), Token::Sign('.')) if code.language == Language::Ruby => at.checked_sub(3),
        (_, Token::Sign('.')) if !matches!(code.language, Language::Perl | Language::Php) => {
            at.checked_sub(2)
        }
        (Some(Token::Sign(':')), Token::Sign(':')) | (Some(Token::Sign('-')), Token::Sign('>')) => {
            at.checked_sub(3)
        }
        _ => None,
    }
}

/// The call with the arguments between two tokens.
fn with_arguments(mut call: Call, code: &Code<'_>, start: usize, end: usize) -> Call {
    let mut budget = TextBudget::default();
    for (start, end) in code.split_at_commas(start, end) {
        let start = code.skip_lines(start, end);
        if let Some((name, value)) = named(code, start, end) {
            call.named.push((name, budget.value(code, value, end)));
        } else if code.token(start).is_some_and(|token| token.is('{')) {
            let close = code.partner(start).unwrap_or(end).min(end);
            for (start, end) in code.split_at_commas(start + 1, close) {
                if let Some((name, value)) = named(code, code.skip_lines(start, end), end) {
                    call.named.push((name, budget.value(code, value, end)));
                }
            }
            call.arguments.push(Value::Unknown);
        } else {
            call.arguments.push(budget.value(code, start, end));
        }
    }
    call
}

/// The name and the start of the value of `cwd="x"` or `cwd: "x"`; `None` for `a == b` and `a::b`.
fn named(code: &Code<'_>, start: usize, end: usize) -> Option<(String, usize)> {
    match code.tokens.get(start..end)? {
        [Token::Name(name), Token::Sign(sign @ ('=' | ':')), next, ..] if !next.is(*sign) => {
            Some((name.clone(), start + 2))
        }
        _ => None,
    }
}
