//! Changes of a settings file: inserting and removing values.
//!
//! A change records structure, not offsets, because the user may edit the file before it is reverted. If the file was not
//! edited, reverting the changes in reverse order restores the original bytes.

use super::error::SyntaxError;
use super::layout::{Form, Layout, Shape, begins_line, indentation, is_spaced, opens_lines};
use super::scan::{Document, Item, Node, Value};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A change of a settings file, recorded so that it can be reverted.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// An empty object was appended to a file without settings.
    Root {
        /// The appended text.
        text: String,
    },
    /// A value was inserted into an object or array.
    Inserted {
        /// Path of member names of the container.
        into: Vec<String>,
        /// The member's name; `None` for an array element.
        key: Option<String>,
        /// White space inserted before the value.
        lead: String,
        /// White space inserted after the value.
        tail: String,
        /// The value as written.
        value: String,
    },
    /// A member's value was replaced.
    Replaced {
        /// Path of member names.
        at: Vec<String>,
        /// The earlier text.
        before: String,
        /// The new text.
        after: String,
    },
    /// A hook handler of an event was replaced.
    Handler {
        /// The event's name.
        event: String,
        /// The earlier text.
        before: String,
        /// The new text.
        after: String,
    },
}

/// A byte range and its replacement.
pub(super) type Edit = (Range<usize>, String);

/// Applies edits, which must not overlap.
pub(super) fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut result = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, new) in edits {
        result.push_str(text.get(at..range.start).unwrap_or_default());
        result.push_str(&new);
        at = range.end;
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}

/// Appends an empty object to a file without settings.
pub(super) fn insert_root(document: &Document<'_>) -> (String, Change) {
    let text = document.text;
    let line_break = Layout::of(document).line_break;
    let before = if document.ends_line_comment(text.len()) {
        line_break
    } else {
        ""
    };
    let object = format!("{before}{{}}{line_break}");
    (format!("{text}{object}"), Change::Root { text: object })
}

/// Inserts a value at the end of the container at path `into`.
pub(super) fn insert(
    document: &Document<'_>,
    into: &[&str],
    key: Option<&str>,
    shape: &Shape,
) -> Result<(String, Change), SyntaxError> {
    let text = document.text;
    let container = document
        .at(into)
        .ok_or_else(|| SyntaxError::at(text, text.len(), "the container is missing"))?;
    let layout = Layout::of(document);
    let place = Place::at_end(document, container, &layout);
    let value = layout.render(shape, &place.form);
    let item = layout.render_item(key, shape, &place.form);
    let mut edits = Vec::new();
    if let Some(comma) = place.comma_at {
        edits.push((comma..comma, ",".to_owned()));
    }
    let comma = if place.trailing_comma { "," } else { "" };
    let new = format!("{}{item}{comma}{}", place.lead, place.tail);
    // Edits at the same offset have no order, so merge them.
    match edits.last_mut() {
        Some((range, before)) if range.start == place.at => before.push_str(&new),
        _ => edits.push((place.at..place.at, new)),
    }
    let change = Change::Inserted {
        into: into.iter().map(|&name| name.to_owned()).collect(),
        key: key.map(str::to_owned),
        lead: place.lead,
        tail: place.tail,
        value,
    };
    Ok((edited(text, edits), change))
}

/// The position of a new item, and the text around it.
struct Place {
    at: usize,
    /// Where a comma must be added after the previous item.
    comma_at: Option<usize>,
    /// Whether the container has a trailing comma.
    trailing_comma: bool,
    lead: String,
    tail: String,
    form: Form,
}

impl Place {
    fn at_end(document: &Document<'_>, container: &Node, layout: &Layout) -> Self {
        match container.items().last() {
            Some(last) => Self::after(document, container, last, layout),
            None => Self::in_empty(document, container, layout),
        }
    }

