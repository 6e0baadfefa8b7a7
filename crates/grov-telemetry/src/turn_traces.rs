//! Turns as traces: one root for a turn, below it the calls of the model, the tools and what was injected.
//!
//! Names and attributes follow OpenTelemetry's conventions for generative AI; those of Grov begin with `grov.`.

use crate::export::Injected;
use crate::otlp::{CLIENT, ERROR, INTERNAL, KeyValue, Span, Status, integer, text, texts};
use grov_domain::{AgentId, ClientSessionId, ExchangeKind, ExchangeRecord, Outcome, Step};
use std::collections::HashMap;
use time::OffsetDateTime;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Turns that are open at the same time. Beyond them the oldest ends.
const MAX_OPEN: usize = 256;
/// Calls of an agent whose results have not come.
const MAX_PENDING: usize = 256;
/// Maximum bytes of a text that is sent.
const MAX_TEXT: usize = 16 * 1024;

/// Whether spans hold what users and agents wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceContent {
    /// Names, times and numbers.
    #[default]
    Off,
    /// Prompts, commands and injected text, too, redacted.
    On,
}

/// A turn that has ended, whose injections are not in its trace yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EndedTurn {
    pub(crate) session: ClientSessionId,
    pub(crate) since: OffsetDateTime,
    pub(crate) until: OffsetDateTime,
    trace: Vec<u8>,
    root: Vec<u8>,
}

/// A turn of a session.
struct OpenTurn {
    trace: Vec<u8>,
    root: Vec<u8>,
    started_at: OffsetDateTime,
    last_at: OffsetDateTime,
    /// Of the first model that answered.
    provider: &'static str,
    prompt: Option<String>,
    project: Option<String>,
    calls: u64,
    tools: u64,
    input: u64,
    output: u64,
    failed: bool,
    /// Tool calls by the agent that made them, and when.
    pending: HashMap<Option<AgentId>, (OffsetDateTime, Vec<Step>)>,
}

/// Makes spans of records.
pub(crate) struct TurnTraces {
    content: TraceContent,
    open: HashMap<ClientSessionId, OpenTurn>,
}

/// What a record led to.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) spans: Vec<Span>,
    pub(crate) ended: Vec<EndedTurn>,
}

impl TurnTraces {
    pub(crate) fn new(content: TraceContent) -> Self {
        Self {
            content,
            open: HashMap::new(),
        }
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, record: &ExchangeRecord) -> Made {
        let mut made = Made::default();
        let session = &record.client_session_id;
        let begins = record.kind == ExchangeKind::Main && record.prompts.iter().any(|prompt| !prompt.queued);
        if begins {
            self.end(session, &mut made);
        }
        if !self.open.contains_key(session) {
            self.make_room(&mut made);
        }
        let content = self.content;
        let open = self.open.entry(session.clone());
        let turn = open.or_insert_with(|| OpenTurn::new(record, content));
        made.spans.extend(turn.performed(record, content));
        made.spans.push(turn.model_call(record));
        let ends = match record.kind {
            ExchangeKind::Main => record.stop_reason.as_deref() != Some("tool_use"),
            // A request outside of every turn is a trace of its own.
            _ => turn.calls == 1 && !record.kind.is_turn(),
        };
        if ends {
            self.end(session, &mut made);
        }
        made
    }

    /// Ends all turns, when nothing more comes.
    pub(crate) fn end_all(&mut self) -> Made {
        let mut made = Made::default();
        let sessions: Vec<ClientSessionId> = self.open.keys().cloned().collect();
        for session in sessions {
            self.end(&session, &mut made);
        }
        made
    }

    /// The spans of what was injected in a turn.
    pub(crate) fn injected(&self, turn: &EndedTurn, injected: &[Injected]) -> Vec<Span> {
        let within = |one: &&Injected| (turn.since..=turn.until).contains(&one.at);
        let mut spans = Vec::new();
        for one in injected.iter().filter(within) {
            let seed = [&turn.root[..], b"injection", &nanos(one.at).to_be_bytes()].concat();
            let mut attributes = vec![
                text("grov.injection.kind", one.kind),
                text("grov.injection.place", one.place),
                integer("grov.injection.bytes", one.text.len() as u64),
                texts("grov.injection.memories", one.memories.iter().cloned()),
            ];
            if self.content == TraceContent::On {
                attributes.push(text("grov.injection.text", bounded(&one.text)));
            }
            spans.push(Span {
                trace_id: turn.trace.clone(),
                span_id: span_id(&seed),
                parent_span_id: turn.root.clone(),
                name: format!("inject {}", one.kind),
                kind: INTERNAL,
                start_time_unix_nano: nanos(one.at),
                end_time_unix_nano: nanos(one.at),
                attributes,
                status: None,
            });
        }
        spans
    }

