//! Tests with recorded requests, if there are any: `GROV_FIXTURES` is a directory with
//! `requests/*.json`, each an object with `request.body` (or an array of objects with `body`).

use crate::against_value::assert_agrees;
use crate::skeleton::assert_continues;
use bytes::Bytes;
use grov_wire::RequestIndex;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns the recorded bodies with their file names. Without `GROV_FIXTURES`, prints a note and returns `None`.
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
fn indexes_of_recorded_requests_agree_with_parsed_trees() {
    for (name, body) in recorded_bodies().unwrap_or_default() {
        eprintln!("{name}: {} bytes", body.len());
        assert_agrees(&body);
    }
}

/// Pairs of recorded requests of which the second continues the first, and the number of links at the end of the first that the
/// second does not have.
const CONTINUED: &[(&str, &str, usize)] = &[
    ("01_toolloop_0", "01_toolloop_1", 0),
    ("01_toolloop_1", "01_toolloop_2", 0),
    ("01_toolloop_2", "01_toolloop_3", 0),
    ("01_toolloop_3", "01_toolloop_4", 0),
    ("04_subagent_0", "04_subagent_3", 0),
    ("04_subagent_1", "04_subagent_2", 0),
    ("06_model_sonnet45_first", "06_model_sonnet45_followup", 0),
    ("07_mitm_firstparty_0", "07_mitm_firstparty_1", 0),
    ("11_interactive_first", "12_interactive_queued_prompt", 0),
    ("12_interactive_queued_prompt", "13_interactive_compact", 0),
    // The client does not keep the suggestion.
    ("16_suggestion_mode", "17_after_interrupt", 1),
    ("17_after_interrupt", "18_after_permission_denied", 0),
    ("20_continue", "21_resume", 0),
    ("21_resume", "22_fork", 0),
    ("21_resume", "23_compact_print", 0),
    ("31_posttooluse_ctx_same_turn", "31_posttooluse_ctx_next_turn", 0),
];

#[test]
fn recorded_requests_continue_each_other() {
    let Some(bodies) = recorded_bodies() else { return };
    let index = |name: &str| {
        let (_, body) = bodies.iter().find(|(stem, _)| stem == name)?;
        Some(RequestIndex::parse(body).unwrap())
    };
    let mut compared = 0;
    for (earlier, later, but) in CONTINUED {
        if let (Some(earlier), Some(later)) = (index(earlier), index(later)) {
            assert_continues(&earlier, &later, *but);
            compared += 1;
        }
    }
    eprintln!("{compared} of {} pairs are in the set", CONTINUED.len());
}
