//! What the rules look at in a request.

use crate::body_edit::Fields;
use crate::text_scan::{Part, Scan};
use serde::Deserialize;

/// Bytes of text per token, for the estimate that the rules use. Counting exactly takes too long for every request.
const BYTES_PER_TOKEN: u64 = 4;

/// Tokens of an image of the usual size.
pub(crate) const IMAGE_TOKENS: u64 = 1_500;

/// Encoded characters of a document per token.
pub(crate) const DOCUMENT_CHARACTERS_PER_TOKEN: u64 = 32;

/// What the type of a tool that searches the web begins with.
const WEB_SEARCH: &str = "web_search";

/// How much effort a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
    /// `xhigh`
    ExtraHigh,
    /// `max`
    Max,
}

impl Effort {
    /// The names in requests and provider files, from low to high.
    pub const NAMES: &[&str] = &["low", "medium", "high", "xhigh", "max"];

    /// The effort of that name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            "xhigh" => Some(Self::ExtraHigh),
            "max" => Some(Self::Max),
            _ => None,
        }
    }

    /// The name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::ExtraHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// The subagent that sends a request; empty for the main agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its id, from a header.
    pub id: Option<String>,
    /// Its type, such as `Explore`, if known.
    pub kind: Option<String>,
}

/// What the rules look at in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteRequest {
    /// The label of the marker.
    pub marker: Option<String>,
    /// The model asked for.
    pub model: String,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// The thinking budget in tokens, if thinking is enabled with one.
    pub thinking_budget: Option<u64>,
    /// The effort asked for.
    pub effort: Option<Effort>,
    /// Whether there is a tool that searches the web.
    pub web_search: bool,
    /// Whether there are images in messages or tool results.
    pub images: bool,
    /// An estimate of the input tokens, from the length of the texts.
    pub tokens: u64,
    /// The subagent.
    pub agent: Agent,
}

#[derive(Deserialize)]
struct Thinking {
    #[serde(default)]
    r#type: String,
    budget_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputConfig {
    effort: Option<String>,
}

#[derive(Deserialize)]
struct Tool {
    #[serde(default)]
    r#type: String,
}

impl RouteRequest {
    /// Reads a request body. `marker` is the label of its marker. Fields that are missing or of another type than expected count as not
    /// there: the upstream reports what is wrong with them.
    pub fn read(body: &[u8], marker: Option<String>, agent: Agent) -> Self {
        let mut request = Self {
            marker,
            agent,
            ..Self::default()
        };
        let Some(fields) = Fields::parse(body) else {
            return request;
        };
        let mut bytes = 0;
        let mut tokens = 0;
        let mut images = false;
        let mut sink = |part: Part<'_>| match part {
            Part::Text(text) => bytes += text.len() as u64,
            Part::Literal => tokens += 1,
            Part::Image => {
                images = true;
                tokens += IMAGE_TOKENS;
            }
            Part::Document(length) => tokens += length as u64 / DOCUMENT_CHARACTERS_PER_TOKEN,
        };
        for (name, value) in &fields.0 {
            let json = value.get();
            match name.as_ref() {
                "model" => request.model = serde_json::from_str(json).unwrap_or_default(),
                "stream" => request.stream = json == "true",
                "thinking" => request.thinking_budget = thinking_budget(json),
                "output_config" => request.effort = effort(json),
                "tools" => {
                    request.web_search = has_web_search(json);
                    Scan::tools(&mut sink).visit(value);
                }
                "system" | "messages" => Scan::content(&mut sink).visit(value),
                _ => {}
            }
        }
        request.tokens = tokens + bytes / BYTES_PER_TOKEN;
        request.images = images;
        request
    }
}

fn thinking_budget(json: &str) -> Option<u64> {
    let thinking: Thinking = serde_json::from_str(json).ok()?;
    thinking.budget_tokens.filter(|_| thinking.r#type != "disabled")
}

fn effort(json: &str) -> Option<Effort> {
    let output: OutputConfig = serde_json::from_str(json).ok()?;
    Effort::parse(&output.effort?)
}

fn has_web_search(json: &str) -> bool {
    let tools: Vec<Tool> = serde_json::from_str(json).unwrap_or_default();
    tools.iter().any(|tool| tool.r#type.starts_with(WEB_SEARCH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &serde_json::Value) -> RouteRequest {
        RouteRequest::read(body.to_string().as_bytes(), None, Agent::default())
    }

    #[test]
    fn the_facts_of_a_request() {
        let request = read(&json!({
            "model": "claude-opus-5", "stream": true,
            "thinking": {"type": "enabled", "budget_tokens": 31999},
            "output_config": {"effort": "xhigh"},
            "tools": [{"name": "Read"}, {"type": "web_search_20250305", "name": "web_search"}],
            "messages": [],
        }));
        assert_eq!(request.model, "claude-opus-5");
        assert!(request.stream && request.web_search && !request.images);
        assert_eq!(request.thinking_budget, Some(31999));
        assert_eq!(request.effort, Some(Effort::ExtraHigh));
    }

    #[test]
    fn disabled_thinking_has_no_budget() {
        let request = read(&json!({"thinking": {"type": "disabled", "budget_tokens": 5}}));
        assert_eq!(request.thinking_budget, None);
        assert_eq!(
            read(&json!({"thinking": {"type": "adaptive"}})).thinking_budget,
            None
        );
    }

    #[test]
    fn images_are_found_in_messages_and_tool_results_only() {
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(90_000)}});
        let direct = read(&json!({"messages": [{"role": "user", "content": [image]}]}));
        assert!(direct.images);
        assert_eq!(direct.tokens, IMAGE_TOKENS);
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": [image]});
        assert!(read(&json!({"messages": [{"role": "user", "content": [result]}]})).images);
        let call = json!({"type": "tool_use", "id": "t", "name": "Draw", "input": image});
        assert!(!read(&json!({"messages": [{"role": "assistant", "content": [call]}]})).images);
        assert!(!read(&json!({"tools": [{"name": "x", "input_schema": image}], "messages": []})).images);
    }

    #[test]
    fn the_estimate_counts_texts_and_documents_but_not_base64_as_text() {
        let text = read(
            &json!({"system": "a".repeat(400), "messages": [{"role": "user", "content": "b".repeat(400)}]}),
        );
        assert_eq!(text.tokens, 200);
        let source = json!({"type": "base64", "media_type": "application/pdf", "data": "A".repeat(32_000)});
        let content = json!([{"type": "document", "source": source}]);
        let document = read(&json!({"messages": [{"role": "user", "content": content}]}));
        assert_eq!(document.tokens, 1_000);
    }

    #[test]
    fn wrong_types_are_no_facts() {
        let request = read(
            &json!({"model": 5, "stream": "yes", "thinking": [], "tools": {}, "messages": "x", "output_config": 1}),
        );
        let expected = RouteRequest::default();
        assert_eq!(request, expected);
        for body in ["", "[1]", "{", "nul"] {
            assert_eq!(
                RouteRequest::read(body.as_bytes(), None, Agent::default()),
                expected
            );
        }
    }
}
