//! `grov route explain`

use super::source::Source;
use crate::arguments::ExplainArguments;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, Style};
use grov_route::{Agent, Choice, RouteRequest, choose, near_miss, strip_marker};
use serde::Serialize;
use std::io::Read;
use std::path::Path;

#[derive(Serialize)]
struct Answer {
    /// `None`: no provider answers.
    route: Option<RouteView>,
    /// Who answers instead: `anthropic`, `stub` or `refused`.
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<&'static str>,
    /// Why, if no provider answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Text of the system prompt that looks like a misspelled marker.
    #[serde(skip_serializing_if = "Option::is_none")]
    misspelled_marker: Option<String>,
    /// Why the route's provider cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    unusable: Option<String>,
    request: RequestView,
}

#[derive(Serialize)]
struct RouteView {
    provider: String,
    model: String,
    label: String,
    /// The rule's name.
    rule: &'static str,
    reason: String,
    /// Labels that are tried if it fails.
    fallback: Vec<String>,
}

/// What the rules look at.
#[derive(Serialize)]
struct RequestView {
    marker: Option<String>,
    model: String,
    thinking_budget: Option<u64>,
    effort: Option<&'static str>,
    tokens: u64,
    web_search: bool,
    images: bool,
}

pub(super) fn run(context: &Context, source: &Source, arguments: &ExplainArguments) -> Outcome {
    let body = read(&arguments.file)?;
    if !serde_json::from_slice::<serde_json::Value>(&body).is_ok_and(|body| body.is_object()) {
        let message = format!("{} is no JSON object", arguments.file.display());
        return Err(Failure::error("input", message).hint("give the body of a request to /v1/messages"));
    }
    let file = source.load()?;
    let agent = Agent {
        id: arguments.agent_id.clone(),
        kind: arguments.agent_type.clone(),
    };
    let marker = strip_marker(&body).map(|marked| marked.label);
    let request = RouteRequest::read(&body, marker, agent);
    let choice = choose(&request, file.as_ref());
    let refused = matches!(choice, Choice::UnknownLabel { .. });
    let mut answer = Answer {
        route: None,
        instead: None,
        reason: None,
        misspelled_marker: request.marker.is_none().then(|| near_miss(&body)).flatten(),
        unusable: None,
        request: RequestView {
            marker: request.marker,
            model: request.model,
            thinking_budget: request.thinking_budget,
            effort: request.effort.map(grov_route::Effort::name),
            tokens: request.tokens,
            web_search: request.web_search,
            images: request.images,
        },
    };
    match choice {
        Choice::Route(decision) => {
            let chain = file
                .as_ref()
                .map_or_else(Vec::new, |file| file.chain(&decision.label));
            answer.unusable = chain.first().and_then(|target| target.unusable());
            answer.route = Some(RouteView {
                provider: decision.provider,
                model: decision.model,
                label: decision.label,
                rule: decision.reason.rule(),
                reason: decision.reason.to_string(),
                fallback: chain.iter().skip(1).map(|target| target.label.clone()).collect(),
            });
        }
        Choice::Anthropic => {
            answer.instead = Some("anthropic");
            answer.reason = Some("no rule applies".to_owned());
        }
        Choice::Stub { label } => {
            answer.instead = Some("stub");
            answer.reason = Some(format!("marked for `{label}`, but there is no provider file"));
        }
        Choice::UnknownLabel { label, nearest } => {
            let nearest = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
            answer.instead = Some("refused");
            answer.reason = Some(format!("the provider file has no model `{label}`{nearest}"));
        }
    }
    context.answer(answer, text)?;
    Ok(ExitStatus::success_if(!refused))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = if path == Path::new("-") {
        let mut body = Vec::new();
        std::io::stdin().read_to_end(&mut body).map(|_| body)
    } else {
        std::fs::read(path)
    };
    read.map_err(|error| Failure::error("input", format!("cannot read {}: {error}", path.display())))
}

fn text(answer: &Answer, style: Style) -> String {
    let reason = answer.reason.as_deref().unwrap_or_default();
    let mut text = match (&answer.route, answer.instead) {
        (Some(route), _) => {
            let name = format!("{} ({}/{})", route.label, route.provider, route.model);
            let mut text = format!("{}: {}\n", style.bold(&name), route.reason);
            if !route.fallback.is_empty() {
                text.push_str(&format!("  then {}\n", route.fallback.join(", ")));
            }
            text
        }
        (None, Some("anthropic")) => format!("{}: {reason}\n", style.bold("Anthropic, unchanged")),
        (None, Some("stub")) => format!("{}: {reason}\n", style.bold("answered by Grov")),
        (None, _) => format!("{}: {reason}\n", style.red("refused with status 400")),
    };
    if let Some(reason) = &answer.unusable {
        text.push_str(&format!("  {} {reason}\n", style.red("cannot be used:")));
    }
    if let Some(spelling) = &answer.misspelled_marker {
        text.push_str(&format!(
            "  {} {spelling:?} is no marker: letters and spaces must be exact\n",
            style.red("misspelled?")
        ));
    }
    let request = &answer.request;
    let thinking = match (request.thinking_budget, request.effort) {
        (Some(budget), _) => format!(", thinking budget {budget}"),
        (None, Some(effort)) => format!(", effort {effort}"),
        (None, None) => String::new(),
    };
    let images = if request.images { ", images" } else { "" };
    let search = if request.web_search { ", web search" } else { "" };
    let facts = format!(
        "{}, about {} tokens{thinking}{images}{search}",
        request.model, request.tokens
    );
    text.push_str(&format!("  {}\n", style.faint(&format!("request: {facts}"))));
    text
}
