//! One change of a settings file, and how it is taken back.
//!
//! A change is taken back where it is found, not where it was made: the user may have edited the file meanwhile. If
//! nobody has, taking back the changes in reverse order gives the bytes that were there before.

use super::error::SyntaxError;
use super::layout::{Form, Layout, Shape, begins_line, indentation, is_spaced, opens_lines};
use super::scan::{Document, Item, Node, Value};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One change of a settings file, as it is kept to be taken back.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// A file with no settings got an empty object.
    Root {
        /// What was put at its end.
        text: String,
    },
    /// Something was put into a container.
    Inserted {
        /// The names that lead to the container.
        into: Vec<String>,
        /// The member's name; none for an element of a list.
        key: Option<String>,
        /// The white space that was put before it.
        lead: String,
        /// The white space that was put behind it.
        tail: String,
        /// The value, as it was written.
        value: String,
    },
    /// A member got another value.
    Replaced {
        /// The names that lead to it.
        at: Vec<String>,
        /// As it was written before.
        before: String,
        /// As it was written then.
        after: String,
    },
    /// A handler in the list of an event was written anew.
    Handler {
        /// The event.
        event: String,
        /// As it was written before.
        before: String,
        /// As it was written then.
        after: String,
    },
}

/// Bytes of a text and what takes their place.
pub(super) type Edit = (Range<usize>, String);

/// The text with all edits made, which must not overlap.
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

/// Puts an empty object into a file that has no settings.
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

/// Puts something behind everything else in the container that `into` leads to.
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
    // One edit where both are at one place: edits at the same offset have no order.
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

/// Where a new item goes, and what goes around it.
struct Place {
    at: usize,
    /// Where the item before it needs a comma.
    comma_at: Option<usize>,
    /// Whether the items of this container have a comma behind the last one.
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

/// Behind the comments that follow `offset` on its line: they belong to what stands before them.
fn after_line_comments(document: &Document<'_>, offset: usize) -> usize {
    let text = document.text;
    let mut behind = offset;
    loop {
        let rest = &text[behind..];
        let next = text.len() - rest.trim_start_matches([' ', '\t']).len();
        match document.comment_at(next) {
            Some(comment) if !text[comment.span.clone()].contains('\n') => behind = comment.span.end,
            _ => return behind,
        }
    }
}

/// The edits that take an item out of its container, with the comma that it needed.
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
    // What comes next must not fall into a comment that lasts to the end of its line.
    let kept = if document.ends_line_comment(start) && !text[end..].starts_with(['\n', '\r']) {
        "\n"
    } else {
        ""
    };
    edits.push((start..end, kept.to_owned()));
    edits
}

/// Whether a container has nothing in it, comments included.
pub(super) fn is_bare(document: &Document<'_>, item: &Item) -> bool {
    let is_container = matches!(item.node.value, Value::Object(_) | Value::Array(_));
    is_container && item.node.items().is_empty() && document.comments_in(&(item.start..item.end())).is_empty()
}
