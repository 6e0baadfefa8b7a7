//! Upstreams of other providers than the main one, by the API of a request.

use crate::upstream::UpstreamHandle;
use grov_wire::Api;
use http::{HeaderMap, HeaderName, Uri, header};

/// Upstreams for the requests of clients of other providers. Without one, their requests go to the main upstream.
///
/// A request belongs to a provider by its path, or, if several providers have the path (`/v1/models`), by its headers: nothing that
/// carries another provider's credentials may go to the main upstream.
#[derive(Clone, Debug, Default)]
pub struct ApiUpstreams {
    /// For the Responses API and the Chat Completions API.
    pub openai: Option<UpstreamHandle>,
    /// For the Gemini API.
    pub gemini: Option<UpstreamHandle>,
}

/// Only Gemini's clients send it.
const GEMINI_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");
/// Only Anthropic's clients send these.
const ANTHROPIC: [&str; 2] = ["anthropic-version", "x-api-key"];
/// Beginnings of `user-agent` of OpenAI's clients.
const OPENAI_CLIENTS: [&str; 4] = ["codex", "opencode/", "OpenAI/", "ai-sdk/openai"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Provider {
    Main,
    OpenAi,
    Gemini,
}

impl ApiUpstreams {
    /// Returns the upstream of a request.
    pub(crate) fn of(&self, uri: &Uri, headers: &HeaderMap) -> UpstreamHandle {
        if self.openai.is_none() && self.gemini.is_none() {
            return UpstreamHandle::MAIN;
        }
        let upstream = match provider(uri.path(), headers) {
            Provider::Main => None,
            Provider::OpenAi => self.openai.clone(),
            Provider::Gemini => self.gemini.clone(),
        };
        upstream.unwrap_or(UpstreamHandle::MAIN)
    }
}

fn provider(path: &str, headers: &HeaderMap) -> Provider {
    if path.contains("/v1/messages") {
        return Provider::Main;
    }
    if path.starts_with("/v1beta/") || path.starts_with("/v1alpha/") || headers.contains_key(GEMINI_KEY) {
        return Provider::Gemini;
    }
    let segments = || path.split('/');
    match Api::of_foreign_path(path) {
        Some(Api::Gemini) => return Provider::Gemini,
        Some(_) => return Provider::OpenAi,
        None if segments().any(|segment| segment == "responses") => return Provider::OpenAi,
        None => {}
    }
    let agent = headers
        .get(header::USER_AGENT)
        .and_then(|agent| agent.to_str().ok());
    let is_openai = agent.is_some_and(|agent| OPENAI_CLIENTS.iter().any(|name| agent.starts_with(name)));
    match is_openai && !ANTHROPIC.iter().any(|name| headers.contains_key(*name)) {
        true => Provider::OpenAi,
        false => Provider::Main,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn is(path: &str, headers: &[(&'static str, &'static str)], expected: Provider) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_static(value));
        }
        assert!(provider(path, &map) == expected, "{path} {headers:?}");
    }

    #[test]
    fn a_request_belongs_to_the_provider_of_its_path() {
        for path in [
            "/v1/messages",
            "/v1/messages/count_tokens",
            "/v1/models",
            "/v1/files",
            "/",
        ] {
            is(path, &[], Provider::Main);
        }
        for path in ["/v1/responses", "/v1/responses/compact", "/v1/chat/completions"] {
            is(path, &[], Provider::OpenAi);
        }
        for path in [
            "/v1beta/models",
            "/v1beta/models/g:countTokens",
            "/v1/models/g:generateContent",
        ] {
            is(path, &[], Provider::Gemini);
        }
    }

    #[test]
    fn a_path_of_several_providers_belongs_to_the_one_of_the_credentials() {
        let codex = ("user-agent", "codex_exec/0.171.0 (Debian)");
        is("/v1/models", &[codex], Provider::OpenAi);
        is("/v1/models", &[("user-agent", "claude-cli/2.1")], Provider::Main);
        is("/v1/models", &[("x-goog-api-key", "k")], Provider::Gemini);
        let opencode = ("user-agent", "opencode/1.18 ai-sdk/anthropic");
        is(
            "/v1/models",
            &[opencode, ("anthropic-version", "2023-06-01")],
            Provider::Main,
        );
        is("/v1/messages", &[opencode], Provider::Main);
    }
}