    fn make_room(&mut self, made: &mut Made) {
        if self.open.len() < MAX_OPEN {
            return;
        }
        let oldest = self.open.iter().min_by_key(|(_, turn)| turn.last_at);
        if let Some(session) = oldest.map(|(session, _)| session.clone()) {
            self.end(&session, made);
        }
    }

    fn end(&mut self, session: &ClientSessionId, made: &mut Made) {
        let Some(turn) = self.open.remove(session) else {
            return;
        };
        made.ended.push(EndedTurn {
            session: session.clone(),
            since: turn.started_at,
            until: turn.last_at,
            trace: turn.trace.clone(),
            root: turn.root.clone(),
        });
        made.spans.push(turn.into_root(session));
    }
}

impl OpenTurn {
    fn new(record: &ExchangeRecord, content: TraceContent) -> Self {
        let key = record.id.as_str().as_bytes();
        let prompt = record.prompts.iter().find(|prompt| !prompt.queued);
        Self {
            trace: xxh3_128(key).to_be_bytes().to_vec(),
            root: span_id(&[key, b"turn"].concat()),
            started_at: record.started_at,
            last_at: record.ended_at,
            provider: provider(record.model.as_deref().unwrap_or_default()),
            prompt: prompt
                .filter(|_| content == TraceContent::On)
                .map(|prompt| bounded(&prompt.text)),
            project: record
                .project
                .path
                .clone()
                .filter(|_| content == TraceContent::On),
            calls: 0,
            tools: 0,
            input: 0,
            output: 0,
            failed: false,
            pending: HashMap::new(),
        }
    }

    /// The tool calls of the agent's earlier response, whose results this request brings.
    fn performed(&mut self, record: &ExchangeRecord, content: TraceContent) -> Vec<Span> {
        if !record.kind.is_turn() {
            return Vec::new();
        }
        let Some((since, steps)) = self.pending.remove(&record.agent_id) else {
            return Vec::new();
        };
        let failed = |step: &Step| {
            let mut failures = record.failures.iter();
            failures.find(|failure| Some(&failure.tool_use_id) == step.action.tool_use_id.as_ref())
        };
        let spans = steps.iter().map(|step| {
            let action = &step.action;
            let mut attributes = vec![
                text("gen_ai.operation.name", "execute_tool"),
                text("gen_ai.tool.name", &action.tool),
                text("gen_ai.tool.type", "function"),
                text("grov.action", action.action_type.as_str()),
            ];
            attributes.extend(
                action
                    .tool_use_id
                    .as_ref()
                    .map(|id| text("gen_ai.tool.call.id", id)),
            );
            if let Some(verdict) = &step.verdict {
                attributes.push(integer("grov.drift.score", verdict.score.into()));
                let rules = verdict
                    .findings
                    .iter()
                    .map(|finding| finding.rule.as_str().to_owned());
                attributes.push(texts("grov.drift.rules", rules));
            }
            if content == TraceContent::On {
                let call = action.command.clone().unwrap_or_else(|| action.files.join(" "));
                attributes.push(text("gen_ai.tool.call.arguments", bounded(&call)));
            }
            let failure = failed(step);
            attributes.extend(failure.map(|failure| text("error.type", failure.outcome.as_str())));
            Span {
                trace_id: self.trace.clone(),
                span_id: span_id(&[step.id.as_str().as_bytes(), b"tool"].concat()),
                parent_span_id: self.root.clone(),
                name: format!("execute_tool {}", action.tool),
                kind: INTERNAL,
                start_time_unix_nano: nanos(since),
                end_time_unix_nano: nanos(record.started_at.max(since)),
                attributes,
                status: failure.map(|failure| error(failure.outcome.as_str())),
            }
        });
        spans.collect()
    }

