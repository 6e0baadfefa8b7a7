//! The declaration of a tool.

use crate::schema::shape;
use crate::user_tool::UserAction;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// A text that is built in or comes from the user.
pub(crate) type Text = Cow<'static, str>;

/// A tool, declared once. Command line, help, snippet, catalogue and definitions come from here.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The group: the first word of the command.
    pub group: Text,
    /// The name: the second word of the command.
    pub name: Text,
    /// What it does, in one sentence without a full stop.
    pub description: Text,
    /// When to use it, and when not.
    pub when_to_use: Text,
    /// Its own arguments, in order; those of every tool are in [`COMMON_ARGUMENTS`](crate::COMMON_ARGUMENTS).
    pub arguments: Vec<Argument>,
    /// The JSON Schema of `data` in its answer.
    pub output: Value,
    /// The key that it needs; `None` if it needs none.
    pub key: Option<Key>,
    /// What a call costs.
    pub price: Price,
    /// What a call can do.
    pub risk: Risk,
    /// What runs.
    pub action: Action,
}

/// A key of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The environment variable.
    pub variable: Text,
    /// The page where a key is made, or whose tool needs it.
    pub source: Text,
}

/// What a call costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The most that a usual call costs, in US dollars.
    pub usual_usd: f64,
    /// How it is calculated.
    pub basis: Text,
}

/// What a call can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// It sends the query to a provider, and returns text from the internet.
    Web,
    /// It sends files, diffs or plans to a provider.
    SendsFiles,
    /// It runs a program on this machine.
    RunsProgram,
}

/// What runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A tool of this crate.
    BuiltIn(BuiltIn),
    /// A tool of the user.
    User(UserAction),
}

/// The built-in tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BuiltIn {
    PerplexityAsk,
    PerplexityResearch,
    PerplexityReason,
    PerplexitySearch,
    TavilySearch,
    TavilyExtract,
    VertexAsk,
    VertexValidate,
    VertexReview,
    VertexArchitect,
}

/// An argument of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name in the command line; in JSON with `_` for `-`.
    pub name: Text,
    /// What it accepts.
    pub kind: Kind,
    /// Whether it has no `--name`.
    pub is_positional: bool,
    /// Whether it must be given. `--stdin` may replace a required query.
    pub is_required: bool,
    /// Its meaning, in one line.
    pub help: Text,
    /// The JSON Schema of its values, if it says more than the kind.
    pub schema: Option<Value>,
}

/// What an argument accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// Present or absent.
    Flag,
    /// A whole number in a range.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// A number in a range.
    Number {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// One of these words.
    Choice(Vec<Text>),
    /// Present without a value, or one of these words.
    FlagOrChoice(Vec<Text>),
    /// Several texts, separated by commas, spaces or repetition; at most so many.
    List(Option<usize>),
    /// A value that follows the argument's schema; in the command line as JSON.
    Json,
}

impl Tool {
    /// The command without the program: `tavily search`.
    pub fn command(&self) -> String {
        format!("{} {}", self.group, self.name)
    }

    /// The name of its snippet and definition: `tavily-search`.
    pub fn slug(&self) -> String {
        format!("{}-{}", self.group, self.name)
    }

    /// The argument of this name in JSON.
    pub fn argument(&self, field: &str) -> Option<&Argument> {
        let mut all = self.arguments.iter().chain(crate::COMMON_ARGUMENTS.iter());
        all.find(|argument| argument.field() == field)
    }

    /// The JSON Schema of its own arguments.
    pub fn input(&self) -> Value {
        let properties: Map<String, Value> = self
            .arguments
            .iter()
            .map(|argument| (argument.field(), argument.schema()))
            .collect();
        let required: Vec<String> = self
            .arguments
            .iter()
            .filter(|argument| argument.is_required)
            .map(Argument::field)
            .collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

impl Argument {
    /// An option.
    pub(crate) fn option(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self {
            name: name.into(),
            kind,
            is_positional: false,
            is_required: false,
            help: help.into(),
            schema: None,
        }
    }

    /// A required argument without a name.
    pub(crate) fn positional(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self {
            is_positional: true,
            is_required: true,
            ..Self::option(name, kind, help)
        }
    }

    /// The name in JSON.
    pub fn field(&self) -> String {
        self.name.replace('-', "_")
    }

    /// How it is written in a command: `<query>`, `--depth <basic|advanced>`.
    pub fn usage(&self) -> String {
        let value = match &self.kind {
            Kind::Flag => String::new(),
            Kind::Text => "<text>".to_owned(),
            Kind::Integer { .. } | Kind::Number { .. } => "<n>".to_owned(),
            Kind::Choice(words) => format!("<{}>", words.join("|")),
            Kind::FlagOrChoice(words) => format!("[{}]", words.join("|")),
            Kind::List(_) => "<a,b,…>".to_owned(),
            Kind::Json => "<json>".to_owned(),
        };
        match (self.is_positional, value.is_empty()) {
            (true, _) if matches!(self.kind, Kind::List(_)) => format!("<{}>…", self.name),
            (true, _) => format!("<{}>", self.name),
            (false, true) => format!("--{}", self.name),
            (false, false) => format!("--{} {value}", self.name),
        }
    }

    /// The name of its type, for a table.
    pub fn type_name(&self) -> String {
        match &self.kind {
            Kind::Text => "string".to_owned(),
            Kind::Flag => "flag".to_owned(),
            Kind::Integer { min, max } => format!("int ({min}-{max})"),
            Kind::Number { min, max } => format!("float ({min}-{max})"),
            Kind::Choice(words) => words.join("/"),
            Kind::FlagOrChoice(words) => format!("flag/{}", words.join("/")),
            Kind::List(None) => "string[]".to_owned(),
            Kind::List(Some(most)) => format!("string[] (max {most})"),
            Kind::Json => "json".to_owned(),
        }
    }

    /// Its meaning, for JSON with the shape of a value.
    pub fn long_help(&self) -> String {
        match &self.schema {
            Some(schema) if self.kind == Kind::Json => format!("{} (JSON: {})", self.help, shape(schema)),
            _ => self.help.to_string(),
        }
    }

    /// The JSON Schema of its values.
    pub fn schema(&self) -> Value {
        let mut schema = self.schema.clone().unwrap_or_else(|| self.kind.schema());
        schema["description"] = json!(self.help);
        schema
    }
}

impl Kind {
    fn schema(&self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
            Self::Number { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
            Self::Choice(words) => json!({"type": "string", "enum": words}),
            Self::FlagOrChoice(words) => {
                json!({"anyOf": [{"type": "boolean"}, {"type": "string", "enum": words}]})
            }
            Self::List(most) => {
                let mut list = json!({"type": "array", "items": {"type": "string"}});
                if let Some(most) = most {
                    list["maxItems"] = json!(most);
                }
                list
            }
            Self::Json => json!({}),
        }
    }
}
