//! The client's status line: parses the input of the command that prints it, and renders the line.
//!
//! Unknown values are left out; the line may be empty.

use grov_domain::TokenUsage;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// Bytes at the end of a transcript searched for the newest usage. A single line may contain a whole file.
pub const TRANSCRIPT_TAIL_BYTES: u64 = 256 * 1024;
/// Context window in tokens, if the client does not report one.
const DEFAULT_WINDOW: u64 = 200_000;
/// Context window in tokens of models whose name ends with [`LARGE`].
const LARGE_WINDOW: u64 = 1_000_000;
const LARGE: &str = "[1m]";
/// Percentage from which on the line warns.
const ALMOST_FULL: f64 = 80.0;
/// Scores from here on need no correction.
const ON_GOAL: u8 = 8;
/// Scores below are a deviation.
const OFF_GOAL: u8 = 5;
/// The width in columns that the line always fits, unless state, context and cost alone are wider.
pub const WIDTH: usize = 60;

/// The client's input. Fields that Grov does not use are ignored; older clients send fewer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusInput {
    /// The session id.
    pub session_id: Option<String>,
    /// Path of the session's transcript.
    pub transcript_path: Option<String>,
    /// The model's name, without the suffix for a large window.
    pub model: Option<String>,
    /// Used part of the context window in percent, 0 to 100.
    pub context_percent: Option<f64>,
    /// Size of the context window in tokens.
    window: Option<u64>,
    /// Cost of the session in dollars, as calculated by the client.
    pub cost_usd: Option<f64>,
    /// Token usage of the newest request.
    pub usage: Option<TokenUsage>,
}

impl StatusInput {
    /// Parses the input; fields that are missing or malformed are `None`.
    pub fn read(bytes: &[u8]) -> Self {
        let input: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let text = |place: &str| input.pointer(place)?.as_str().map(str::to_owned);
        let number = |place: &str| input.pointer(place)?.as_f64().filter(|number| *number >= 0.0);
        let model = text("/model/id");
        let is_large = model.as_deref().is_some_and(|model| model.ends_with(LARGE));
        let default_window = if is_large { LARGE_WINDOW } else { DEFAULT_WINDOW };
        let window = input.pointer("/context_window/context_window_size");
        Self {
            session_id: text("/session_id"),
            transcript_path: text("/transcript_path"),
            model: model.map(|model| model.trim_end_matches(LARGE).to_owned()),
            context_percent: number("/context_window/used_percentage"),
            window: window.map_or(Some(default_window), Value::as_u64),
            cost_usd: number("/cost/total_cost_usd"),
            usage: input.pointer("/context_window/current_usage").and_then(usage),
        }
    }

    /// Fills missing usage and context percentage from the end of a transcript.
    pub fn with_transcript(mut self, transcript_end: &[u8]) -> Self {
        if self.usage.is_none() {
            self.usage = newest_usage(transcript_end);
        }
        if self.context_percent.is_none()
            && let (Some(usage), Some(window)) = (&self.usage, self.window.filter(|window| *window > 0))
        {
            let used = usage.input + usage.cache_read + usage.cache_creation;
            self.context_percent = Some(used as f64 * 100.0 / window as f64);
        }
        self
    }
}

/// Parses a `usage` object of the Messages API.
fn usage(usage: &Value) -> Option<TokenUsage> {
    let tokens = |name: &str| usage.get(name).and_then(Value::as_u64);
    Some(TokenUsage {
        input: tokens("input_tokens")?,
        cache_read: tokens("cache_read_input_tokens").unwrap_or_default(),
        cache_creation: tokens("cache_creation_input_tokens").unwrap_or_default(),
        output: tokens("output_tokens").unwrap_or_default(),
        ..TokenUsage::default()
    })
}

/// The usage of the newest response in the main conversation. The first line may be incomplete.
fn newest_usage(transcript_end: &[u8]) -> Option<TokenUsage> {
    let lines = transcript_end.split(|byte| *byte == b'\n').rev();
    lines.filter_map(response_usage).next()
}

