//! Reads the usage of one line of a transcript.

use grov_domain::TokenUsage;
use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// What every line with usage contains.
pub(crate) const MARKER: &[u8] = b"\"usage\":{";

/// Fields that the client leaves out if they are unknown. A line in which one is `null` does not count.
const NEVER_NULL: [&[u8]; 11] = [
    b"id",
    b"cwd",
    b"model",
    b"speed",
    b"costUSD",
    b"version",
    b"sessionId",
    b"requestId",
    b"isApiErrorMessage",
    b"cache_read_input_tokens",
    b"cache_creation_input_tokens",
];

/// The usage of a response, as a line of a transcript reports it. The lines of a response repeat it.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageEntry {
    /// When the line was written.
    pub at: OffsetDateTime,
    /// The session; `None` if the line does not name it.
    pub session: Option<String>,
    /// The working directory.
    pub directory: Option<String>,
    /// The subagent.
    pub agent: Option<String>,
    /// Whether the line belongs to a side conversation, such as that of a subagent.
    pub is_sidechain: bool,
    /// The response's id.
    pub message: Option<String>,
    /// The request's id.
    pub request: Option<String>,
    /// The model; `None` for text that the client wrote itself.
    pub model: Option<String>,
    /// Whether the response was generated in fast mode, which has a price of its own.
    pub is_fast: bool,
    /// Whether the response says how fast it was generated.
    pub has_speed: bool,
    /// Token counts by class.
    pub tokens: TokenUsage,
    /// The cost in USD, which old versions of the client wrote.
    pub cost_usd: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    timestamp: String,
    message: Message,
    version: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    agent_id: Option<String>,
    #[serde(rename = "costUSD")]
    cost_usd: Option<f64>,
    request_id: Option<String>,
    is_sidechain: Option<bool>,
}

/// A line that wraps one of a subagent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    session_id: Option<String>,
    cwd: Option<String>,
    data: ProgressData,
}

#[derive(Deserialize)]
struct ProgressData {
    message: Line,
}

#[derive(Deserialize)]
struct Message {
    usage: Usage,
    model: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(flatten)]
    tokens: Tokens,
    speed: Option<Speed>,
    #[serde(default)]
    iterations: Value,
}

#[derive(Clone, Copy, Deserialize)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
    #[serde(default)]
    cache_creation: Option<CacheCreation>,
}

