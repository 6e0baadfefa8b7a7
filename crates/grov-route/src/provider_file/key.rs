//! API keys and the variables they refer to.

use super::node::Node;
use super::reader::{Reader, line_of};
use grov_redact::Secret;

/// A key of a provider.
pub(super) enum Key {
    Set(Secret),
    /// It needs this variable, which is not set.
    Unset(String),
}

impl Reader<'_> {
    /// A key, with each `${VAR}` replaced. `None` for an empty key and for one with a problem.
    pub(super) fn key(&mut self, node: &Node, what: &str) -> Option<Key> {
        let written = match &node.value {
            super::node::NodeValue::Text(text) if text.trim().is_empty() => return None,
            _ => self.text(node, what)?,
        };
        let line = line_of(node);
        let key = match self.expand(&written, line, what)? {
            Key::Set(key) => key,
            unset @ Key::Unset(_) => return Some(unset),
        };
        let key = key.expose();
        if key == written {
            self.literal_key.get_or_insert(line);
        }
        if let Some(name) = written.strip_prefix('$').filter(|name| !name.starts_with('{')) {
            let message = format!("`{what}` is sent as it is written, with the `$`");
            self.warning(line, message, format!("write ${{{name}}} for the variable"));
        }
        let key = key.trim();
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            let message = format!("`{what}` has characters that cannot be sent in a header");
            self.problem(line, message, "a key is one word without spaces and line breaks");
            return None;
        }
        (!key.is_empty()).then(|| Key::Set(Secret::new(key)))
    }

    /// Replaces each `${VAR}`. A `$` without braces stays as it is.
    fn expand(&mut self, written: &str, line: u64, what: &str) -> Option<Key> {
        let mut expanded = String::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once("${") {
            expanded.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                self.problem(
                    line,
                    format!("`{what}` has a `${{` without a `}}`"),
                    "write ${NAME}",
                );
                return None;
            };
            match (self.environment)(name.trim()).filter(|value| !value.trim().is_empty()) {
                Some(value) => expanded.push_str(value.trim()),
                None => {
                    let message = format!("the environment variable {} of `{what}` is not set", name.trim());
                    let hint = format!("export {}, or add it to .env in GROV_HOME", name.trim());
                    self.warning(line, message, hint);
                    return Some(Key::Unset(name.trim().to_owned()));
                }
            }
            rest = after;
        }
        expanded.push_str(rest);
        Some(Key::Set(Secret::new(expanded)))
    }
}
