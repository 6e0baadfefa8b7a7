//! Finds the calls in a piece of code.

use super::Language;
use super::call_effects::is_called_bare;
use super::names::module_name;
use super::sending::{self, Sent};
use super::token::{Text, Token};
use super::values::{Code, TextBudget, Value};
use crate::has_word;

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
    /// The file that it opens is left empty: `open(x, "w").write("")`.
    pub(super) writes_nothing: bool,
    /// What it sends to another machine.
    pub(super) sent: Option<Sent>,
    /// An argument is decoded or downloaded text.
    pub(super) is_opaque: bool,
    /// An argument is an empty object: `{}`.
    pub(super) has_empty_object: bool,
    /// The names and calls whose result is the object, the nearest first: `all`, `objects`, `User`.
    pub(super) receiver: Vec<Link>,
}

/// A part of a chain of calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) name: String,
    /// The arguments compare something with a value: `filter(name="x")`, `where("x", 1)`.
    pub(super) compares: bool,
}

impl Call {
    /// The argument at `at`, if it is a text.
    pub(super) fn text(&self, at: usize) -> Option<&Text> {
        self.arguments.get(at)?.text()
    }

    /// Replaces `array_map("unlink", x)` by `unlink(x)`.
    pub(super) fn apply_function(&mut self) {
        if matches!(self.name.as_str(), "array_map" | "array_walk" | "call_user_func")
            && let Some(function) = self.text(0).map(|text| text.value.clone())
        {
            self.name = function;
            self.arguments.remove(0);
        }
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
            // `File.rm_rf!(x)`
            let last = if code.token(last)?.is('!') {
                last.checked_sub(1)?
            } else {
                last
            };
            // Truncated code may lack the parenthesis.
            let close = code
                .partner(at)
                .unwrap_or_else(|| code.tokens.len().min(at + MAX_UNCLOSED));
            Some(with_arguments(called(code, last)?, code, at + 1, close))
        }
        // Ruby calls these without parentheses.
        Token::Name(name)
            if code.language == Language::Ruby
                && matches!(
                    name.as_str(),
                    "delete_all" | "destroy_all" | "drop_database" | "flushall" | "flushdb" | "destroy"
                )
                && !code.token(at + 1).is_some_and(|next| next.is('(')) =>
        {
            called(code, at)
        }
        // Without parentheses: `system "ls"`, `FileUtils.rm_rf "x"`.
        Token::Name(name) if matches!(code.language, Language::Perl | Language::Ruby) => {
            let next = code.token(at + 1)?;
            let begins_value =
                matches!(next, Token::Text(_) | Token::Sign('[' | '$')) || next.name() == Some("glob");
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
    let mut links = Vec::new();
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
                    _ => {
                        parts.push("?".to_owned());
                        links = receiver(code, before);
                    }
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
        receiver: links,
        ..Call::default()
    })
}

/// The chain of calls and names that ends with the closing parenthesis at `close`.
fn receiver(code: &Code<'_>, close: usize) -> Vec<Link> {
    let mut links = Vec::new();
    let mut at = Some(close);
    while let Some(end) = at
        && links.len() < MAX_CHAIN
    {
        let open = code
            .token(end)
            .filter(|token| token.is(')'))
            .and_then(|_| code.partner(end));
        let name_at = open.map_or(Some(end), |open| open.checked_sub(1));
        let Some((name_at, name)) = name_at.and_then(|at| Some((at, code.token(at)?.name()?))) else {
            break;
        };
        links.push(Link {
            name: name.to_owned(),
            compares: open.is_some_and(|open| compares(code, open + 1, end)),
        });
        at = before_separator(code, name_at);
    }
    links
}

/// Whether arguments compare something with a value. Conditions on ranges and missing values select many records.
fn compares(code: &Code<'_>, start: usize, end: usize) -> bool {
    let parts = code.split_at_commas(start, end);
    let is_wide = |name: &str| name.contains("__");
    let names = parts
        .iter()
        .filter_map(|(start, end)| named(code, code.skip_lines(*start, *end), *end));
    // `email: [nil, ""]`, `customer_id: nil`
    let is_missing = |at: usize| {
        code.token(at)
            .is_some_and(|value| value.is('[') || matches!(value.name(), Some("nil" | "None" | "null")))
    };
    let is_named = names
        .into_iter()
        .any(|(name, value)| !is_wide(&name) && !is_missing(value) && is_identity(&name));
    // `where("name", "x")`, `where({name: "x"})`, `eq(users.id, 1)`
    let is_pair = code.language != Language::Ruby && code.language != Language::Python && parts.len() == 2;
    let is_object = code.token(start).is_some_and(|token| token.is('{')) && end > start + 2;
    is_named || is_pair || is_object
}

/// Whether a column tells one record from all others, by its name.
fn is_identity(name: &str) -> bool {
    has_word(
        "id pk uuid guid key slug email name username login token sku number",
        name,
    ) || name.ends_with("_id")
        || name.ends_with("Id")
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

/// Whether the tokens after a call write an empty text or close the file: `.write("")`.
fn is_emptied(rest: &[Token]) -> bool {
    match rest {
        [
            Token::Sign('.'),
            Token::Name(method),
            Token::Sign('('),
            Token::Text(text),
            ..,
        ] => method == "write" && text.value.is_empty() && !text.has_unknown,
        [Token::Sign('.'), Token::Name(method), ..] => method == "close",
        _ => false,
    }
}

/// Functions that decode or download a text.
const DECODERS: &str = "b64decode b32decode b16decode a85decode unhexlify fromhex decompress urlopen requests httpx atob fetch \
      decode64 strict_decode64 unpack unpack1 decode_base64 base64_decode gzinflate gzuncompress gzdecode str_rot13 LWP";

/// Whether a function runs code in a text.
fn evaluates(name: &str) -> bool {
    matches!(
        name,
        "eval" | "exec" | "Function" | "assert" | "instance_eval" | "class_eval" | "vm.runInThisContext"
    )
}

/// The call with the arguments between two tokens.
fn with_arguments(mut call: Call, code: &Code<'_>, start: usize, end: usize) -> Call {
    let (first, last) = (start, end);
    if evaluates(&call.name) {
        let mut names = code.tokens[start..end.max(start)].iter().filter_map(Token::name);
        call.is_opaque = names.any(|name| has_word(DECODERS, name));
    }
    call.writes_nothing = call.name == "open" && is_emptied(&code.tokens[code.tokens.len().min(end + 1)..]);
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
            call.has_empty_object |= code.skip_lines(start + 1, close) >= close;
            call.arguments.push(Value::Unknown);
        } else {
            call.arguments.push(budget.value(code, start, end));
        }
    }
    call.sent = sending::sent(code, &call, first, last);
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