fn response_usage(line: &[u8]) -> Option<TokenUsage> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let is_response = line.get("type").and_then(Value::as_str) == Some("assistant");
    let is_sidechain = line.get("isSidechain").and_then(Value::as_bool) == Some(true);
    // The client writes synthetic messages itself, without a request.
    let is_real = line.pointer("/message/model").and_then(Value::as_str) != Some("<synthetic>");
    (is_response && !is_sidechain && is_real).then(|| line.pointer("/message/usage").and_then(usage))?
}

/// The requests that token counts cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// All requests of the session.
    Session,
    /// The newest request.
    LastRequest,
}

/// Token count and cost of one class of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Class {
    /// Number of tokens.
    pub tokens: u64,
    /// Cost in dollars; `None` if the model's price is unknown.
    pub cost_usd: Option<f64>,
}

/// Token counts and costs by class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Classes {
    /// The requests that are counted.
    pub of: Span,
    /// Read from the prompt cache.
    pub cache_read: Class,
    /// Written to the prompt cache.
    pub cache_creation: Class,
    /// Input that was neither read from nor written to the cache.
    pub input: Class,
    /// Output tokens.
    pub output: Class,
}

impl Classes {
    /// Splits `usage` by class; `price` returns the cost of a usage in dollars.
    pub fn new(of: Span, usage: &TokenUsage, price: impl Fn(&TokenUsage) -> Option<f64>) -> Self {
        let none = TokenUsage::default();
        let class = |tokens: u64, alone: TokenUsage| Class {
            tokens,
            cost_usd: price(&alone),
        };
        let (cache_read, cache_creation) = (usage.cache_read, usage.cache_creation);
        let (input, output) = (usage.input, usage.output);
        Self {
            of,
            cache_read: class(cache_read, TokenUsage { cache_read, ..none }),
            cache_creation: class(
                cache_creation,
                TokenUsage {
                    cache_creation,
                    ..none
                },
            ),
            input: class(input, TokenUsage { input, ..none }),
            output: class(output, TokenUsage { output, ..none }),
        }
    }
}

/// The values of the status line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Why the client gets no response from the proxy, in a few words.
    pub fault: Option<String>,
    /// Whether `grov off` applies to the session.
    pub is_off: bool,
    /// Used part of the context window in percent, 0 to 100.
    pub context_percent: Option<f64>,
    /// Cost of the session in dollars.
    pub cost_usd: Option<f64>,
    /// Token counts and costs by class.
    pub classes: Option<Classes>,
    /// Score of the newest actions, 1 (far off goal) to 10 (on goal).
    pub drift_score: Option<u8>,
    /// Whether the session has drifted and not yet recovered.
    pub drifted: bool,
    /// Number of actions off the goal for certain.
    pub drifts: usize,
    /// Number of actions that only look unrelated to the goal.
    pub doubts: usize,
    /// Number of memories injected; `None` if the session is unknown.
    pub memories: Option<u64>,
}

impl Figures {
    /// Renders the line without a line break; empty if all values are unknown. State, context and cost come first and are never
    /// left out; what follows is, from the end, until the line fits `width` columns.
    pub fn line(&self, width: usize) -> String {
        let mut parts = self.essential();
        let needed = parts.len();
        parts.extend(self.details());
        loop {
            let line = match parts.is_empty() {
                true => return String::new(),
                false => format!("grov: {}", parts.join(" · ")),
            };
            // Each character of the line takes one column.
            if parts.len() <= needed.max(1) || line.chars().count() <= width {
                return line;
            }
            parts.pop();
        }
    }

    /// State, context, cost.
    fn essential(&self) -> Vec<String> {
        let state = match (&self.fault, self.drift_score) {
            (Some(fault), _) => Some(fault.clone()),
            (None, _) if self.is_off => Some("off".to_owned()),
            (None, Some(score)) if self.drifted || score < OFF_GOAL => Some(format!("off goal ({score}/10)")),
            (None, Some(score)) if score < ON_GOAL => Some(format!("near goal ({score}/10)")),
            (None, Some(_)) => Some("on goal".to_owned()),
            (None, None) => None,
        };
        let context = self.context_percent.map(|percent| match percent >= ALMOST_FULL {
            true => format!("context {percent:.0}%, almost full"),
            false => format!("context {percent:.0}%"),
        });
        let parts = [state, context, self.cost_usd.map(dollars)];
        parts.into_iter().flatten().collect()
    }

