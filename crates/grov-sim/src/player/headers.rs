//! The client's headers, in its order and case.

use super::PlayerConfig;
use grov_domain::{ExchangeKind, SideRequest};

/// Version of the client that is imitated.
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

/// The headers of the probe that is sent before anything else.
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
