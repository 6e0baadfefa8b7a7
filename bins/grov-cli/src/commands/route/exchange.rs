//! One request to a provider, as the daemon would send it, and what came back.

use crate::failure::Failure;
use crate::table::truncated;
use bytes::BytesMut;
use grov_llm::{ProviderCallError, ProviderClient, ProviderResponse};
use grov_redact::{Redactor, Secret};
use grov_route::{
    Api, ProviderApi, ResponseTranslator, Target, Transform, TranslationSettings, Translator, with_model,
};
use grov_wire::response::{Block, ResponseTap, Turn};
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The limit of silence of a provider.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Characters of an error that are shown.
const MAX_ERROR: usize = 400;

/// What came back.
#[derive(Debug, Serialize)]
pub(super) struct Exchange {
    /// The provider's status.
    pub(super) status: u16,
    /// Why there is no usable answer.
    pub(super) error: Option<String>,
    /// Until the first byte of the body.
    pub(super) first_byte_ms: Option<u64>,
    pub(super) total_ms: u64,
    pub(super) text: String,
    pub(super) thinking: bool,
    pub(super) tool_calls: Vec<CallView>,
    pub(super) usage: UsageView,
    /// The provider's answer before translation.
    #[serde(skip)]
    pub(super) raw: Vec<u8>,
}

