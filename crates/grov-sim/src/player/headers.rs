//! The client's headers, in its order and case.

use super::PlayerConfig;
use grov_domain::{ExchangeKind, SideRequest};

/// The version of the imitated client.
pub(super) const VERSION: &str = "2.1.197";

/// The headers of a request to `/v1/messages`, without those of the connection.
pub(super) fn of_messages(
    config: &PlayerConfig,
    kind: ExchangeKind,
    agent: Option<&str>,
    stream: bool,
) -> Vec<(String, String)> {
    let entry = if config.interactive { "cli" } else { "sdk-cli" };
    let agent_id = agent.map(|agent| ("x-claude-code-agent-id", agent.to_owned()));
    let fixed = |name: &'static str, value: &str| (name, value.to_owned());
    let headers = [
        fixed("Accept", "application/json"),
        fixed("Content-Type", "application/json"),
        ("User-Agent", format!("claude-cli/{VERSION} (external, {entry})")),
        fixed("X-Claude-Code-Session-Id", &config.session_id),
        fixed("X-Stainless-Arch", "x64"),
        fixed("X-Stainless-Lang", "js"),
        fixed("X-Stainless-OS", "Linux"),
        fixed("X-Stainless-Package-Version", "0.94.0"),
        fixed("X-Stainless-Retry-Count", "0"),
        fixed("X-Stainless-Runtime", "node"),
        fixed("X-Stainless-Runtime-Version", "v26.3.0"),
        fixed("X-Stainless-Timeout", if stream { "600" } else { "300" }),
        ("anthropic-beta", betas(config, kind).join(",")),
        fixed("anthropic-dangerous-direct-browser-access", "true"),
        fixed("anthropic-version", "2023-06-01"),
        fixed("x-api-key", &config.api_key),
        fixed("x-app", "cli"),
    ];
    headers
        .into_iter()
        .chain(agent_id)
        .map(|(name, value)| (name.to_owned(), value))
        .chain(config.headers.iter().cloned())
        .collect()
}

fn betas(config: &PlayerConfig, kind: ExchangeKind) -> Vec<&'static str> {
    let title = kind == ExchangeKind::Side(SideRequest::Title);
    let newer = super::body::is_newer(&config.model) && !title;
    let list = [
        (!title, "claude-code-20250219"),
        (newer, "context-1m-2025-08-07"),
        (true, "interleaved-thinking-2025-05-14"),
        (config.interactive, "redact-thinking-2026-02-12"),
        (true, "thinking-token-count-2026-05-13"),
        (true, "context-management-2025-06-27"),
        (true, "prompt-caching-scope-2026-01-05"),
        (newer, "mid-conversation-system-2026-04-07"),
        (newer, "effort-2025-11-24"),
        (title, "structured-outputs-2025-12-15"),
    ];
    list.into_iter()
        .filter(|(wanted, _)| *wanted)
        .map(|(_, beta)| beta)
        .collect()
}

/// The headers of the probe, which is the first request.
pub(super) fn of_probe(host: &str) -> Vec<(String, String)> {
    [
        ("Connection", "keep-alive"),
        ("User-Agent", "Bun/1.4.0"),
        ("Accept", "*/*"),
        ("Host", host),
        ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(config: &PlayerConfig, kind: ExchangeKind, agent: Option<&str>) -> Vec<String> {
        of_messages(config, kind, agent, true)
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn headers_have_the_clients_order_and_case() {
        let config = PlayerConfig {
            headers: vec![("X-Mine".to_owned(), "1".to_owned())],
            ..PlayerConfig::in_directory("/p")
        };
        assert_eq!(
            names(&config, ExchangeKind::Subagent, Some("a1")),
            [
                "Accept",
                "Content-Type",
                "User-Agent",
                "X-Claude-Code-Session-Id",
                "X-Stainless-Arch",
                "X-Stainless-Lang",
                "X-Stainless-OS",
                "X-Stainless-Package-Version",
                "X-Stainless-Retry-Count",
                "X-Stainless-Runtime",
                "X-Stainless-Runtime-Version",
                "X-Stainless-Timeout",
                "anthropic-beta",
                "anthropic-dangerous-direct-browser-access",
                "anthropic-version",
                "x-api-key",
                "x-app",
                "x-claude-code-agent-id",
                "X-Mine",
            ]
        );
        assert!(!names(&config, ExchangeKind::Main, None).contains(&"x-claude-code-agent-id".to_owned()));
    }

    #[test]
    fn betas_depend_on_model_mode_and_purpose() {
        let config = PlayerConfig::in_directory("/p");
        let main = "claude-code-20250219,context-1m-2025-08-07,interleaved-thinking-2025-05-14,\
                    thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05,\
                    mid-conversation-system-2026-04-07,effort-2025-11-24";
        assert_eq!(betas(&config, ExchangeKind::Main).join(","), main);
        let interactive = PlayerConfig {
            interactive: true,
            ..config
        };
        let title = "interleaved-thinking-2025-05-14,redact-thinking-2026-02-12,thinking-token-count-2026-05-13,\
                     context-management-2025-06-27,prompt-caching-scope-2026-01-05,structured-outputs-2025-12-15";
        assert_eq!(
            betas(&interactive, ExchangeKind::Side(SideRequest::Title)).join(","),
            title
        );
    }
}