    fn details(&self) -> Vec<String> {
        let counts = [(self.drifts, "drift"), (self.doubts, "doubt")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, name)| format!("{count} {name}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        let counts = Some(counts.join(", ")).filter(|counts| !counts.is_empty());
        let memories = match self.memories {
            Some(1) => Some("1 memory".to_owned()),
            Some(count) => Some(format!("{count} memories")),
            None => None,
        };
        let classes = self.classes.as_ref().map(render_classes);
        [counts, memories, classes].into_iter().flatten().collect()
    }
}

fn render_classes(classes: &Classes) -> String {
    let mut text = match classes.of {
        Span::Session => "session: ".to_owned(),
        Span::LastRequest => "last: ".to_owned(),
    };
    let named = [
        ("read", classes.cache_read),
        ("write", classes.cache_creation),
        ("new", classes.input),
        ("out", classes.output),
    ];
    for (number, (name, class)) in named.into_iter().enumerate() {
        let comma = if number > 0 { ", " } else { "" };
        let value = class.cost_usd.map_or_else(|| count(class.tokens), dollars);
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}{name} {value}");
    }
    text
}

/// Formats dollars; small amounts get three decimal places.
fn dollars(amount: f64) -> String {
    match amount {
        none if none <= 0.0 => "$0".to_owned(),
        little if little < 0.001 => "<$0.001".to_owned(),
        small if small < 1.0 => format!("${small:.3}"),
        more => format!("${more:.2}"),
    }
}

