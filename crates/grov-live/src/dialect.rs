//! Which client sent a request.

use grov_domain::ClientDialect;
use grov_proxy_core::MessagesRequest;
use grov_wire::Api;
use http::header;

/// Beginning of opencode's `user-agent`. With an OpenAI provider it speaks the same API as Codex.
const OPENCODE: &str = "opencode/";

/// Returns the dialect of the client that sent a request: that of the client that usually speaks its API. A client that is not known
/// has other texts and headers, so its session is recorded by the beginning of the conversation and its texts as prompts.
pub(crate) fn of(request: &MessagesRequest) -> &'static ClientDialect {
    let agent = request.headers().get(header::USER_AGENT);
    let is_opencode = agent
        .and_then(|agent| agent.to_str().ok())
        .is_some_and(|agent| agent.starts_with(OPENCODE));
    match request.api() {
        Api::Messages => &ClientDialect::CLAUDE_CODE,
        Api::Gemini => &ClientDialect::GEMINI_CLI,
        Api::Responses if !is_opencode => &ClientDialect::CODEX,
        Api::Responses | Api::Chat => &ClientDialect::OPENCODE,
    }
}
