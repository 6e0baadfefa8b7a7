//! Vectors about the choice of the model.

use grov_route::{LocalAnswer, ProviderFile, strip_marker};
use serde_json::{Value, json};
use std::path::Path;

/// Finds the marker of a request and removes it.
pub(crate) fn marker(input: &Value, expect: &Value) -> Result<(), String> {
    let body = match input["raw"].as_str() {
        Some(raw) => raw.to_owned(),
        None => input["body"].to_string(),
    };
    let actual = match strip_marker(body.as_bytes()) {
        Some(marked) => {
            let body: Value = serde_json::from_slice(&marked.body).unwrap();
            json!({"label": marked.label, "body": body})
        }
        None => json!({"label": null, "unchanged": true}),
    };
    crate::matching::expect(expect, &actual)
}

/// Reads a provider file, and resolves a label with it.
pub(crate) fn config(input: &Value, expect: &Value) -> Result<(), String> {
    difference(input, expect).map_or(Ok(()), Err)
}

/// What differs from the expectation.
fn difference(input: &Value, expect: &Value) -> Option<String> {
    let environment = |name: &str| input["env"][name].as_str().map(str::to_owned);
    // The form in which unknown keys are allowed, unless a vector asks for the other.
    let path = if input["strict"] == true {
        "providers.yaml"
    } else {
        ".claude-hybrid/config.yaml"
    };
    let file = ProviderFile::read_at(Path::new(path), input["yaml"].as_str().unwrap(), &environment);
    let expected_error = expect["error"].as_str();
    let file = match (file, expected_error) {
        (Err(_), Some("load")) => return None,
        (Err(error), _) => return Some(error.to_string()),
        (Ok(_), Some("load")) => return Some("loaded".to_owned()),
        (Ok(file), _) => file,
    };
    let label = input["label"].as_str()?;
    let Some(target) = file.target(label) else {
        return (expected_error != Some("resolve")).then(|| "no such label".to_owned());
    };
    if expected_error.is_some() {
        return Some("resolved".to_owned());
    }
    let actual = json!({
        "endpoint": target.endpoint,
        "model": target.model,
        "provider": target.provider,
        "api_key": target.keys.first().map_or("", |key| key.expose()),
        "max_tokens": target.max_tokens.unwrap_or(0),
        "transform": target.transforms,
        "params": target.params,
    });
    let expected = expect["resolved"].as_object().into_iter().flatten();
    let different: Vec<&String> = expected
        .filter(|(key, value)| actual[key.as_str()] != **value)
        .map(|(key, _)| key)
        .collect();
    (!different.is_empty()).then(|| format!("{different:?} of {actual}"))
}

/// Situations in which a response is made here.
pub(crate) fn local(situation: &str, expect: &Value) -> Result<(), String> {
    let answer = match situation {
        "unknown_label" => LocalAnswer::unknown_label("fast", None, None),
        "marker_without_config" => LocalAnswer::stub("fast", false),
        other => return Err(format!("no such situation: {other}")),
    };
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    crate::matching::expect(&expect["status"], &answer.status.into())?;
    if expect["stub"] == true {
        return crate::matching::expect(&json!("msg_stub_local_route"), &body["id"]);
    }
    crate::matching::expect(&expect["type"], &body["error"]["type"])
}
