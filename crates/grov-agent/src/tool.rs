//! Tools that a caller offers with a chat.

mod built_in;
mod parse;
mod schema;

pub(crate) use built_in::{MAX_CONTENT_CHARS, TTL_SECONDS, built_in_tools, is_built_in, propose_add_schema};
pub use parse::FieldError;
pub(crate) use schema::ArgumentSchema;

use crate::names::named;
use grov_redact::FreeText;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much harm a tool can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// None worth a question.
    #[default]
    Low,
    /// Some.
    Medium,
    /// A call always waits for approval.
    High,
}

named!(Risk { Low => "low", Medium => "medium", High => "high" });

/// A tool that a caller offers, in one form whichever of the two shapes it was written in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// `[a-zA-Z0-9_.-]{1,64}`, unique in a request.
    pub name: String,
    /// What it does, in the caller's words: data, never an instruction to this service.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub input_schema: Value,
    /// Whether each call waits for approval.
    pub requires_approval: bool,
    /// How much harm it can do.
    pub risk: Risk,
}

impl Tool {
    /// Whether a call of this tool waits for approval.
    pub fn awaits_approval(&self) -> bool {
        self.requires_approval || self.risk == Risk::High
    }
}

/// The tools of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tools(pub Vec<Tool>);

impl FreeText for Tools {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        for Tool {
            name: _,
            description,
            input_schema,
            requires_approval: _,
            risk: _,
        } in &mut self.0
        {
            visit(description);
            crate::json_text::each_text_of_value(input_schema, visit);
        }
    }
}
