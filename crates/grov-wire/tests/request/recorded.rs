//! Runs over a larger set of recorded requests, if there is one: `GROV_FIXTURES` names a directory with `requests/*.json`,
//! each an object with `request.body` (or an array of objects with `body`).

use crate::against_value::assert_agrees;
use bytes::Bytes;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The bodies of the set with their file names; `None`, said aloud, where no set is named.
fn recorded_bodies() -> Option<Vec<(String, Bytes)>> {
    let Some(set) = std::env::var_os("GROV_FIXTURES").map(PathBuf::from) else {
        eprintln!("SKIPPED: GROV_FIXTURES is not set, so no recorded requests were checked");
        return None;
    };
    let mut bodies = vec![];
    for entry in std::fs::read_dir(set.join("requests")).unwrap() {
        let path = entry.unwrap().path();
        for body in bodies_in(&path) {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            bodies.push((name, Bytes::from(body.to_string())));
        }
    }
    assert!(
        !bodies.is_empty(),
        "GROV_FIXTURES names a directory without recorded requests"
    );
    bodies.sort_by(|one, other| one.0.cmp(&other.0));
    Some(bodies)
}

fn bodies_in(path: &Path) -> Vec<Value> {
    let recorded: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let bodies = match &recorded {
        Value::Array(events) => events.iter().map(|event| event["body"].clone()).collect(),
        one => vec![one["request"]["body"].clone()],
    };
    bodies.into_iter().filter(Value::is_object).collect()
}

#[test]
fn recorded_requests_are_indexed_as_a_tree_sees_them() {
    for (name, body) in recorded_bodies().unwrap_or_default() {
        eprintln!("{name}: {} bytes", body.len());
        assert_agrees(&body);
    }
}
