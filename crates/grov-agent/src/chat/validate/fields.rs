//! The members of a model's answer, and what does not hold in them.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The most characters of a text for a person.
pub(super) const MAX_TEXT_CHARS: usize = 32_000;

/// The most characters of an option.
const MAX_OPTION_CHARS: usize = 500;

/// Reads members and collects problems. A member that is `null` counts as absent.
pub(super) struct Fields<'a> {
    members: &'a Map<String, Value>,
    /// What does not hold.
    pub(super) problems: Vec<String>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(members: &'a Map<String, Value>) -> Self {
        Self {
            members,
            problems: Vec::new(),
        }
    }

    pub(super) fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// Returns a text, empty if it is absent.
    pub(super) fn text(&mut self, name: &str, most: usize) -> String {
        match self.get(name) {
            None => String::new(),
            Some(Value::String(text)) if text.chars().count() <= most => text.trim().to_owned(),
            Some(Value::String(_)) => {
                self.problem(format!("{name} has more than {most} characters; shorten it"));
                String::new()
            }
            Some(other) => {
                self.problem(format!("{name} is {}; it is a string", kind(other)));
                String::new()
            }
        }
    }

    /// Returns a text that the decision needs.
    pub(super) fn required_text(&mut self, name: &str, decision: &str) -> String {
        let before = self.problems.len();
        let text = self.text(name, MAX_TEXT_CHARS);
        if text.is_empty() && self.problems.len() == before {
            self.problem(format!("{decision} needs {name}, a string that is not empty"));
        }
        text
    }

    /// Returns a list, empty if it is absent.
    pub(super) fn list(&mut self, name: &str) -> &'a [Value] {
        match self.get(name) {
            None => &[],
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.problem(format!("{name} is {}; it is a list", kind(other)));
                &[]
            }
        }
    }

    /// Returns a list of texts.
    pub(super) fn texts(&mut self, name: &str, most: usize) -> Vec<String> {
        let list = self.list(name);
        let texts: Option<Vec<String>> = list
            .iter()
            .map(|value| value.as_str().map(|text| text.trim().to_owned()))
            .collect();
        match texts {
            Some(texts) if texts.len() > most => {
                self.problem(format!(
                    "{name} has {} entries; at most {most} are allowed",
                    texts.len()
                ));
                Vec::new()
            }
            Some(texts) if texts.iter().any(|text| text.chars().count() > MAX_OPTION_CHARS) => {
                self.problem(format!(
                    "an entry of {name} has more than {MAX_OPTION_CHARS} characters"
                ));
                Vec::new()
            }
            Some(texts) => texts.into_iter().filter(|text| !text.is_empty()).collect(),
            None => {
                self.problem(format!("{name} is a list of strings"));
                Vec::new()
            }
        }
    }

    /// Requires that a decision that calls nothing names no calls.
    pub(super) fn must_be_without_calls(&mut self, decision: &str) {
        if !self.list("tool_calls").is_empty() {
            self.problem(format!(
                "{decision} has no tool_calls; give \"ACT\" to request calls, or leave them out"
            ));
        }
    }
}

/// Names the type of a JSON value.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Lists names for a message, at most 30.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut text = String::new();
    let mut rest = 0;
    for (place, name) in names.enumerate() {
        if place >= 30 {
            rest += 1;
        } else {
            text.push_str(if place == 0 { "" } else { ", " });
            text.push_str(name);
        }
    }
    if rest > 0 {
        // Writing to a string does not fail.
        let _ = write!(text, " and {rest} more");
    }
    text
}
