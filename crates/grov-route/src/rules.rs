//! Chooses the model of a request: by its marker, by the model that it names, else by the rules of the provider file.

mod reason;

use crate::provider_file::{ProviderFile, nearest};
use crate::request_facts::{Effort, RouteRequest};
use crate::target::Target;
pub use reason::Reason;

/// Tokens above which a request is long, unless the file says otherwise.
pub const LONG_CONTEXT_TOKENS: u64 = 60_000;

/// Thinking tokens above which a request counts as thinking, unless the file says otherwise.
pub const THINK_TOKENS: u64 = 10_000;

/// Effort from which a request counts as thinking, unless the file says otherwise.
pub const THINK_EFFORT: Effort = Effort::High;

/// What the name of a small model contains, which clients use for work in the background.
const SMALL_MODEL: &str = "haiku";

/// In the rule `agents`: every subagent that is not listed.
pub(crate) const ANY_AGENT: &str = "*";

/// The rules of a provider file. Labels exist in the file. `None` where it has no rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Labels by agent id or type, in the order of the file. `*` is every other subagent.
    pub agents: Vec<(String, String)>,
    /// Requests for the client's small model.
    pub background: Option<String>,
    /// Requests that ask for much thinking.
    pub think: Option<ThinkRule>,
    /// Requests with many tokens.
    pub long_context: Option<LongContextRule>,
    /// Requests with a tool that searches the web.
    pub web_search: Option<String>,
    /// Requests with images.
    pub images: Option<String>,
    /// All other requests.
    pub default: Option<String>,
}

/// Requests that ask for much thinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThinkRule {
    /// The label.
    pub label: String,
    /// A budget of more tokens than this matches.
    pub budget: u64,
    /// This effort and higher ones match.
    pub effort: Effort,
}

/// Requests with many tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongContextRule {
    /// The label.
    pub label: String,
    /// More tokens than this match.
    pub threshold: u64,
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// No rule applies: the request goes to Anthropic, unchanged.
    Anthropic,
    /// The request goes to a provider.
    Route(RouteDecision),
    /// The request has a marker and there is no provider file: it is answered locally.
    Stub {
        /// The marker's label.
        label: String,
    },
    /// The request names a label that the file does not have: it is refused with status 400.
    UnknownLabel {
        /// The label or `provider,label` as requested.
        label: String,
        /// The most similar label of the file.
        nearest: Option<String>,
    },
}

/// The model that answers a request, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteDecision {
    /// The label.
    pub label: String,
    /// The provider's name.
    pub provider: String,
    /// The model's name at the provider.
    pub model: String,
    /// Why it was chosen.
    pub reason: Reason,
}

/// Chooses what happens to a request. `file` is `None` if there is no provider file.
///
/// A request with a marker never goes to Anthropic.
pub fn choose(request: &RouteRequest, file: Option<&ProviderFile>) -> Choice {
    let Some(file) = file else {
        return match &request.marker {
            Some(label) => Choice::Stub { label: label.clone() },
            None => Choice::Anthropic,
        };
    };
    if let Some(label) = &request.marker {
        return match file.target(label) {
            Some(target) => route(target, Reason::Marker),
            None => unknown(label, label, file),
        };
    }
    if let Some((provider, name)) = request.model.split_once(',') {
        let (provider, name) = (provider.trim(), name.trim());
        return match explicit(provider, name, file) {
            Some(target) => route(target, Reason::Explicit),
            None => Choice::UnknownLabel {
                label: request.model.clone(),
                nearest: nearest_explicit(provider, name, file),
            },
        };
    }
    match by_rules(request, file.rules()) {
        Some((label, reason)) => match file.target(label) {
            Some(target) => route(target, reason),
            None => unknown(label, label, file),
        },
        None => Choice::Anthropic,
    }
}

/// The first rule that applies, in the order that the documentation states.
fn by_rules<'r>(request: &RouteRequest, rules: &'r Rules) -> Option<(&'r str, Reason)> {
    if let Some((label, agent)) = by_agent(request, rules) {
        return Some((label, Reason::Agent(agent)));
    }
    if let Some(label) = &rules.background
        && request.model.contains(SMALL_MODEL)
    {
        return Some((label, Reason::Background(request.model.clone())));
    }
    if let Some(rule) = &rules.think {
        if let Some(budget) = request.thinking_budget.filter(|budget| *budget > rule.budget) {
            return Some((
                &rule.label,
                Reason::ThinkingBudget {
                    budget,
                    above: rule.budget,
                },
            ));
        }
        if let Some(effort) = request.effort.filter(|effort| *effort >= rule.effort) {
            return Some((&rule.label, Reason::Effort(effort)));
        }
    }
    if let Some(rule) = &rules.long_context
        && request.tokens > rule.threshold
    {
        let (tokens, above) = (request.tokens, rule.threshold);
        return Some((&rule.label, Reason::LongContext { tokens, above }));
    }
    let found = |label: &'r Option<String>, applies: bool| label.as_deref().filter(|_| applies);
    found(&rules.web_search, request.web_search)
        .map(|label| (label, Reason::WebSearch))
        .or_else(|| found(&rules.images, request.images).map(|label| (label, Reason::Images)))
        .or_else(|| found(&rules.default, true).map(|label| (label, Reason::Default)))
}

/// The rule for the request's subagent, and what it matched. A name is more specific than `*`.
fn by_agent<'r>(request: &RouteRequest, rules: &'r Rules) -> Option<(&'r str, String)> {
    let agent = &request.agent;
    let names = [agent.id.as_deref(), agent.kind.as_deref()];
    let any = names.iter().any(Option::is_some).then_some(ANY_AGENT);
    names.into_iter().chain([any]).flatten().find_map(|name| {
        let (_, label) = rules.agents.iter().find(|(agent, _)| agent == name)?;
        let matched = if name == ANY_AGENT { "any" } else { name };
        Some((label.as_str(), matched.to_owned()))
    })
}

/// The target that `provider,name` means: `name` is a label, or the provider's name of a model.
fn explicit<'f>(provider: &str, name: &str, file: &'f ProviderFile) -> Option<&'f Target> {
    let of_provider = || file.targets().iter().filter(|target| target.provider == provider);
    of_provider()
        .find(|target| target.label == name)
        .or_else(|| of_provider().find(|target| target.model == name))
        .map(|target| &**target)
}

/// The `provider,label` that was probably meant: with a similar label of that provider, else with a similar provider and label.
fn nearest_explicit(provider: &str, name: &str, file: &ProviderFile) -> Option<String> {
    let targets = || file.targets().iter();
    let of_provider = targets().filter(|target| target.provider == provider);
    let written = |target: &Target| format!("{},{}", target.provider, target.label);
    if let Some(label) = nearest(name, of_provider.map(|target| target.label.as_str())) {
        return Some(format!("{provider},{label}"));
    }
    // A right label or model with a wrong provider.
    if let Some(target) = targets().find(|target| target.label == name || target.model == name) {
        return Some(written(target));
    }
    let all: Vec<String> = targets().map(|target| written(target)).collect();
    nearest(&format!("{provider},{name}"), all.iter().map(String::as_str)).map(str::to_owned)
}

fn route(target: &Target, reason: Reason) -> Choice {
    Choice::Route(RouteDecision {
        label: target.label.clone(),
        provider: target.provider.clone(),
        model: target.model.clone(),
        reason,
    })
}

fn unknown(requested: &str, label: &str, file: &ProviderFile) -> Choice {
    Choice::UnknownLabel {
        label: requested.to_owned(),
        nearest: file.nearest_label(label).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests;
