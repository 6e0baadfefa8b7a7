//! Evaluates expressions that yield paths: the home folder, joined paths.

use super::token::{Text, Token, UNKNOWN};
use super::values::{Code, Value};

impl Code<'_> {
    /// The index after the home folder of the user, if it begins at `at`: `os.environ["HOME"]`, `process.env.HOME`,
    /// `Path.home()`. `last` is the last of the names.
    pub(super) fn home(&self, at: usize, last: usize, end: usize) -> Option<usize> {
        let name = self.tokens[last].name()?;
        let before = last.checked_sub(2).filter(|before| *before >= at);
        let before = before
            .and_then(|before| self.tokens[before].name())
            .unwrap_or_default();
        let rest = &self.tokens[(last + 1).min(end)..end];
        let is_home = |text: &Text| matches!(text.value.as_str(), "HOME" | "USERPROFILE");
        match (before, name, rest) {
            (
                _,
                "ENV" | "environ" | "env" | "_ENV",
                [Token::Sign('['), Token::Text(text), Token::Sign(']'), ..],
            ) if is_home(text) => Some(last + 4),
            (_, "ENV", [Token::Sign('{'), Token::Name(name), Token::Sign('}'), ..]) if name == "HOME" => {
                Some(last + 4)
            }
            ("env", "HOME", _) => Some(last + 1),
            (_, "home" | "homedir", [Token::Sign('('), Token::Sign(')'), ..]) => Some(last + 3),
            ("Dir", "home", _) => Some(last + 1),
            (_, "getenv" | "get" | "fetch" | "Get", [Token::Sign('('), Token::Text(text), ..])
                if is_home(text) =>
            {
                self.partner(last + 1).map(|close| close + 1)
            }
            _ => None,
        }
    }

    /// A path below another: `root.rglob("*.txt")`. `open` is the index of the parenthesis of the call.
    pub(super) fn below(&self, value: Value, method: &str, open: usize, end: usize) -> Value {
        let argument = match self.tokens[..end].get(open + 1) {
            Some(Token::Text(text)) if !text.has_unknown => text.value.as_str(),
            _ => return Value::Unknown,
        };
        let between = if method == "rglob" { "/**/" } else { "/" };
        with_suffix(value, &format!("{between}{argument}"))
    }
}

/// A text with a suffix.
pub(super) fn with_suffix(value: Value, suffix: &str) -> Value {
    match value {
        Value::Text(mut text) => {
            text.value.push_str(suffix);
            Value::Text(text)
        }
        Value::List(_) | Value::Unknown => Value::Unknown,
    }
}

/// Joins the parts of a path.
pub(super) fn join_paths(parts: Vec<Value>) -> Value {
    let mut path = Text::default();
    for part in parts {
        if !path.value.is_empty() && !path.value.ends_with('/') {
            path.value.push('/');
        }
        match part {
            Value::Text(text) if !text.has_unknown && text.value.starts_with('/') => path = text,
            Value::Text(text) => {
                path.value.push_str(&text.value);
                path.has_unknown |= text.has_unknown;
            }
            Value::List(_) | Value::Unknown => {
                path.value.push_str(UNKNOWN);
                path.has_unknown = true;
            }
        }
    }
    Value::Text(path)
}
