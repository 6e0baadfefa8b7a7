//! Transforms: what a provider needs beyond the translation.
//!
//! A transform may change the request, the events of the response, or both. The order in the provider file matters only
//! between transforms that change the same thing; each step has a stage, and stages run in a fixed order.

mod chain;
mod enhance_tool;
mod exit_tool;
mod fixes;
mod force_reasoning;
mod gemini;
mod request;
mod schema;
mod tags;
mod text_calls;

pub use chain::ResponseChain;
pub(crate) use chain::ResponseContext;
pub(crate) use request::{RequestContext, apply};
pub use schema::SchemaDialect;
use std::fmt;

/// A transform of the provider file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// `schema:…`: removes what a provider does not accept in tool schemas.
    Schema(SchemaDialect),
    /// `reasoning`: shows the provider's reasoning as thinking.
    Reasoning,
    /// `enhancetool`: repairs malformed arguments, and reads calls that the model wrote as text.
    EnhanceTool,
    /// `deepseek`: uses `max_tokens`, at most 8192 unless the provider file sets a limit.
    DeepSeek,
    /// `maxtokens`: uses `max_tokens` for the limit.
    MaxTokens,
    /// `extrathinktag`: reads `<think>` in the text as thinking.
    ExtraThinkTag,
    /// `openrouter`: numeric call ids, the field `reasoning`, no `cache_control`.
    OpenRouter,
    /// `groq`: numeric call ids, no `$schema`, no `cache_control`.
    Groq,
    /// `tooluse`: makes the model call a tool in every turn, with a tool to end the turn.
    ToolUse,
    /// `forcereasoning`: asks the model to write its reasoning between tags, and reads them.
    ForceReasoning,
    /// `cleancache`: removes `cache_control`.
    CleanCache,
    /// `customparams`: adds parameters of the provider file.
    CustomParams,
}

/// A name that is no transform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown transform `{name}`{}", .nearest.map(|known| format!(", did you mean `{known}`?")).unwrap_or_default())]
pub struct UnknownTransform {
    /// The name.
    pub name: String,
    /// The known name that is most like it.
    pub nearest: Option<&'static str>,
}

/// Transforms that do not work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// A transform occurs twice.
    #[error("the transform `{0}` is listed twice")]
    Repeated(Transform),
    /// Only one dialect can apply.
    #[error("the transforms `{0}` and `{1}` exclude each other")]
    TwoSchemas(Transform, Transform),
}

impl Transform {
    /// All transforms.
    pub const ALL: [Self; 15] = [
        Self::Schema(SchemaDialect::Generic),
        Self::Schema(SchemaDialect::OpenAi),
        Self::Schema(SchemaDialect::Gemini),
        Self::Schema(SchemaDialect::Ollama),
        Self::Reasoning,
        Self::EnhanceTool,
        Self::DeepSeek,
        Self::MaxTokens,
        Self::ExtraThinkTag,
        Self::OpenRouter,
        Self::Groq,
        Self::ToolUse,
        Self::ForceReasoning,
        Self::CleanCache,
        Self::CustomParams,
    ];

    /// The name in the provider file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Schema(SchemaDialect::Generic) => "schema:generic",
            Self::Schema(SchemaDialect::OpenAi) => "schema:openai",
            Self::Schema(SchemaDialect::Gemini) => "schema:gemini",
            Self::Schema(SchemaDialect::Ollama) => "schema:ollama",
            Self::Reasoning => "reasoning",
            Self::EnhanceTool => "enhancetool",
            Self::DeepSeek => "deepseek",
            Self::MaxTokens => "maxtokens",
            Self::ExtraThinkTag => "extrathinktag",
            Self::OpenRouter => "openrouter",
            Self::Groq => "groq",
            Self::ToolUse => "tooluse",
            Self::ForceReasoning => "forcereasoning",
            Self::CleanCache => "cleancache",
            Self::CustomParams => "customparams",
        }
    }

    /// Finds a transform by its name.
    ///
    /// # Errors
    /// If there is none with this name.
    pub fn parse(name: &str) -> Result<Self, UnknownTransform> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| UnknownTransform {
            name: name.to_owned(),
            nearest: nearest(name),
        })
    }

    /// Checks that transforms work together.
    ///
    /// # Errors
    /// If one is repeated, or if there are two schema dialects.
    pub fn check_order(transforms: &[Self]) -> Result<(), OrderError> {
        for (at, transform) in transforms.iter().enumerate() {
            for earlier in &transforms[..at] {
                if earlier == transform {
                    return Err(OrderError::Repeated(*transform));
                }
                if let (Self::Schema(_), Self::Schema(_)) = (earlier, transform) {
                    return Err(OrderError::TwoSchemas(*earlier, *transform));
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name most like `name`. The part after the colon alone is enough.
fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let names = Transform::ALL.map(Transform::name);
    let similarity = |known: &str| {
        let short = known.rsplit(':').next().unwrap_or(known);
        strsim::jaro_winkler(known, &lower).max(strsim::jaro_winkler(short, &lower))
    };
    names
        .into_iter()
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)))
        .filter(|known| similarity(known) > 0.75)
}

/// The phase of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The request: the first transform of the file runs first.
    Request,
    /// The response: the last transform of the file runs first.
    Response,
}

/// The order in which transforms run: by stage, and within a stage as the phase demands.
pub fn run_order<T: Copy>(transforms: &[T], phase: Phase, stage: impl Fn(T) -> u8) -> Vec<T> {
    let mut order = transforms.to_vec();
    if phase == Phase::Response {
        order.reverse();
    }
    order.sort_by_key(|transform| stage(*transform));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        for (wrong, right) in [
            ("gemini", Some("schema:gemini")),
            ("tool_use", Some("tooluse")),
            ("Reasoning", Some("reasoning")),
            ("openruter", Some("openrouter")),
            ("zzz", None),
        ] {
            assert_eq!(Transform::parse(wrong).unwrap_err().nearest, right, "{wrong}");
        }
        for known in Transform::ALL {
            assert_eq!(Transform::parse(known.name()), Ok(known));
        }
    }

    #[test]
    fn impossible_chains_are_refused() {
        let chain = |names: &[&str]| {
            names
                .iter()
                .map(|name| Transform::parse(name).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            Transform::check_order(&chain(&["tooluse", "enhancetool", "schema:generic"])),
            Ok(())
        );
        assert_eq!(
            Transform::check_order(&chain(&["groq", "reasoning", "groq"])),
            Err(OrderError::Repeated(Transform::Groq))
        );
        assert!(Transform::check_order(&chain(&["schema:generic", "schema:gemini"])).is_err());
    }
}