/// Formats a count, from 10,000 on in thousands (`k`) or millions (`M`).
fn count(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: &str = r#"{"session_id":"s","transcript_path":"/t","cwd":"/p",
        "model":{"id":"claude-opus-4-8[1m]","display_name":"Opus"},"cost":{"total_cost_usd":1.254},
        "context_window":{"total_input_tokens":88509,"context_window_size":1000000,"used_percentage":9,
        "current_usage":{"input_tokens":9,"output_tokens":400,"cache_creation_input_tokens":1500,"cache_read_input_tokens":87000}}}"#;

    fn tokens(input: u64, cache_read: u64, cache_creation: u64, output: u64) -> TokenUsage {
        TokenUsage {
            input,
            cache_read,
            cache_creation,
            output,
            ..TokenUsage::default()
        }
    }

    fn answer(model: &str, aside: bool, read: u64) -> String {
        format!(
            r#"{{"type":"assistant","isSidechain":{aside},"message":{{"model":"{model}","usage":{{"input_tokens":5,"cache_read_input_tokens":{read}}}}}}}"#
        )
    }

    #[test]
    fn client_input_is_parsed() {
        let input = StatusInput::read(INPUT.as_bytes());
        assert_eq!(input.session_id.as_deref(), Some("s"));
        assert_eq!(input.model.as_deref(), Some("claude-opus-4-8"));
        assert_eq!(input.context_percent, Some(9.0));
        assert_eq!(input.cost_usd, Some(1.254));
        assert_eq!(input.usage, Some(tokens(9, 87_000, 1_500, 400)));
    }

    #[test]
    fn malformed_input_gives_no_values() {
        for bytes in [
            b"".as_slice(),
            b"null",
            b"[1]",
            b"{\"model\": 1",
            b"\xff",
            b"{\"session_id\": {}, \"model\": \"x\", \"cost\": {\"total_cost_usd\": -1}, \"context_window\": {\"current_usage\": null}}",
        ] {
            let input = StatusInput::read(bytes).with_transcript(b"");
            let nothing = (input.session_id, input.context_percent, input.cost_usd, input.usage);
            assert_eq!(nothing, (None, None, None, None));
        }
    }

    #[test]
    fn missing_usage_is_read_from_the_transcript() {
        let end = [
            r#"part of a line","message":{}}"#.to_owned(),
            answer("claude-opus-4-8", false, 1_000),
            answer("claude-opus-4-8", false, 49_995),
            answer("claude-haiku-4-5", true, 7),
            answer("<synthetic>", false, 0),
            r#"{"type":"user","message":{"content":"{\"usage\":1}"}}"#.to_owned(),
            String::new(),
        ];
        let input = StatusInput::read(br#"{"model":{"id":"claude-opus-4-8"}}"#)
            .with_transcript(end.join("\n").as_bytes());
        assert_eq!(input.usage, Some(tokens(5, 49_995, 0, 0)));
        assert_eq!(input.context_percent, Some(25.0));
        let large = StatusInput::read(br#"{"model":{"id":"claude-opus-4-8[1m]"}}"#)
            .with_transcript(end.join("\n").as_bytes());
        assert_eq!(large.context_percent, Some(5.0));
        let complete = StatusInput::read(INPUT.as_bytes()).with_transcript(end.join("\n").as_bytes());
        assert_eq!(
            complete.context_percent,
            Some(9.0),
            "the client's value takes precedence"
        );
    }

    #[test]
    fn the_line_contains_known_values() {
        let usage = tokens(9, 88_000, 1_500, 400);
        let price = |usage: &TokenUsage| {
            let sum =
                usage.input * 50 + usage.cache_read * 5 + usage.cache_creation * 62 + usage.output * 250;
            Some(sum as f64 / 1e7)
        };
        let figures = Figures {
            fault: None,
            is_off: false,
            context_percent: Some(44.7),
            cost_usd: Some(1.254),
            classes: Some(Classes::new(Span::LastRequest, &usage, price)),
            drift_score: Some(4),
            drifted: true,
            drifts: 1,
            doubts: 2,
            memories: Some(3),
        };
        assert_eq!(
            figures.line(usize::MAX),
            "grov: off goal (4/10) · context 45% · $1.25 · 1 drift, 2 doubts · 3 memories · last: read $0.044, write $0.009, new <$0.001, out $0.010"
        );
        let switched_off = Figures {
            is_off: true,
            ..figures
        };
        assert!(switched_off.line(WIDTH).starts_with("grov: off · context 45%"));
        let unpriced = Figures {
            classes: Some(Classes::new(
                Span::Session,
                &tokens(0, 2_500_000, 15_300, 400),
                |_| None,
            )),
            memories: Some(1),
            ..Figures::default()
        };
        assert_eq!(
            unpriced.line(usize::MAX),
            "grov: 1 memory · session: read 2.5M, write 15k, new 0, out 400"
        );
    }

    #[test]
    fn the_line_fits_its_width_and_never_cuts_state_context_and_cost() {
        let mut figures = Figures {
            context_percent: Some(100.0),
            cost_usd: Some(1234.5),
            drift_score: Some(10),
            drifts: 12,
            doubts: 13,
            memories: Some(10),
            ..Figures::default()
        };
        let line = figures.line(WIDTH);
        assert_eq!(line, "grov: on goal · context 100%, almost full · $1234.50");
        assert!(line.chars().count() <= WIDTH);
        figures.context_percent = Some(9.0);
        assert_eq!(
            figures.line(WIDTH),
            "grov: on goal · context 9% · $1234.50 · 12 drifts, 13 doubts"
        );
        figures.drift_score = Some(6);
        assert!(
            figures
                .line(WIDTH)
                .starts_with("grov: near goal (6/10) · context 9%")
        );
        figures.fault = Some("port 8080 taken by python3".to_owned());
        assert_eq!(
            figures.line(WIDTH),
            "grov: port 8080 taken by python3 · context 9% · $1234.50"
        );
        assert!(figures.line(10).contains("$1234.50"), "never cut");
    }

    #[test]
    fn no_values_give_no_line() {
        assert_eq!(Figures::default().line(WIDTH), "");
    }
}
