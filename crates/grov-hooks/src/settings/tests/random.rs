//! Random settings files with unusual layouts.

use super::super::change::edited;
use super::super::scan::{Document, Node, Value};
use proptest::prelude::*;

/// The text of a settings file.
#[derive(Clone, Debug)]
pub(super) struct Settings(pub(super) String);

/// White space and comments between two tokens.
const GAPS: [&str; 14] = [
    "",
    "",
    " ",
    " ",
    "\n",
    "\n  ",
    "\n  ",
    "\n\t",
    "\r\n    ",
    "\n\n",
    "  ",
    "/* note */",
    " // to the end\n",
    "/* a\nb */ ",
];
const NAMES: [&str; 8] = [
    "model",
    "permissions",
    "\\u0068ooks ",
    "env ",
    "ünï",
    "includeCoAuthoredBy",
    "a",
    "a",
];
const LITERALS: [&str; 9] = [
    "1",
    "-0.5e3",
    "true",
    "null",
    "\"\"",
    "\"x // no comment\"",
    "\"/* none */ , }\"",
    "\"\\\"{\\n\"",
    "\"grove\"",
];
const EVENTS: [&str; 4] = ["Stop", "SessionStart", "PreToolUse", "Stop"];
const VARIABLES: [&str; 4] = [
    "ANTHROPIC_BASE_URL",
    "HTTPS_PROXY",
    "A",
    "ANTHROPIC_CUSTOM_HEADERS",
];

pub(super) fn settings() -> impl Strategy<Value = Settings> {
    prop::collection::vec(any::<u8>(), 0..400).prop_map(|choices| {
        let mut writer = Writer {
            choices: choices.into_iter(),
            text: String::new(),
        };
        if writer.one_of(6) == 0 {
            writer.text.push('\u{feff}');
        }
        writer.gap();
        if writer.one_of(20) != 19 {
            writer.root();
            writer.gap();
        }
        Settings(writer.text)
    })
}

/// Where to add an item: in which container, and whether at the front.
pub(super) fn spots() -> impl Strategy<Value = Vec<(prop::sample::Index, bool)>> {
    prop::collection::vec(any::<(prop::sample::Index, bool)>(), 1..4)
}

/// Adds an item in each spot, except within hooks. Returns the text and the added items.
pub(super) fn with_additions(text: &str, spots: &[(prop::sample::Index, bool)]) -> (String, Vec<String>) {
    let mut text = text.to_owned();
    let mut added = Vec::new();
    for (number, (spot, in_front)) in spots.iter().enumerate() {
        let document = Document::scan(&text).unwrap();
        let mut containers = Vec::new();
        collect(document.root.as_ref().unwrap(), 0, &mut containers);
        let container = spot.get(&containers);
        let mark = format!("\"mine {number}\"");
        let is_object = matches!(container.value, Value::Object(_));
        let item = if is_object {
            format!("{mark}: 1")
        } else {
            mark.clone()
        };
        let items = container.items();
        let (at, new) = match items.last() {
            Some(last) if !in_front => match last.comma {
                Some(comma) => (comma + 1, format!(" {item},")),
                None => (last.end(), format!(",\n{item}")),
            },
            Some(_) => (container.span.start + 1, format!("\n{item},")),
            None => (container.span.start + 1, format!(" {item} ")),
        };
        text = edited(&text, vec![(at..at, new)]);
        added.push(mark);
    }
    (text, added)
}

/// The root, its members, and the lists of events.
fn collect<'n>(node: &'n Node, depth: usize, containers: &mut Vec<&'n Node>) {
    if matches!(node.value, Value::Object(_) | Value::Array(_)) {
        containers.push(node);
    }
    for item in node.items() {
        if depth == 0 && matches!(item.key.as_deref(), Some("hooks" | "env"))
            || depth == 1 && matches!(item.node.value, Value::Array(_))
        {
            collect(&item.node, depth + 1, containers);
        }
    }
}

/// Generates text from random bytes.
struct Writer {
    choices: std::vec::IntoIter<u8>,
    text: String,
}

impl Writer {
    /// A number below `count`; 0 after the last byte, so that generation terminates.
    fn one_of(&mut self, count: usize) -> usize {
        usize::from(self.choices.next().unwrap_or(0)) % count
    }

    fn gap(&mut self) {
        let gap = GAPS[self.one_of(GAPS.len())];
        self.text.push_str(gap);
    }

    fn root(&mut self) {
        self.container(('{', '}'), |writer| match writer.one_of(6) {
            0 | 1 => {
                writer.name("hooks");
                writer.events();
            }
            2 | 3 => {
                writer.name("env");
                writer.variables();
            }
            4 => {
                writer.any_name(&NAMES);
                writer.any_value(0);
            }
            _ => {
                writer.name("statusLine");
                writer.any_value(0);
            }
        });
    }

    fn events(&mut self) {
        self.container(('{', '}'), |writer| {
            writer.any_name(&EVENTS);
            writer.container(('[', ']'), |writer| {
                writer.container(('{', '}'), |writer| {
                    writer.name("hooks");
                    writer.container(('[', ']'), |writer| {
                        writer.container(('{', '}'), |writer| {
                            writer.name("command");
                            writer.text.push_str("\"mine\"");
                        });
                    });
                });
            });
        });
    }

    fn variables(&mut self) {
        self.container(('{', '}'), |writer| {
            writer.any_name(&VARIABLES);
            writer.text.push_str("\"https:\\/\\/x\"");
        });
    }

    fn any_value(&mut self, depth: usize) {
        match self.one_of(4) {
            0 if depth < 3 => self.container(('{', '}'), |writer| {
                writer.any_name(&NAMES);
                writer.any_value(depth + 1);
            }),
            1 if depth < 3 => self.container(('[', ']'), |writer| writer.any_value(depth + 1)),
            _ => {
                let literal = LITERALS[self.one_of(LITERALS.len())];
                self.text.push_str(literal);
            }
        }
    }

    fn any_name(&mut self, names: &[&str]) {
        let name = names[self.one_of(names.len())];
        self.name(name);
    }

    fn name(&mut self, name: &str) {
        self.text.push_str(&format!("\"{name}\""));
        self.gap();
        self.text.push(':');
        self.gap();
    }

    fn container(&mut self, (open, close): (char, char), mut item: impl FnMut(&mut Self)) {
        self.text.push(open);
        self.gap();
        let count = self.one_of(4);
        for number in 0..count {
            item(self);
            self.gap();
            if number + 1 < count || self.one_of(3) == 0 {
                self.text.push(',');
                self.gap();
            }
        }
        self.text.push(close);
    }
}