    fn in_empty(document: &Document<'_>, container: &Node, layout: &Layout) -> Self {
        let text = document.text;
        let inside = container.span.start + 1..container.span.end - 1;
        let comment = document.comments_in(&inside).last();
        let at = comment.map_or(inside.start, |comment| comment.span.end);
        let outer = indentation(text, container.span.start);
        let (lead, tail, form) = if opens_lines(document, container) || document.ends_line_comment(at) {
            let tail = if text[at..inside.end].contains('\n') {
                String::new()
            } else {
                layout.line(outer)
            };
            let lead = layout.line_within(outer);
            let form = Form::Lines(lead[layout.line_break.len()..].to_owned());
            (lead, tail, form)
        } else {
            (String::new(), String::new(), Form::Line { spaced: true })
        };
        Self {
            at,
            comma_at: None,
            trailing_comma: false,
            lead,
            tail,
            form,
        }
    }

    fn after(document: &Document<'_>, container: &Node, last: &Item, layout: &Layout) -> Self {
        let text = document.text;
        let at = after_line_comments(document, last.comma.map_or(last.end(), |comma| comma + 1));
        let on_lines = if begins_line(text, last.start) {
            Some(indentation(text, last.start).to_owned())
        } else if document.ends_line_comment(at) {
            let line = layout.line_within(indentation(text, container.span.start));
            Some(line[layout.line_break.len()..].to_owned())
        } else {
            None
        };
        let (lead, form) = match on_lines {
            Some(indentation) => (layout.line(&indentation), Form::Lines(indentation)),
            None => {
                let spaced = is_spaced(text, container.items());
                let lead = if spaced { " " } else { "" };
                (lead.to_owned(), Form::Line { spaced })
            }
        };
        Self {
            at,
            comma_at: last.comma.is_none().then_some(last.end()),
            trailing_comma: last.comma.is_some(),
            lead,
            tail: String::new(),
            form,
        }
    }
}

/// The end of the comments that follow `offset` on its line: they belong to the previous item.
fn after_line_comments(document: &Document<'_>, offset: usize) -> usize {
    let text = document.text;
    let mut end = offset;
    loop {
        let rest = &text[end..];
        let next = text.len() - rest.trim_start_matches([' ', '\t']).len();
        match document.comment_at(next) {
            Some(comment) if !text[comment.span.clone()].contains('\n') => end = comment.span.end,
            _ => return end,
        }
    }
}

/// The edits that remove an item from its container, with its comma.
pub(super) fn removal(
    document: &Document<'_>,
    items: &[Item],
    number: usize,
    lead: &str,
    tail: &str,
) -> Vec<Edit> {
    let Some(item) = items.get(number) else {
        return Vec::new();
    };
    let text = document.text;
    let before = &text[..item.start];
    let start = match before.strip_suffix(lead) {
        Some(before) => before.len(),
        None => before.trim_end_matches([' ', '\t', '\r', '\n']).len(),
    };
    let mut edits = Vec::new();
    let mut end = item.end();
    match (
        item.comma,
        number.checked_sub(1).and_then(|before| items.get(before)),
    ) {
        (Some(comma), _) if document.comments_in(&(end..comma)).is_empty() => end = comma + 1,
        (Some(comma), _) => edits.push((comma..comma + 1, String::new())),
        (None, Some(before)) => {
            if let Some(comma) = before.comma {
                edits.push((comma..comma + 1, String::new()));
            }
        }
        (None, None) if text[end..].starts_with(tail) => end += tail.len(),
        (None, None) => {}
    }
    // The text that follows must not become part of a line comment.
    let kept = if document.ends_line_comment(start) && !text[end..].starts_with(['\n', '\r']) {
        "\n"
    } else {
        ""
    };
    edits.push((start..end, kept.to_owned()));
    edits
}

/// Whether the item is a container without items and comments.
pub(super) fn is_bare(document: &Document<'_>, item: &Item) -> bool {
    let is_container = matches!(item.node.value, Value::Object(_) | Value::Array(_));
    is_container && item.node.items().is_empty() && document.comments_in(&(item.start..item.end())).is_empty()
}
