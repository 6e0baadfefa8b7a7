//! Reverts the changes of a settings file.

use super::change::{Change, Edit, edited, is_bare, removal};
use super::error::SyntaxError;
use super::hook::{is_grovs, is_grovs_status_line};
use super::register::handlers;
use super::scan::{Document, Item, Node};

/// The result of [`unregister`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnregisteredText {
    /// The whole text of the file.
    pub text: String,
    /// Notes about values that were kept because they are no longer as Grov wrote them.
    pub left: Vec<String>,
}

/// Reverts `changes`, the newest first. Each is searched where it is now; values that the user changed or added since are
/// kept. If the file was not edited since, the result is byte for byte the original text.
///
/// If `changes` is empty, only the hooks and the status line that call Grov are removed.
///
/// # Errors
/// The text is not valid JSON.
pub fn unregister(text: &str, changes: &[Change]) -> Result<UnregisteredText, SyntaxError> {
    Document::scan(text)?;
    let mut result = UnregisteredText {
        text: text.to_owned(),
        left: Vec::new(),
    };
    if changes.is_empty() {
        result.text = without_hooks_of_grov(text)?;
    }
    for change in changes.iter().rev() {
        let document = Document::scan(&result.text)?;
        let (edits, left) = revert(&document, change);
        let text = edited(&result.text, edits);
        // Skip a removal that would leave invalid JSON.
        if Document::scan(&text).is_ok() {
            result.text = text;
        }
        result.left.extend(left);
    }
    Ok(result)
}

fn revert(document: &Document<'_>, change: &Change) -> (Vec<Edit>, Option<String>) {
    match change {
        Change::Root { text } => (revert_root(document, text), None),
        Change::Replaced { at, before, after } => {
            let Some(node) = document.at(at) else {
                return (Vec::new(), None);
            };
            if node.is_same_as(after) {
                return (vec![(node.span.clone(), before.clone())], None);
            }
            let left = (!node.is_same_as(before)).then(|| is_kept(at));
            (Vec::new(), left)
        }
        Change::Handler { event, before, after } => {
            let event = document.at(&["hooks", event.as_str()]);
            let found = event
                .into_iter()
                .flat_map(handlers)
                .find(|handler| handler.is_same_as(after));
            let edit = found.map(|handler| (handler.span.clone(), before.clone()));
            (edit.into_iter().collect(), None)
        }
        Change::Inserted {
            into,
            key,
            lead,
            tail,
            value,
        } => {
            let Some(container) = document.at(into) else {
                return (Vec::new(), None);
            };
            match key {
                Some(key) => revert_member(document, container, (into, key), (lead, tail), value),
                None => (revert_element(document, container, (lead, tail), value), None),
            }
        }
    }
}

/// Notes that a value is kept.
fn is_kept(path: &[String]) -> String {
    format!("`{}` was changed since and stays as it is", path.join("."))
}

fn revert_root(document: &Document<'_>, text: &str) -> Vec<Edit> {
    let Some(root) = &document.root else {
        return Vec::new();
    };
    if !root.items().is_empty() || !document.comments_in(&root.span).is_empty() {
        return Vec::new();
    }
    let whole = document.text;
    let range = match whole.strip_suffix(text) {
        Some(before) => before.len()..whole.len(),
        None => root.span.clone(),
    };
    vec![(range, String::new())]
}

fn revert_member(
    document: &Document<'_>,
    container: &Node,
    (into, key): (&[String], &str),
    (lead, tail): (&str, &str),
    value: &str,
) -> (Vec<Edit>, Option<String>) {
    let items = container.items();
    let Some((number, item)) = container
        .member_at(key)
        .and_then(|number| Some((number, items.get(number)?)))
    else {
        return (Vec::new(), None);
    };
    let was_container = matches!(value, "{}" | "[]");
    let is_own = if was_container {
        is_bare(document, item)
    } else {
        item.node.is_same_as(value)
    };
    if is_own {
        return (removal(document, items, number, lead, tail), None);
    }
    // A container that the user has filled since is not reported.
    let left = (!was_container).then(|| is_kept(&[into, &[key.to_owned()]].concat()));
    (Vec::new(), left)
}

fn revert_element(
    document: &Document<'_>,
    event: &Node,
    (lead, tail): (&str, &str),
    value: &str,
) -> Vec<Edit> {
    let items = event.items();
    let exact = items.iter().position(|item| item.node.is_same_as(value));
    if let Some(number) = exact.or_else(|| items.iter().position(is_group_of_grov)) {
        return removal(document, items, number, lead, tail);
    }
    // The user added other hooks to the same group.
    items
        .iter()
        .find_map(|group| remove_handler(document, group))
        .unwrap_or_default()
}

/// Whether all handlers of a group call Grov.
fn is_group_of_grov(group: &Item) -> bool {
    let handlers = group.node.member("hooks").map(Node::items).unwrap_or_default();
    !handlers.is_empty() && handlers.iter().all(|handler| is_grovs(&handler.node))
}

/// The edits that remove the first handler of a group that calls Grov.
fn remove_handler(document: &Document<'_>, group: &Item) -> Option<Vec<Edit>> {
    let handlers = group.node.member("hooks")?.items();
    let number = handlers.iter().position(|handler| is_grovs(&handler.node))?;
    // The inserted white space is not recorded, so all white space before the handler is removed.
    Some(removal(document, handlers, number, UNKNOWN_LEAD, ""))
}

/// A lead that matches nowhere, because JSON contains no NUL outside of strings. [`removal`] then removes all white space.
const UNKNOWN_LEAD: &str = "\u{0}";

/// Removes all hooks and the status line that call Grov. Lists that become empty are kept.
fn without_hooks_of_grov(text: &str) -> Result<String, SyntaxError> {
    let mut text = text.to_owned();
    loop {
        let document = Document::scan(&text)?;
        let hooks = document.at(&["hooks"]).map(Node::items).unwrap_or_default();
        let edits = hooks.iter().find_map(|event| {
            let groups = event.node.items();
            match groups.iter().position(is_group_of_grov) {
                Some(number) => Some(removal(&document, groups, number, UNKNOWN_LEAD, "")),
                None => groups.iter().find_map(|group| remove_handler(&document, group)),
            }
        });
        match edits {
            Some(edits) => text = edited(&text, edits),
            None => return Ok(without_status_line(&document).unwrap_or_else(|| text.clone())),
        }
    }
}

/// The text without the status line if it calls Grov; `None` otherwise.
fn without_status_line(document: &Document<'_>) -> Option<String> {
    let root = document.root.as_ref()?;
    let number = root.member_at("statusLine")?;
    let is_own = root.member("statusLine").is_some_and(is_grovs_status_line);
    let edits = is_own.then(|| removal(document, root.items(), number, UNKNOWN_LEAD, ""))?;
    Some(edited(document.text, edits))
}
