//! Tests of the choice.

use super::*;
use crate::request_facts::Agent;

const FILE: &str = "providers:
  - name: p
    endpoint: http://localhost:1/v1
    models: {marked: m1, agent: m2, any: m3, small: m4, think: m5, long: m6, web: m7, image: m8, rest: m9}
  - name: other
    endpoint: http://localhost:2/v1
    models: {second: m1}
";

const RULES: &str = "rules:
  agents: {Explore: agent, '*': any}
  background: small
  think: think
  long_context: {model: long, threshold: 1000}
  web_search: web
  images: image
  default: rest
";

fn file(rules: &str) -> ProviderFile {
    ProviderFile::read(&format!("{FILE}{rules}"), &|_| None).unwrap()
}

/// A request to which every rule applies.
fn everything() -> RouteRequest {
    RouteRequest {
        marker: Some("marked".to_owned()),
        model: "p,claude-haiku-4-5".to_owned(),
        stream: false,
        thinking_budget: Some(31_999),
        effort: Some(Effort::Max),
        web_search: true,
        images: true,
        tokens: 5_000,
        agent: Agent {
            id: Some("a1".to_owned()),
            kind: Some("Explore".to_owned()),
        },
    }
}

fn decided(request: &RouteRequest, file: &ProviderFile) -> (String, &'static str) {
    match choose(request, Some(file)) {
        Choice::Route(decision) => (decision.label, decision.reason.rule()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rules_apply_in_the_documented_order() {
    let file = file(RULES);
    let mut request = everything();
    let mut expect = |label: &str, rule: &str, change: &dyn Fn(&mut RouteRequest)| {
        assert_eq!(decided(&request, &file), (label.to_owned(), rule_name(rule)));
        change(&mut request);
    };
    expect("marked", "marker", &|request| {
        request.marker = None;
        request.model = "other,second".to_owned();
    });
    expect("second", "model", &|request| {
        request.model = "claude-haiku-4-5".to_owned()
    });
    expect("agent", "agents", &|request| request.agent.kind = None);
    expect("any", "agents", &|request| request.agent.id = None);
    expect("small", "background", &|request| {
        request.model = "claude-opus-5".to_owned()
    });
    expect("think", "think", &|request| {
        request.thinking_budget = Some(THINK_TOKENS)
    });
    expect("think", "think", &|request| request.effort = Some(Effort::Medium));
    expect("long", "long_context", &|request| request.tokens = 1_000);
    expect("web", "web_search", &|request| request.web_search = false);
    expect("image", "images", &|request| request.images = false);
    expect("rest", "default", &|_| ());
}

fn rule_name(name: &str) -> &'static str {
    let names = [
        "marker",
        "model",
        "agents",
        "background",
        "think",
        "long_context",
        "web_search",
        "images",
        "default",
    ];
    names.into_iter().find(|known| *known == name).unwrap()
}

#[test]
fn without_rules_and_without_a_file_requests_go_to_anthropic() {
    let mut request = everything();
    request.marker = None;
    assert_eq!(choose(&request, None), Choice::Anthropic);
    request.model = "claude-opus-5".to_owned();
    assert_eq!(choose(&request, Some(&file(""))), Choice::Anthropic);
}

#[test]
fn a_marked_request_never_goes_to_anthropic() {
    let mut request = everything();
    let label = "marked".to_owned();
    assert_eq!(choose(&request, None), Choice::Stub { label });
    request.marker = Some("markd".to_owned());
    let unknown = Choice::UnknownLabel {
        label: "markd".to_owned(),
        nearest: Some("marked".to_owned()),
    };
    assert_eq!(choose(&request, Some(&file(RULES))), unknown);
    assert!(!matches!(choose(&request, Some(&file(""))), Choice::Anthropic));
}

#[test]
fn a_model_is_named_by_provider_and_label_or_model() {
    let file = file(RULES);
    let chosen = |model: &str| {
        let request = RouteRequest {
            model: model.to_owned(),
            ..RouteRequest::default()
        };
        match choose(&request, Some(&file)) {
            Choice::Route(decision) => format!("{} {}", decision.provider, decision.label),
            Choice::UnknownLabel { label, .. } => format!("unknown {label}"),
            other => format!("{other:?}"),
        }
    };
    assert_eq!(chosen("other,m1"), "other second");
    assert_eq!(chosen("p, m1"), "p marked");
    assert_eq!(chosen("p,rest"), "p rest");
    assert_eq!(chosen("q,rest"), "unknown q,rest");
    assert_eq!(chosen("p,"), "unknown p,");
}

#[test]
fn a_misspelled_provider_and_label_get_the_nearest_pair() {
    let file = file(RULES);
    let nearest = |model: &str| {
        let request = RouteRequest {
            model: model.to_owned(),
            ..RouteRequest::default()
        };
        match choose(&request, Some(&file)) {
            Choice::UnknownLabel { nearest, .. } => nearest,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(nearest("p,markd").as_deref(), Some("p,marked"));
    assert_eq!(nearest("q,rest").as_deref(), Some("p,rest"));
    assert_eq!(nearest("othr,secnd").as_deref(), Some("other,second"));
    assert_eq!(nearest("nothing,like-it-at-all"), None);
}

#[test]
fn an_agent_is_known_by_its_id_too() {
    let file = file("rules: {agents: {a1: agent}}\n");
    let mut request = RouteRequest::default();
    assert_eq!(choose(&request, Some(&file)), Choice::Anthropic);
    request.agent.id = Some("a1".to_owned());
    assert_eq!(decided(&request, &file), ("agent".to_owned(), "agents"));
    request.agent.id = Some("a2".to_owned());
    assert_eq!(choose(&request, Some(&file)), Choice::Anthropic);
}

#[test]
fn reasons_are_readable() {
    assert_eq!(
        Reason::LongContext {
            tokens: 84_000,
            above: 60_000
        }
        .to_string(),
        "rule long_context: about 84000 tokens, above 60000"
    );
    assert_eq!(
        Reason::Effort(Effort::ExtraHigh).to_string(),
        "rule think: effort xhigh"
    );
}
