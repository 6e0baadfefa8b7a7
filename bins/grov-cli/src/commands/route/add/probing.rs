//! Asks a provider for its models, and finds the transforms that it needs.

use super::TransformView;
use crate::commands::route::exchange::{self, Exchange};
use crate::failure::Failure;
use grov_llm::ProviderClient;
use grov_route::probe::{self, Observation};
use grov_route::{ProviderApi, Target, Transform};
use serde_json::Value;

/// Models that are listed in a message.
const MAX_LISTED: usize = 12;

/// What a provider needs.
pub(super) struct Found {
    /// The model, unless it was not looked up.
    pub(super) model: Option<String>,
    pub(super) transforms: Vec<TransformView>,
    /// Whether the model called a tool.
    pub(super) checked: bool,
}

impl Found {
    /// Without asking: the transforms that are known to be needed.
    pub(super) fn unchecked(known: &[&str]) -> Self {
        let known = known.iter().filter_map(|name| Transform::parse(name).ok());
        let mut needed = Needed::default();
        known.for_each(|transform| needed.add(transform, KNOWN));
        Self {
            model: None,
            transforms: needed.views(),
            checked: false,
        }
    }
}

/// Why a transform of a preset is needed.
const KNOWN: &str = "known to be needed for this provider";

/// Transforms with reasons, without repetitions.
#[derive(Default)]
struct Needed(Vec<(Transform, &'static str)>);

impl Needed {
    fn add(&mut self, transform: Transform, reason: &'static str) {
        let is_schema = |transform: &Transform| matches!(transform, Transform::Schema(_));
        let replaced = |known: &Transform| {
            *known == transform
                || (is_schema(known) && is_schema(&transform))
                // It changes the name of the limit too.
                || (*known == Transform::DeepSeek && transform == Transform::MaxTokens)
        };
        if !self.0.iter().any(|(known, _)| replaced(known)) {
            self.0.push((transform, reason));
        }
    }

    /// With the schema at the end, as in the documentation.
    fn sorted(&self) -> Vec<(Transform, &'static str)> {
        let mut sorted = self.0.clone();
        sorted.sort_by_key(|(transform, _)| matches!(transform, Transform::Schema(_)));
        sorted
    }

    fn transforms(&self) -> Vec<Transform> {
        self.sorted()
            .into_iter()
            .map(|(transform, _)| transform)
            .collect()
    }

    fn views(&self) -> Vec<TransformView> {
        let view = |(transform, reason): (Transform, &str)| TransformView {
            name: transform.name().to_owned(),
            reason: reason.to_owned(),
        };
        self.sorted().into_iter().map(view).collect()
    }
}

/// Asks the provider of `draft` for its models, tries `model` or the only one with a tool, and checks the result. `known` are names of
/// transforms that are needed anyway.
pub(super) async fn probe(draft: &Target, model: Option<&str>, known: &[&str]) -> Result<Found, Failure> {
    let client = exchange::client(draft).await?;
    let models = models(&client, draft).await?;
    let mut target = draft.clone();
    target.model = choose(&models, model)?;
    let mut needed = Needed::default();
    let known = known.iter().filter_map(|name| Transform::parse(name).ok());
    known.for_each(|transform| needed.add(transform, KNOWN));
    if target.api != ProviderApi::Anthropic {
        find(&client, &target, &mut needed).await?;
    }
    let last = exchange::send(&client, &target, needed.transforms(), &probe::tool_probe(true)).await?;
    refuse_error(&last, &target)?;
    if !last.has_probe_call() {
        let wrote = crate::table::truncated(&last.text, 120);
        let message = format!(
            "{} answers, but {}; it wrote {wrote:?}",
            target.model,
            last.instead_of_call()
        );
        return Err(Failure::negative("no_tool_call", message)
            .hint("agents need tools: choose another --model, or add it anyway with --unchecked"));
    }
    Ok(Found {
        model: Some(target.model),
        transforms: needed.views(),
        checked: true,
    })
}

/// The ids of the provider's models; empty if it does not list them.
async fn models(client: &ProviderClient, target: &Target) -> Result<Vec<String>, Failure> {
    let path = match target.api {
        ProviderApi::Anthropic if !target.endpoint.ends_with("/v1") => "/v1/models",
        _ => "/models",
    };
    let response = client.get(path).await.map_err(|error| {
        exchange::call_failure(&error).hint(format!("is {} running and the endpoint right?", target.provider))
    })?;
    let status = response.status();
    if matches!(status, 401 | 403) {
        let hint = match target.keys.is_empty() {
            true => "name the variable with its key by --key-env VAR",
            false => "check the key",
        };
        let message = format!("{} refuses the request with status {status}", target.provider);
        return Err(Failure::error("refused", message).hint(hint));
    }
    let body = response
        .body()
        .await
        .map_err(|error| exchange::call_failure(&error))?;
    let listed: Value = serde_json::from_slice(&body).unwrap_or_default();
    let models = listed["data"].as_array().or(listed["models"].as_array());
    let id = |model: &Value| model["id"].as_str().or(model["name"].as_str()).map(str::to_owned);
    Ok(models.into_iter().flatten().filter_map(id).collect())
}

/// The model that is asked for, or the only one.
fn choose(models: &[String], asked: Option<&str>) -> Result<String, Failure> {
    let list = |models: &[&String]| {
        let names: Vec<&str> = models.iter().take(MAX_LISTED).map(|name| name.as_str()).collect();
        let more = if models.len() > MAX_LISTED { ", …" } else { "" };
        format!("{}{more}", names.join(", "))
    };
    match (asked, models) {
        (Some(asked), []) => Ok(asked.to_owned()),
        (Some(asked), models) => {
            // Gemini lists its models as `models/NAME`.
            let is_it = |model: &&String| *model == asked || model.strip_prefix("models/") == Some(asked);
            if models.iter().any(|model| is_it(&model)) {
                return Ok(asked.to_owned());
            }
            let start: String = asked.chars().take(3).collect();
            let like: Vec<&String> = models.iter().filter(|model| model.contains(&start)).collect();
            let shown = if like.is_empty() {
                models.iter().collect()
            } else {
                like
            };
            Err(
                Failure::negative("not_found", format!("the provider has no model {asked:?}"))
                    .hint(format!("it has {}", list(&shown))),
            )
        }
        (None, [only]) => Ok(only.clone()),
        (None, []) => {
            Err(Failure::usage("the provider does not list its models").hint("name one with --model"))
        }
        (None, models) => Err(
            Failure::usage(format!("the provider has {} models", models.len())).hint(format!(
                "name one with --model: {}",
                list(&models.iter().collect::<Vec<_>>())
            )),
        ),
    }
}

/// Finds the transforms by sending requests and looking at the answers.
async fn find(client: &ProviderClient, target: &Target, needed: &mut Needed) -> Result<(), Failure> {
    let mut refused = None;
    let mut accepted = None;
    for tried in probe::request_transforms() {
        let exchange = exchange::send(client, target, tried.clone(), &probe::tool_probe(true)).await?;
        if exchange.status == 200 {
            accepted = Some((tried, exchange));
            break;
        }
        let is_about_form = probe::is_about_form(exchange.status);
        refused = Some(exchange);
        if !is_about_form {
            break;
        }
    }
    let Some((tried, exchange)) = accepted else {
        return refused.map_or(Ok(()), |refused| refuse_error(&refused, target));
    };
    let had_to_change = refused.is_some();
    if target.api == ProviderApi::Chat {
        for (transform, reason) in Observation::read(&exchange.raw).transforms() {
            needed.add(transform, reason);
        }
        if !tried.contains(&Transform::MaxTokens) {
            let limited = exchange::send(client, target, tried.clone(), &probe::limit_probe()).await?;
            if limited.status == 200 && Observation::ignores_limit(&limited.raw) {
                needed.add(Transform::MaxTokens, "max_completion_tokens has no effect");
            }
        }
    }
    let reason = match had_to_change {
        true => "the provider refuses the request without it",
        false => "the provider accepts full schemas",
    };
    tried
        .into_iter()
        .for_each(|transform| needed.add(transform, reason));
    Ok(())
}

fn refuse_error(exchange: &Exchange, target: &Target) -> Result<(), Failure> {
    let Some(error) = &exchange.error else {
        return Ok(());
    };
    let failure = Failure::error("refused", format!("{} answers: {error}", target.provider));
    let endpoint = &target.endpoint;
    Err(match exchange.status {
        404 if !endpoint.ends_with("/v1") => {
            failure.hint(format!("many APIs begin with /v1: try --endpoint {endpoint}/v1"))
        }
        404 => failure.hint("check the endpoint and the name of the model"),
        _ => failure,
    })
}