#[derive(Debug, Serialize)]
pub(super) struct CallView {
    pub(super) name: String,
    pub(super) input: Value,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct UsageView {
    pub(super) input: u64,
    pub(super) cache_read: u64,
    pub(super) output: u64,
}

/// A client of the target's provider, with its first key.
pub(super) async fn client(target: &Target) -> Result<ProviderClient, Failure> {
    if let Some(reason) = target.unusable() {
        return Err(Failure::error("no_key", reason));
    }
    let mut headers: Vec<(&'static str, Secret)> = Vec::new();
    if let Some(key) = target.keys.first() {
        let is_native = target.api == ProviderApi::Anthropic;
        if is_native {
            headers.push(("x-api-key", key.clone()));
        }
        // Anthropic itself takes a bearer token for a login.
        if !is_native || !target.endpoint.contains("//api.anthropic.com") {
            headers.push(("authorization", Secret::new(format!("Bearer {}", key.expose()))));
        }
    }
    if target.api == ProviderApi::Anthropic {
        headers.push(("anthropic-version", Secret::new("2023-06-01")));
    }
    let client = ProviderClient::new(&target.endpoint, &headers, TIMEOUT).await;
    client.map_err(|error| call_failure(&error))
}

/// The failure of a call without a response.
pub(super) fn call_failure(error: &ProviderCallError) -> Failure {
    Failure::error("provider", error.to_string())
}

/// The transforms of a target. A valid provider file has no unknown ones.
pub(super) fn transforms(target: &Target) -> Vec<Transform> {
    let names = target.transforms.iter();
    names.filter_map(|name| Transform::parse(name).ok()).collect()
}

/// Sends a request of the Messages API, translated with `transforms`.
pub(super) async fn send(
    client: &ProviderClient,
    target: &Target,
    transforms: Vec<Transform>,
    request: &Value,
) -> Result<Exchange, Failure> {
    let body = request.to_string().into_bytes();
    let (path, body, translator) = match translator(target, transforms) {
        Some(translator) => {
            let translated = translator.request(&body);
            let translated = translated.map_err(|error| Failure::error("translate", error.to_string()))?;
            (translated.path, translated.body, Some(translated.response))
        }
        None => (
            target.api_path(),
            with_model(&body, &target.model).unwrap_or(body),
            None,
        ),
    };
    let started = Instant::now();
    let response = client
        .post(path, body)
        .await
        .map_err(|error| call_failure(&error))?;
    receive(response, translator, started).await
}

/// `None` for a provider that speaks the Messages API.
fn translator(target: &Target, transforms: Vec<Transform>) -> Option<Translator> {
    let api = match target.api {
        ProviderApi::Chat => Api::Chat,
        ProviderApi::Responses => Api::Responses,
        ProviderApi::Anthropic => return None,
    };
    Some(Translator::new(TranslationSettings {
        label: target.label.clone(),
        model: target.model.clone(),
        api,
        max_tokens: target.max_tokens,
        transforms,
        params: target.params.clone(),
    }))
}

async fn receive(
    mut response: ProviderResponse,
    mut translator: Option<ResponseTranslator>,
    started: Instant,
) -> Result<Exchange, Failure> {
    let status = response.status();
    let content_type = response.content_type().map(str::to_owned);
    if let Some(translator) = &mut translator {
        translator.head(status, content_type.as_deref());
    }
    let (mut raw, mut answer) = (Vec::new(), BytesMut::new());
    let mut first_byte_ms = None;
    let broken = loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                first_byte_ms.get_or_insert_with(|| milliseconds(started));
                raw.extend_from_slice(&chunk);
                match &mut translator {
                    Some(translator) => translator.chunk(&chunk, &mut answer),
                    None => answer.extend_from_slice(&chunk),
                }
            }
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    let (status_shown, content_type) = match &mut translator {
        Some(translator) => {
            match &broken {
                None => translator.end(&mut answer),
                Some(reason) => translator.abort(reason, &mut answer),
            }
            (translator.status(), Some(translator.content_type().to_owned()))
        }
        None => (status, content_type),
    };
    let mut tap = ResponseTap::new(status_shown, content_type.as_deref(), None);
    tap.feed(&answer);
    let turn = tap.finish(broken.is_none());
    Ok(exchange(
        turn,
        status,
        broken,
        raw,
        first_byte_ms,
        milliseconds(started),
    ))
}

fn exchange(
    turn: Turn,
    status: u16,
    broken: Option<String>,
    raw: Vec<u8>,
    first_byte_ms: Option<u64>,
    total_ms: u64,
) -> Exchange {
    let reported = turn.error.map(|error| error.message);
    let refused = (status != 200).then(|| format!("status {status}"));
    let mut found = Exchange {
        status,
        error: reported.or(broken).or(refused).map(|error| shown(&error)),
        first_byte_ms,
        total_ms,
        text: String::new(),
        thinking: false,
        tool_calls: Vec::new(),
        usage: UsageView {
            input: turn.usage.input,
            cache_read: turn.usage.cache_read,
            output: turn.usage.output,
        },
        raw,
    };
    for block in turn.blocks {
        match block {
            Block::Text { text, .. } => found.text.push_str(&text),
            Block::Thinking { .. } => found.thinking = true,
            Block::ToolUse { name, input, .. } => found.tool_calls.push(CallView {
                name,
                input: serde_json::from_str(&input).unwrap_or(Value::String(input)),
            }),
            _ => {}
        }
    }
    found
}

/// An error of a provider without secrets, shortened.
fn shown(error: &str) -> String {
    truncated(&Redactor::shared().redact(error), MAX_ERROR)
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Exchange {
    /// What the model did instead of the call that was asked for.
    pub(super) fn instead_of_call(&self) -> String {
        let probe = grov_route::probe::PROBE_TOOL;
        match self.tool_calls.iter().find(|call| call.name == probe) {
            Some(call) => format!(
                "called {probe} with the arguments {} instead of {{\"path\":{:?}}}",
                truncated(&call.input.to_string(), 120),
                grov_route::probe::PROBE_PATH
            ),
            None if self.tool_calls.is_empty() => "did not call the tool".to_owned(),
            None => format!("called another tool than {probe}"),
        }
    }

    /// The call of the probe's tool with the path that was asked for, if the answer has one.
    pub(super) fn has_probe_call(&self) -> bool {
        let is_it = |call: &CallView| {
            call.name == grov_route::probe::PROBE_TOOL && call.input["path"] == grov_route::probe::PROBE_PATH
        };
        self.tool_calls.iter().any(is_it)
    }
}
