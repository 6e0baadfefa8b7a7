//! Reads typed values from the tree and collects problems, so that one run reports all of them.

use super::node::{Node, NodeValue};
use super::problem::{Problem, did_you_mean};
use serde_saphyr::Spanned;
use std::time::Duration;

/// The largest accepted number of seconds: a day.
const MAX_SECONDS: f64 = 86_400.0;

/// Collects the problems of a file.
pub(super) struct Reader<'a> {
    /// The value of an environment variable.
    pub(super) environment: &'a dyn Fn(&str) -> Option<String>,
    /// Whether an unknown key is only a warning.
    pub(super) allows_unknown_keys: bool,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// The line of the first key that is written in the file itself.
    pub(super) literal_key: Option<u64>,
}

/// The fields of a mapping whose names are known.
pub(super) struct Mapping<'n> {
    pub(super) line: u64,
    fields: &'n [(Spanned<String>, Node)],
}

impl<'n> Mapping<'n> {
    /// The value of a field; `None` if it is missing or empty.
    pub(super) fn get(&self, name: &str) -> Option<&'n Node> {
        let (_, node) = self.fields.iter().find(|(key, _)| key.value == name)?;
        (node.value != NodeValue::Null).then_some(node)
    }

    /// All fields.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'n (Spanned<String>, Node)> {
        self.fields.iter()
    }
}

/// The line of a value.
pub(super) fn line_of<T>(node: &Spanned<T>) -> u64 {
    node.referenced.line().max(1)
}

impl Reader<'_> {
    pub(super) fn problem(&mut self, line: u64, message: impl Into<String>, hint: impl Into<String>) {
        let hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        self.problems.push(Problem {
            line,
            message: message.into(),
            hint,
        });
    }

    pub(super) fn warning(&mut self, line: u64, message: impl Into<String>, hint: impl Into<String>) {
        self.warnings.push(Problem {
            line,
            message: message.into(),
            hint: Some(hint.into()),
        });
    }

    fn expected(&mut self, node: &Node, what: &str, expected: &str) {
        let found = node.value.kind();
        self.problem(
            line_of(node),
            format!("`{what}` is {found}, expected {expected}"),
            "",
        );
    }

    /// A mapping of free names.
    pub(super) fn mapping<'n>(&mut self, node: &'n Node, what: &str) -> Option<Mapping<'n>> {
        match &node.value {
            NodeValue::Mapping(fields) => Some(Mapping {
                line: line_of(node),
                fields,
            }),
            _ => {
                self.expected(node, what, "a mapping (`name: value` lines)");
                None
            }
        }
    }

    /// A mapping that may have only the `known` names.
    pub(super) fn section<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Option<Mapping<'n>> {
        let mapping = self.mapping(node, what)?;
        for (key, _) in mapping.iter() {
            if !known.contains(&key.value.as_str()) {
                let message = format!("unknown key `{}` in `{what}`", key.value);
                let hint = did_you_mean(&key.value, known);
                if self.allows_unknown_keys {
                    self.warning(line_of(key), message, hint);
                } else {
                    self.problem(line_of(key), message, hint);
                }
            }
        }
        Some(mapping)
    }

    /// A list.
    pub(super) fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.value {
            NodeValue::List(items) => items,
            _ => {
                self.expected(node, what, "a list ([a, b], or lines that begin with `- `)");
                &[]
            }
        }
    }

    /// A text that is not empty. A whole number counts as its digits.
    pub(super) fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        match &node.value {
            NodeValue::Text(text) if text.trim().is_empty() => {
                self.problem(line_of(node), format!("`{what}` is empty"), "");
                None
            }
            NodeValue::Text(text) => Some(text.trim().to_owned()),
            NodeValue::Unsigned(number) => Some(number.to_string()),
            NodeValue::Float(_) | NodeValue::Boolean(_) => {
                let message = format!("`{what}` is {}, expected a text", node.value.kind());
                self.problem(line_of(node), message, "write it in quotes");
                None
            }
            _ => {
                self.expected(node, what, "a text");
                None
            }
        }
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, node: &Node, what: &str) -> Vec<String> {
        let items = self.list(node, what);
        items.iter().filter_map(|item| self.text(item, what)).collect()
    }

    /// A whole number above zero.
    pub(super) fn positive(&mut self, node: &Node, what: &str) -> Option<u64> {
        match node.value {
            NodeValue::Unsigned(number) if number > 0 => Some(number),
            NodeValue::Unsigned(_) | NodeValue::Integer(_) | NodeValue::Float(_) => {
                let message = format!("`{what}` must be a whole number above 0");
                self.problem(line_of(node), message, "leave the line out for no limit");
                None
            }
            _ => {
                self.expected(node, what, "a whole number above 0");
                None
            }
        }
    }

    /// A whole number. Zero counts as missing.
    pub(super) fn limit(&mut self, node: &Node, what: &str) -> Option<u64> {
        if node.value == NodeValue::Unsigned(0) {
            let message = format!("`{what}: 0` sets no limit");
            self.warning(line_of(node), message, "leave the line out");
            return None;
        }
        self.positive(node, what)
    }

    /// A number that is not negative.
    fn number(&mut self, node: &Node, what: &str) -> Option<f64> {
        let number = match node.value {
            NodeValue::Unsigned(number) => number as f64,
            NodeValue::Integer(number) => number as f64,
            NodeValue::Float(number) => number,
            _ => {
                self.expected(node, what, "a number");
                return None;
            }
        };
        if number.is_finite() && number >= 0.0 {
            return Some(number);
        }
        self.problem(line_of(node), format!("`{what}` must not be negative"), "");
        None
    }

    /// A price in USD per million tokens, zero included.
    pub(super) fn price(&mut self, node: &Node, what: &str) -> Option<f64> {
        self.number(node, what)
    }

    /// A duration in seconds, above zero and at most a day.
    pub(super) fn seconds(&mut self, node: &Node, what: &str) -> Option<Duration> {
        let seconds = self.number(node, what)?;
        if seconds > 0.0 && seconds <= MAX_SECONDS {
            return Some(Duration::from_secs_f64(seconds));
        }
        let message = format!("`{what}` must be above 0 and at most {MAX_SECONDS} seconds");
        self.problem(line_of(node), message, "leave the line out for the default");
        None
    }
}