#[derive(Clone, Copy, Deserialize)]
struct CacheCreation {
    #[serde(default)]
    ephemeral_5m_input_tokens: u64,
    #[serde(default)]
    ephemeral_1h_input_tokens: u64,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Speed {
    Standard,
    Fast,
}

/// The usage of an advisor that the response consulted, which is billed apart.
#[derive(Deserialize)]
struct Advisor {
    #[serde(rename = "type")]
    kind: String,
    model: Option<String>,
    #[serde(flatten)]
    tokens: Tokens,
}

impl From<Tokens> for TokenUsage {
    fn from(tokens: Tokens) -> Self {
        let written = tokens.cache_creation.map(|written| {
            (
                written.ephemeral_5m_input_tokens,
                written.ephemeral_1h_input_tokens,
            )
        });
        // Without lifetimes, the tokens have the default one. The client writes zeros if the upstream names none.
        let (five_minutes, one_hour) = written
            .filter(|written| *written != (0, 0))
            .unwrap_or((tokens.cache_creation_input_tokens, 0));
        Self {
            input: tokens.input_tokens,
            cache_read: tokens.cache_read_input_tokens,
            cache_creation: five_minutes.saturating_add(one_hour),
            cache_creation_5m: five_minutes,
            cache_creation_1h: one_hour,
            output: tokens.output_tokens,
        }
    }
}

/// Reads the usage of a line: that of the response, then those of the advisors it consulted. Nothing for other lines.
pub(crate) fn read(line: &[u8]) -> Vec<UsageEntry> {
    if memmem::find(line, MARKER).is_none() || has_forbidden_null(line) {
        return Vec::new();
    }
    let parsed = match serde_json::from_slice::<Line>(line) {
        Ok(parsed) => parsed,
        Err(_) => match serde_json::from_slice::<Progress>(line) {
            Ok(progress) => {
                let mut line = progress.data.message;
                // Advisors are counted with the line itself.
                line.message.usage.iterations = Value::Null;
                Line {
                    session_id: progress.session_id,
                    version: None,
                    cwd: progress.cwd,
                    ..line
                }
            }
            Err(_) => return Vec::new(),
        },
    };
    let Ok(at) = OffsetDateTime::parse(&parsed.timestamp, &Rfc3339) else {
        return Vec::new();
    };
    if !parsed.is_valid() {
        return Vec::new();
    }
    let usage = &parsed.message.usage;
    let advisors = usage.iterations.as_array().into_iter().flatten();
    let advisors: Vec<Advisor> = advisors
        .filter(|iteration| iteration["type"] == "advisor_message")
        .filter_map(|iteration| Advisor::deserialize(iteration).ok())
        .filter(|advisor| advisor.kind == "advisor_message")
        .collect();
    let own = UsageEntry {
        at,
        is_sidechain: parsed.is_sidechain == Some(true),
        is_fast: usage.speed == Some(Speed::Fast),
        has_speed: usage.speed.is_some(),
        tokens: usage.tokens.into(),
        session: parsed.session_id,
        directory: parsed.cwd,
        agent: parsed.agent_id,
        message: parsed.message.id,
        request: parsed.request_id,
        model: parsed.message.model.filter(|model| model != "<synthetic>"),
        cost_usd: parsed.cost_usd,
    };
    let mut entries = vec![own];
    for (place, advisor) in advisors.into_iter().enumerate() {
        let Some(model) = advisor.model.filter(|model| !model.is_empty()) else {
            continue;
        };
        let own = &entries[0];
        let entry = UsageEntry {
            message: own.message.as_ref().map(|id| format!("{id}:advisor:{place}")),
            model: Some(model),
            is_fast: false,
            has_speed: false,
            tokens: advisor.tokens.into(),
            cost_usd: None,
            ..own.clone()
        };
        entries.push(entry);
    }
    entries
}

impl Line {
    /// Whether the version is one of the client, and no name is empty.
    fn is_valid(&self) -> bool {
        let names = [
            &self.session_id,
            &self.request_id,
            &self.message.id,
            &self.message.model,
        ];
        self.version.as_deref().is_none_or(is_version)
            && names.into_iter().flatten().all(|name| !name.is_empty())
    }
}

/// Whether a text begins with three numbers.
fn is_version(text: &str) -> bool {
    let mut parts = text.splitn(3, '.');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    is_number(parts.next())
        && is_number(parts.next())
        && parts
            .next()
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// Whether a field of [`NEVER_NULL`] is `null`, at any depth. A part of a response may have no model.
fn has_forbidden_null(line: &[u8]) -> bool {
    let mut has_model = false;
    for colon in memmem::find_iter(line, b":null") {
        let Some(before) = line[..colon].strip_suffix(b"\"") else {
            continue;
        };
        let start = memchr::memrchr(b'"', before).map_or(0, |quote| quote + 1);
        match &before[start..] {
            b"model" => has_model = true,
            name if NEVER_NULL.contains(&name) => return true,
            _ => {}
        }
    }
    has_model && serde_json::from_slice(line).is_ok_and(|line: Value| has_null_model(&line, false))
}

fn has_null_model(value: &Value, is_usage: bool) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| match name.as_str() {
            "model" if value.is_null() => true,
            "iterations" if is_usage && value.is_array() => false,
            _ => has_null_model(value, name == "usage"),
        }),
        Value::Array(values) => values.iter().any(|value| has_null_model(value, false)),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &str = r#"{"type":"assistant","timestamp":"2026-11-01T10:00:00.000Z","sessionId":"s","cwd":"/p","version":"2.1.197","requestId":"r","message":{"id":"m","model":"claude-opus-4-8","usage":{"input_tokens":7,"cache_creation_input_tokens":999,"cache_read_input_tokens":5,"output_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"speed":"standard"}}}"#;

