//! Detects the layout of a settings file, and renders new values in it.

use super::scan::{Document, Item, Node};

/// A value to render.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text(String),
    Number(u64),
    Object(Vec<(&'static str, Shape)>),
    List(Vec<Shape>),
}

/// Line breaks and indentation of a file.
pub(super) struct Layout {
    pub(super) line_break: &'static str,
    /// The indentation of one level.
    unit: String,
}

/// How a value is rendered.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// Each item on its own line, one level deeper than this indentation.
    Lines(String),
    /// On one line.
    Line {
        /// Whether spaces follow commas and colons.
        spaced: bool,
    },
}

impl Layout {
    pub(super) fn of(document: &Document<'_>) -> Self {
        let text = document.text;
        let line_break = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let first = document.root.as_ref().and_then(|root| root.items().first());
        let unit = first
            .filter(|item| begins_line(text, item.start))
            .map_or("  ", |item| indentation(text, item.start))
            .to_owned();
        Self { line_break, unit }
    }

    /// A line break and the indentation of items in a container that is indented by `outer`.
    pub(super) fn line_within(&self, outer: &str) -> String {
        format!("{}{outer}{}", self.line_break, self.unit)
    }

    pub(super) fn line(&self, indentation: &str) -> String {
        format!("{}{indentation}", self.line_break)
    }

    /// Renders a value.
    pub(super) fn render(&self, shape: &Shape, form: &Form) -> String {
        let mut text = String::new();
        self.write(shape, form, &mut text);
        text
    }

    /// Renders a member of an object, or only the value if `key` is `None`.
    pub(super) fn render_item(&self, key: Option<&str>, shape: &Shape, form: &Form) -> String {
        let mut text = String::new();
        if let Some(key) = key {
            write_string(key, &mut text);
            text.push_str(form.colon());
        }
        self.write(shape, form, &mut text);
        text
    }

    fn write(&self, shape: &Shape, form: &Form, text: &mut String) {
        match shape {
            Shape::Text(value) => write_string(value, text),
            Shape::Number(number) => text.push_str(&number.to_string()),
            Shape::Object(members) => {
                let members = members.iter().map(|(key, value)| (Some(*key), value));
                self.write_items(('{', '}'), members, form, text);
            }
            Shape::List(elements) => {
                self.write_items(('[', ']'), elements.iter().map(|value| (None, value)), form, text);
            }
        }
    }

    fn write_items<'s>(
        &self,
        (open, close): (char, char),
        items: impl ExactSizeIterator<Item = (Option<&'s str>, &'s Shape)>,
        form: &Form,
        text: &mut String,
    ) {
        let empty = items.len() == 0;
        let (inner, before, comma, after) = match form {
            Form::Lines(outer) if !empty => (
                Form::Lines(format!("{outer}{}", self.unit)),
                self.line_within(outer),
                ",",
                self.line(outer),
            ),
            Form::Lines(_) => (form.clone(), String::new(), "", String::new()),
            Form::Line { spaced } => (
                form.clone(),
                String::new(),
                if *spaced { ", " } else { "," },
                String::new(),
            ),
        };
        text.push(open);
        for (number, (key, value)) in items.enumerate() {
            if number > 0 {
                text.push_str(comma);
            }
            text.push_str(&before);
            text.push_str(&self.render_item(key, value, &inner));
        }
        text.push_str(&after);
        text.push(close);
    }
}

impl Form {
    fn colon(&self) -> &'static str {
        match self {
            Self::Lines(_) | Self::Line { spaced: true } => ": ",
            Self::Line { spaced: false } => ":",
        }
    }
}

/// The indentation of the line that contains `offset`.
pub(super) fn indentation(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only white space precedes `offset` on its line, and the line is not the first.
pub(super) fn begins_line(text: &str, offset: usize) -> bool {
    text[..offset].trim_end_matches([' ', '\t']).ends_with('\n')
}

/// Whether spaces follow the commas or colons in a container on one line.
pub(super) fn is_spaced(text: &str, items: &[Item]) -> bool {
    match items {
        [.., before, last] => text[before.end()..last.start].ends_with([' ', '\t']),
        [only] if only.key.is_some() => {
            let before = &text[only.start..only.node.span.start];
            before.ends_with([' ', '\t'])
        }
        _ => true,
    }
}

/// Whether items that are added to an empty container get their own lines.
pub(super) fn opens_lines(document: &Document<'_>, container: &Node) -> bool {
    let root = document.root.as_ref();
    root.is_none_or(|root| root.span == container.span || document.text[root.span.clone()].contains('\n'))
}

fn write_string(value: &str, text: &mut String) {
    // Serializing a string cannot fail.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape::Object(vec![
            ("a", Shape::Text("x\"\\\n\u{1}é".to_owned())),
            (
                "b",
                Shape::List(vec![Shape::Number(3), Shape::Object(Vec::new())]),
            ),
        ])
    }

    #[test]
    fn values_follow_the_files_layout() {
        let document = Document::scan("{\r\n\t\"x\": 1\r\n}").unwrap();
        let layout = Layout::of(&document);
        assert_eq!(
            layout.render(&shape(), &Form::Lines("\t".to_owned())),
            "{\r\n\t\t\"a\": \"x\\\"\\\\\\n\\u0001é\",\r\n\t\t\"b\": [\r\n\t\t\t3,\r\n\t\t\t{}\r\n\t\t]\r\n\t}"
        );
        assert_eq!(
            layout.render(&shape(), &Form::Line { spaced: false }),
            "{\"a\":\"x\\\"\\\\\\n\\u0001é\",\"b\":[3,{}]}"
        );
        assert_eq!(
            layout.render_item(Some("k"), &shape(), &Form::Line { spaced: true }),
            "\"k\": {\"a\": \"x\\\"\\\\\\n\\u0001é\", \"b\": [3, {}]}"
        );
    }

    #[test]
    fn rendered_values_can_be_parsed() {
        let layout = Layout::of(&Document::scan("{}").unwrap());
        let text = layout.render(&shape(), &Form::Lines(String::new()));
        let document = Document::scan(&text).unwrap();
        let value = document.root.as_ref().and_then(|root| root.member("a"));
        assert_eq!(value.and_then(Node::text), Some("x\"\\\n\u{1}é"));
    }
}
