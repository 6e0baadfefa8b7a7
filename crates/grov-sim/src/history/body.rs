//! The parts of a request other than its messages.

use super::transcript::{marked, text_block};
use crate::json::Json;
use crate::request::takes_system_role;
use xxhash_rust::xxh3::xxh3_64;

/// The models used: two of each dialect.
pub const MODELS: [&str; 4] = [
    "claude-opus-4-8",
    "claude-sonnet-4-5",
    "claude-sonnet-5",
    "claude-haiku-4-5",
];
/// The client's working directory.
pub const DIRECTORY: &str = "/home/dev/project";
const TITLE_MODEL: &str = "claude-haiku-4-5-20251001";

/// The session id in the body of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender<'a> {
    pub(super) model: &'a str,
    pub(super) session: &'a str,
    /// A subagent with its own prompt and tools.
    pub(super) subagent: bool,
    /// The last text of the first message, which the billing line depends on.
    pub(super) first_words: &'a str,
}

/// A request of a conversation.
pub(super) fn step(sender: Sender<'_>, messages: Json) -> Json {
    let Sender { model, subagent, .. } = sender;
    let newer = takes_system_role(model);
    let billing = format!(
        "x-anthropic-billing-header: cc_version=2.1.197.{:03x}; cc_entrypoint=cli;{}",
        xxh3_64(sender.first_words.as_bytes()) & 0xfff,
        if subagent { " cc_is_subagent=true;" } else { "" }
    );
    let label = if subagent { "Working" } else { "Primary working" };
    let prompt = format!(
        "You help with software. You are {model}.\n\n# Environment\n - {label} directory: {DIRECTORY}"
    );
    let system = vec![
        text_block(&billing),
        marked(text_block(
            "You are a scripted client that stands in for Claude Code.",
        )),
        marked(text_block(&prompt)),
    ];
    let tools: &[&str] = if subagent {
        &["Bash", "Read"]
    } else {
        &["Agent", "Bash", "Read"]
    };
    let thinking = match (subagent, newer) {
        (true, _) => Json::object([("type", "disabled".into())]),
        (false, true) => Json::object([("type", "adaptive".into())]),
        (false, false) => Json::object([("budget_tokens", 31999.into()), ("type", "enabled".into())]),
    };
    let mut body = Json::object([
        ("model", model.into()),
        ("messages", messages),
        ("system", system.into()),
        (
            "tools",
            tools.iter().map(|name| tool(name)).collect::<Vec<_>>().into(),
        ),
        ("metadata", metadata(sender.session)),
        ("max_tokens", 32000.into()),
        ("thinking", thinking),
    ]);
    if newer {
        body.set("output_config", Json::object([("effort", "high".into())]));
    }
    body.set("stream", true.into());
    body
}

/// The title request.
pub(super) fn title(session: &str, prompt: &str) -> Json {
    let schema = Json::object([
        ("type", "object".into()),
        (
            "properties",
            Json::object([("title", Json::object([("type", "string".into())]))]),
        ),
        ("required", vec!["title".into()].into()),
        ("additionalProperties", false.into()),
    ]);
    let format = Json::object([("type", "json_schema".into()), ("schema", schema)]);
    Json::object([
        ("model", TITLE_MODEL.into()),
        ("messages", asking(&format!("<session>\n{prompt}\n</session>"))),
        ("system", vec![text_block("Generate a concise title.")].into()),
        ("tools", Json::Array(Vec::new())),
        ("metadata", metadata(session)),
        ("max_tokens", 32000.into()),
        ("thinking", Json::object([("type", "disabled".into())])),
        ("output_config", Json::object([("format", format)])),
        ("stream", true.into()),
    ])
}

/// The request nested in a web search.
pub(super) fn web_search(sender: Sender<'_>) -> Json {
    let search = Json::object([
        ("type", "web_search_20250305".into()),
        ("name", "web_search".into()),
    ]);
    Json::object([
        ("model", sender.model.into()),
        (
            "messages",
            asking("Perform a web search for the query: prompt caches"),
        ),
        (
            "system",
            vec![text_block(
                "You are an assistant for performing a web search tool use",
            )]
            .into(),
        ),
        ("tools", vec![search].into()),
        ("metadata", metadata(sender.session)),
        ("max_tokens", 32000.into()),
        ("stream", true.into()),
    ])
}

fn asking(text: &str) -> Json {
    let message = Json::object([
        ("role", "user".into()),
        ("content", vec![text_block(text)].into()),
    ]);
    vec![message].into()
}

fn metadata(session: &str) -> Json {
    let user = Json::object([
        ("device_id", "d0".into()),
        ("account_uuid", "".into()),
        ("session_id", session.into()),
    ]);
    Json::object([("user_id", user.to_string().into())])
}

fn tool(name: &str) -> Json {
    let schema = Json::object([
        ("type", "object".into()),
        ("properties", Json::Object(Vec::new())),
    ]);
    Json::object([
        ("name", name.into()),
        ("description", "a tool".into()),
        ("input_schema", schema),
    ])
}