    fn tokens(line: &str) -> Option<[u64; 4]> {
        let entries = read(line.as_bytes());
        let tokens = entries.first()?.tokens;
        Some([
            tokens.input,
            tokens.output,
            tokens.cache_creation,
            tokens.cache_read,
        ])
    }

    fn with(old: &str, new: &str) -> String {
        assert!(LINE.contains(old), "{old}");
        LINE.replace(old, new)
    }

    #[test]
    fn the_classes_of_a_response_are_read() {
        let entry = read(LINE.as_bytes()).pop().unwrap();
        assert_eq!(
            entry.tokens,
            TokenUsage {
                input: 7,
                cache_read: 5,
                cache_creation: 30,
                cache_creation_5m: 10,
                cache_creation_1h: 20,
                output: 3,
            }
        );
        assert_eq!(
            (entry.model.as_deref(), entry.is_fast),
            (Some("claude-opus-4-8"), false)
        );
        assert_eq!(entry.directory.as_deref(), Some("/p"));
        let without = with(
            r#","cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}"#,
            "",
        );
        assert_eq!(tokens(&without), Some([7, 3, 999, 5]));
    }

    #[test]
    fn other_lines_and_damaged_ones_do_not_count() {
        for line in [
            "",
            "{}",
            "null",
            r#""usage":{"#,
            r#"{"usage":{"input_tokens":1,"output_tokens":1}}"#,
            &with(r#""input_tokens":7,"#, ""),
            &with(r#""input_tokens":7"#, r#""input_tokens":-7"#),
            &with(r#""input_tokens":7"#, r#""input_tokens":7.0"#),
            &with(r#""speed":"standard""#, r#""speed":null"#),
            &with(r#""requestId":"r""#, r#""requestId":null"#),
            &with(r#""model":"claude-opus-4-8""#, r#""model":null"#),
            &with(r#""requestId":"r""#, r#""requestId":"""#),
            &with("2.1.197", "unknown"),
            &with("2026-11-01T10:00:00.000Z", "yesterday"),
            &LINE[..LINE.len() - 1],
        ] {
            assert_eq!(tokens(line), None, "{line}");
        }
    }

    #[test]
    fn a_part_of_a_response_may_have_no_model() {
        let parts = r#""speed":"standard","iterations":[{"type":"message","model":null,"input_tokens":1,"output_tokens":1}]"#;
        assert_eq!(tokens(&with(r#""speed":"standard""#, parts)), Some([7, 3, 30, 5]));
    }

    #[test]
    fn advisors_are_billed_apart() {
        let parts = r#""speed":"fast","iterations":[{"type":"advisor_message","model":"claude-haiku-4-5","input_tokens":70,"output_tokens":30}]"#;
        let entries = read(with(r#""speed":"standard""#, parts).as_bytes());
        assert_eq!(entries.len(), 2);
        assert!(entries[0].is_fast && !entries[1].is_fast);
        assert_eq!(entries[1].message.as_deref(), Some("m:advisor:0"));
        assert_eq!((entries[1].tokens.input, entries[1].tokens.output), (70, 30));
        assert_eq!(entries[1].session.as_deref(), Some("s"));
    }

    #[test]
    fn cache_writes_without_a_breakdown_by_lifetime_are_not_dropped() {
        let zeros = with(
            r#""ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20"#,
            r#""ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0"#,
        );
        let written = read(zeros.as_bytes()).pop().unwrap().tokens;
        assert_eq!(
            (
                written.cache_creation,
                written.cache_creation_5m,
                written.cache_creation_1h
            ),
            (999, 999, 0)
        );
    }

    #[test]
    fn a_line_of_a_subagent_may_be_wrapped() {
        let wrapped = format!(r#"{{"type":"progress","sessionId":"t","data":{{"message":{LINE}}}}}"#);
        let entry = read(wrapped.as_bytes()).pop().unwrap();
        assert_eq!(entry.session.as_deref(), Some("t"));
        assert_eq!(entry.message.as_deref(), Some("m"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), cut in 0..LINE.len()) {
            let _ = read(&bytes);
            let mut mixed = LINE.as_bytes()[..cut].to_vec();
            mixed.extend(&bytes);
            let _ = read(&mixed);
        }
    }
}
