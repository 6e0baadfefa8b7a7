//! The JSON schema for editors knows the same names as the reader.

use super::providers::{MODEL_KEYS, PRICE_KEYS, PROVIDER_KEYS, TIMEOUT_KEYS};
use super::rules::{LONG_CONTEXT_KEYS, RULE_KEYS, THINK_KEYS};
use super::{ProviderFile, TOP_KEYS};
use crate::request_facts::Effort;
use crate::target::ProviderApi;
use crate::translate::Transform;
use serde_json::Value;
use std::collections::BTreeSet;

fn schema() -> Value {
    serde_json::from_str(include_str!("../../providers.schema.json")).unwrap()
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

fn properties(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let object = schema.pointer(pointer).unwrap_or(&Value::Null);
    assert_eq!(object["additionalProperties"], false, "{pointer}");
    names(
        object["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str),
    )
}

fn values(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let list = schema.pointer(pointer).and_then(Value::as_array).unwrap();
    names(list.iter().filter_map(Value::as_str))
}

#[test]
fn the_schema_has_the_keys_of_the_reader() {
    let schema = schema();
    let sections = [
        ("", TOP_KEYS),
        ("/$defs/provider", PROVIDER_KEYS),
        ("/$defs/provider/properties/timeouts", TIMEOUT_KEYS),
        ("/$defs/model", MODEL_KEYS),
        ("/$defs/model/properties/prices", PRICE_KEYS),
        ("/$defs/rules", RULE_KEYS),
        ("/$defs/rules/properties/think/anyOf/1", THINK_KEYS),
        ("/$defs/rules/properties/long_context/anyOf/1", LONG_CONTEXT_KEYS),
    ];
    for (pointer, keys) in sections {
        assert_eq!(
            properties(&schema, pointer),
            names(keys.iter().copied()),
            "{pointer}"
        );
    }
}

#[test]
fn the_schema_has_the_values_of_the_reader() {
    let schema = schema();
    for section in ["provider", "model"] {
        let pointer = format!("/$defs/{section}/properties/transform/items/enum");
        assert_eq!(
            values(&schema, &pointer),
            names(Transform::ALL.map(Transform::name)),
            "{section}"
        );
    }
    let apis = values(&schema, "/$defs/provider/properties/api/enum");
    assert_eq!(apis, names(ProviderApi::NAMES.iter().copied()));
    let efforts = values(
        &schema,
        "/$defs/rules/properties/think/anyOf/1/properties/effort/enum",
    );
    assert_eq!(efforts, names(Effort::NAMES.iter().copied()));
}

#[test]
fn the_example_uses_every_section() {
    let example = include_str!("../../providers.example.yaml");
    assert!(ProviderFile::read(example, &|_| Some("key".to_owned())).is_ok());
    for key in [
        "timeouts",
        "prices",
        "fallback",
        "params",
        "api_keys",
        "transform",
        "agents",
        "think",
        "long_context",
    ] {
        assert!(example.contains(&format!("{key}:")), "{key}");
    }
}
