//! Cases of the kinds `marker` and `config`: those of the directory in `GROV_VECTORS`, else the project's own.
//!
//! Each file is a list of `{name, input, expect}`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking, and print what passed"
)]

use grov_route::{ProviderFile, strip_marker};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[test]
fn markers() {
    check("marker", marker);
}

#[test]
fn provider_files() {
    check("config", config);
}

fn directory() -> PathBuf {
    std::env::var_os("GROV_VECTORS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"),
        PathBuf::from,
    )
}

/// Runs the cases of a kind. `run` returns what differs from the expectation.
fn check(kind: &str, run: fn(&Value, &Value) -> Option<String>) {
    let path = directory().join(format!("{kind}.json"));
    let text = std::fs::read_to_string(&path).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let difference = run(&case["input"], &case["expect"])?;
            Some(format!("{}: {difference}", case["name"]))
        })
        .collect();
    println!("{kind}: {}/{}", cases.len() - failures.len(), cases.len());
    assert!(!cases.is_empty() && failures.is_empty(), "{failures:#?}");
}

fn marker(input: &Value, expect: &Value) -> Option<String> {
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
    (actual != *expect).then(|| actual.to_string())
}

fn config(input: &Value, expect: &Value) -> Option<String> {
    let environment = |name: &str| input["env"][name].as_str().map(str::to_owned);
    let file = ProviderFile::read(input["yaml"].as_str().unwrap(), &environment);
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
