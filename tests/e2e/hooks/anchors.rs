//! Which places in files a hook-only session changed, and why, as stored afterwards.

use super::hooked::{Hooked, says};
use anyhow::Result;
use grov_domain::{FileReasoning, FileReasoningStore};
use grov_tests::eventually;
use serde_json::{Value, json};
use std::fs;
use xxhash_rust::xxh3::xxh3_128;

const BEFORE: &str = "\
use std::io;

/// A source file with a greeting function.
fn greet(name: &str) {
    println!(\"hello {name}\");
}

fn part() {
    println!(\"bye\");
}
";

fn step(text: &str, tool: &str, input: Value) -> Value {
    json!({"blocks": [
        {"type": "text", "text": text},
        {"type": "tool_use", "name": tool, "input": input},
    ]})
}

/// The stored entries of a file, once there are `count`.
fn entries(hooked: &Hooked, file: &str, count: usize) -> Result<Vec<FileReasoning>> {
    let store = hooked.store()?;
    let project = hooked.grov.run_json(&["status"])?.json;
    let project = project["project_path"].as_str().unwrap_or_default().to_owned();
    let entries = || {
        let entries = store.file_reasoning(&project, file, 100);
        hooked.upstream.block_on(entries).unwrap_or_default()
    };
    let found = eventually(file, || Some(entries()).filter(|entries| entries.len() >= count))?;
    hooked.upstream.block_on(store.close())?;
    Ok(found)
}

fn hash(code: &str) -> Option<String> {
    Some(format!("{:032x}", xxh3_128(code.as_bytes())))
}

#[test]
fn edits_and_new_files_are_stored_with_their_line_numbers() -> Result<()> {
    let new = "fn main() {\n    greet::greet(\"you\");\n}\n";
    let script = json!({"greet": {"steps": [
        step("I look first.", "Read", json!({"file_path": "{cwd}/src/greet.rs"})),
        step("The name comes after a comma, as in a letter.", "Edit", json!({
            "file_path": "{cwd}/src/greet.rs",
            "old_string": "    println!(\"hello {name}\");", "new_string": "    let name = name.trim();\n    println!(\"hello, {name}\");",
        })),
        step("The parting needs its name as well.", "Edit", json!({
            "file_path": "{cwd}/src/greet.rs", "old_string": "\"bye\"", "new_string": "\"bye, you\"",
        })),
        step("Somebody has to call it.", "Write", json!({"file_path": "{cwd}/src/main.rs", "content": new})),
        says("Done. It greets by name."),
    ]}});
    let Some(hooked) = Hooked::playing(&script)? else {
        return Ok(());
    };
    fs::create_dir_all(hooked.client.project().join("src"))?;
    fs::write(hooked.client.project().join("src/greet.rs"), BEFORE)?;
    let run = hooked.prompt(
        "Greet by name in src/greet.rs and call it in src/main.rs. [[scenario:greet]]",
        &[],
    )?;
    let memories = hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
    hooked.wait_for_session("the session to end", run.session()?, |known| {
        known.ended_at.is_some()
    })?;

    let mut edited = entries(&hooked, "src/greet.rs", 2)?;
    edited.sort_by_key(|entry| entry.line_start);
    let recorded: Vec<_> = edited
        .iter()
        .map(|entry| (entry.anchor.as_deref(), entry.line_start, entry.line_end))
        .collect();
    // Line numbers in the file's current state.
    assert_eq!(
        recorded,
        [
            (Some("greet"), Some(5), Some(6)),
            (Some("part"), Some(10), Some(10))
        ]
    );
    let code = "    let name = name.trim();\n    println!(\"hello, {name}\");";
    assert_eq!(edited[0].code_hash, hash(code));
    assert_eq!(edited[1].code_hash, hash("    println!(\"bye, you\");"));
    assert_eq!(
        edited[0].reasoning,
        "The name comes after a comma, as in a letter."
    );
    assert_eq!(edited[1].reasoning, "The parting needs its name as well.");
    let left = fs::read_to_string(hooked.client.project().join("src/greet.rs"))?;
    let lines: Vec<&str> = left.lines().collect();
    assert_eq!(
        lines[4..6].join("\n"),
        code,
        "recorded line numbers do not match the file"
    );

    let written = entries(&hooked, "src/main.rs", 1)?;
    assert_eq!(written.len(), 1);
    assert_eq!((written[0].line_start, written[0].line_end), (Some(1), Some(3)));
    assert_eq!(written[0].code_hash, hash(new));
    assert_eq!(written[0].change_type.as_deref(), Some("create"));
    assert_eq!(edited[0].change_type.as_deref(), Some("edit"));
    for entry in edited.iter().chain(&written) {
        let task = entry.task_id.as_ref().map(|task| task.as_str());
        assert_eq!(task, memories[0]["id"].as_str());
    }
    hooked.assert_no_faults()
}