    /// The call of the model.
    fn model_call(&mut self, record: &ExchangeRecord) -> Span {
        let usage = &record.usage;
        let whole_input = usage
            .input
            .saturating_add(usage.cache_read)
            .saturating_add(usage.cache_creation);
        self.calls += 1;
        self.tools += record.steps.len() as u64;
        self.input = self.input.saturating_add(whole_input);
        self.output = self.output.saturating_add(usage.output);
        self.last_at = self.last_at.max(record.ended_at);
        if record.kind.is_turn() && !record.steps.is_empty() {
            let mut steps = record.steps.clone();
            steps.truncate(MAX_PENDING);
            self.pending
                .insert(record.agent_id.clone(), (record.ended_at, steps));
        }
        let model = record.model.as_deref().unwrap_or("unknown");
        let mut attributes = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", provider(model)),
            text("gen_ai.request.model", model),
            text("gen_ai.response.model", model),
            text("gen_ai.conversation.id", record.client_session_id.as_str()),
            integer("gen_ai.usage.input_tokens", whole_input),
            integer("gen_ai.usage.output_tokens", usage.output),
            integer("gen_ai.usage.cache_read.input_tokens", usage.cache_read),
            integer("gen_ai.usage.cache_creation.input_tokens", usage.cache_creation),
            text("grov.request.kind", record.kind.as_str()),
            text("grov.outcome", record.outcome.as_str()),
        ];
        let reason = record.stop_reason.iter().cloned();
        attributes.push(texts("gen_ai.response.finish_reasons", reason));
        attributes.extend(
            record
                .agent_id
                .as_ref()
                .map(|id| text("gen_ai.agent.id", id.as_str())),
        );
        let failed = record.outcome != Outcome::Complete;
        self.failed |= failed && record.kind == ExchangeKind::Main;
        if failed {
            attributes.push(text("error.type", record.outcome.as_str()));
        }
        Span {
            trace_id: self.trace.clone(),
            span_id: span_id(&[record.id.as_str().as_bytes(), b"model"].concat()),
            parent_span_id: self.root.clone(),
            name: format!("chat {model}"),
            kind: CLIENT,
            start_time_unix_nano: nanos(record.started_at),
            end_time_unix_nano: nanos(record.ended_at.max(record.started_at)),
            attributes,
            status: failed.then(|| error(record.outcome.as_str())),
        }
    }

    fn into_root(self, session: &ClientSessionId) -> Span {
        let mut attributes: Vec<KeyValue> = vec![
            text("gen_ai.operation.name", "invoke_agent"),
            text("gen_ai.provider.name", self.provider),
            text("gen_ai.conversation.id", session.as_str()),
            integer("gen_ai.usage.input_tokens", self.input),
            integer("gen_ai.usage.output_tokens", self.output),
            integer("grov.turn.model_calls", self.calls),
            integer("grov.turn.tool_calls", self.tools),
        ];
        attributes.extend(self.project.map(|project| text("grov.project", project)));
        attributes.extend(self.prompt.map(|prompt| text("grov.turn.prompt", prompt)));
        Span {
            trace_id: self.trace,
            span_id: self.root,
            parent_span_id: Vec::new(),
            name: "invoke_agent".to_owned(),
            kind: INTERNAL,
            start_time_unix_nano: nanos(self.started_at),
            end_time_unix_nano: nanos(self.last_at.max(self.started_at)),
            attributes,
            status: self.failed.then(|| error("the model's answer failed")),
        }
    }
}

/// The provider of a model in the conventions, as far as its name tells. A record does not name the upstream.
fn provider(model: &str) -> &'static str {
    const FAMILIES: [(&str, &str); 9] = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("codex", "openai"),
        ("gemini", "gcp.gemini"),
        ("deepseek", "deepseek"),
        ("grok", "x_ai"),
    ];
    // Gateways put the provider before the name: `anthropic/claude-…`.
    let name = model.rsplit('/').next().unwrap_or(model);
    let family = FAMILIES.iter().find(|(family, _)| name.starts_with(family));
    family.map_or("unknown", |(_, provider)| provider)
}

fn error(message: &str) -> Status {
    Status {
        message: message.to_owned(),
        code: ERROR,
    }
}

/// Eight bytes that are never all zero, which would be invalid.
fn span_id(seed: &[u8]) -> Vec<u8> {
    xxh3_64(seed).max(1).to_be_bytes().to_vec()
}

/// Nanoseconds since 1970.
fn nanos(at: OffsetDateTime) -> u64 {
    u64::try_from(at.unix_timestamp_nanos()).unwrap_or(0)
}

/// The beginning of a text.
fn bounded(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}
