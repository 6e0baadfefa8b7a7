//! Visits the texts of a JSON value.

use grov_redact::FreeText;
use serde_json::{Map, Value};

/// A JSON value of which every string is free text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonText(pub(crate) Value);

impl FreeText for JsonText {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        let Self(value) = self;
        each_text_of_value(value, visit);
    }
}

/// Calls `visit` with every string of a value, keys included.
pub(crate) fn each_text_of_value(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text_of_value(item, visit)),
        Value::Object(members) => {
            let visited: Map<String, Value> = std::mem::take(members)
                .into_iter()
                .map(|(mut name, mut value)| {
                    visit(&mut name);
                    // A secret is often recognised by the name before it: both are visited together.
                    match &mut value {
                        Value::String(text) => visit_named(&name, text, visit),
                        other => each_text_of_value(other, visit),
                    }
                    (name, value)
                })
                .collect();
            *members = visited;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Visits a text together with its name, as in `password = hunter2`, and takes the result if the name survived.
fn visit_named(name: &str, text: &mut String, visit: &mut dyn FnMut(&mut String)) {
    let before = format!("{name} = ");
    let mut together = format!("{before}{text}");
    visit(&mut together);
    match together.strip_prefix(&before) {
        Some(visited) => *text = visited.to_owned(),
        None => visit(text),
    }
    visit(text);
}
